/*
 * behavior.c - actor.behavior: checks a definition and keeps its handlers.
 *
 * A definition is checked as a whole before anything is kept, so a wrong one leaves nothing behind
 * but interned names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "behavior.h"

#include "module.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

static const char mark; /* an address that nothing else has */

void actl__lua_push_down(lua_State *L) { lua_pushlightuserdata(L, actl__lua_key(KEY_DOWN)); }

void actl__lua_push_other(lua_State *L) { lua_pushlightuserdata(L, actl__lua_key(KEY_OTHER)); }

const char *actl__lua_sentinel_name(lua_State *L, int index) {
  if (!lua_islightuserdata(L, index)) return NULL;
  const void *address = lua_touserdata(L, index);
  if (address == actl__lua_key(KEY_DOWN)) return "actor.down";
  return address == actl__lua_key(KEY_OTHER) ? "actor.other" : NULL;
}

/* ---- Objects ---- */

const struct behavior_object *actl__lua_behavior_at(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
  const struct behavior_object *object = lua_touserdata(L, index);
  if (lua_rawlen(L, index) != sizeof *object || object->mark != &mark) return NULL;
  return object;
}

const char *actl__lua_behavior_name(const struct behavior_object *object) {
  return object->native != NULL ? object->native->name : object->behavior->name;
}

static int behavior_tostring(lua_State *L) {
  const struct behavior_object *object = actl__lua_behavior_at(L, 1);
  if (object == NULL) return luaL_error(L, "a behavior expected");
  lua_pushfstring(L, object->native != NULL ? "native behavior<%s>" : "behavior<%s>",
                  actl__lua_behavior_name(object));
  return 1;
}

void actl__lua_behavior_push(lua_State *L, struct behavior *behavior, const actl_behavior *native) {
  struct behavior_object *object = lua_newuserdatauv(L, sizeof *object, 0);
  *object = (struct behavior_object){&mark, behavior, native};
  if (luaL_newmetatable(L, "actor.behavior")) {
    lua_pushcfunction(L, behavior_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "behavior");
    lua_setfield(L, -2, "__name");
  }
  lua_setmetatable(L, -2);
}

/* ---- Finding ---- */

struct behavior *actl__lua_behavior_find(struct machine *m, const char *name) {
  for (uint32_t i = 0; i < m->n_behaviors; i++) {
    const char *known = m->behaviors[i]->name;
    if (known != NULL && strcmp(known, name) == 0) return m->behaviors[i];
  }
  return NULL;
}

uint32_t actl__lua_behavior_handler_of(lua_State *L, struct machine *m, const struct behavior *b,
                                       const char *bytes, size_t size) {
  actl_name name;
  if (size <= NAME_BYTES_MAX) {
    lua_pushlstring(L, bytes, size);
    bool is_known = actl__lua_name_find(&m->names, lua_topointer(L, -1), &name);
    lua_pop(L, 1);
    return is_known ? actl__lua_behavior_handler(b, name) : 0;
  }

  /* Strings that long never travel as names, and hardly anybody has handlers for them. */
  for (uint32_t i = 0; i <= b->mask; i++) {
    if (b->handlers[i].key == 0) continue;
    size_t known_size;
    name.id = b->handlers[i].key - 1;
    const char *known = actl_name_bytes(m->binding->engine, name, &known_size);
    if (known_size == size && memcmp(known, bytes, size) == 0) return b->handlers[i].ref;
  }
  return 0;
}

bool actl__lua_behavior_note_unhandled(struct behavior *b, const char *name, size_t size) {
  uint32_t hash = 2166136261u; /* FNV-1a (Fowler, Noll, Vo) */
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  for (uint32_t i = 0; i < b->n_unhandled; i++) {
    if (b->unhandled[i] == hash) return false;
  }
  if (b->n_unhandled == UNHANDLED_NOTED) return false;
  b->unhandled[b->n_unhandled++] = hash;
  return true;
}

/* ---- Checking a definition: actor.behavior(name, definition) ---- */

static int complain(lua_State *L, const char *text) {
  return luaL_error(L, "actor.behavior \"%s\": %s", lua_tostring(L, 1), text);
}

static void check_hook(lua_State *L, const char *field) {
  int type = lua_getfield(L, 2, field);
  if (type != LUA_TNIL && type != LUA_TFUNCTION) {
    complain(L, lua_pushfstring(L, "field \"%s\" must be a function, it is %s", field,
                                actl__lua_type_phrase(L, -1)));
  }
  lua_pop(L, 1);
}

static void check_fields(lua_State *L) {
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    lua_pop(L, 1);
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (key != NULL &&
        (strcmp(key, "init") == 0 || strcmp(key, "stop") == 0 || strcmp(key, "receive") == 0)) {
      continue;
    }
    const char *shown = actl__lua_tolstring(L, -1, NULL);
    complain(L, lua_pushfstring(L, "field \"%s\" is not known; the fields are init, receive, stop",
                                shown));
  }
  check_hook(L, "init");
  check_hook(L, "stop");
}

static void check_handler(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TSTRING && actl__lua_sentinel_name(L, key) == NULL) {
    complain(L, lua_pushfstring(L,
                                "a key of \"receive\" must be a string, actor.down or "
                                "actor.other, one is %s",
                                actl__lua_type_phrase(L, key)));
  }
  if (lua_type(L, key + 1) == LUA_TFUNCTION) return;
  const char *shown = actl__lua_tolstring(L, key, NULL);
  complain(L, lua_pushfstring(L, "receive.%s must be a function, it is %s", shown,
                              actl__lua_type_phrase(L, key + 1)));
}

