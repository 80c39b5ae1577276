/*
 * options.c - tables of options. See options.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "options.h"

#include "values.h"

#include <lauxlib.h>
#include <string.h>

static int refuse(lua_State *L, const char *function, const char *const *names) {
  const char *shown = actl__lua_tolstring(L, -1, NULL);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, names[1] == NULL ? "there is only " : "there are ");
  for (int i = 0; names[i] != NULL; i++) {
    if (i > 0) luaL_addstring(&text, names[i + 1] == NULL ? " and " : ", ");
    luaL_addchar(&text, '"');
    luaL_addstring(&text, names[i]);
    luaL_addchar(&text, '"');
  }
  luaL_pushresult(&text);
  return luaL_error(L, "%s: option \"%s\" is not known; %s", function, shown, lua_tostring(L, -1));
}

static bool is_known(lua_State *L, lua_Integer n_values, const char *const *names) {
  if (lua_isinteger(L, -1)) {
    return lua_tointeger(L, -1) >= 1 && lua_tointeger(L, -1) <= n_values;
  }
  if (lua_type(L, -1) != LUA_TSTRING) return false;
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp(lua_tostring(L, -1), names[i]) == 0) return true;
  }
  return false;
}

void actl__lua_check_options(lua_State *L, int index, const char *function, lua_Integer n_values,
                             const char *const *names) {
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    if (!is_known(L, n_values, names)) refuse(L, function, names);
  }
}

bool actl__lua_check_flag(lua_State *L, int index, const char *function, const char *name) {
  lua_pushstring(L, name);
  int type = lua_rawget(L, index);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN) {
    luaL_error(L, "%s: %s must be true or false, it is %s", function, name,
               actl__lua_type_phrase(L, -1));
  }
  bool is_set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}
