/*
 * shown.c - values as text, with a seed: what Lua shows as an address is shown as a place in the
 * machine's memory, the lower 32 bits of the address, which repeat: `table: 0x00024e30`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "seeded.h"
#include "values.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

/* Pushes the place of what is at `index`. A C function that no library of ours has made an object has
 * none. */
static const char *push_place(lua_State *L, int index) {
  if (lua_iscfunction(L, index)) {
    if (lua_getupvalue(L, index, 1) == NULL) return lua_pushliteral(L, "C");
    lua_pop(L, 1);
  }
  char text[16];
  snprintf(text, sizeof text, "0x%08x", (unsigned)(uintptr_t)lua_topointer(L, index));
  return lua_pushstring(L, text);
}

static bool has_place(lua_State *L, int index) {
  switch (lua_type(L, index)) {
  case LUA_TTABLE:
  case LUA_TFUNCTION:
  case LUA_TUSERDATA:
  case LUA_TTHREAD: return true;
  default: return false;
  }
}

const char *actl__lua_tolstring(lua_State *L, int index, size_t *size) {
  if (!actl__lua_machine(L)->is_seeded || !has_place(L, index)) {
    return luaL_tolstring(L, index, size);
  }
  index = lua_absindex(L, index);
  if (luaL_callmeta(L, index, "__tostring")) {
    if (!lua_isstring(L, -1)) luaL_error(L, "'__tostring' must return a string");
    return lua_tolstring(L, -1, size);
  }
  int type = luaL_getmetafield(L, index, "__name");
  const char *kind = type == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, index);
  lua_pushfstring(L, "%s: %s", kind, push_place(L, index));
  lua_remove(L, -2);
  if (type != LUA_TNIL) lua_remove(L, -2);
  return lua_tolstring(L, -1, size);
}

/* ---- tostring and print ---- */

static int to_string(lua_State *L) {
  luaL_checkany(L, 1);
  actl__lua_tolstring(L, 1, NULL);
  return 1;
}

static int print(lua_State *L) {
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) {
    size_t size;
    const char *text = actl__lua_tolstring(L, i, &size);
    if (i > 1) lua_writestring("\t", 1);
    lua_writestring(text, size);
    lua_pop(L, 1);
  }
  lua_writeline();
  return 0;
}

/* ---- string.format ---- */

/* The letter that ends the first conversion from `at` on; NULL: there is none. "%%" is none. */
static const char *find_conversion(const char *at, const char *end) {
  while ((at = memchr(at, '%', (size_t)(end - at))) != NULL && ++at < end) {
    if (*at != '%') {
      while (at < end && strchr("-+ #0123456789.", *at) != NULL && *at != '\0') at++;
      return at < end ? at : NULL;
    }
    at++;
  }
  return NULL;
}

/* Puts the text in the place of the argument, where Lua's own would show an address. */
static void show_argument(lua_State *L, int index, char conversion) {
  if (conversion == 'p') {
    if (lua_topointer(L, index) == NULL) {
      lua_pushliteral(L, "(null)");
    } else {
      push_place(L, index);
    }
  } else if (conversion == 's' && has_place(L, index)) {
    actl__lua_tolstring(L, index, NULL);
  } else {
    return;
  }
  lua_replace(L, index);
}

/* The format once more, with %s for each %p. */
static void replace_format(lua_State *L) {
  size_t size;
  const char *format = lua_tolstring(L, 1, &size), *end = format + size, *at = format;
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (const char *c; (c = find_conversion(at, end)) != NULL; at = c + 1) {
    luaL_addlstring(&text, at, (size_t)(c - at));
    luaL_addchar(&text, *c == 'p' ? 's' : *c);
  }
  luaL_addlstring(&text, at, (size_t)(end - at));
  luaL_pushresult(&text);
  lua_replace(L, 1);
}

static int format(lua_State *L) {
  size_t size;
  const char *at = luaL_checklstring(L, 1, &size), *end = at + size;
  int n = lua_gettop(L), i = 2;
  bool has_pointers = false;
  while (i <= n && (at = find_conversion(at, end)) != NULL) {
    if (*at == 'p') has_pointers = true;
    show_argument(L, i++, *at++);
  }
  if (has_pointers) replace_format(L);
  return actl__lua_as_original(L);
}

/* ---- Files ---- */

static int file_tostring(lua_State *L) {
  const luaL_Stream *file = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  if (file->closef == NULL) {
    lua_pushliteral(L, "file (closed)");
  } else {
    lua_pushfstring(L, "file (%s)", push_place(L, 1));
  }
  return 1;
}

void actl__lua_open_shown(lua_State *L) {
  lua_register(L, "tostring", to_string);
  lua_register(L, "print", print);
  lua_getglobal(L, LUA_STRLIBNAME);
  actl__lua_replace(L, "format", format);
  luaL_getmetatable(L, LUA_FILEHANDLE);
  lua_pushcfunction(L, file_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 2);
}
