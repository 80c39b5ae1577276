/*
 * machine.c - making and closing the Lua machine of a vat; its memory.
 *
 * Without a limit Lua allocates straight from the vat. With one, every byte is counted here, and
 * our own code has a reserve above the limit, so that "not enough memory" can still be reported.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include "behavior.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE_BYTES = 32 * 1024, MAIN_STACK = 40 };

/* ---- Memory ---- */

void *actl__lua_realloc(struct machine *m, void *ptr, size_t old_size, size_t new_size) {
  if (ptr == NULL) old_size = 0;
  if (ptr == NULL && new_size == 0) return NULL;
  return actl_vat_realloc(m->ctx, ptr, old_size, new_size);
}

int actl__lua_no_memory(lua_State *L) {
  lua_pushliteral(L, "not enough memory");
  return lua_error(L);
}

void *actl__lua_grow(lua_State *L, struct machine *m, void *ptr, size_t old_size, size_t new_size) {
  void *grown = actl__lua_realloc(m, ptr, old_size, new_size);
  if (grown == NULL) actl__lua_no_memory(L);
  return grown;
}

static void *limited_realloc(void *ud, void *ptr, size_t old_size, size_t new_size) {
  struct machine *m = ud;
  if (ptr == NULL) old_size = 0;
  size_t limit = m->limit + (m->uses_reserve ? RESERVE_BYTES : 0);
  if (new_size > old_size && m->bytes + (new_size - old_size) > limit) return NULL;
  if (ptr == NULL && new_size == 0) return NULL;

  void *result = m->lua_realloc(m->ctx, ptr, old_size, new_size);
  if (result != NULL || new_size == 0) m->bytes = m->bytes - old_size + new_size;
  return result;
}

/* ---- Warnings ---- */

/* "@on" and "@off" as in the lua program; what is longer than the buffer is cut. */
static void warn(void *ud, const char *text, int to_continue) {
  struct machine *m = ud;
  if (m->n_warning == 0 && !to_continue && text[0] == '@') {
    if (strcmp(text, "@on") == 0) m->warns = true;
    if (strcmp(text, "@off") == 0) m->warns = false;
    return;
  }

  size_t size = strlen(text), room = sizeof m->warning - 1 - m->n_warning;
  if (size > room) size = room;
  memcpy(m->warning + m->n_warning, text, size);
  m->n_warning += size;
  if (to_continue) return;
  m->warning[m->n_warning] = '\0';
  m->n_warning = 0;
  if (m->warns) actl_engine_log(m->binding->engine, ACTL_LOG_WARN, m->warning);
}

/* ---- Making ---- */

/* Everything that may raise runs under lua_pcall; what comes here is a bug. */
static int panic(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  actl_engine_log(m->binding->engine, ACTL_LOG_ERROR,
                  "a Lua error outside of a protected call: this is a bug in actorlua");
  abort();
}

static void make_store(lua_State *L, struct machine *m) {
  lua_State *store = lua_newthread(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, store);
  if (!lua_checkstack(store, STORE_TOP + LUA_MINSTACK)) actl__lua_no_memory(L);
  for (int i = STORE_BLOCKS; i < STORE_TOP; i++) {
    lua_newtable(L);
    lua_xmove(L, store, 1);
  }
  m->store = store;
}

/* (machine as light userdata) */
static int make_parts(lua_State *L) {
  struct machine *m = lua_touserdata(L, 1);
  luaL_openlibs(L);
  make_store(L, m);
  actl__lua_names_init(L, m);
  actl__lua_runner_new(L, m);
  actl__lua_open_finalize(L);
  actl__lua_open_coroutine(L);
  actl__lua_open_pid(L);
  actl__lua_open_request(L);
  actl__lua_open_module(L);
  if (m->is_seeded) actl__lua_open_seeded(L);
  actl__lua_open_host(L);
  return 0;
}

