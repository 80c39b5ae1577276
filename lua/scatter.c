/*
 * scatter.c - with a seed that places every spawn: where an actor of this vat may be instead.
 *
 * What is near shares more with its maker than messages: globals, modules, behaviors, upvalues. Upvalues
 * are copied, and who relied on their being shared is to hear of it. But a vat that lacks a behavior or a
 * global is no fault of the script's: what is in one vat alone is not placed elsewhere, nor what has a
 * table with a metatable, which would not come with it. Everywhere are Lua's own globals, and what the
 * host has said to be (actl_lua_everywhere).
 *
 * SPDX-License-Identifier: MIT
 */
#include "scatter.h"

#include "actl_lua.h"
#include "behavior.h"

#include <lauxlib.h>
#include <string.h>

static const char KNOWN[] = "actor.everywhere"; /* in the registry: the names of globals, as keys */

/* ---- What is everywhere ---- */

/* Pushes the table that has the globals, which is not the one that scripts see where that is sealed. */
static void push_globals(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_GNAME);
  lua_remove(L, -2);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_pushglobaltable(L);
}

void actl__lua_scatter_begin(lua_State *L) {
  push_globals(L);
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, -3)) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -4);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, KNOWN);
  lua_pop(L, 1);
}

void actl_lua_everywhere(lua_State *L) {
  struct machine *m = actl__lua_machine_of(L);
  if (m == NULL || !m->scatters) return;
  luaL_checkstack(L, 8, NULL);
  actl__lua_scatter_begin(L);
  m->n_everywhere = m->n_behaviors;
}

/* ---- What a function needs ---- */

/* Whether the name is a constant in the code, as lua_dump writes one: its size plus 1 is before it, in
 * one byte where it is short. */
static bool has_constant(const char *code, size_t size, const char *name, size_t name_size) {
  const char *end = code + size;
  for (const char *at = code + 1; (at = memchr(at, name[0], (size_t)(end - at))) != NULL; at++) {
    if ((size_t)(end - at) < name_size) return false;
    bool is_whole = name_size >= 127 || (unsigned char)at[-1] == ((name_size + 1) | 128);
    if (is_whole && memcmp(at, name, name_size) == 0) return true;
  }
  return false;
}

bool actl__lua_scatter_lacks(lua_State *L, const char *code, size_t size) {
  int top = lua_gettop(L);
  bool is_missing = false;
  push_globals(L);
  lua_getfield(L, LUA_REGISTRYINDEX, KNOWN);
  lua_pushnil(L);
  while (!is_missing && lua_next(L, top + 1)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING) continue;
    lua_pushvalue(L, -1);
    bool is_known = lua_rawget(L, top + 2) != LUA_TNIL;
    lua_pop(L, 1);
    size_t name_size;
    const char *name = lua_tolstring(L, -1, &name_size);
    is_missing = !is_known && name_size > 0 && has_constant(code, size, name, name_size);
  }
  lua_settop(L, top);
  return is_missing;
}

/* (function) */
static int carry(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  actl__lua_codec_begin(m);
  actl__lua_carry(L, m, 1);
  return 0;
}

/* Whether the function at `index` can be sent, with all that it needs. */
static bool can_travel(lua_State *L, struct machine *m, int index) {
  lua_pushcfunction(L, carry);
  lua_pushvalue(L, index);
  m->is_scattering = true;
  bool can = lua_pcall(L, 1, 0, 0) == LUA_OK;
  m->is_scattering = false;
  if (!can) lua_pop(L, 1);
  return can;
}

/* ---- Placing ---- */

static bool draw(const struct machine *m, uint32_t *vat) {
  uint32_t n_vats = actl_engine_vats(m->binding->engine);
  uint32_t choice = actl_ctx_choose(m->ctx, ACTL_CHOICE_PLACE, n_vats + 1);
  *vat = choice - 1;
  return choice != 0;
}

/* What is placed travels with two values more. */
static bool has_room(lua_State *L) { return lua_gettop(L) - 1 <= ACTL_VALUES_MAX - 2; }

bool actl__lua_scatter_function(lua_State *L, struct machine *m, uint32_t *vat) {
  return m->scatters && has_room(L) && draw(m, vat) && can_travel(L, m, 1);
}

bool actl__lua_scatter_behavior(lua_State *L, const struct machine *m,
                                const struct behavior *behavior, uint32_t *vat) {
  return m->scatters && has_room(L) && behavior->number < m->n_everywhere && draw(m, vat);
}