/* Pushes the table `receive` and returns how many handlers it has. */
static uint32_t check_receive(lua_State *L) {
  if (lua_getfield(L, 2, "receive") != LUA_TTABLE) {
    complain(L, lua_pushfstring(L, "field \"receive\" must be a table of functions, it is %s",
                                actl__lua_type_phrase(L, -1)));
  }
  uint32_t n = 0;
  int receive = lua_gettop(L);
  lua_pushnil(L);
  for (; lua_next(L, receive); n++) {
    check_handler(L, receive + 1);
    lua_settop(L, receive + 1);
  }
  return n;
}

static void check_definition(lua_State *L, struct machine *m) {
  size_t size;
  if (lua_type(L, 1) != LUA_TSTRING) {
    luaL_error(L, "actor.behavior: the name must be a string, it is %s",
               actl__lua_type_phrase(L, 1));
  }
  const char *name = lua_tolstring(L, 1, &size);
  if (size == 0 || strlen(name) != size) {
    luaL_error(L, "actor.behavior: the name must not be empty or have zero bytes");
  }
  if (lua_type(L, 2) != LUA_TTABLE) {
    complain(L, lua_pushfstring(L, "the definition must be a table, it is %s",
                                actl__lua_type_phrase(L, 2)));
  }
  struct behavior *first = actl__lua_behavior_find(m, name);
  if (first != NULL) {
    complain(L, lua_pushfstring(L, "a behavior of that name was made at %s", first->place));
  }
  check_fields(L);
}

/* ---- Keeping it ---- */

static char *copy_text(lua_State *L, struct machine *m, const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(actl__lua_grow(L, m, NULL, 0, size), text, size);
}

static void behavior_free(struct machine *m, struct behavior *b) {
  if (b->name != NULL) actl__lua_realloc(m, b->name, strlen(b->name) + 1, 0);
  if (b->place != NULL) actl__lua_realloc(m, b->place, strlen(b->place) + 1, 0);
  if (b->handlers != NULL)
    actl__lua_realloc(m, b->handlers, (b->mask + 1) * sizeof *b->handlers, 0);
  actl__lua_realloc(m, b, sizeof *b, 0);
}

void actl__lua_behaviors_fini(struct machine *m) {
  for (uint32_t i = 0; i < m->n_behaviors; i++) behavior_free(m, m->behaviors[i]);
  actl__lua_realloc(m, m->behaviors, m->behaviors_capacity * sizeof *m->behaviors, 0);
}

static struct behavior *behavior_new(lua_State *L, struct machine *m, uint32_t n_handlers) {
  if (m->n_behaviors == m->behaviors_capacity) {
    uint32_t capacity = m->behaviors_capacity == 0 ? 16 : m->behaviors_capacity * 2;
    m->behaviors = actl__lua_grow(L, m, m->behaviors, m->behaviors_capacity * sizeof *m->behaviors,
                                  capacity * sizeof *m->behaviors);
    m->behaviors_capacity = capacity;
  }

  uint32_t n_slots = 4;
  while (n_slots < n_handlers * 2) n_slots *= 2;
  struct behavior *b = actl__lua_grow(L, m, NULL, 0, sizeof *b);
  memset(b, 0, sizeof *b);
  /* In the list at once, though not yet complete: an error from here on leaves a behavior without
   * a name, which nobody finds. */
  b->number = m->n_behaviors;
  m->behaviors[m->n_behaviors++] = b;
  b->handlers = actl__lua_grow(L, m, NULL, 0, n_slots * sizeof *b->handlers);
  memset(b->handlers, 0, n_slots * sizeof *b->handlers);
  b->mask = n_slots - 1;
  return b;
}

static uint32_t keep_hook(lua_State *L, struct machine *m, const char *field) {
  uint32_t ref = lua_getfield(L, 2, field) == LUA_TNIL ? 0 : actl__lua_ref_function(L, m, -1);
  lua_pop(L, 1);
  return ref;
}

/* The handler on top, its key below it. */
static void keep_handler(lua_State *L, struct machine *m, struct behavior *b) {
  const char *sentinel = actl__lua_sentinel_name(L, -2);
  actl_name name = {0};
  if (sentinel == NULL && actl__lua_name_declare(L, m, lua_absindex(L, -2), &name) != ACTL_OK) {
    complain(L, "the engine has no room for more names");
  }

  uint32_t ref = actl__lua_ref_function(L, m, -1);
  if (sentinel != NULL) {
    *(strcmp(sentinel, "actor.down") == 0 ? &b->down : &b->other) = ref;
    return;
  }
  uint32_t i = name.id & b->mask;
  while (b->handlers[i].key != 0) i = (i + 1) & b->mask;
  b->handlers[i] = (struct handler){name.id + 1, ref};
}

/* Where the running script is, as "file.lua:12"; pushes it. */
static const char *push_place(lua_State *L) {
  lua_Debug info;
  if (!lua_getstack(L, 1, &info)) return lua_pushliteral(L, "?");
  lua_getinfo(L, "Sl", &info);
  return lua_pushfstring(L, "%s:%d", info.short_src, info.currentline);
}

int actl__lua_behavior(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  lua_settop(L, 2);
  check_definition(L, m);
  struct behavior *b = behavior_new(L, m, check_receive(L));

  int receive = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, receive)) {
    keep_handler(L, m, b);
    lua_pop(L, 1);
  }
  b->init = keep_hook(L, m, "init");
  b->stop = keep_hook(L, m, "stop");
  b->place = copy_text(L, m, push_place(L));
  if (actl__lua_name_declare(L, m, 1, &b->id) != ACTL_OK) {
    complain(L, "the engine has no room for more names");
  }
  actl__lua_behavior_push(L, b, NULL);
  b->name = copy_text(L, m, lua_tostring(L, 1)); /* from here on it is found */
  return 1;
}
