/*
 * host.c - opens the Lua machines of a run, and is what runner.lua calls "host".
 *
 * Every machine gets the script's folder in package.path, `arg`, and an os.exit that does not run
 * the process's clean-up under the feet of the other workers. Vat 0 also gets runner.lua, which
 * runs the file; the machines of other vats run it when they are made, if it is a scenario, so that
 * the behaviors it names exist there. They are made later than `is_scenario` is written: an actor
 * has to be placed there first.
 *
 * The functions of `host` have the run as their upvalue and are called by the run actor alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/host.h"

#include "command/console.h"
#include "command/run.h"
#include "command/strict.h"
#include "command/suggest.h"
#include "command/trace.h"

#include "actl_lua.h"

#include <lauxlib.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct run *host_run(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

/* Not lua_pushstring, for which it matters where a long text is: with a seed nothing may. */
static void push_text(lua_State *L, const char *text) { lua_pushlstring(L, text, strlen(text)); }

static char *copy_string(lua_State *L, int index) {
  size_t size = 0;
  const char *bytes = lua_tolstring(L, index, &size);
  return bytes == NULL ? NULL : actl__text_copy(bytes, size);
}

/* ---- What runner.lua calls ---------------------------------------------------------------------- */

/* chunk() -> the compiled file */
static int host_chunk(lua_State *L) {
  actl__source_push(L, host_run(L)->source);
  return 1;
}

/* arguments() -> the script's arguments ... */
static int host_arguments(lua_State *L) {
  const struct options *options = host_run(L)->options;
  luaL_checkstack(L, (int)options->n_arguments, "too many arguments");
  for (size_t i = 0; i < options->n_arguments; i++) push_text(L, options->arguments[i]);
  return (int)options->n_arguments;
}

