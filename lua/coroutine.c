/*
 * coroutine.c - the coroutine library of our machines, in place of Lua's.
 *
 * It behaves as Lua 5.4's own (lcorolib.c, whose texts and rules it follows), with one thing more:
 * a coroutine that stopped for the engine makes the resume below it stop as well, see wait.h.
 *
 * To a script the runner is the main thread: there `running` returns the main thread and true,
 * `yield` refuses, `isyieldable` is false. A coroutine stopped for the engine is "normal".
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"
#include "wait.h"

#include <lauxlib.h>

enum status { RUNNING, DEAD, SUSPENDED, NORMAL };

static const char *const STATUS_NAMES[] = {"running", "dead", "suspended", "normal"};

static bool is_runner(lua_State *L) { return (*actl__lua_tag(L) & TAG_RUNNER) != 0; }

static lua_State *check_coroutine(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co, 1, "thread");
  return co;
}

static enum status status_of(lua_State *L, lua_State *co) {
  if (L == co) return RUNNING;
  if (co == actl__lua_machine(L)->main) return is_runner(L) ? RUNNING : NORMAL;
  if ((*actl__lua_tag(co) & (TAG_STOPPED | TAG_RUNNER)) != 0) return NORMAL;

  lua_Debug frame;
  int status = lua_status(co);
  if (status == LUA_YIELD) return SUSPENDED;
  if (status != LUA_OK) return DEAD;
  if (lua_getstack(co, 0, &frame)) return NORMAL; /* it has frames: it resumed another */
  return lua_gettop(co) == 0 ? DEAD : SUSPENDED;
}

/* Closes what the coroutine holds; its __close methods run on it. Returns as lua_resetthread. */
static int reset(lua_State *L, lua_State *co) {
  struct machine *m = actl__lua_machine(L);
  m->running = co;
  int status = lua_resetthread(co);
  m->running = L;
  return status;
}

/* ---- Resuming ---- */

/* Lets `co` run with `n` arguments on its stack. Returns what lua_resume does. */
static int run(lua_State *L, struct machine *m, lua_State *co, int n, int *n_results) {
  bool is_pinned = !lua_isyieldable(L) || (*actl__lua_tag(L) & TAG_PINNED) != 0;
  uintptr_t *tag = actl__lua_tag(co);
  *tag = (*tag & ~(uintptr_t)(TAG_STOPPED | TAG_PINNED)) | (is_pinned ? TAG_PINNED : 0);

  m->running = co;
  m->depth++;
  int status = lua_resume(co, L, n, n_results);
  m->depth--;
  m->running = L;
  return status;
}

/* Moves what a resume left to L and returns how many values; -1: one error value. */
static int collect(lua_State *L, lua_State *co, int status, int n_results) {
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, n_results + 1)) {
    lua_pop(co, n_results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, n_results);
  return n_results;
}

static bool is_stopped(lua_State *co) { return (*actl__lua_tag(co) & TAG_STOPPED) != 0; }

/* Moves the `n` values on top of L to `co` and runs it; -1: one error value instead. */
static int start(lua_State *L, struct machine *m, lua_State *co, int n) {
  if (co == m->main || is_stopped(co) || is_runner(co)) {
    lua_pushliteral(L, "cannot resume non-suspended coroutine");
    return -1;
  }
  if (!lua_checkstack(co, n)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, n);
  int n_results;
  int status = run(L, m, co, n, &n_results);
  return is_stopped(co) ? 0 : collect(L, co, status, n_results);
}

/* Lets a coroutine that stopped for the engine go on. */
static int go_on(lua_State *L, lua_State *co) {
  int n_results;
  int status = run(L, actl__lua_machine(L), co, 0, &n_results);
  return is_stopped(co) ? 0 : collect(L, co, status, n_results);
}

/* ---- coroutine.resume ---- */

static int resume_continue(lua_State *L, int status, lua_KContext k);

