/*
 * spawn.c - actor.spawn, actor.process, the same with a place, actor.native.
 *
 * A near actor gets its word at once. What is placed describes itself by the first values of its
 * first delivery, see birth.c. With a seed what is asked for near may be placed, see scatter.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "behavior.h"
#include "machine.h"
#include "module.h"
#include "scatter.h"
#include "values.h"

#include <lauxlib.h>
#include <string.h>

static struct machine *check_spawner(lua_State *L, const char *function) {
  struct machine *m = actl__lua_acting(L, function);
  if (m->is_abandoning) luaL_error(L, "%s: not in a __close of a handler that has ended", function);
  return m;
}

static int spawned(lua_State *L, actl_status status, actl_pid pid, const char *function) {
  if (status == ACTL_NO_MEMORY) return actl__lua_no_memory(L);
  if (status != ACTL_OK) return luaL_error(L, "%s: %s", function, actl_status_text(status));
  actl__lua_push_pid(L, pid);
  return 1;
}

static int no_behavior(lua_State *L, const char *function, int index) {
  return luaL_error(L, "%s: a behavior or a function expected, got %s", function,
                    actl__lua_type_phrase(L, index));
}

static void check_function(lua_State *L, const char *function, int index) {
  if (lua_type(L, index) == LUA_TFUNCTION) return;
  luaL_error(L, "%s: a function expected, got %s", function, actl__lua_type_phrase(L, index));
}

static void check_function_takes(lua_State *L, int n) {
  if (n > 0) {
    luaL_error(L, "a function behavior has no init to take arguments; send them");
  }
}

static void check_takes(lua_State *L, const struct behavior_object *object, int n) {
  const actl_behavior *native = object->native;
  bool has_init = native != NULL ? native->init != NULL : object->behavior->init != 0;
  if (n > 0 && !has_init) {
    luaL_error(L, "behavior \"%s\" has no init to take arguments", actl__lua_behavior_name(object));
  }
}

/* ---- Placed ---- */

static int no_vat(lua_State *L, const struct machine *m, lua_Integer vat, const char *function) {
  return luaL_error(L, "%s: there is no vat %I; 0 to %I are always there", function, vat,
                    (lua_Integer)actl_engine_vats(m->binding->engine) - 1);
}

/* The value at 1 as a place. Vats that the host has made have numbers beyond those that the engine
 * began with: the engine knows whether there is one. */
static uint32_t check_where(lua_State *L, const struct machine *m, const char *function) {
  if (lua_isinteger(L, 1)) {
    lua_Integer vat = lua_tointeger(L, 1);
    if (vat >= 0 && vat <= UINT16_MAX) return (uint32_t)vat;
    no_vat(L, m, vat, function);
  }
  const char *where = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "";
  if (strcmp(where, "any") == 0) return ACTL_VAT_ANY;
  if (strcmp(where, "isolate") == 0) return ACTL_VAT_NEW;
  const char *got = lua_type(L, 1) == LUA_TSTRING ? lua_pushfstring(L, "\"%s\"", where)
                                                  : actl__lua_type_phrase(L, 1);
  luaL_error(L, "%s: a vat's number, \"any\" or \"isolate\" expected, got %s", function, got);
  return 0;
}

static int placed(lua_State *L, const struct machine *m, uint32_t vat, actl_status status,
                  actl_pid pid, const char *function) {
  if (status == ACTL_NO_VAT) return no_vat(L, m, vat, function);
  return spawned(L, status, pid, function);
}

/* The function at `index`. */
static int place_function(lua_State *L, struct machine *m, uint32_t vat, int index,
                          const char *function) {
  actl_value what;
  actl__lua_read_with(L, m, index, index + 1, 0, &what);

  actl_pid pid = {0};
  actl_status status = actl_driven_spawn_on(m->ctx, vat, &what, 1, &pid);
  return placed(L, m, vat, status, pid, function);
}

/* The body at `index`, and what follows it. */
static int place_process(lua_State *L, struct machine *m, uint32_t vat, int index,
                         const char *function) {
  actl_value values[ACTL_VALUES_MAX + 2];
  int n = lua_gettop(L) - index;
  values[0] = actl_bool(true);
  actl__lua_read_with(L, m, index, index + 1, n, values + 1);

  actl_pid pid = {0};
  actl_status status = actl_driven_spawn_on(m->ctx, vat, values, (size_t)n + 2, &pid);
  return placed(L, m, vat, status, pid, function);
}

