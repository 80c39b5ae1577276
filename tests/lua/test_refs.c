/*
 * test_refs.c - the numbers that stand for Lua values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"
#include "machine.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 100 * REF_SLOTS };

static const char MAIN[] =
    "local actor = require 'actor'\n"
    "actor.behavior('main', { init = function() host() end, receive = {} })\n";

static uint32_t refs[MANY];
static bool is_right;

static uint32_t count_blocks(const struct machine *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->refs.n_blocks; i++) n += m->refs.blocks[i] != NULL;
  return n;
}

static void keep_numbers(lua_State *L, struct machine *m) {
  for (int i = 0; i < MANY; i++) {
    lua_pushinteger(L, i);
    refs[i] = actl__lua_ref(L, m);
  }
}

static bool has_number(lua_State *L, struct machine *m, int i) {
  actl__lua_ref_push(L, m, refs[i]);
  bool is = lua_tointeger(L, -1) == i;
  lua_pop(L, 1);
  return is;
}

static int values_are_found_again(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  keep_numbers(L, m);
  is_right = true;
  for (int i = 0; i < MANY; i++) is_right = is_right && refs[i] != 0 && has_number(L, m, i);
  return 0;
}

static int blocks_are_given_back(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  uint32_t before = count_blocks(m);
  is_right = true;
  for (int round = 0; round < 3; round++) {
    keep_numbers(L, m);
    uint32_t epoch = m->refs.epoch;
    is_right = is_right && count_blocks(m) >= before + 99;
    /* Every other one first, then backwards, then in order. */
    for (int i = 0; i < MANY; i++) {
      int at = round == 1 ? MANY - 1 - i : i;
      if (round == 0) at = i < MANY / 2 ? 2 * i : 2 * (i - MANY / 2) + 1;
      actl__lua_unref(m, refs[at]);
    }
    is_right = is_right && count_blocks(m) <= before + 1 && m->refs.epoch > epoch;
  }
  return 0;
}

static int functions_are_shared(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  luaL_loadstring(L, "return 1");
  luaL_loadstring(L, "return 2");
  int one = lua_gettop(L) - 1;
  uint32_t a = actl__lua_ref_function(L, m, one), b = actl__lua_ref_function(L, m, one + 1);
  is_right = a != b;
  for (int i = 0; i < 1000; i++) is_right = is_right && actl__lua_ref_function(L, m, one) == a;
  for (int i = 0; i < 1000; i++) actl__lua_unref(m, a);
  actl__lua_ref_push(L, m, a);
  is_right = is_right && lua_rawequal(L, -1, one); /* one holder is left */
  actl__lua_unref(m, a);
  actl__lua_ref_push(L, m, a);
  is_right = is_right && lua_isnil(L, -1);
  is_right = is_right && actl__lua_ref_function(L, m, one + 1) == b;
  return 0;
}

static int nothing_is_ignored(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  actl__lua_unref(m, 0);
  is_right = true;
  return 0;
}

static void run(lua_CFunction body) {
  struct fixture f = {.script = MAIN, .host = body};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  is_right = false;
  fixture_run(&f, NULL, 0);
  actl_stats stats;
  fixture_close(&f, &stats);
  assert_int_equal(stats.failed, 0);
  assert_true(is_right);
}

static void a_value_is_found_by_its_number(void **state) {
  (void)state;
  run(values_are_found_again);
}

static void empty_blocks_are_given_back(void **state) {
  (void)state;
  run(blocks_are_given_back);
}

static void holders_of_one_function_share_its_number(void **state) {
  (void)state;
  run(functions_are_shared);
}

static void zero_stands_for_nothing(void **state) {
  (void)state;
  run(nothing_is_ignored);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_value_is_found_by_its_number),
      cmocka_unit_test(empty_blocks_are_given_back),
      cmocka_unit_test(holders_of_one_function_share_its_number),
      cmocka_unit_test(zero_stands_for_nothing),
  };
  return seeds_main(tests);
}
