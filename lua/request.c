/*
 * request.c - answering asks: actor.reply, actor.later and the methods of requests. See request.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "request.h"

#include "machine.h"
#include "module.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

static const char mark; /* an address that nothing else has */
static const char METATABLE[] = "actor.request";

struct request *actl__lua_request_at(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA) return NULL;
  struct request *r = lua_touserdata(L, index);
  return lua_rawlen(L, index) == sizeof *r && r->mark == &mark ? r : NULL;
}

/* In a handler that answers no ask the request is a used one: nobody waits for an answer. */
int actl__lua_later(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "actor.later");
  struct request *r = lua_newuserdatauv(L, sizeof *r, 0);
  *r = (struct request){.mark = &mark, .actor = actl_self(m->ctx), .is_used = true};
  luaL_setmetatable(L, METATABLE);
  if (actl_later(m->ctx, &r->request) == ACTL_OK) r->is_used = false;
  return 1;
}

/* (...): answers the ask that is being handled. */
int actl__lua_reply(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "actor.reply");
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L);
  actl__lua_read(L, m, 1, n, values, "argument");
  actl_status status = actl_reply(m->ctx, values, (size_t)n);
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  if (status != ACTL_OK) return actl__lua_push_failure(L, status);
  lua_pushboolean(L, 1);
  return 1;
}

static struct request *check_request(lua_State *L, struct machine *m) {
  struct request *r = actl__lua_request_at(L, 1);
  if (r == NULL) luaL_error(L, "a request expected, got %s", actl__lua_type_phrase(L, 1));
  if (!actl_pid_equal(r->actor, actl_self(m->ctx))) {
    luaL_error(L, "only the actor that took a request can answer it");
  }
  return r;
}

static int finish(lua_State *L, struct request *r, actl_status status) {
  if (status != ACTL_OK) return actl__lua_push_failure(L, status);
  r->is_used = true;
  lua_pushboolean(L, 1);
  return 1;
}

static int request_reply(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "request:reply");
  struct request *r = check_request(L, m);
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");
  if (r->is_used) return actl__lua_push_failure(L, ACTL_EXPIRED);
  return finish(L, r, actl_request_reply(m->ctx, r->request, values, (size_t)n));
}

/* The status that has the name, so that one ask's reason can be handed on; else ACTL_FAILED. */
static actl_status status_called(const char *name) {
#define IF_CALLED(code, number, word, text)                                                        \
  if (strcmp(name, word) == 0 && code != ACTL_OK) return code;
  ACTL_STATUSES(IF_CALLED)
#undef IF_CALLED
  return ACTL_FAILED;
}

static int request_fail(lua_State *L) {
  struct machine *m = actl__lua_acting(L, "request:fail");
  struct request *r = check_request(L, m);
  actl_status status = status_called(luaL_optstring(L, 2, "failed"));
  if (r->is_used) return actl__lua_push_failure(L, ACTL_EXPIRED);
  return finish(L, r, actl_request_fail(m->ctx, r->request, status));
}

static int request_gc(lua_State *L) {
  struct request *r = actl__lua_request_at(L, 1);
  struct machine *m = actl__lua_machine(L);
  if (r == NULL || r->is_used || m->is_closing) return 0;
  r->is_used = true;
  actl__lua_request_drop(m, r->request);
  return 0;
}

static int request_tostring(lua_State *L) {
  const struct request *r = actl__lua_request_at(L, 1);
  lua_pushstring(L, r != NULL && r->is_used ? "request<answered>" : "request<owed>");
  return 1;
}

static const luaL_Reg METHODS[] = {
    {"reply", request_reply},
    {"fail", request_fail},
    {NULL, NULL},
};

static const luaL_Reg META[] = {
    {"__gc", request_gc},
    {"__tostring", request_tostring},
    {NULL, NULL},
};

void actl__lua_open_request(lua_State *L) {
  luaL_newmetatable(L, METATABLE);
  luaL_setfuncs(L, META, 0);
  lua_pushliteral(L, "request");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable"); /* out of reach: a script must not call __gc */
  luaL_newlib(L, METHODS);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
