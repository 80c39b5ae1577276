/*
 * ask.c - actor.ask: the values in a row, or in one table together with options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "millis.h"
#include "module.h"
#include "options.h"
#include "values.h"
#include "wait.h"

#include <lauxlib.h>

/* ---- actor.ask{pid, ..., timeout = ms, n = count} ---- */

/* Pushes the field. */
static int get_field(lua_State *L, const char *name) {
  lua_pushstring(L, name);
  return lua_rawget(L, 1);
}

/* Milliseconds, or 0 for the engine's default. Nothing can be answered in no time at all, so the least
 * that can be asked for is 1. */
static uint64_t take_timeout(lua_State *L) {
  uint64_t ms = 0;
  if (get_field(L, "timeout") != LUA_TNIL) {
    ms = actl__lua_check_wait(L, -1, "actor.ask: timeout");
    if (ms == 0) ms = 1;
  }
  lua_pop(L, 1);
  return ms;
}

/* How many values the table has by its keys, and how many there would be without nils. */
static lua_Integer last_index(lua_State *L, lua_Integer *n_present) {
  lua_Integer last = 0;
  *n_present = 0;
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pop(L, 1);
    if (!lua_isinteger(L, -1)) continue;
    ++*n_present;
    if (lua_tointeger(L, -1) > last) last = lua_tointeger(L, -1);
  }
  return last;
}

/* How many elements are meant, the pid among them. A nil in a table leaves no trace at its end, and is
 * most often a mistake before that: where one is meant, n says so, as table.pack has it. */
static int count_elements(lua_State *L) {
  lua_Integer n_present;
  lua_Integer n = last_index(L, &n_present);
  if (get_field(L, "n") != LUA_TNIL) {
    if (!lua_isinteger(L, -1)) {
      luaL_error(L, "actor.ask: n must be an integer, it is %s", actl__lua_type_phrase(L, -1));
    }
    if (lua_tointeger(L, -1) < n) luaL_error(L, "actor.ask: there is a value at %I, beyond n", n);
    n = lua_tointeger(L, -1);
  } else if (n_present != n) {
    luaL_error(L,
               "actor.ask: a value before index %I is nil; to send nil give n, how many values "
               "there are with the pid",
               n);
  }
  if (n > ACTL_VALUES_MAX + 1) {
    luaL_error(L, "%I values cannot be sent in one message, %d at most", n - 1, ACTL_VALUES_MAX);
  }
  lua_pop(L, 1);
  return (int)n;
}

/* Puts the pid and the values in the place of the table. */
static uint64_t unpack(lua_State *L) {
  static const char *const OPTIONS[] = {"timeout", "n", NULL};
  actl__lua_check_options(L, 1, "actor.ask", LUA_MAXINTEGER, OPTIONS);
  uint64_t timeout = take_timeout(L);
  int n = count_elements(L);
  luaL_checkstack(L, n + LUA_MINSTACK, NULL);
  for (int i = 1; i <= n; i++) lua_rawgeti(L, 1, i);
  lua_remove(L, 1);
  return timeout;
}

/* ---- Asking ---- */

/* Goes on with what the handler waited for: the answer's values, or nil and the reason. */
static int ask_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  struct machine *m = actl__lua_machine(L);
  if (m->resumed.status != ACTL_OK) return actl__lua_push_failure(L, m->resumed.status);
  if (m->resumed.msg == NULL) return 0;

  actl_cursor cursor = actl_msg_begin(m->resumed.msg);
  return actl__lua_push_rest(L, m, &cursor);
}

int actl__lua_ask(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  if (lua_istable(L, 1) && lua_gettop(L) > 1) {
    luaL_error(L, "actor.ask: a table as the first argument is to be the only one");
  }
  uint64_t timeout = lua_istable(L, 1) ? unpack(L) : 0;
  actl_pid to = actl__lua_check_pid(L, "actor.ask");
  actl__lua_wait_check(L, m, "actor.ask");
  actl__lua_wait_prepare(L, m);

  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");
  actl_status status = actl_ask_wait(m->ctx, to, values, (size_t)n, timeout, m->runner);
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  if (status != ACTL_OK) return actl__lua_push_failure(L, status);

  m->in_delivery = false;
  return actl__lua_wait_stop(L, m, ask_continue);
}
