/*
 * test_memory.c - Lua actors when memory runs out at every place where it can.
 *
 * The program below spawns near and far, sends strings, tables and pids, asks, waits in coroutines,
 * fails, and stops. It is run again and again; in run n every allocation from the n-th on fails. Each
 * run must end, leak nothing, and leave an engine that can be freed. (Only a build with ACTL_STRESS or
 * an address sanitizer meets every single allocation: otherwise the vats' arenas take whole pieces.)
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <lauxlib.h>

#include "actl_lua.h"
#include "support/alloc.h"

static const char program[] =
    "local actor = require 'actor'\n"
    "local Child = actor.behavior('child', {\n"
    "  init = function(self, x) self.x = x end,\n"
    "  stop = function(self) self.x = nil end,\n"
    "  receive = {\n"
    "    add = function(self, t) self.x = self.x + t.n[1]; return self.x, {sum = self.x} end,\n"
    "    fail = function(self) error({code = 7}) end,\n"
    "    keep = function(self) self.request = actor.later() end,\n"
    "    free = function(self) if self.request then self.request:reply(('r'):rep(100)) end end,\n"
    "  },\n"
    "})\n"
    "actor.behavior('main', {\n"
    "  init = function(self, how)\n"
    "    local near, far = actor.spawn(Child, 1), actor.spawn_on(1, Child, 2)\n"
    "    local t = {n = {40, 2}, name = ('x'):rep(300), deep = {{{}}}}\n"
    "    t.self = t\n"
    "    for i = 1, 3 do near:send('add', t); far:send('add', t) end\n"
    "    local co = coroutine.wrap(function() return near:ask('add', t), (far:ask('add', t)) end)\n"
    "    local a, b = co()\n"
    "    self.a, self.b = a, b\n"
    "    local f = actor.spawn(function(...) return select('#', ...), ... end)\n"
    "    f:ask(1, 2.5, 'three', true, nil, ('4'):rep(50), {5})\n"
    "    local g = actor.spawn_on(1, function(n) return n + #t.name end)\n"
    "    g:ask(how)\n"
    "    near:send('keep')\n"
    "    pcall(near.ask, near, 'fail')\n"
    "    setmetatable({}, {__gc = function() end})\n"
    "    collectgarbage()\n"
    "    far:stop()\n"
    "  end,\n"
    "  stop = function() end,\n"
    "  receive = {[actor.other] = function(self) return self.a end},\n"
    "})\n";

static int open_program(lua_State *L) {
  if (luaL_loadstring(L, program) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

/* Counts, so that the log itself takes no memory. */
struct journal {
  _Atomic(int) failures;
};

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  struct journal *journal = ud;
  (void)level;
  (void)text;
  if (kind == ACTL_LOG_FAILURE) journal->failures++;
}

/* Whatever fails, the engine that was made ends and is freed. */
static bool run_program(struct test_alloc *alloc, uint32_t workers, struct journal *journal) {
  actl_config config = {.workers = workers,
                        .vats = 2,
                        .log = on_log,
                        .log_ud = journal,
                        .alloc = test_alloc,
                        .alloc_ud = alloc};
  actl_engine *engine = NULL;
  if (actl_engine_new(&engine, &config) != ACTL_OK) {
    assert_null(engine);
    return false;
  }

  actl_lua_config lua = {.open = open_program};
  actl_pid pid = {0};
  bool ok = actl_lua_open(engine, &lua) == ACTL_OK &&
            actl_lua_spawn(engine, 0, "main", ACTL_VALUES(actl_int(1)), &pid) == ACTL_OK;
  assert_int_equal(ok, pid.bits != 0);
  alarm(60);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  actl_engine_shutdown(engine);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  alarm(0);

  actl_stats stats;
  actl_engine_stats(engine, &stats);
  assert_int_equal(stats.alive, 0);
  assert_int_equal(stats.spawned, stats.stopped);
  actl_engine_free(engine);
  return ok;
}

static void sweep(uint32_t workers) {
  size_t n = 1;
  for (;; n++) {
    struct test_alloc alloc = {0};
    struct journal journal = {0};
    test_alloc_fail_from(&alloc, n);
    bool ok = run_program(&alloc, workers, &journal);
    assert_true(test_alloc_is_clean(&alloc));
    if (!test_alloc_heal(&alloc)) {
      assert_true(ok);
      assert_int_equal(journal.failures, 1); /* the child that was asked to fail */
      break;
    }
  }
  assert_true(n > 8); /* the engine alone takes more */
}

static void every_allocation_may_fail_on_one_worker(void **state) {
  (void)state;
  sweep(1);
}

static void every_allocation_may_fail_on_two_workers(void **state) {
  (void)state;
  sweep(2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail_on_one_worker),
      cmocka_unit_test(every_allocation_may_fail_on_two_workers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
