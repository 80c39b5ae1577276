/*
 * wait.c - how a handler waits, and actor.sleep. See wait.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wait.h"

#include "machine.h"
#include "millis.h"
#include "module.h"

#include <lauxlib.h>

bool actl__lua_wait_is_possible(lua_State *L, const struct machine *m) {
  return m->in_delivery && !m->is_abandoning && m->running == L &&
         (*actl__lua_tag(L) & TAG_PINNED) == 0 && lua_isyieldable(L) && actl_turn_may_wait(m->ctx);
}

static const char *why_not(lua_State *L, const struct machine *m) {
  if (m->is_abandoning) return "in a __close of a handler that has ended";
  if (!m->in_delivery) return "no actor is running";
  if (m->running != L) return "inside a coroutine that C code has resumed";
  if ((*actl__lua_tag(L) & TAG_PINNED) != 0 || !lua_isyieldable(L)) {
    return "inside a function called from C such as table.sort, string.gsub or require";
  }
  return "the actor is stopping";
}

void actl__lua_wait_check(lua_State *L, struct machine *m, const char *function) {
  if (actl__lua_wait_is_possible(L, m)) return;
  luaL_error(L, "%s cannot wait here: %s", function, why_not(L, m));
}

void actl__lua_wait_prepare(lua_State *L, struct machine *m) {
  if (m->n_idle == 0) actl__lua_runner_new(L, m);
  struct runner *r = m->runner;
  if (m->depth <= r->stopped_capacity) return;

  uint32_t capacity = m->depth * 2;
  r->stopped = actl__lua_grow(L, m, r->stopped, r->stopped_capacity * sizeof *r->stopped,
                              capacity * sizeof *r->stopped);
  r->stopped_capacity = capacity;
}

void actl__lua_wait_mark(lua_State *L, struct machine *m) {
  struct runner *r = m->runner;
  if (L == r->L) return;
  *actl__lua_tag(L) |= TAG_STOPPED;
  r->stopped[r->n_stopped++] = L;
}

int actl__lua_wait_stop(lua_State *L, struct machine *m, lua_KFunction k) {
  actl__lua_wait_mark(L, m);
  return lua_yieldk(L, 0, 0, k);
}

static int sleep_continue(lua_State *L, int status, lua_KContext k) {
  (void)L;
  (void)status;
  (void)k;
  return 0;
}

int actl__lua_sleep(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  uint64_t ms = actl__lua_check_wait(L, 1, "actor.sleep");
  actl__lua_wait_check(L, m, "actor.sleep");
  actl__lua_wait_prepare(L, m);

  actl_status status = actl_sleep_wait(m->ctx, ms, m->runner);
  if (status != ACTL_OK) return actl__lua_no_memory(L);
  m->in_delivery = false;
  return actl__lua_wait_stop(L, m, sleep_continue);
}
