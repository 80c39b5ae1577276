/*
 * test_codec.c - what C code may do with a table it got: keep it, pass it on, and damage it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SCRIPT[] =
    "local actor = require 'actor'\n"
    "local shared = { 1, 2, 3 }\n"
    "local t = { 1, -2, 3.5, 'four', ('five'):rep(100), true, false, n = { x = { y = {} } },\n"
    "  shared, shared, pid = actor.other == nil }\n"
    "t.cycle = t\n"
    "actor.behavior('main', { init = function(self, to)\n"
    "  t.pid = actor.self() actor.send(to, t) end,\n"
    "  receive = {} })\n"
    "actor.behavior('gets', { receive = { [actor.other] = function(_, t) host(t) end } })\n";

static char kept[4096];
static uint32_t kept_size;
static int n_tables, n_others;
static bool is_whole;

static actl_status keep(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  (void)state;
  actl_value value = actl_msg_value(msg, 0);
  assert_int_equal(value.type, ACTL_TABLE);
  assert_true(value.size < sizeof kept);
  memcpy(kept, value.as.bytes, value.size);
  kept_size = value.size;
  return ACTL_OK;
}

static const actl_behavior KEEPER = {.name = "keeper", .receive = keep};

static int host_gets(lua_State *L) {
  if (!lua_istable(L, 1)) {
    n_others++;
    return 0;
  }
  n_tables++;
  lua_getfield(L, 1, "cycle");
  lua_rawgeti(L, 1, 8);
  lua_rawgeti(L, 1, 9);
  is_whole = lua_rawequal(L, 1, 2) && lua_istable(L, 3) && lua_rawequal(L, 3, 4);
  return 0;
}

static void open_with_table(struct fixture *f, actl_pid *gets) {
  actl_pid keeper, pid;
  f->script = SCRIPT;
  f->host = host_gets;
  assert_int_equal(fixture_open(f), ACTL_OK);
  assert_int_equal(actl_engine_spawn(f->engine, 0, &KEEPER, NULL, 0, &keeper), ACTL_OK);
  assert_int_equal(actl_lua_spawn(f->engine, 0, "main", ACTL_VALUES(actl_who(keeper)), &pid),
                   ACTL_OK);
  assert_int_equal(actl_lua_spawn(f->engine, 0, "gets", NULL, 0, gets), ACTL_OK);
  assert_int_equal(actl_engine_run(f->engine), ACTL_OK);
  assert_true(kept_size > 100);
}

static void send_bytes(struct fixture *f, actl_pid to, const char *bytes, uint32_t size) {
  actl_value value = actl_bytes(bytes, size);
  value.type = ACTL_TABLE;
  assert_int_equal(actl_engine_send(f->engine, to, &value, 1), ACTL_OK);
}

static void a_table_kept_by_c_arrives_whole(void **state) {
  (void)state;
  struct fixture f = {0};
  actl_pid gets;
  open_with_table(&f, &gets);
  n_tables = 0;
  is_whole = false;
  send_bytes(&f, gets, kept, kept_size);
  assert_int_equal(actl_engine_run(f.engine), ACTL_OK);
  assert_int_equal(n_tables, 1);
  assert_true(is_whole);
  fixture_close(&f, NULL);
}

/* A table cut short at each place: the receiver fails, and the engine does not. */
static void a_table_cut_short_fails_its_receiver(void **state) {
  (void)state;
  struct fixture f = {0};
  actl_pid gets;
  open_with_table(&f, &gets);
  n_tables = 0;
  for (uint32_t size = 0; size < kept_size; size++) {
    char *cut = malloc(size + 1); /* its own block, so that reading on is noticed */
    assert_non_null(cut);
    memcpy(cut, kept, size);
    assert_int_equal(actl_lua_spawn(f.engine, 0, "gets", NULL, 0, &gets), ACTL_OK);
    send_bytes(&f, gets, cut, size);
    free(cut);
  }
  assert_int_equal(actl_engine_run(f.engine), ACTL_OK);
  assert_int_equal(n_tables, 0);
  assert_true(fixture_logged(&f, "the bytes of a table in a message are not valid"));
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, kept_size);
}

/* Any byte changed to anything: what comes of it is a value or a failure. */
static void a_damaged_table_is_a_value_or_a_failure(void **state) {
  (void)state;
  seeds_need_time(25);
  struct fixture f = {0};
  actl_pid gets;
  open_with_table(&f, &gets);
  n_tables = n_others = 0;
  uint32_t random = 12345, n_sent = 20000;
  char damaged[sizeof kept];
  for (uint32_t i = 0; i < n_sent; i++) {
    memcpy(damaged, kept, kept_size);
    for (int k = 0; k < 3; k++) {
      random = random * 1664525u + 1013904223u;
      damaged[(random >> 8) % kept_size] = (char)(random >> 24);
    }
    assert_int_equal(actl_lua_spawn(f.engine, 0, "gets", NULL, 0, &gets), ACTL_OK);
    send_bytes(&f, gets, damaged, kept_size);
    if (i % 100 == 99) assert_int_equal(actl_engine_run(f.engine), ACTL_OK);
  }
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed + (uint64_t)n_tables + (uint64_t)n_others, n_sent);
  assert_true(stats.failed > 0);
  assert_true(n_tables > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_kept_by_c_arrives_whole),
      cmocka_unit_test(a_table_cut_short_fails_its_receiver),
      cmocka_unit_test(a_damaged_table_is_a_value_or_a_failure),
  };
  return seeds_main(tests);
}
