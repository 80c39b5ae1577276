/*
 * attach.c - actl_lua.h: what a host program calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_VALUES = 3 }; /* in front of the user's: nil, the name, the source */

/* ---- Attaching ---- */

static void detach(void *ud) {
  struct binding *binding = ud;
  for (struct host_module *next, *module = binding->modules; module != NULL; module = next) {
    next = module->next;
    free(module);
  }
  free(binding);
}

static const actl_driver DRIVER = {
    .open = actl__lua_machine_open,
    .close = actl__lua_machine_close,
    .drive = actl__lua_drive,
    .drop = actl__lua_drop,
    .describe = actl__lua_describe,
    .detach = detach,
};

actl_status actl_lua_open(actl_engine *engine, const actl_lua_config *config) {
  struct binding *binding = calloc(1, sizeof *binding);
  if (binding == NULL) return ACTL_NO_MEMORY;
  binding->engine = engine;
  if (config != NULL) binding->config = *config;

  actl_status status = actl_engine_drive(engine, &DRIVER, binding);
  if (status != ACTL_OK) free(binding);
  return status;
}

/* ---- Modules ---- */

static bool is_taken(const struct binding *binding, const char *name) {
  static const char *const OURS[] = {
      "actor",         LUA_GNAME,       LUA_LOADLIBNAME, LUA_COLIBNAME,
      LUA_TABLIBNAME,  LUA_IOLIBNAME,   LUA_OSLIBNAME,   LUA_STRLIBNAME,
      LUA_MATHLIBNAME, LUA_UTF8LIBNAME, LUA_DBLIBNAME,
  };
  for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++) {
    if (strcmp(name, OURS[i]) == 0) return true;
  }
  for (const struct host_module *module = binding->modules; module != NULL; module = module->next) {
    if (strcmp(name, module->name) == 0) return true;
  }
  return false;
}

actl_status actl_lua_module(actl_engine *engine, const char *name, lua_CFunction open) {
  struct binding *binding = actl_engine_driver(engine, &DRIVER);
  if (binding == NULL || open == NULL || is_taken(binding, name)) return ACTL_INVALID;
  size_t size = strlen(name) + 1;
  struct host_module *module = malloc(sizeof *module + size);
  if (module == NULL) return ACTL_NO_MEMORY;

  memcpy(module->name, name, size);
  module->open = open;
  module->next = binding->modules;
  binding->modules = module;
  return ACTL_OK;
}

void actl__lua_open_host(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  lua_pushlightuserdata(L, m);
  lua_rawsetp(L, LUA_REGISTRYINDEX, actl__lua_key(KEY_MACHINE));

  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (const struct host_module *h = m->binding->modules; h != NULL; h = h->next) {
    lua_pushcfunction(L, h->open);
    lua_setfield(L, -2, h->name);
  }
  lua_pop(L, 1);
}

/* ---- Actors ---- */

actl_status actl_lua_spawn(actl_engine *engine, uint32_t vat, const char *behavior,
                           const actl_value *values, size_t n, actl_pid *out) {
  if (n >= ACTL_VALUES_MAX) return ACTL_INVALID;
  actl_value all[ACTL_VALUES_MAX];
  all[0] = actl_text(behavior);
  if (n > 0) memcpy(all + 1, values, n * sizeof *values);
  return actl_engine_driven_spawn(engine, vat, all, n + 1, out);
}

actl_status actl_lua_spawn_string(actl_engine *engine, uint32_t vat, const char *chunk,
                                  const char *source, size_t size, const actl_value *values,
                                  size_t n, actl_pid *out) {
  if (n > ACTL_VALUES_MAX - SOURCE_VALUES || size > UINT32_MAX) return ACTL_INVALID;
  actl_value all[ACTL_VALUES_MAX] = {actl_nil(), actl_text(chunk),
                                     actl_bytes(source, (uint32_t)size)};
  if (n > 0) memcpy(all + SOURCE_VALUES, values, n * sizeof *values);
  return actl_engine_driven_spawn(engine, vat, all, n + SOURCE_VALUES, out);
}

struct text {
  char *bytes;
  size_t size, capacity;
};

static actl_status read_stream(FILE *file, struct text *text) {
  for (;;) {
    if (text->capacity - text->size < BUFSIZ) {
      size_t capacity = text->capacity * 2 + BUFSIZ;
      char *grown = realloc(text->bytes, capacity);
      if (grown == NULL) return ACTL_NO_MEMORY;
      text->bytes = grown;
      text->capacity = capacity;
    }
    size_t n = fread(text->bytes + text->size, 1, text->capacity - text->size, file);
    text->size += n;
    if (n == 0) return ferror(file) != 0 ? ACTL_SYSTEM : ACTL_OK;
  }
}

/* As luaL_loadfile has it: a byte order mark goes, and so does a first line that begins with #, but
 * for its end. */
static size_t skipped_bytes(const struct text *text) {
  size_t skip = text->size >= 3 && memcmp(text->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  if (skip == text->size || text->bytes[skip] != '#') return skip;
  while (skip < text->size && text->bytes[skip] != '\n') skip++;
  return skip;
}

static actl_status spawn_text(actl_engine *engine, uint32_t vat, const char *path,
                              const struct text *text, const actl_value *values, size_t n,
                              actl_pid *out) {
  size_t path_size = strlen(path) + 1, skip = skipped_bytes(text);
  char *chunk = malloc(path_size + 1);
  if (chunk == NULL) return ACTL_NO_MEMORY;
  chunk[0] = '@';
  memcpy(chunk + 1, path, path_size);
  actl_status status = actl_lua_spawn_string(engine, vat, chunk, text->bytes + skip,
                                             text->size - skip, values, n, out);
  free(chunk);
  return status;
}

actl_status actl_lua_spawn_file(actl_engine *engine, uint32_t vat, const char *path,
                                const actl_value *values, size_t n, actl_pid *out) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return ACTL_SYSTEM;
  struct text text = {NULL, 0, 0};
  actl_status status = read_stream(file, &text);
  fclose(file);
  if (status == ACTL_OK) status = spawn_text(engine, vat, path, &text, values, n, out);
  free(text.bytes);
  return status;
}

/* ---- In host modules ---- */

struct machine *actl__lua_machine_of(lua_State *L) {
  /* The extra space of another machine's state may hold anything. */
  if (!lua_checkstack(L, 1)) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, actl__lua_key(KEY_MACHINE));
  struct machine *m = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return m;
}

actl_engine *actl_lua_engine(lua_State *L) {
  const struct machine *m = actl__lua_machine_of(L);
  return m != NULL ? m->binding->engine : NULL;
}

actl_ctx *actl_lua_ctx(lua_State *L) {
  const struct machine *m = actl__lua_machine_of(L);
  return m != NULL && m->in_delivery ? m->ctx : NULL;
}
