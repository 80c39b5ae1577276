/*
 * carry.c - functions that are sent to another vat as behaviors.
 *
 * A function travels as its bytecode and its upvalues. What belongs to the machine and not to the
 * function is not copied but found again on the other side:
 *
 *   the globals                       the other machine's globals
 *   a loaded module                   the module of that name (required there if need be)
 *   a field of a loaded module        the same field there: string.format, a module's function
 *   a behavior, a native behavior     the one of that name
 *
 * Other Lua functions, and tables with functions in them, are copied too. Two functions that share
 * a local variable each get their own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "behavior.h"
#include "codec.h"
#include "machine.h"
#include "scatter.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

static void put_text(struct encoder *e, const char *text) {
  actl__lua_encode_text(e, text, strlen(text));
}

/* ---- Finding a value among the loaded modules ---- */

/* Whether a field of module `name` may stand for the value at `index`. The fields of _G are the
 * script's own globals, which the other machine need not have, except Lua's own functions. */
static bool is_field_of(lua_State *L, const char *name, int index) {
  return strcmp(name, LUA_GNAME) != 0 || lua_iscfunction(L, index);
}

/* Looks through the fields of the module on top for the value; true: the field's name is pushed. */
static bool find_field(lua_State *L, int index) {
  int module = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, module)) {
    if (lua_rawequal(L, -1, index) && lua_type(L, -2) == LUA_TSTRING) {
      lua_pop(L, 1);
      return true;
    }
    lua_pop(L, 1);
  }
  return false;
}

/* Encodes the value as a module, if it is one. `loaded` is the index of package.loaded. */
static bool encode_module(struct encoder *e, int loaded, int index) {
  lua_State *L = e->L;
  lua_pushnil(L);
  while (lua_next(L, loaded)) {
    if (lua_rawequal(L, -1, index) && lua_type(L, -2) == LUA_TSTRING) {
      actl__lua_encode_tag(e, CODE_MODULE);
      put_text(e, lua_tostring(L, -2));
      return true;
    }
    lua_pop(L, 1);
  }
  return false;
}

static bool encode_field(struct encoder *e, int loaded, int index) {
  lua_State *L = e->L;
  lua_pushnil(L);
  while (lua_next(L, loaded)) {
    bool is_module = lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1);
    if (is_module && is_field_of(L, lua_tostring(L, -2), index) && find_field(L, index)) {
      actl__lua_encode_tag(e, CODE_MEMBER);
      put_text(e, lua_tostring(L, -3));
      put_text(e, lua_tostring(L, -1));
      return true;
    }
    lua_pop(L, 1);
  }
  return false;
}

static bool encode_loaded(struct encoder *e, int index) {
  lua_State *L = e->L;
  int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (lua_rawequal(L, -1, index)) {
    lua_settop(L, top);
    actl__lua_encode_tag(e, CODE_GLOBALS);
    return true;
  }

  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  int loaded = lua_gettop(L);
  bool is_found = encode_module(e, loaded, index) || encode_field(e, loaded, index);
  lua_settop(L, top);
  return is_found;
}

/* ---- Functions ---- */

static int write_code(lua_State *L, const void *bytes, size_t size, void *ud) {
  (void)L;
  actl__lua_encode_put(ud, bytes, size);
  return 0;
}

static void encode_code(struct encoder *e, int index) {
  uint32_t size = 0;
  actl__lua_encode_put(e, &size, sizeof size);
  size_t start = e->m->codec.size;

  lua_pushvalue(e->L, index);
  lua_dump(e->L, write_code, e, 0);
  lua_pop(e->L, 1);
  size = (uint32_t)(e->m->codec.size - start);
  if (e->m->is_scattering && actl__lua_scatter_lacks(e->L, e->m->codec.bytes + start, size)) {
    actl__lua_encode_refuse(e, NULL, "a function of this vat's globals");
  }
  memcpy(e->m->codec.bytes + start - sizeof size, &size, sizeof size);
}

static void encode_function(struct encoder *e, int index, const struct step *up) {
  lua_State *L = e->L;
  if (lua_iscfunction(L, index)) actl__lua_encode_refuse(e, up, "a C function");
  if (e->depth >= CODEC_DEPTH_MAX) {
    actl__lua_encode_refuse(e, up, "a function nested deeper than 200");
  }
  if (actl__lua_encode_seen(e, lua_topointer(L, index))) return;

  lua_Debug info;
  lua_pushvalue(L, index);
  lua_getinfo(L, ">u", &info);
  actl__lua_encode_tag(e, CODE_FUNCTION);
  encode_code(e, index);
  actl__lua_encode_put(e, &info.nups, 1);

  e->depth++;
  for (int i = 1; i <= info.nups; i++) {
    struct step step = {up, 0, lua_getupvalue(L, index, i)};
    actl__lua_encode_value(e, lua_gettop(L), &step);
    lua_pop(L, 1);
  }
  e->depth--;
}

