/*
 * pid.c - pids in Lua: light userdata with one metatable for the type.
 *
 * All light userdata share it, so each method looks at the top bit, which no address has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "behavior.h"
#include "machine.h"
#include "module.h"
#include "values.h"

#include <lauxlib.h>

static int pid_tostring(lua_State *L) {
  uint64_t bits = actl__lua_pid_at(L, 1).bits;
  const char *sentinel = actl__lua_sentinel_name(L, 1);
  if (sentinel != NULL) {
    lua_pushstring(L, sentinel);
  } else if (bits == 0) {
    lua_pushfstring(L, "userdata: %p", lua_touserdata(L, 1));
  } else {
    /* The layout, from the bottom: 22 bits slot, 16 vat, 8 node, 16 generation. */
    lua_pushfstring(L, "pid<%I.%I.%I>", (lua_Integer)(bits >> 22 & 0xFFFF),
                    (lua_Integer)(bits & 0x3FFFFF), (lua_Integer)(bits >> 46 & 0xFFFF));
  }
  return 1;
}

static const luaL_Reg METHODS[] = {
    {"send", actl__lua_send}, {"ask", actl__lua_ask}, {"stop", actl__lua_stop},
    {"kill", actl__lua_kill}, {NULL, NULL},
};

void actl__lua_open_pid(lua_State *L) {
  lua_pushlightuserdata(L, NULL);
  lua_createtable(L, 0, 3);
  luaL_newlib(L, METHODS);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, pid_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "pid");
  lua_setfield(L, -2, "__name");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}