static int resume_finish(lua_State *L, lua_State *co, int n) {
  if (is_stopped(co)) return actl__lua_wait_stop(L, actl__lua_machine(L), resume_continue);
  lua_pushboolean(L, n >= 0);
  if (n < 0) n = 1;
  lua_insert(L, -(n + 1));
  return n + 1;
}

static int resume_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  lua_State *co = lua_tothread(L, 1);
  return resume_finish(L, co, go_on(L, co));
}

static int co_resume(lua_State *L) {
  lua_State *co = check_coroutine(L);
  bool was_stopped = is_stopped(co);
  int n = start(L, actl__lua_machine(L), co, lua_gettop(L) - 1);
  if (was_stopped) { /* refused, and not to be taken for one that stops now */
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
  }
  return resume_finish(L, co, n);
}

/* ---- coroutine.wrap ---- */

static int wrap_continue(lua_State *L, int status, lua_KContext k);

/* Raises the error on top, with the place added as Lua's own wrap does. */
static int wrap_error(lua_State *L, lua_State *co) {
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = reset(L, co); /* which may raise another error */
    lua_pop(L, 1);
    lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int wrap_finish(lua_State *L, lua_State *co, int n) {
  if (is_stopped(co)) return actl__lua_wait_stop(L, actl__lua_machine(L), wrap_continue);
  return n >= 0 ? n : wrap_error(L, co);
}

static int wrap_continue(lua_State *L, int status, lua_KContext k) {
  (void)status;
  (void)k;
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  return wrap_finish(L, co, go_on(L, co));
}

static int wrap_call(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  if (is_stopped(co)) { /* refused, and not to be taken for one that stops now */
    start(L, actl__lua_machine(L), co, 0);
    return wrap_error(L, co);
  }
  return wrap_finish(L, co, start(L, actl__lua_machine(L), co, lua_gettop(L)));
}

static int co_create(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

static int co_wrap(lua_State *L) {
  co_create(L);
  lua_pushcclosure(L, wrap_call, 1);
  return 1;
}

/* ---- The others ---- */

static int co_yield (lua_State *L) {
  if (L == actl__lua_machine(L)->main || is_runner(L)) {
    lua_pushliteral(L, "attempt to yield from outside a coroutine");
    return lua_error(L);
  }
  return lua_yield(L, lua_gettop(L));
}

static int co_status(lua_State *L) {
  lua_State *co = check_coroutine(L);
  lua_pushstring(L, STATUS_NAMES[status_of(L, co)]);
  return 1;
}

static int co_isyieldable(lua_State *L) {
  lua_State *co = lua_isnone(L, 1) ? L : check_coroutine(L);
  bool is_main = co == actl__lua_machine(L)->main || is_runner(co);
  lua_pushboolean(L, !is_main && lua_isyieldable(co));
  return 1;
}

static int co_running(lua_State *L) {
  bool is_main = L == actl__lua_machine(L)->main || is_runner(L);
  if (is_main) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  } else {
    lua_pushthread(L);
  }
  lua_pushboolean(L, is_main);
  return 2;
}

static int co_close(lua_State *L) {
  lua_State *co = check_coroutine(L);
  enum status status = status_of(L, co);
  if (status != DEAD && status != SUSPENDED) {
    return luaL_error(L, "cannot close a %s coroutine", STATUS_NAMES[status]);
  }

  int closed = reset(L, co);
  lua_pushboolean(L, closed == LUA_OK);
  if (closed == LUA_OK) return 1;
  lua_xmove(co, L, 1);
  return 2;
}

static const luaL_Reg FUNCTIONS[] = {
    {"create", co_create},           {"resume", co_resume}, {"running", co_running},
    {"status", co_status},           {"wrap", co_wrap},     {"yield", co_yield },
    {"isyieldable", co_isyieldable}, {"close", co_close},   {NULL, NULL},
};

void actl__lua_open_coroutine(lua_State *L) {
  lua_getglobal(L, "coroutine");
  luaL_setfuncs(L, FUNCTIONS, 0);
  lua_pop(L, 1);
}
