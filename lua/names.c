/*
 * names.c - strings that travel as numbers. See names.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "names.h"

#include "machine.h"

#include <lauxlib.h>

enum { FIRST_ENTRIES = 64 };

static struct name_entry *entries_new(lua_State *L, struct machine *m, uint32_t n) {
  struct name_entry *entries = actl__lua_grow(L, m, NULL, 0, n * sizeof *entries);
  for (uint32_t i = 0; i < n; i++) entries[i].address = NULL;
  return entries;
}

void actl__lua_names_init(lua_State *L, struct machine *m) {
  m->names.entries = entries_new(L, m, FIRST_ENTRIES);
  m->names.mask = FIRST_ENTRIES - 1;
}

void actl__lua_names_fini(struct machine *m) {
  struct names *names = &m->names;
  if (names->entries == NULL) return;
  actl__lua_realloc(m, names->entries, (names->mask + 1) * sizeof *names->entries, 0);
}

static void insert(struct names *names, const void *address, actl_name name) {
  uint32_t i = actl__lua_name_slot(address) & names->mask;
  while (names->entries[i].address != NULL) i = (i + 1) & names->mask;
  names->entries[i].address = address;
  names->entries[i].name = name;
  names->n++;
}

static void make_room(lua_State *L, struct machine *m) {
  struct names *names = &m->names;
  uint32_t size = names->mask + 1;
  if ((names->n + 1) * 2 <= size) return;

  struct names grown = {.entries = entries_new(L, m, size * 2), .mask = size * 2 - 1};
  for (uint32_t i = 0; i < size; i++) {
    const struct name_entry *e = &names->entries[i];
    if (e->address != NULL) insert(&grown, e->address, e->name);
  }
  actl__lua_realloc(m, names->entries, size * sizeof *names->entries, 0);
  names->entries = grown.entries;
  names->mask = grown.mask;
}

/* Keeps the string on top of L alive and pops it. A longer string has no address of its own, and is
 * only kept for actl__lua_name_push. */
static void learn(lua_State *L, struct machine *m, actl_name name) {
  size_t size;
  const void *address = lua_topointer(L, -1);
  actl_name known;
  lua_tolstring(L, -1, &size);
  make_room(L, m);

  lua_pushvalue(m->store, STORE_NAMES);
  lua_xmove(m->store, L, 1);
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)name.id + 1);
  lua_pop(L, 1);
  if (size <= NAME_BYTES_MAX && !actl__lua_name_find(&m->names, address, &known)) {
    insert(&m->names, address, name);
  }
}

actl_status actl__lua_name_declare(lua_State *L, struct machine *m, int index, actl_name *out) {
  size_t size;
  const char *bytes = lua_tolstring(L, index, &size);
  if (actl__lua_name_find(&m->names, lua_topointer(L, index), out)) return ACTL_OK;

  actl_name name;
  actl_status status = actl_name_intern(m->binding->engine, bytes, size, &name);
  if (status != ACTL_OK) return status;
  luaL_checkstack(L, 4, NULL);
  lua_pushvalue(L, index);
  learn(L, m, name);
  *out = name;
  return ACTL_OK;
}

static uint32_t hash_of(const char *bytes, size_t size) {
  uint32_t hash = 2166136261u; /* FNV-1a (Fowler, Noll, Vo) */
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
  return hash;
}

bool actl__lua_name_count(lua_State *L, struct machine *m, int index, actl_name *out) {
  const void *address = lua_topointer(L, index);
  struct name_count *c = &m->names.counts[actl__lua_name_slot(address) % NAMES_COUNTED];
  size_t size;
  const char *bytes = lua_tolstring(L, index, &size);
  uint32_t hash = hash_of(bytes, size);
  if (c->address != address || c->hash != hash) *c = (struct name_count){address, hash, 0};
  if (++c->n < NAME_SENDS) return false;

  c->n = 0;
  if (m->names.is_full) return false;
  if (actl__lua_name_declare(L, m, index, out) != ACTL_OK) return false;
  m->names.is_full = out->id >= NAMES_COUNTED_MAX;
  return true;
}

void actl__lua_name_push(lua_State *L, struct machine *m, actl_name name) {
  if (lua_rawgeti(m->store, STORE_NAMES, (lua_Integer)name.id + 1) == LUA_TSTRING) {
    lua_xmove(m->store, L, 1);
    return;
  }

  lua_pop(m->store, 1);
  size_t size = 0;
  const char *bytes = actl_name_bytes(m->binding->engine, name, &size);
  luaL_checkstack(L, 4, NULL);
  lua_pushlstring(L, bytes, size);
  lua_pushvalue(L, -1);
  learn(L, m, name);
}
