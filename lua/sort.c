/*
 * sort.c - table.sort with a seed. Lua's own looks at the clock where an array is large and divides badly.
 *
 * Quicksort (Hoare, 1961) with the median of three (Singleton, 1969); the smaller part is sorted first, so
 * that recursion is bounded by the logarithm. Where the parts are very uneven the pivot is taken at
 * random, by numbers that are the same in each call. As in Lua's own, an order function that contradicts
 * itself is found only where it leads out of the array.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <lualib.h>
#include <limits.h>

enum {
  ARRAY = 1,
  FUNCTION,   /* of the order, or nil */
  LARGE = 100 /* elements: below, any pivot will do */
};

struct sort {
  lua_State *L;
  uint32_t random;
};

/* Whether the value at `a` is to come before the one at `b`, both negative indices. */
static bool is_before(lua_State *L, int a, int b) {
  if (lua_isnil(L, FUNCTION)) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, FUNCTION);
  lua_pushvalue(L, a - 1);
  lua_pushvalue(L, b - 2);
  lua_call(L, 2, 1);
  bool is = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is;
}

/* Stores the two values on top at `i` and `j`: the topmost at `i`. Pops them. */
static void store(lua_State *L, lua_Integer i, lua_Integer j) {
  lua_seti(L, ARRAY, i);
  lua_seti(L, ARRAY, j);
}

/* Has the elements at `i` < `j` change places if they are in the wrong order. */
static void order(lua_State *L, lua_Integer i, lua_Integer j) {
  lua_geti(L, ARRAY, i);
  lua_geti(L, ARRAY, j);
  if (is_before(L, -1, -2)) {
    store(L, i, j);
  } else {
    lua_pop(L, 2);
  }
}

static void swap(lua_State *L, lua_Integer i, lua_Integer j) {
  lua_geti(L, ARRAY, i);
  lua_geti(L, ARRAY, j);
  store(L, i, j);
}

static void complain(lua_State *L) { luaL_error(L, "invalid order function for sorting"); }

/* Divides low .. high, of which the first is not after, and the last not before the pivot. The pivot is
 * on top of the stack and at high - 1. Returns where it is in the end, and pops it. */
static lua_Integer divide(lua_State *L, lua_Integer low, lua_Integer high) {
  lua_Integer i = low, j = high - 1;
  for (;;) {
    while (lua_geti(L, ARRAY, ++i), is_before(L, -1, -2)) {
      if (i == high - 1) complain(L);
      lua_pop(L, 1);
    }
    while (lua_geti(L, ARRAY, --j), is_before(L, -3, -1)) {
      if (j < i) complain(L);
      lua_pop(L, 1);
    }
    if (j < i) break;
    store(L, i, j);
  }
  lua_pop(L, 3);
  swap(L, high - 1, i);
  return i;
}

static uint32_t draw(struct sort *sort) {
  sort->random = sort->random * 1664525u + 1013904223u;
  return sort->random >> 8;
}

static void sort_part(struct sort *sort, lua_Integer low, lua_Integer high) {
  lua_State *L = sort->L;
  bool is_uneven = false;
  while (low < high) {
    lua_Integer n = high - low, middle = low + n / 2;
    if (is_uneven) middle = low + n / 4 + draw(sort) % (n / 2);
    order(L, low, high);
    if (n == 1) return;
    order(L, low, middle);
    order(L, middle, high);
    if (n == 2) return;

    swap(L, middle, high - 1);
    lua_geti(L, ARRAY, high - 1);
    lua_Integer at = divide(L, low, high);
    bool is_first_smaller = at - low < high - at;
    lua_Integer smaller = is_first_smaller ? at - low : high - at;
    if (is_first_smaller) {
      sort_part(sort, low, at - 1);
      low = at + 1;
    } else {
      sort_part(sort, at + 1, high);
      high = at - 1;
    }
    is_uneven = n > LARGE && smaller < n / 128;
  }
}

/* A table, or what behaves as one. */
static void check_array(lua_State *L) {
  static const char *const METHODS[] = {"__index", "__newindex", "__len"};
  for (int i = 0; i < 3 && lua_type(L, ARRAY) != LUA_TTABLE; i++) {
    if (luaL_getmetafield(L, ARRAY, METHODS[i]) == LUA_TNIL) {
      luaL_checktype(L, ARRAY, LUA_TTABLE);
    }
    lua_pop(L, 1);
  }
}

/* (list [, function]) */
static int sort(lua_State *L) {
  check_array(L);
  lua_Integer n = luaL_len(L, ARRAY);
  if (n > 1) {
    luaL_argcheck(L, n < INT_MAX, ARRAY, "array too big");
    if (!lua_isnoneornil(L, FUNCTION)) luaL_checktype(L, FUNCTION, LUA_TFUNCTION);
    lua_settop(L, FUNCTION);
    luaL_checkstack(L, 40, "");
    struct sort sort = {L, 1};
    sort_part(&sort, 1, n);
  }
  return 0;
}

void actl__lua_open_sort(lua_State *L) {
  lua_getglobal(L, LUA_TABLIBNAME);
  lua_pushcfunction(L, sort);
  lua_setfield(L, -2, "sort");
  lua_pop(L, 1);
}
