/*
 * receive.c - actor.receive: the next message of a process.
 *
 * Messages that are there already are taken without leaving the process; only when there are none
 * does its coroutine stop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "millis.h"
#include "module.h"
#include "values.h"
#include "wait.h"

#include <lauxlib.h>

static int push_message(lua_State *L, struct machine *m, const actl_msg *msg) {
  actl_cursor cursor = actl_msg_begin(msg);
  return actl__lua_push_rest(L, m, &cursor);
}

static int receive_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  struct machine *m = actl__lua_machine(L);
  if (m->resumed.status != ACTL_OK) return actl__lua_push_failure(L, m->resumed.status);
  return push_message(L, m, m->resumed.msg);
}

static void check(lua_State *L, struct machine *m) {
  if (m->in_delivery && !m->is_abandoning && !m->runner->is_process) {
    luaL_error(L, "actor.receive: this actor is no process; actor.process makes one");
  }
  actl__lua_wait_check(L, m, "actor.receive");
}

/* ([ms]) -> the message's values; or nil, "timeout" */
int actl__lua_receive(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  uint64_t ms = lua_isnoneornil(L, 1) ? ACTL_FOREVER : actl__lua_check_wait(L, 1, "actor.receive");
  check(L, m);
  actl__lua_wait_prepare(L, m);

  lua_settop(L, 0);
  const actl_msg *msg = actl_receive_next(m->ctx);
  if (msg != NULL) return push_message(L, m, msg);
  if (actl_receive_wait(m->ctx, ms, m->runner) != ACTL_OK) return actl__lua_no_memory(L);
  m->in_delivery = false;
  return actl__lua_wait_stop(L, m, receive_continue);
}
