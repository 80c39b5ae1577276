/*
 * ask.c - waiting: actor.ask, and what other ways to wait share with it. See wait.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "module.h"
#include "values.h"
#include "wait.h"

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
    return "inside a function called from C such as table.sort or string.gsub";
  }
  return "the actor is stopping";
}

void actl__lua_wait_check(lua_State *L, struct machine *m, const char *function) {
  if (actl__lua_wait_is_possible(L, m)) return;
  luaL_error(L, "%s cannot wait here: %s", function, why_not(L, m));
}

void actl__lua_wait_prepare(lua_State *L, struct machine *m) {
  if (m->idle == NULL) actl__lua_runner_new(L, m);
  struct runner *r = m->runner;
  if (m->depth <= r->stopped_capacity) return;

  uint32_t capacity = m->depth * 2;
  r->stopped = actl__lua_grow(L, m, r->stopped, r->stopped_capacity * sizeof *r->stopped,
                              capacity * sizeof *r->stopped);
  r->stopped_capacity = capacity;
}

int actl__lua_wait_stop(lua_State *L, struct machine *m, lua_KFunction k) {
  struct runner *r = m->runner;
  if (L != r->L) {
    *actl__lua_tag(L) |= TAG_STOPPED;
    r->stopped[r->n_stopped++] = L;
  }
  return lua_yieldk(L, 0, 0, k);
}

/* Goes on with what the handler waited for: the answer's values, or nil and the reason. */
static int ask_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  struct machine *m = actl__lua_machine(L);
  if (m->resumed.status != ACTL_OK) return actl__lua_push_failure(L, m->resumed.status);
  if (m->resumed.msg == NULL) return 0;

  actl_cursor cursor = actl_msg_begin(m->resumed.msg);
  return actl__lua_push_rest(L, m, &cursor);
}

int actl__lua_ask(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  actl_pid to = actl__lua_check_pid(L);
  actl__lua_wait_check(L, m, "actor.ask");
  actl__lua_wait_prepare(L, m);

  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");
  actl_status status = actl_ask_wait(m->ctx, to, values, (size_t)n, 0, m->runner);
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  if (status != ACTL_OK) return actl__lua_push_failure(L, status);

  m->in_delivery = false;
  return actl__lua_wait_stop(L, m, ask_continue);
}
