/*
 * runner.c - the coroutines in which handlers run.
 *
 *   idle  --actl__lua_runner_take-->  running  --its handler waits-->  parked
 *   running, parked  --actl__lua_runner_give-->  idle (or, with enough idle ones, gone)
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <string.h>

void actl__lua_runner_new(lua_State *L, struct machine *m) {
  luaL_checkstack(L, 4, NULL);
  lua_State *co = lua_newthread(L);
  *actl__lua_tag(co) |= TAG_RUNNER;
  uint32_t ref = actl__lua_ref(L, m);

  struct runner *r = actl__lua_realloc(m, NULL, 0, sizeof *r);
  if (r == NULL) {
    actl__lua_unref(m, ref);
    actl__lua_no_memory(L);
    return;
  }
  memset(r, 0, sizeof *r);
  r->L = co;
  r->ref = ref;
  m->idle[m->n_idle++] = r;
}

struct runner *actl__lua_runner_take(struct machine *m) {
  struct runner *r = m->idle[--m->n_idle];
  r->n_stopped = 0;
  r->in_init = false;
  r->is_process = false;
  return r;
}

static void runner_free(struct machine *m, struct runner *r) {
  actl__lua_unref(m, r->ref);
  actl__lua_realloc(m, r->stopped, r->stopped_capacity * sizeof *r->stopped, 0);
  actl__lua_realloc(m, r, sizeof *r, 0);
}

void actl__lua_runner_give(struct machine *m, struct runner *r) {
  lua_sethook(r->L, NULL, 0, 0);
  if (m->n_idle >= RUNNERS_IDLE) {
    runner_free(m, r);
    return;
  }
  m->idle[m->n_idle++] = r;
}

/* After lua_close. Runners that are still parked go with the vat's memory. */
void actl__lua_runners_fini(struct machine *m) {
  while (m->n_idle > 0) {
    struct runner *r = m->idle[--m->n_idle];
    actl__lua_realloc(m, r->stopped, r->stopped_capacity * sizeof *r->stopped, 0);
    actl__lua_realloc(m, r, sizeof *r, 0);
  }
}

/* Logs the error on top of a coroutine, unless it is the value at `known` of main's stack. */
static void warn_unless_known(struct machine *m, lua_State *co, int known) {
  lua_xmove(co, m->main, 1);
  if (known != 0 && lua_rawequal(m->main, -1, known)) {
    lua_pop(m->main, 1);
  } else {
    actl__lua_warn_error(m, m->main, "error in a __close");
  }
}

void actl__lua_coroutine_reset(struct machine *m, lua_State *co, int known) {
  lua_State *running = m->running;
  *actl__lua_tag(co) &= ~(uintptr_t)TAG_STOPPED;
  m->running = co;
  m->is_abandoning = true;
  int status = lua_resetthread(co);
  m->is_abandoning = false;
  m->running = running;
  if (status != LUA_OK) warn_unless_known(m, co, known);
  lua_settop(co, 0);
}
