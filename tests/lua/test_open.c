/*
 * test_open.c - actl_lua.h: attaching Lua to an engine, and what a host module is given.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char MAIN[] = "local actor = require 'actor'\n"
                           "actor.behavior('main', { init = function(self, ...) host(...) end,\n"
                           "  receive = {} })\n";

static int n_calls;
static actl_engine *engine_seen;
static actl_ctx *ctx_seen;
static uint64_t self_seen;
static char text_seen[64];

static int host_notes(lua_State *L) {
  n_calls++;
  engine_seen = actl_lua_engine(L);
  ctx_seen = actl_lua_ctx(L);
  self_seen = ctx_seen != NULL ? actl_self(ctx_seen).bits : 0;
  text_seen[0] = '\0';
  for (int i = 1; i <= lua_gettop(L); i++) {
    strncat(text_seen, luaL_tolstring(L, i, NULL), sizeof text_seen - strlen(text_seen) - 1);
    strncat(text_seen, " ", sizeof text_seen - strlen(text_seen) - 1);
    lua_pop(L, 1);
  }
  return 0;
}

static void an_engine_has_one_driver(void **state) {
  (void)state;
  struct fixture f = {0};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  assert_int_equal(actl_lua_open(f.engine, NULL), ACTL_INVALID);
  fixture_close(&f, NULL);
}

static void a_config_may_be_missing(void **state) {
  (void)state;
  actl_engine *engine;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  assert_int_equal(actl_lua_open(engine, NULL), ACTL_OK);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  actl_engine_free(engine);
}

static void values_from_the_host_reach_init(void **state) {
  (void)state;
  struct fixture f = {.script = MAIN, .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  n_calls = 0;
  fixture_run(&f, ACTL_VALUES(actl_int(1), actl_float(2.5), actl_text("three"), actl_bool(true)));
  assert_int_equal(n_calls, 1);
  assert_string_equal(text_seen, "1 2.5 three true ");
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, 0);
}

static void a_host_function_is_given_engine_and_ctx(void **state) {
  (void)state;
  struct fixture f = {.script = MAIN, .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  engine_seen = NULL;
  ctx_seen = NULL;
  fixture_run(&f, NULL, 0);
  assert_ptr_equal(engine_seen, f.engine);
  assert_non_null(ctx_seen);
  assert_true(self_seen >> 63);
  fixture_close(&f, NULL);
}

static void no_ctx_is_given_while_a_machine_is_opened(void **state) {
  (void)state;
  static const char SCRIPT[] =
      "host() local actor = require 'actor'\n"
      "ok, why = pcall(actor.spawn, function() end)\n"
      "actor.behavior('main', { init = function() assert(why:find 'no actor is running') end,\n"
      "  receive = {} })\n";
  struct fixture f = {.script = SCRIPT, .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  fixture_run(&f, NULL, 0);
  assert_ptr_equal(engine_seen, f.engine);
  assert_null(ctx_seen);
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, 0);
}

static void a_foreign_state_has_neither(void **state) {
  (void)state;
  lua_State *L = luaL_newstate();
  assert_null(actl_lua_engine(L));
  assert_null(actl_lua_ctx(L));
  lua_close(L);
}

static void an_unknown_behavior_ends_the_actor_at_birth(void **state) {
  (void)state;
  struct fixture f = {.script = MAIN, .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  actl_pid pid;
  assert_int_equal(actl_lua_spawn(f.engine, 0, "nobody", NULL, 0, &pid), ACTL_OK);
  assert_int_equal(actl_engine_run(f.engine), ACTL_OK);
  actl_stats stats;
  assert_true(fixture_logged(&f, "no behavior is called \"nobody\" in this vat"));
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, 1);
}

static void an_error_while_opening_ends_the_vats_actors(void **state) {
  (void)state;
  struct fixture f = {.script = "error({}, 0)", .vats = 2};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  fixture_run(&f, NULL, 0);
  assert_true(fixture_logged(&f, "(error object is a table value)"));
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.alive, 0);
}

static void a_wrong_place_and_too_many_values_are_refused(void **state) {
  (void)state;
  struct fixture f = {.script = MAIN, .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  actl_value values[ACTL_VALUES_MAX] = {{0}};
  actl_pid pid = {7};
  assert_int_equal(actl_lua_spawn(f.engine, 9, "main", NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(actl_lua_spawn(f.engine, 0, "main", values, ACTL_VALUES_MAX, &pid),
                   ACTL_INVALID);
  assert_int_equal(pid.bits, 7);
  fixture_close(&f, NULL);
}

static void two_engines_do_not_know_of_each_other(void **state) {
  (void)state;
  struct fixture one = {.script = MAIN, .host = host_notes};
  struct fixture two = {.script = MAIN, .host = host_notes};
  assert_int_equal(fixture_open(&one), ACTL_OK);
  assert_int_equal(fixture_open(&two), ACTL_OK);
  fixture_run(&one, ACTL_VALUES(actl_text("one")));
  assert_ptr_equal(engine_seen, one.engine);
  fixture_run(&two, ACTL_VALUES(actl_text("two")));
  assert_ptr_equal(engine_seen, two.engine);
  fixture_close(&one, NULL);
  fixture_run(&two, ACTL_VALUES(actl_text("again")));
  assert_string_equal(text_seen, "again ");
  fixture_close(&two, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_engine_has_one_driver),
      cmocka_unit_test(a_config_may_be_missing),
      cmocka_unit_test(values_from_the_host_reach_init),
      cmocka_unit_test(a_host_function_is_given_engine_and_ctx),
      cmocka_unit_test(no_ctx_is_given_while_a_machine_is_opened),
      cmocka_unit_test(a_foreign_state_has_neither),
      cmocka_unit_test(an_unknown_behavior_ends_the_actor_at_birth),
      cmocka_unit_test(an_error_while_opening_ends_the_vats_actors),
      cmocka_unit_test(a_wrong_place_and_too_many_values_are_refused),
      cmocka_unit_test(two_engines_do_not_know_of_each_other),
  };
  return seeds_main(tests);
}
