/*
 * timer.c - actor.after, actor.every, actor.cancel. A timer is an integer to scripts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "millis.h"
#include "module.h"
#include "options.h"
#include "values.h"

#include <lauxlib.h>

static int started(lua_State *L, actl_status status, actl_timer timer, const char *function) {
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  if (status != ACTL_OK) return luaL_error(L, "%s: %s", function, actl_status_text(status));
  lua_pushinteger(L, (lua_Integer)timer.bits);
  return 1;
}

/* (ms, ...) */
int actl__lua_after(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "actor.after");
  uint64_t ms = actl__lua_check_time(L, 1, "actor.after", 0);
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");

  actl_timer timer = {0};
  actl_status status = actl_after(m->ctx, ms, values, (size_t)n, &timer);
  return started(L, status, timer, "actor.after");
}

/* Puts the milliseconds in the place of the table. */
static unsigned take_options(lua_State *L) {
  static const char *const OPTIONS[] = {"delay", "background", NULL};
  actl__lua_check_options(L, 1, "actor.every", 1, OPTIONS);
  unsigned options = 0;
  if (actl__lua_check_flag(L, 1, "actor.every", "delay")) options |= ACTL_TIMER_DELAY;
  if (actl__lua_check_flag(L, 1, "actor.every", "background")) options |= ACTL_TIMER_BACKGROUND;
  lua_rawgeti(L, 1, 1);
  lua_replace(L, 1);
  return options;
}

/* (ms, ...) or ({ms, delay = true, background = true}, ...) */
int actl__lua_every(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "actor.every");
  unsigned options = lua_istable(L, 1) ? take_options(L) : 0;
  uint64_t ms = actl__lua_check_time(L, 1, "actor.every", 1);
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");

  actl_timer timer = {0};
  actl_status status = actl_every(m->ctx, ms, options, values, (size_t)n, &timer);
  return started(L, status, timer, "actor.every");
}

int actl__lua_cancel(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "actor.cancel");
  if (!lua_isinteger(L, 1)) {
    return luaL_error(L, "actor.cancel: a timer expected, got %s", actl__lua_type_phrase(L, 1));
  }
  actl_timer timer = {(uint64_t)lua_tointeger(L, 1)};
  lua_pushboolean(L, actl_cancel(m->ctx, timer) == ACTL_OK);
  return 1;
}
