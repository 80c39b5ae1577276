/*
 * preempt.c - with a seed: handlers that compute are interrupted, and give way at drawn places.
 *
 * A count hook is always armed, on each coroutine for itself; a new one has that of the coroutine that
 * makes it. What it is armed with is drawn: PLAIN instructions and no giving way, or fewer, and then the
 * handler stops in turn as one that waits does (wait.h), but goes on at its next turn. Where it cannot
 * stop, inside table.sort for example, it runs on to the next chance.
 *
 * Each time the hook is called counts as one step of those that a run may have, so that a loop without
 * an end ends. A script's own debug.sethook takes the hook's place until the delivery is over.
 *
 * SPDX-License-Identifier: MIT
 */
#include "preempt.h"

#include "seeded.h"
#include "wait.h"

#include <lauxlib.h>
#include <lualib.h>

enum {
  PLAIN = 1000,      /* instructions; a drawn number is smaller */
  DEEP_LEVELS = 200, /* functions that call each other: setting a hook takes a step for each */
  CHOICES = 256,
  CUBES = (CHOICES - 1) * (CHOICES - 1) * (CHOICES - 1)
};

static void on_count(lua_State *L, lua_Debug *info);

static int draw_count(struct machine *m) {
  int choice = (int)actl_ctx_choose(m->ctx, ACTL_CHOICE_PREEMPT, CHOICES);
  /* Small numbers are likely, since most handlers are short: half of them are below 125. */
  int64_t cube = (int64_t)choice * choice * choice;
  return choice == 0 ? PLAIN : 1 + (int)(cube * (PLAIN - 2) / CUBES);
}

void actl__lua_preempt_arm(lua_State *L, struct machine *m) {
  lua_sethook(L, on_count, LUA_MASKCOUNT, draw_count(m));
}

/* In the hook, which counts anew by itself. */
static void arm_again(lua_State *L, struct machine *m) {
  lua_Debug frame;
  int count = lua_getstack(L, DEEP_LEVELS, &frame) ? PLAIN : draw_count(m);
  if (count != lua_gethookcount(L)) lua_sethook(L, on_count, LUA_MASKCOUNT, count);
}

static int prepare(lua_State *L) {
  actl__lua_wait_prepare(L, actl__lua_machine(L));
  return 0;
}

/* Where that takes memory, and there is none, the handler just goes on. */
static bool is_prepared(lua_State *L, struct machine *m) {
  if (m->n_idle > 0 && m->depth <= m->runner->stopped_capacity) return true;
  lua_pushcfunction(L, prepare);
  if (lua_pcall(L, 0, 0, 0) == LUA_OK) return true;
  lua_pop(L, 1);
  return false;
}

/* Whether the handler has given way; then the hook is to return at once. */
static bool give_way(lua_State *L, struct machine *m) {
  if (!actl__lua_wait_is_possible(L, m) || !is_prepared(L, m)) return false;
  if (actl_turn_preempt(m->ctx, m->runner) != ACTL_OK) return false;
  m->in_delivery = false;
  actl__lua_wait_mark(L, m);
  lua_yield(L, 0); /* in a hook this returns, and the coroutine stops when the hook has */
  return true;
}

static void fail(lua_State *L) {
  luaL_where(L, 0);
  lua_pushliteral(L, "the run's limit of steps is reached");
  lua_concat(L, 2);
  lua_error(L);
}

/* When the steps are used up the handler fails, so that it is known where it was. Where that error has
 * been caught, it gives way for good: no turn follows. */
static void on_count(lua_State *L, lua_Debug *info) {
  (void)info;
  struct machine *m = actl__lua_machine(L);
  bool gives_way = lua_gethookcount(L) < PLAIN;
  arm_again(L, m);

  bool was_spent = m->is_spent;
  m->is_spent = !actl_turn_tick(m->ctx);
  if (m->is_spent && !was_spent) fail(L);
  if ((gives_way || m->is_spent) && give_way(L, m)) return;
  if (m->is_spent) fail(L);
}

/* ---- What scripts see ---- */

static lua_State *coroutine_at(lua_State *L, int index) {
  return lua_isthread(L, index) ? lua_tothread(L, index) : L;
}

/* debug.sethook, which is finalize.c's: where it takes a hook away, ours is back. */
static int set_hook(lua_State *L) {
  lua_State *co = coroutine_at(L, 1);
  actl__lua_machine(L)->has_hook = true;
  int n = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, n, 0);
  if (lua_gethook(co) == NULL) actl__lua_preempt_arm(co, actl__lua_machine(L));
  return 0;
}

/* debug.gethook: ours is none. */
static int get_hook(lua_State *L) {
  if (lua_gethook(coroutine_at(L, 1)) != on_count) return actl__lua_as_original(L);
  luaL_pushfail(L);
  return 1;
}

void actl__lua_open_preempt(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  lua_getglobal(L, LUA_DBLIBNAME);
  actl__lua_replace(L, "sethook", set_hook);
  actl__lua_replace(L, "gethook", get_hook);
  lua_pop(L, 1);
  m->has_hook = true;
  actl__lua_preempt_arm(m->main, m);
}
