/*
 * test_memory.c - machines with too little memory: an actor fails, the others go on, nothing leaks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"
#include "support/alloc.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SCRIPT[] =
    "local actor = require 'actor'\n"
    "local Greedy = actor.behavior('greedy', { receive = {\n"
    "  strings = function() local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end end,\n"
    "  caught = function()\n"
    "    local ok, e = pcall(function() local t = {} for i = 1, 1e9 do t[i] = {} end end)\n"
    "    return ok, e\n"
    "  end,\n"
    "  one = function() return #('x'):rep(100000000) end,\n"
    "  deep = function() local function r(...) return r(1, 2, 3, ...) end r() end,\n"
    "  waits = function(_, peer)\n"
    "    local t = {}\n"
    "    for i = 1, 1e9 do t[i] = peer:ask('x' .. i) end\n"
    "  end,\n"
    "  spawns = function() for i = 1, 1e9 do actor.spawn(function() return i end) end end,\n"
    "} })\n"
    "actor.behavior('main', { receive = {}, init = function()\n"
    "  local echo = actor.spawn(function(...) return ... end)\n"
    "  for _, how in ipairs { 'strings', 'one', 'deep', 'waits' } do\n"
    "    local greedy = actor.spawn(Greedy)\n"
    "    local answer, why = actor.ask { greedy, how, echo, timeout = math.huge }\n"
    "    assert(answer == nil and why == 'failed', how)\n"
    "    assert(echo:ask('still here') == 'still here', how)\n"
    "  end\n"
    "  local ok, e = actor.ask { actor.spawn(Greedy), 'caught', timeout = math.huge }\n"
    "  assert(ok == false and e == 'not enough memory')\n"
    "  host('done')\n"
    "end })\n";

static char seen[64];

static int host_notes(lua_State *L) {
  strncpy(seen, luaL_checkstring(L, 1), sizeof seen - 1);
  return 0;
}

static void run_past_the_limit(uint64_t seed) {
  struct fixture f = {
      .script = SCRIPT, .host = host_notes, .memory_limit = 4 * 1024 * 1024, .seed = seed};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  seen[0] = '\0';
  fixture_run(&f, NULL, 0);
  assert_string_equal(seen, "done");
  assert_true(fixture_logged(&f, "not enough memory"));
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, 4);
}

static void past_its_limit_an_actor_fails_and_others_go_on(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) run_past_the_limit(seed);
}

static void a_limit_too_small_for_a_machine_is_reported(void **state) {
  (void)state;
  for (size_t limit = 1; limit < 64 * 1024; limit += 977) {
    struct fixture f = {.memory_limit = limit, .seed = limit % 2};
    assert_int_equal(fixture_open(&f), ACTL_OK);
    fixture_run(&f, NULL, 0);
    assert_true(f.log_size > 0);
    actl_stats stats;
    fixture_close(&f, &stats);
    assert_int_equal(stats.alive, 0);
  }
}

static const char SWEPT[] =
    "local actor = require 'actor'\n"
    "local B = actor.behavior('b', { receive = {\n"
    "  add = function(self, n) self.n = (self.n or 0) + n return self.n end } })\n"
    "actor.behavior('main', { receive = {}, init = function()\n"
    "  local b = actor.spawn(B)\n"
    "  local echo = actor.spawn(function(...) return ... end)\n"
    "  for i = 1, 40 do\n"
    "    b:send('add', i)\n"
    "    local c = coroutine.wrap(function() return echo:ask({ i, { i } }, ('s'):rep(i)) end)\n"
    "    c()\n"
    "    actor.spawn(function(x) return x end):send(i)\n"
    "  end\n"
    "  local over = {}\n"
    "  for i = 1, 20 do\n"
    "    local p = actor.process(function(t)\n"
    "      actor.sleep(i % 3)\n"
    "      local timer = actor.after(60000, t, i)\n"
    "      assert(actor.receive().x and actor.cancel(timer) and actor.receive(0) == nil)\n"
    "      table.insert(over, i)\n"
    "    end, { x = i })\n"
    "    p:send { x = i }\n"
    "  end\n"
    "  while #over < 20 and actor.stats().failed == 0 do actor.sleep(1) end\n"
    "  assert(actor.ask { echo, #over, timeout = 60000 } == 20)\n"
    "  local p = pcall(function() local t = setmetatable({}, { __close = function() end })\n"
    "    local c <close> = t error('x') end)\n"
    "  host('swept')\n"
    "end })\n";

/* One run in which the n-th request and all later ones fail; true: none did. */
static bool run_failing_from(size_t n) {
  struct test_alloc alloc = {0};
  struct fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->script = SWEPT;
  f->host = host_notes;
  f->alloc = test_alloc;
  f->alloc_ud = &alloc;
  seen[0] = '\0';

  test_alloc_fail_from(&alloc, n);
  if (fixture_open(f) == ACTL_OK) {
    actl_pid pid;
    if (actl_lua_spawn(f->engine, 0, "main", NULL, 0, &pid) == ACTL_OK) actl_engine_run(f->engine);
    fixture_close(f, NULL);
  }
  free(f);
  assert_true(test_alloc_is_clean(&alloc));
  bool has_failed = test_alloc_heal(&alloc);
  assert_true(has_failed || strcmp(seen, "swept") == 0);
  return !has_failed;
}

static void each_failing_request_leaves_nothing_behind(void **state) {
  (void)state;
  size_t n = 1;
  while (!run_failing_from(n)) n++;
  assert_true(n > 5);
}

/* Lua's requests fail at whatever place the limit is met: an actor fails, or the machine cannot be
 * made, and the engine comes to rest. */
static void sweep_limits(size_t step, uint64_t seed) {
  int n_done = 0, n_failed = 0;
  for (size_t limit = 20 * 1024; limit < 300 * 1024; limit += step) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->script = SWEPT;
    f->host = host_notes;
    f->memory_limit = limit;
    f->seed = seed;
    seen[0] = '\0';
    assert_int_equal(fixture_open(f), ACTL_OK);
    fixture_run(f, NULL, 0);
    bool is_done = strcmp(seen, "swept") == 0;
    assert_true(is_done || f->log_size > 0);
    n_done += is_done;
    n_failed += !is_done;
    fixture_close(f, NULL);
    free(f);
  }
  assert_true(n_done > 5 && n_failed > 5);
}

static void a_limit_met_at_any_place_is_survived(void **state) {
  (void)state;
  sweep_limits(509, 0);
  for (uint64_t seed = 1; seed < 8; seed++) sweep_limits(3067 + seed, seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(past_its_limit_an_actor_fails_and_others_go_on),
      cmocka_unit_test(a_limit_too_small_for_a_machine_is_reported),
      cmocka_unit_test(a_limit_met_at_any_place_is_survived),
      cmocka_unit_test(each_failing_request_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
