/*
 * seeded.h - replacing functions of Lua's own that would vary from run to run.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_SEEDED_H
#define ACTL_LUA_SEEDED_H

#include <lua.h>

/* Takes `fn` for the function `name` of the table on top; the old one is its first upvalue. */
void actl__lua_replace(lua_State *L, const char *name, lua_CFunction fn);

/* Goes on as the function that this one has replaced: in the same frame, so that its errors name the
 * script's line, and what it is called there. */
int actl__lua_as_original(lua_State *L);

#endif
