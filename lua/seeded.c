/*
 * seeded.c - with a seed: Lua's own functions that would vary from run to run, replaced.
 *
 * Time comes from the engine's clock. Where only an argument is missing, the function itself is
 * called with it, as a C function of the same frame: so its errors name the script's line, and what
 * it is called there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <lualib.h>

/* ---- Replacing ---- */

/* Goes on as the function that this one has replaced, its first upvalue. */
static int as_original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

/* Takes `fn` for the function `name` of the table on top; the old one is its first upvalue. */
static void replace(lua_State *L, const char *name, lua_CFunction fn) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, fn, 1);
  lua_setfield(L, -2, name);
}

/* ---- Time ---- */

static void push_seconds(lua_State *L) {
  uint64_t now_ns = actl_wall_ns(actl__lua_machine(L)->ctx);
  lua_pushinteger(L, (lua_Integer)(now_ns / 1000000000));
}

static int os_time(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) return as_original(L);
  push_seconds(L);
  return 1;
}

static int os_date(lua_State *L) {
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    push_seconds(L);
  }
  return as_original(L);
}

/* Seconds since the start, in place of those that the process has worked. */
static int os_clock(lua_State *L) {
  const struct machine *m = actl__lua_machine(L);
  lua_pushnumber(L, (lua_Number)(actl_now_ns(m->ctx) - m->binding->start_ns) / 1e9);
  return 1;
}

static void open_time(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  if (m->binding->start_ns == 0) m->binding->start_ns = actl_now_ns(m->ctx);
  lua_getglobal(L, LUA_OSLIBNAME);
  replace(L, "time", os_time);
  replace(L, "date", os_date);
  replace(L, "clock", os_clock);
  lua_pop(L, 1);
}

void actl__lua_open_seeded(lua_State *L) { open_time(L); }