/* The behavior at `index`, and what follows it. */
static int place_behavior(lua_State *L, struct machine *m, uint32_t vat, int index,
                          const struct behavior_object *object, const char *function) {
  actl_value values[ACTL_VALUES_MAX + 1];
  int n = lua_gettop(L) - index;
  const actl_behavior *native = object->native;
  actl__lua_read(L, m, index + 1, n, values + 1, "argument");

  actl_pid pid = {0};
  actl_status status;
  if (native != NULL) {
    status = actl_spawn_on(m->ctx, vat, native, values + 1, (size_t)n, &pid);
  } else {
    values[0] = actl_named(object->behavior->id);
    status = actl_driven_spawn_on(m->ctx, vat, values, (size_t)n + 1, &pid);
  }
  return placed(L, m, vat, status, pid, function);
}

/* ---- Near ---- */

static int spawn_function(lua_State *L, struct machine *m) {
  check_function_takes(L, lua_gettop(L) - 1);
  uint32_t vat;
  if (actl__lua_scatter_function(L, m, &vat)) return place_function(L, m, vat, 1, "actor.spawn");
  uint32_t ref = actl__lua_ref_function(L, m, 1);
  actl_pid pid = {0};
  actl_status status = actl_driven_spawn(m->ctx, ref, 0, NULL, 0, &pid);
  if (status != ACTL_OK) actl__lua_unref(m, ref);
  return spawned(L, status, pid, "actor.spawn");
}

static int spawn_behavior(lua_State *L, struct machine *m, const struct behavior_object *object) {
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  const actl_behavior *native = object->native;
  check_takes(L, object, n);
  uint32_t vat;
  if (native == NULL && actl__lua_scatter_behavior(L, m, object->behavior, &vat)) {
    return place_behavior(L, m, vat, 1, object, "actor.spawn");
  }
  actl__lua_read(L, m, 2, n, values, "argument");

  actl_pid pid = {0};
  actl_status status;
  if (native != NULL) {
    status = actl_spawn(m->ctx, native, values, (size_t)n, &pid);
  } else {
    const struct behavior *behavior = object->behavior;
    status = actl_driven_spawn(m->ctx, WORD_BEHAVIOR | behavior->number,
                               actl__lua_behavior_hooks(behavior), values, (size_t)n, &pid);
  }
  return spawned(L, status, pid, "actor.spawn");
}

/* (f, ...) */
int actl__lua_process(lua_State *L) {
  struct machine *m = check_spawner(L, "actor.process");
  check_function(L, "actor.process", 1);
  uint32_t vat;
  if (actl__lua_scatter_function(L, m, &vat)) return place_process(L, m, vat, 1, "actor.process");
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - 1;
  actl__lua_read(L, m, 2, n, values, "argument");

  uint32_t ref = actl__lua_ref_function(L, m, 1);
  actl_pid pid = {0};
  actl_status status =
      actl_driven_spawn(m->ctx, ref, ACTL_HAS_INIT | ACTL_IS_PROCESS, values, (size_t)n, &pid);
  if (status != ACTL_OK) actl__lua_unref(m, ref);
  return spawned(L, status, pid, "actor.process");
}

int actl__lua_spawn(lua_State *L) {
  struct machine *m = check_spawner(L, "actor.spawn");
  if (lua_type(L, 1) == LUA_TFUNCTION) return spawn_function(L, m);
  const struct behavior_object *object = actl__lua_behavior_at(L, 1);
  if (object == NULL) return no_behavior(L, "actor.spawn", 1);
  return spawn_behavior(L, m, object);
}

/* ---- Elsewhere ---- */

/* (where, f, ...) */
int actl__lua_process_on(lua_State *L) {
  struct machine *m = check_spawner(L, "actor.process_on");
  uint32_t vat = check_where(L, m, "actor.process_on");
  check_function(L, "actor.process_on", 2);
  return place_process(L, m, vat, 2, "actor.process_on");
}

int actl__lua_spawn_on(lua_State *L) {
  struct machine *m = check_spawner(L, "actor.spawn_on");
  uint32_t vat = check_where(L, m, "actor.spawn_on");
  if (lua_type(L, 2) == LUA_TFUNCTION) {
    check_function_takes(L, lua_gettop(L) - 2);
    return place_function(L, m, vat, 2, "actor.spawn_on");
  }
  const struct behavior_object *object = actl__lua_behavior_at(L, 2);
  if (object == NULL) return no_behavior(L, "actor.spawn_on", 2);
  check_takes(L, object, lua_gettop(L) - 2);
  return place_behavior(L, m, vat, 2, object, "actor.spawn_on");
}

int actl__lua_native(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  struct machine *m = actl__lua_machine(L);
  const actl_behavior *native = actl_engine_behavior(m->binding->engine, name);
  if (native == NULL) {
    return luaL_error(L, "actor.native: no native behavior is called \"%s\"", name);
  }
  actl__lua_behavior_push(L, NULL, native);
  return 1;
}
