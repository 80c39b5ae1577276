/*
 * finalize.c - what the collector finds, and when the collector runs.
 *
 * Lua calls finalizers wherever the collector happens to run, with hooks off: an endless one could
 * not be stopped. So setmetatable replaces a function __gc in the metatable by one of ours, which
 * only lists the object; the script's function is called between deliveries. When the machine is
 * closed it is called at once.
 *
 * The list is a table: object and function of entry i at 2i - 1 and 2i.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <string.h>

enum {
  TIDY_LEAST_BYTES = 256 * 1024, /* with less new memory than that, idle steps are not worth it */
  TIDY_STEPS = 400,              /* in one idle turn */
  LONG_LIST = 256                /* finalizers: the list is not kept beyond that */
};

/* ---- Listing ---- */

/* The __gc that the collector calls; the script's function is its upvalue. */
static int list_object(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  lua_settop(L, 1);
  if (m->is_closing) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 0);
    return 0;
  }

  lua_pushvalue(m->store, STORE_FINALIZERS);
  lua_xmove(m->store, L, 1);
  lua_Integer at = 2 * (lua_Integer)m->n_finalizers + 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_rawseti(L, 2, at + 1);
  lua_pushvalue(L, 1);
  lua_rawseti(L, 2, at);
  m->n_finalizers++;
  return 0;
}

/* Replaces a function __gc of the metatable on top. */
static void take_over(lua_State *L) {
  lua_pushliteral(L, "__gc");
  if (lua_rawget(L, -2) == LUA_TFUNCTION && lua_tocfunction(L, -1) != list_object) {
    lua_pushcclosure(L, list_object, 1);
    lua_pushliteral(L, "__gc");
    lua_insert(L, -2);
    lua_rawset(L, -3);
  } else {
    lua_pop(L, 1);
  }
}

void actl__lua_request_drop(struct machine *m, actl_request request) {
  if (m->n_dropped == m->dropped_capacity) {
    uint32_t capacity = m->dropped_capacity == 0 ? 16 : m->dropped_capacity * 2;
    actl_request *grown = actl__lua_realloc(m, m->dropped, m->dropped_capacity * sizeof *m->dropped,
                                            capacity * sizeof *m->dropped);
    if (grown == NULL) return; /* the ask fails at the actor's end */
    m->dropped = grown;
    m->dropped_capacity = capacity;
  }
  m->dropped[m->n_dropped++] = request;
}

/* ---- Calling what was listed ---- */

/* Pushes the function and the object of entry `i` and takes them off the list. */
static void take_entry(lua_State *L, struct machine *m, uint32_t i) {
  lua_pushvalue(m->store, STORE_FINALIZERS);
  lua_xmove(m->store, L, 1);
  int list = lua_gettop(L);
  for (lua_Integer at = 2 * (lua_Integer)i + 2; at > 2 * (lua_Integer)i; at--) {
    lua_rawgeti(L, list, at);
    lua_pushnil(L);
    lua_rawseti(L, list, at);
  }
  lua_remove(L, list);
}

/* Empties the list, of which all has been called; false: the collector has listed more meanwhile. A
 * list that has become long is replaced. */
static bool end_list(lua_State *L, struct machine *m, uint32_t called) {
  bool is_long = called >= LONG_LIST;
  if (is_long) lua_newtable(L);
  if (m->n_finalizers != called) {
    if (is_long) lua_pop(L, 1);
    return false;
  }
  if (is_long) {
    lua_xmove(L, m->store, 1);
    lua_replace(m->store, STORE_FINALIZERS);
  }
  m->n_finalizers = 0;
  return true;
}

static void call_entry(lua_State *L, struct machine *m, uint32_t i) {
  take_entry(L, m, i);
  /* No actor runs meanwhile: what a finalizer sends has nobody as its sender. */
  void *actor = actl_turn_step_out(m->ctx);
  int status = lua_pcall(L, 1, 0, 0);
  actl_turn_step_in(m->ctx, actor);
  if (status != LUA_OK) actl__lua_warn_error(m, L, "error in a finalizer");
}

static void call_listed(lua_State *L, struct machine *m) {
  if (m->n_finalizers == 0) return;
  luaL_checkstack(L, 8, NULL);
  uint32_t called = 0;
  do {
    /* A finalizer may make garbage whose finalizers are listed while this runs. */
    while (called < m->n_finalizers) call_entry(L, m, called++);
  } while (!end_list(L, m, called));
}

void actl__lua_finalize(lua_State *L, struct machine *m) {
  void *actor = actl_turn_step_out(m->ctx);
  while (m->n_dropped > 0) {
    actl_request_fail(m->ctx, m->dropped[--m->n_dropped], ACTL_UNANSWERED);
  }
  actl_turn_step_in(m->ctx, actor);
  call_listed(L, m);
}

/* ---- The collector in idle time ---- */

static size_t bytes_of(lua_State *L) {
  return (size_t)lua_gc(L, LUA_GCCOUNT) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB);
}

void actl__lua_tidy_begin(struct machine *m) {
  size_t bytes = bytes_of(m->main);
  m->tidy_bytes = bytes + bytes / 4 + TIDY_LEAST_BYTES;
}

void actl__lua_tidy(lua_State *L, struct machine *m) {
  if (bytes_of(L) < m->tidy_bytes || !lua_gc(L, LUA_GCISRUNNING)) return;
  for (int i = 0; i < TIDY_STEPS && actl_turn_is_idle(m->ctx); i++) {
    if (!lua_gc(L, LUA_GCSTEP, 0)) continue;
    actl__lua_tidy_begin(m);
    break;
  }
}

/* ---- What scripts see ---- */

static int set_metatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "cannot change a protected metatable");
  }
  lua_settop(L, 2);
  if (type == LUA_TTABLE) take_over(L);
  lua_setmetatable(L, 1);
  return 1;
}

static int debug_set_metatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  lua_settop(L, 2);
  if (type == LUA_TTABLE) take_over(L);
  lua_setmetatable(L, 1);
  return 1;
}

/* Lua's own debug.sethook, the upvalue. What it sets on a handler ends with the delivery. */
static int debug_set_hook(lua_State *L) {
  actl__lua_machine(L)->has_hook = true;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Lua's own collectgarbage, the upvalue, except for its generational mode. */
static int collect_garbage(lua_State *L) {
  static const char *const OPTIONS[] = {"generational", "collect",     "stop",     "restart",
                                        "count",        "step",        "setpause", "setstepmul",
                                        "isrunning",    "incremental", NULL};
  if (luaL_checkoption(L, 1, "collect", OPTIONS) == 0) {
    return luaL_error(L, "collectgarbage: the generational mode is not available here");
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

void actl__lua_open_finalize(lua_State *L) {
  lua_register(L, "setmetatable", set_metatable);
  lua_getglobal(L, "collectgarbage");
  lua_pushcclosure(L, collect_garbage, 1);
  lua_setglobal(L, "collectgarbage");

  lua_getglobal(L, "debug");
  lua_pushcfunction(L, debug_set_metatable);
  lua_setfield(L, -2, "setmetatable");
  lua_getfield(L, -1, "sethook");
  lua_pushcclosure(L, debug_set_hook, 1);
  lua_setfield(L, -2, "sethook");
  lua_pop(L, 1);
}
