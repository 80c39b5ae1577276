/*
 * fixture.c - an engine with Lua, for the C tests of the binding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  (void)level;
  (void)kind;
  struct fixture *f = ud;
  size_t size = strlen(text);
  pthread_mutex_lock(&f->lock);
  if (f->log_size + size + 2 < sizeof f->log) {
    memcpy(f->log + f->log_size, text, size);
    f->log_size += size;
    f->log[f->log_size++] = '\n';
    f->log[f->log_size] = '\0';
  }
  pthread_mutex_unlock(&f->lock);
}

/* (fixture as light userdata, number of the vat) */
static int open_machine(lua_State *L) {
  struct fixture *f = lua_touserdata(L, 1);
  if (f->host != NULL) lua_register(L, "host", f->host);
  lua_pushvalue(L, 2);
  lua_setglobal(L, "vat");
  if (f->script == NULL) return 0;
  if (luaL_loadbuffer(L, f->script, strlen(f->script), "=script") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

actl_status fixture_open(struct fixture *f) {
  pthread_mutex_init(&f->lock, NULL);
  actl_config config = {.workers = 1,
                        .vats = f->vats == 0 ? 1 : f->vats,
                        .is_seeded = f->seed != 0,
                        .seed = f->seed,
                        .log = on_log,
                        .log_ud = f,
                        .alloc = f->alloc,
                        .alloc_ud = f->alloc_ud};
  seeds_put(&config);
  actl_status status = actl_engine_new(&f->engine, &config);
  if (status != ACTL_OK) return status;

  actl_lua_config lua = {.open = open_machine, .ud = f, .memory_limit = f->memory_limit};
  status = actl_lua_open(f->engine, &lua);
  if (status == ACTL_OK) return ACTL_OK;
  actl_engine_free(f->engine);
  f->engine = NULL;
  return status;
}

void fixture_close(struct fixture *f, actl_stats *out) {
  if (out != NULL) actl_engine_stats(f->engine, out);
  actl_engine_free(f->engine);
  pthread_mutex_destroy(&f->lock);
}

void fixture_run(struct fixture *f, const actl_value *values, size_t n) {
  actl_pid pid;
  assert_int_equal(actl_lua_spawn(f->engine, 0, "main", values, n, &pid), ACTL_OK);
  assert_int_equal(actl_engine_run(f->engine), ACTL_OK);
}

int fixture_logged(const struct fixture *f, const char *text) {
  return strstr(f->log, text) != NULL;
}