/* settings() -> {{name, text}, ...} */
static int host_settings(lua_State *L) {
  const struct options *options = host_run(L)->options;
  lua_createtable(L, (int)options->n_settings, 0);
  for (size_t i = 0; i < options->n_settings; i++) {
    lua_createtable(L, 2, 0);
    push_text(L, options->settings[i].name);
    lua_rawseti(L, -2, 1);
    push_text(L, options->settings[i].value);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* suggest(word, {name, ...}) -> the name that was meant, or nil */
static int host_suggest(lua_State *L) {
  const char *word = luaL_checkstring(L, 1);
  lua_Unsigned n = lua_rawlen(L, 2);
  /* Userdata, so that an error frees it; the table keeps the strings. */
  const char **names = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *names, 0);
  for (lua_Unsigned i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    names[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  lua_pushstring(L, actl__suggest_name(word, names, (size_t)n));
  return 1;
}

/* loaded(): the top level has returned */
static int host_loaded(lua_State *L) {
  host_run(L)->is_loaded = true;
  return 0;
}

static void add_problem(lua_State *L, enum verdict_kind kind) {
  actl__run_problem(host_run(L), kind, "%s", luaL_checkstring(L, 1));
}

/* reject(text): something the file is, or its `run` did, is wrong */
static int host_reject(lua_State *L) {
  add_problem(L, host_run(L)->was_played ? VERDICT_RESULT : VERDICT_FILE);
  return 0;
}

/* usage(text): something on the command line is wrong */
static int host_usage(lua_State *L) {
  add_problem(L, VERDICT_USAGE);
  return 0;
}

/* scenario(name, about, lossy): each may be nil */
static int host_scenario(lua_State *L) {
  struct run *run = host_run(L);
  if (lua_isstring(L, 1)) {
    free(run->name);
    run->name = copy_string(L, 1);
  }
  run->about = copy_string(L, 2);
  run->is_lossy = lua_toboolean(L, 3);
  /* release: pairs with the load in actl__host_open, on the thread that opens another vat. */
  atomic_store_explicit(&run->is_scenario, true, memory_order_release);
  actl_lua_everywhere(L);
  return 0;
}

/* param(name, value), in the order of the names */
static int host_param(lua_State *L) {
  struct run *run = host_run(L);
  luaL_checkstring(L, 1);
  struct param param = {.kind = PARAM_OTHER};
  switch (lua_type(L, 2)) {
  case LUA_TBOOLEAN:
    param.kind = PARAM_BOOLEAN;
    param.integer = lua_toboolean(L, 2);
    break;
  case LUA_TNUMBER:
    param.kind = lua_isinteger(L, 2) ? PARAM_INTEGER : PARAM_FLOAT;
    param.integer = lua_tointeger(L, 2);
    param.number = lua_tonumber(L, 2);
    break;
  case LUA_TSTRING:
    param.kind = PARAM_STRING;
    param.bytes = copy_string(L, 2);
    param.size = (size_t)lua_rawlen(L, 2);
    break;
  default: break;
  }
  param.name = copy_string(L, 1);
  run->params = actl__text_room(run->params, (run->n_params + 1) * sizeof param);
  run->params[run->n_params++] = param;
  return 0;
}

/* clock_start() */
static int host_clock_start(lua_State *L) {
  struct run *run = host_run(L);
  run->start = actl__span_now(actl_lua_ctx(L));
  return 0;
}

/* clock_stop() */
static int host_clock_stop(lua_State *L) {
  struct run *run = host_run(L);
  run->clock = actl__span_between(run->start, actl__span_now(actl_lua_ctx(L)));
  return 0;
}

/* deferred(): a check waits for the end */
static int host_deferred(lua_State *L) {
  host_run(L)->has_deferred = true;
  return 0;
}

/* checked(): those that wait have been made */
static int host_checked(lua_State *L) {
  host_run(L)->has_checked = true;
  return 0;
}

/* returned(requested, done, unit): `run` has */
static int host_returned(lua_State *L) {
  struct run *run = host_run(L);
  run->requested = luaL_checkinteger(L, 1);
  run->done = luaL_checkinteger(L, 2);
  luaL_checkstring(L, 3);
  free(run->unit);
  run->unit = copy_string(L, 3);
  run->has_returned = true;
  return 0;
}

/* check(name, ok, place, error): the file and line that gave it; nil, or why it could not be made */
static int host_check(lua_State *L) {
  struct run *run = host_run(L);
  luaL_checkstring(L, 1);
  run->checks = actl__text_room(run->checks, (run->n_checks + 1) * sizeof *run->checks);
  run->checks[run->n_checks++] = (struct check){
      .name = copy_string(L, 1),
      .is_ok = lua_toboolean(L, 2),
      .place = copy_string(L, 3),
      .error = copy_string(L, 4),
  };
  return 0;
}

/* progress(done, total): total 0 if it is not known */
static int host_progress(lua_State *L) {
  struct run *run = host_run(L);
  double done = luaL_checknumber(L, 1), total = luaL_checknumber(L, 2);
  if (!run->options->is_quiet) actl__console_progress(run->name, done, total);
  return 0;
}

/* sample(ns, n): a latency, n times or once */
static int host_sample(lua_State *L) {
  lua_Number ns = luaL_checknumber(L, 1);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  luaL_argcheck(L, ns >= 0 && ns < 1e18, 1, "nanoseconds, from 0 to 1e18");
  luaL_argcheck(L, n >= 0, 2, "a count is not negative");
  actl__histogram_add(&host_run(L)->samples, (uint64_t)ns, (uint64_t)n);
  return 0;
}

/* samples(bytes): latencies, each packed as string.pack("j", ns) does it */
static int host_samples(lua_State *L) {
  size_t size;
  const char *bytes = luaL_checklstring(L, 1, &size);
  luaL_argcheck(L, size % sizeof(lua_Integer) == 0, 1, "packed integers");
  for (size_t at = 0; at < size; at += sizeof(lua_Integer)) {
    lua_Integer ns;
    memcpy(&ns, bytes + at, sizeof ns);
    luaL_argcheck(L, ns >= 0, 1, "packed nanoseconds, none negative");
    actl__histogram_add(&host_run(L)->samples, (uint64_t)ns, 1);
  }
  return 0;
}

/* figure(name, value, unit) */
static int host_figure(lua_State *L) {
  struct run *run = host_run(L);
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 3);
  lua_Number value = luaL_checknumber(L, 2);
  run->figures = actl__text_room(run->figures, (run->n_figures + 1) * sizeof *run->figures);
  run->figures[run->n_figures++] =
      (struct figure){.name = copy_string(L, 1), .unit = copy_string(L, 3), .value = value};
  return 0;
}

/* memory() -> resident bytes of the process, bytes that the engine holds */
static int host_memory(lua_State *L) {
  uint64_t resident = actl__footprint_resident();
  if (resident == 0) return luaL_error(L, "the system does not say how much memory is resident");
  lua_pushinteger(L, (lua_Integer)resident);
  /* relaxed: a count that orders nothing. */
  lua_pushinteger(L, (lua_Integer)atomic_load_explicit(&host_run(L)->footprint.held_bytes,
                                                       memory_order_relaxed));
  return 2;
}

static const luaL_Reg functions[] = {
    {"chunk", host_chunk},
    {"arguments", host_arguments},
    {"settings", host_settings},
    {"suggest", host_suggest},
    {"loaded", host_loaded},
    {"reject", host_reject},
    {"usage", host_usage},
    {"scenario", host_scenario},
    {"param", host_param},
    {"clock_start", host_clock_start},
    {"clock_stop", host_clock_stop},
    {"returned", host_returned},
    {"check", host_check},
    {"progress", host_progress},
    {"sample", host_sample},
    {"samples", host_samples},
    {"figure", host_figure},
    {"memory", host_memory},
    {"deferred", host_deferred},
    {"checked", host_checked},
    {NULL, NULL},
};

/* ---- Opening a machine -------------------------------------------------------------------------- */

/* os.exit(code): without lua_close, which would free the machine that calls it, and without the
 * process's own clean-up, since other workers go on meanwhile. */
static int host_exit(lua_State *L) {
  int status = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? EXIT_SUCCESS : EXIT_FAILURE)
                                   : (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
  actl__console_clear();
  actl__trace_save();
  fflush(NULL);
  _exit(status);
}

/* package.path = FOLDER/?.lua;FOLDER/?/init.lua;package.path */
static void set_path(lua_State *L, const struct run *run) {
  const char *slash = strrchr(run->path, '/');
  if (slash == NULL) {
    lua_pushliteral(L, "./");
  } else {
    lua_pushlstring(L, run->path, (size_t)(slash - run->path) + 1);
  }
  const char *folder = lua_tostring(L, -1);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s?.lua;%s?/init.lua;%s", folder, folder, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 3);
}

/* arg[0] is the file, arg[1] the first argument. */
static void set_arg(lua_State *L, const struct run *run) {
  const struct options *options = run->options;
  lua_createtable(L, (int)options->n_arguments, 1);
  push_text(L, run->path);
  lua_rawseti(L, -2, 0);
  for (size_t i = 0; i < options->n_arguments; i++) {
    push_text(L, options->arguments[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setglobal(L, "arg");
}

static void set_exit(lua_State *L) {
  lua_getglobal(L, "os");
  lua_pushcfunction(L, host_exit);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
}

static void run_runner(lua_State *L, struct run *run) {
  actl__source_push_runner(L, run->source);
  lua_createtable(L, 0, (int)(sizeof functions / sizeof functions[0]));
  lua_pushlightuserdata(L, run);
  luaL_setfuncs(L, functions, 1);
  push_text(L, run->path);
  lua_setfield(L, -2, "path");
  lua_call(L, 1, 0);
}

void actl__host_prepare(lua_State *L, const struct run *run) {
  set_path(L, run);
  set_arg(L, run);
  set_exit(L);
}

/* require "actor.test", in a file that is not run as a test. */
static int refuse_kit(lua_State *L) {
  return luaL_error(L, "this file has test cases: run it with 'actorlua test FILE'");
}

static void set_kit(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, refuse_kit);
  lua_setfield(L, -2, ACTL_HOST_KIT);
  lua_pop(L, 1);
}

int actl__host_open(lua_State *L) {
  struct run *run = lua_touserdata(L, 1);
  lua_Integer vat = lua_tointeger(L, 2);
  actl__host_prepare(L, run);
  set_kit(L);

  if (vat == 0) {
    run_runner(L, run);
    if (run->options->is_strict) actl__strict_seal(L, &run->is_loaded, &run->actor);
    return 0;
  }
  /* acquire: pairs with the store in host_scenario. */
  if (atomic_load_explicit(&run->is_scenario, memory_order_acquire)) {
    actl__source_push(L, run->source);
    lua_call(L, 0, 0);
    actl_lua_everywhere(L);
  }
  if (run->options->is_strict) actl__strict_seal(L, NULL, NULL);
  return 0;
}