static bool encode_behavior(struct encoder *e, int index) {
  const struct behavior_object *object = actl__lua_behavior_at(e->L, index);
  if (object == NULL) return false;
  const struct behavior *behavior = object->behavior;
  if (e->m->is_scattering && behavior != NULL && behavior->number >= e->m->n_everywhere) {
    actl__lua_encode_refuse(e, NULL, "a behavior of this vat's");
  }
  actl__lua_encode_tag(e, object->native != NULL ? CODE_NATIVE : CODE_BEHAVIOR);
  put_text(e, actl__lua_behavior_name(object));
  return true;
}

void actl__lua_encode_carried(struct encoder *e, int index, const struct step *step) {
  luaL_checkstack(e->L, 12, NULL);
  if (encode_behavior(e, index) || encode_loaded(e, index)) return;
  switch (lua_type(e->L, index)) {
  case LUA_TFUNCTION: encode_function(e, index, step); return;
  case LUA_TTABLE:
    if (e->m->is_scattering && lua_getmetatable(e->L, index)) {
      actl__lua_encode_refuse(e, step, "a table without its metatable");
    }
    actl__lua_encode_table(e, index, step);
    return;
  default: actl__lua_encode_refuse(e, step, actl__lua_type_phrase(e->L, index));
  }
}

/* ---- On the other side ---- */

/* Pushes the next value, which must be a string. */
static const char *decode_text(struct decoder *d) {
  actl__lua_decode_value(d);
  if (lua_type(d->L, -1) != LUA_TSTRING) actl__lua_decode_malformed(d);
  return lua_tostring(d->L, -1);
}

/* Replaces the name on top by its module. */
static void find_module(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, -2);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_getglobal(L, "require");
    lua_pushvalue(L, -4);
    lua_call(L, 1, 1);
    lua_replace(L, -2);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static void decode_member(struct decoder *d) {
  lua_State *L = d->L;
  decode_text(d);
  find_module(L);
  const char *field = decode_text(d);
  if (!lua_istable(L, -2)) luaL_error(L, "a module in this vat has no field \"%s\"", field);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

struct code {
  const char *bytes;
  size_t size;
};

static const char *read_code(lua_State *L, void *ud, size_t *size) {
  (void)L;
  struct code *code = ud;
  *size = code->size;
  code->size = 0;
  return *size > 0 ? code->bytes : NULL;
}

static void decode_function(struct decoder *d) {
  lua_State *L = d->L;
  if (++d->depth > CODEC_DEPTH_MAX) actl__lua_decode_malformed(d);
  struct code code = {.size = actl__lua_decode_u32(d)};
  code.bytes = actl__lua_decode_take(d, code.size);
  if (lua_load(L, read_code, &code, "=carried", "b") != LUA_OK) lua_error(L);
  actl__lua_decode_note(d);

  int n_upvalues = (unsigned char)*actl__lua_decode_take(d, 1);
  for (int i = 1; i <= n_upvalues; i++) {
    actl__lua_decode_value(d);
    if (lua_setupvalue(L, -2, i) == NULL) actl__lua_decode_malformed(d);
  }
  d->depth--;
}

static void decode_behavior(struct decoder *d) {
  const char *name = decode_text(d);
  struct behavior *behavior = actl__lua_behavior_find(d->m, name);
  if (behavior == NULL) {
    luaL_error(d->L,
               "no behavior is called \"%s\" in this vat; what makes it must be loaded here too",
               name);
  }
  actl__lua_behavior_push(d->L, behavior, NULL);
  lua_remove(d->L, -2);
}

static void decode_native(struct decoder *d) {
  const char *name = decode_text(d);
  const actl_behavior *native = actl_engine_behavior(d->m->binding->engine, name);
  if (native == NULL) luaL_error(d->L, "no native behavior is called \"%s\"", name);
  actl__lua_behavior_push(d->L, NULL, native);
  lua_remove(d->L, -2);
}

void actl__lua_decode_carried(struct decoder *d, enum codec_tag tag) {
  luaL_checkstack(d->L, 12, NULL);
  switch (tag) {
  case CODE_FUNCTION: decode_function(d); return;
  case CODE_GLOBALS: lua_rawgeti(d->L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS); return;
  case CODE_MODULE:
    decode_text(d);
    find_module(d->L);
    return;
  case CODE_MEMBER: decode_member(d); return;
  case CODE_BEHAVIOR: decode_behavior(d); return;
  case CODE_NATIVE: decode_native(d); return;
  default: actl__lua_decode_malformed(d);
  }
}
