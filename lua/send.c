/*
 * send.c - actor.send, actor.stop, actor.kill.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "module.h"
#include "options.h"
#include "values.h"
#include "wait.h"

#include <lauxlib.h>

static int send_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  lua_pushboolean(L, 1);
  return 1;
}

/* A handler that has sent very much lets others run, where it can. */
static int give_way(lua_State *L, struct machine *m) {
  if (!actl__lua_wait_is_possible(L, m)) return send_continue(L, LUA_OK, 0);
  actl__lua_wait_prepare(L, m);
  if (actl_turn_give_way(m->ctx, m->runner) != ACTL_OK) return send_continue(L, LUA_OK, 0);
  m->in_delivery = false;
  return actl__lua_wait_stop(L, m, send_continue);
}

static int send_failed(lua_State *L, actl_status status) {
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  return actl__lua_push_failure(L, status);
}

int actl__lua_send(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  actl_pid to = actl__lua_pid_at(L, 1);
  if (to.bits == 0 || m->is_closing) {
    actl__lua_open_machine(L, "actor.send");
    actl__lua_check_pid(L, "actor.send");
  }

  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");
  actl_status status = actl_send(m->ctx, to, values, (size_t)n);
  if (status != ACTL_OK) return send_failed(L, status);
  if (actl_turn_is_overdrawn(m->ctx)) return give_way(L, m);
  lua_pushboolean(L, 1);
  return 1;
}

/* Whether the second argument is {now = true}. */
static bool check_now(lua_State *L) {
  static const char *const OPTIONS[] = {"now", NULL};
  if (lua_isnoneornil(L, 2)) return false;
  if (!lua_istable(L, 2)) {
    luaL_error(L, "actor.stop: options are a table, as { now = true }, got %s",
               actl__lua_type_phrase(L, 2));
  }
  actl__lua_check_options(L, 2, "actor.stop", 0, OPTIONS);
  return actl__lua_check_flag(L, 2, "actor.stop", "now");
}

static int stopped(lua_State *L, actl_status status) {
  if (status != ACTL_OK) return send_failed(L, status);
  lua_pushboolean(L, 1);
  return 1;
}

int actl__lua_stop(lua_State *L) {
  struct machine *m = actl__lua_open_machine(L, "actor.stop");
  actl_pid pid = actl__lua_check_pid(L, "actor.stop");
  return stopped(L, check_now(L) ? actl_stop_now(m->ctx, pid) : actl_stop(m->ctx, pid));
}

int actl__lua_kill(lua_State *L) {
  struct machine *m = actl__lua_open_machine(L, "actor.kill");
  return stopped(L, actl_kill(m->ctx, actl__lua_check_pid(L, "actor.kill")));
}