/* Calls the function on top of main's stack, above its arguments; logs an error. */
static bool protect(struct machine *m, int n_args, const char *what) {
  if (lua_pcall(m->main, n_args, 0, 0) == LUA_OK) return true;
  char text[1024];
  snprintf(text, sizeof text, "%s: %s", what, actl__lua_report(m, m->main, false));
  actl__lua_report_end(m);
  actl_engine_log(m->binding->engine, ACTL_LOG_ERROR, text);
  return false;
}

static bool fill(struct machine *m) {
  lua_State *L = m->main;
  const actl_lua_config *config = &m->binding->config;
  lua_pushcfunction(L, make_parts);
  lua_pushlightuserdata(L, m);
  if (!protect(m, 1, "a Lua machine cannot be made")) return false;
  if (config->open == NULL) return true;

  lua_pushcfunction(L, config->open);
  lua_pushlightuserdata(L, config->ud);
  lua_pushinteger(L, (lua_Integer)actl_ctx_vat(m->ctx));
  if (!protect(m, 2, "opening a Lua machine")) return false;
  if (!m->is_seeded) return true;
  lua_pushcfunction(L, actl__lua_settle_functions);
  return protect(m, 0, "a Lua machine cannot be made");
}

static lua_State *state_new(struct machine *m) {
  lua_Alloc alloc = m->limit > 0 ? limited_realloc : m->lua_realloc;
  void *ud = m->limit > 0 ? (void *)m : (void *)m->ctx;
  if (!m->is_seeded) return lua_newstate(alloc, ud);
  m->hash_seed = (unsigned)actl_ctx_draw(m->ctx);
  return actl__lua_newstate_seeded(alloc, ud, m->hash_seed);
}

static struct machine *machine_new(struct binding *binding, actl_ctx *ctx) {
  struct machine *m = actl_vat_realloc(ctx, NULL, 0, sizeof *m);
  if (m == NULL) return NULL;
  memset(m, 0, sizeof *m);
  m->ctx = ctx;
  m->binding = binding;
  m->warns = true;
  m->limit = binding->config.memory_limit;
  actl__lua_refs_init(&m->refs);

  m->is_seeded = actl_ctx_is_seeded(ctx);
  m->scatters = actl_ctx_scatters(ctx);
  m->lua_realloc = m->is_seeded ? actl_vat_realloc_placed : actl_vat_realloc;
  m->main = state_new(m);
  if (m->main != NULL) {
    m->running = m->main;
    *actl__lua_tag(m->main) = (uintptr_t)m;
    lua_atpanic(m->main, panic);
    lua_setwarnf(m->main, warn, m);
    if (lua_checkstack(m->main, MAIN_STACK)) return m;
  }
  actl__lua_machine_close(m);
  return NULL;
}

void *actl__lua_machine_open(void *ud, actl_ctx *ctx) {
  struct binding *binding = ud;
  struct machine *m = machine_new(binding, ctx);
  if (m == NULL) {
    actl_engine_log(binding->engine, ACTL_LOG_ERROR,
                    "a Lua machine cannot be made: not enough memory");
    return NULL;
  }
  if (fill(m)) {
    actl__lua_tidy_begin(m);
    return m;
  }
  actl__lua_machine_close(m);
  return NULL;
}

/* ---- Closing ---- */

static int finalize_all(lua_State *L) {
  actl__lua_finalize(L, actl__lua_machine(L));
  return 0;
}

void actl__lua_machine_close(void *machine) {
  struct machine *m = machine;
  m->is_closing = true;
  if (m->main != NULL) {
    m->n_dropped = 0;
    m->running = m->main;
    lua_pushcfunction(m->main, finalize_all);
    if (lua_pcall(m->main, 0, 0, 0) != LUA_OK) lua_pop(m->main, 1);
    lua_close(m->main);
  }
  actl__lua_runners_fini(m);
  actl__lua_behaviors_fini(m);
  actl__lua_refs_fini(m);
  actl__lua_names_fini(m);
  actl__lua_codec_fini(m);
  actl__lua_realloc(m, m->dropped, m->dropped_capacity * sizeof *m->dropped, 0);
  actl__lua_realloc(m, m, sizeof *m, 0);
}
