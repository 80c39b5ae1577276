/*
 * module.c - the module `actor`: its table, and the functions that only ask or tell the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "module.h"

#include "behavior.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

struct machine *actl__lua_open_machine(lua_State *L, const char *function) {
  struct machine *m = actl__lua_machine(L);
  if (m->is_closing) luaL_error(L, "%s: the engine is being closed", function);
  return m;
}

struct machine *actl__lua_acting(lua_State *L, const char *function) {
  struct machine *m = actl__lua_open_machine(L, function);
  if (!m->in_delivery) luaL_error(L, "%s: no actor is running", function);
  return m;
}

static int module_self(lua_State *L) {
  actl__lua_push_pid(L, actl_self(actl__lua_acting(L, "actor.self")->ctx));
  return 1;
}

static int module_sender(lua_State *L) {
  actl_pid sender = actl_sender(actl__lua_acting(L, "actor.sender")->ctx);
  if (sender.bits == 0) {
    lua_pushnil(L);
  } else {
    actl__lua_push_pid(L, sender);
  }
  return 1;
}

/* The actor stops when the running handler has returned. */
static int module_exit(lua_State *L) {
  actl_exit(actl__lua_acting(L, "actor.exit")->ctx, luaL_optstring(L, 1, NULL));
  return 0;
}

static int module_is_pid(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, actl__lua_pid_at(L, 1).bits != 0);
  return 1;
}

/* Milliseconds of a clock that never goes back. */
static int module_now(lua_State *L) {
  struct machine *m = actl__lua_open_machine(L, "actor.now");
  lua_pushnumber(L, (lua_Number)actl_now_ns(m->ctx) / 1e6);
  return 1;
}

static void set_count(lua_State *L, const char *field, uint64_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, field);
}

static void push_letters(lua_State *L, const actl_stats *stats) {
  /* In the order of ACTL_LETTERS. */
  static const actl_status REASONS[ACTL_LETTER_REASONS] = {
#define LETTER_STATUS(reason) ACTL_##reason,
      ACTL_LETTERS(LETTER_STATUS)
#undef LETTER_STATUS
  };
  lua_createtable(L, 0, ACTL_LETTER_REASONS);
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) {
    set_count(L, actl_status_name(REASONS[i]), stats->dead_letters[i]);
  }
}

static int module_stats(lua_State *L) {
  struct machine *m = actl__lua_open_machine(L, "actor.stats");
  actl_stats stats;
  actl_ctx_stats(m->ctx, &stats);
  lua_createtable(L, 0, 20);
  set_count(L, "spawned", stats.spawned);
  set_count(L, "stopped", stats.stopped);
  set_count(L, "alive", stats.alive);
  set_count(L, "peak_alive", stats.peak_alive);
  set_count(L, "failed", stats.failed);
  set_count(L, "messages", stats.messages);
  set_count(L, "far_messages", stats.far_messages);
  set_count(L, "late_replies", stats.late_replies);
  set_count(L, "timeouts", stats.timeouts);
  set_count(L, "deadlocks", stats.deadlocks);
  set_count(L, "timers", stats.timers);
  set_count(L, "fired", stats.fired);
  set_count(L, "steals", stats.steals);
  set_count(L, "parks", stats.parks);
  set_count(L, "turns", stats.turns);
  set_count(L, "wakes", stats.wakes);
  set_count(L, "workers", actl_engine_workers(m->binding->engine));
  set_count(L, "vats", actl_engine_vats(m->binding->engine));
  set_count(L, "vat", actl_ctx_vat(m->ctx));
  push_letters(L, &stats);
  lua_setfield(L, -2, "dead_letters");
  return 1;
}

/* The level that the first of several arguments names, or -1. */
static int level_of(lua_State *L) {
  static const char *const LEVELS[] = {"debug", "info", "warn", "error"};
  if (lua_gettop(L) < 2 || lua_type(L, 1) != LUA_TSTRING) return -1;
  for (int i = 0; i < 4; i++) {
    if (strcmp(lua_tostring(L, 1), LEVELS[i]) == 0) return i;
  }
  return -1;
}

/* actor.log([level,] ...): the values as tostring shows them, with a blank between. */
static int module_log(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  int level = level_of(L);
  int n = lua_gettop(L);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (int i = level < 0 ? 1 : 2; i <= n; i++) {
    actl__lua_tolstring(L, i, NULL);
    luaL_addvalue(&text);
    if (i < n) luaL_addchar(&text, ' ');
  }
  luaL_pushresult(&text);
  actl_engine_log(m->binding->engine, level < 0 ? ACTL_LOG_INFO : (actl_log_level)level,
                  lua_tostring(L, -1));
  return 0;
}

static const luaL_Reg FUNCTIONS[] = {
    {"behavior", actl__lua_behavior},
    {"spawn", actl__lua_spawn},
    {"spawn_on", actl__lua_spawn_on},
    {"process", actl__lua_process},
    {"process_on", actl__lua_process_on},
    {"native", actl__lua_native},
    {"send", actl__lua_send},
    {"ask", actl__lua_ask},
    {"reply", actl__lua_reply},
    {"later", actl__lua_later},
    {"receive", actl__lua_receive},
    {"sleep", actl__lua_sleep},
    {"after", actl__lua_after},
    {"every", actl__lua_every},
    {"cancel", actl__lua_cancel},
    {"stop", actl__lua_stop},
    {"kill", actl__lua_kill},
    {"exit", module_exit},
    {"self", module_self},
    {"sender", module_sender},
    {"is_pid", module_is_pid},
    {"stats", module_stats},
    {"now", module_now},
    {"log", module_log},
    {NULL, NULL},
};

/* package.preload.actor, so that the module is found again after package.loaded.actor = nil. */
static int module_load(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

void actl__lua_open_module(lua_State *L) {
  luaL_newlib(L, FUNCTIONS);
  actl__lua_push_down(L);
  lua_setfield(L, -2, "down");
  actl__lua_push_other(L);
  lua_setfield(L, -2, "other");

  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "actor");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushvalue(L, -3);
  lua_pushcclosure(L, module_load, 1);
  lua_setfield(L, -2, "actor");
  lua_pop(L, 3);
}
