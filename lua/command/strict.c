/*
 * strict.c - globals that cannot be assigned to once a file has been loaded.
 *
 *   _G (empty) --__index--> the globals
 *      \--__newindex--> an error with file and line, while loading an assignment
 *
 * Lua asks for __newindex only where a table has no such key, so the globals move to another table, and
 * _G itself stays empty: an assignment to one that is there is then seen too. rawset puts into _G what
 * it is given, which is found there first. What the file gives _G as a metatable is the other table's:
 * setmetatable and getmetatable see to that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/strict.h"

#include "actl_driver.h"
#include "actl_lua.h"

#include <lauxlib.h>

/* Upvalues of `assign`. */
enum { GLOBALS = 1, IS_LOADED, LOADER };

static bool may_assign(lua_State *L) {
  const bool *is_loaded = lua_touserdata(L, lua_upvalueindex(IS_LOADED));
  const actl_pid *loader = lua_touserdata(L, lua_upvalueindex(LOADER));
  if (is_loaded == NULL || *is_loaded) return false;
  actl_ctx *ctx = actl_lua_ctx(L);
  return ctx != NULL && actl_pid_equal(actl_self(ctx), *loader);
}

/* __newindex(_G, name, value) */
static int assign(lua_State *L) {
  lua_settop(L, 3);
  if (may_assign(L)) {
    lua_settable(L, lua_upvalueindex(GLOBALS));
    return 0;
  }
  luaL_where(L, 1);
  luaL_tolstring(L, 2, NULL);
  lua_pushfstring(
      L,
      "%sassignment to the global '%s' after loading (--strict); keep it in self or make "
      "it local",
      lua_tostring(L, -2), lua_tostring(L, -1));
  return lua_error(L);
}

/* Copies the entries of the table at `from` over those of the one at `to`. */
static void copy(lua_State *L, int from, int to) {
  lua_pushnil(L);
  while (lua_next(L, from)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

/* __pairs(_G); upvalues: the machine's `next`, and the globals. */
static int all(lua_State *L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_newtable(L);
  copy(L, lua_upvalueindex(2), 3);
  copy(L, 1, 3);
  return 2;
}

/* setmetatable(t, metatable) and getmetatable(t), for which the table of globals stands in for _G;
 * upvalues: Lua's function, and the globals. Lua's is called in this frame, so that its errors name
 * the caller. */
static int meta(lua_State *L) {
  bool has_argument = lua_gettop(L) > 0;
  lua_pushglobaltable(L);
  bool is_globals = has_argument && lua_rawequal(L, 1, -1);
  lua_pop(L, 1);
  if (is_globals) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_replace(L, 1);
  }
  int n = lua_tocfunction(L, lua_upvalueindex(1))(L);
  if (lua_rawequal(L, -1, lua_upvalueindex(2))) lua_pushglobaltable(L);
  return n;
}

/* Puts `meta` in the place of the global function `name`, in the table at `globals`, unless that is no
 * more Lua's: one without upvalues, or, with a seed, with nil as the only one. */
static void wrap(lua_State *L, int globals, const char *name) {
  lua_getfield(L, globals, name);
  if (!lua_iscfunction(L, -1)) return;
  if (lua_getupvalue(L, -1, 1) != NULL) {
    if (!lua_isnil(L, -1)) return;
    lua_pop(L, 1);
  }
  lua_pushvalue(L, globals);
  lua_pushcclosure(L, meta, 2);
  lua_setfield(L, globals, name);
}

/* Moves the entries of the globals table at `from` to the one at `to`, and its metatable. */
static void move(lua_State *L, int from, int to) {
  copy(L, from, to);
  lua_pushnil(L);
  while (lua_next(L, from)) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, from);
  }
  if (lua_getmetatable(L, from)) lua_setmetatable(L, to);
}

/* Pushes the metatable of _G. `next` is the machine's. */
static void push_metatable(lua_State *L, int globals, int next, const bool *is_loaded,
                           const actl_pid *loader) {
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, globals);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, globals);
  lua_pushlightuserdata(L, (void *)(uintptr_t)is_loaded);
  lua_pushlightuserdata(L, (void *)(uintptr_t)loader);
  lua_pushcclosure(L, assign, 3);
  lua_setfield(L, -2, "__newindex");
  lua_pushvalue(L, next);
  lua_pushvalue(L, globals);
  lua_pushcclosure(L, all, 2);
  lua_setfield(L, -2, "__pairs");
}

void actl__strict_seal(lua_State *L, const bool *is_loaded, const actl_pid *loader) {
  int top = lua_gettop(L), empty = top + 1, next = top + 2, globals = top + 3;
  luaL_checkstack(L, 10, NULL);
  lua_pushglobaltable(L);
  lua_getglobal(L, "next");
  lua_newtable(L);
  push_metatable(L, globals, next, is_loaded, loader);
  move(L, empty, globals);
  lua_setmetatable(L, empty);
  wrap(L, globals, "setmetatable");
  wrap(L, globals, "getmetatable");

  /* Functions that travel find Lua's own functions among the fields of this module. */
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, globals);
  lua_setfield(L, -2, LUA_GNAME);
  lua_settop(L, top);
}
