/*
 * millis.c - times, as scripts give them. See millis.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "millis.h"

#include "actl.h"
#include "values.h"

#include <lauxlib.h>
#include <math.h>

/* Who waits for longer than that waits for ever. */
static const double THOUSAND_YEARS = 1000 * 365.2425 * 24 * 3600 * 1000;

static double check(lua_State *L, int index, const char *what, double least) {
  if (lua_type(L, index) != LUA_TNUMBER) {
    luaL_error(L, "%s: milliseconds expected, got %s", what, actl__lua_type_phrase(L, index));
  }
  double ms = lua_tonumber(L, index);
  if (isnan(ms)) luaL_error(L, "%s: milliseconds expected, got NaN", what);
  if (ms < 0 || ceil(ms) < least) {
    luaL_error(L, "%s: milliseconds from %d on expected, got %s", what, (int)least,
               actl__lua_tolstring(L, index, NULL));
  }
  return ceil(ms);
}

uint64_t actl__lua_check_wait(lua_State *L, int index, const char *what) {
  double ms = check(L, index, what, 0);
  return ms >= THOUSAND_YEARS ? ACTL_FOREVER : (uint64_t)ms;
}

uint64_t actl__lua_check_time(lua_State *L, int index, const char *what, uint64_t least) {
  double ms = check(L, index, what, (double)least);
  if (ms >= THOUSAND_YEARS) luaL_error(L, "%s: less than a thousand years expected", what);
  return (uint64_t)ms;
}
