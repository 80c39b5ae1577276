/*
 * seeded.c - with a seed: Lua's own functions that would vary from run to run, replaced.
 *
 * Time and random numbers come from the engine. And C functions become objects: Lua hashes a C function
 * without upvalues by its address, which is another one in each process, so that a table with such keys
 * would be in another order. As a closure with one upvalue, which it does not use, it lies in the
 * machine's memory, where addresses repeat.
 *
 * SPDX-License-Identifier: MIT
 */
#include "seeded.h"

#include "machine.h"
#include "scatter.h"
#include "values.h"

#include <lauxlib.h>
#include <lualib.h>

int actl__lua_as_original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

void actl__lua_replace(lua_State *L, const char *name, lua_CFunction fn) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, fn, 1);
  lua_setfield(L, -2, name);
}

/* ---- Time ---- */

static void push_seconds(lua_State *L) {
  uint64_t now_ns = actl_wall_ns(actl__lua_machine(L)->ctx);
  lua_pushinteger(L, (lua_Integer)(now_ns / 1000000000));
}

static int os_time(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) return actl__lua_as_original(L);
  push_seconds(L);
  return 1;
}

static int os_date(lua_State *L) {
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    push_seconds(L);
  }
  return actl__lua_as_original(L);
}

/* Seconds since the start, in place of those that the process has worked. */
static int os_clock(lua_State *L) {
  const struct machine *m = actl__lua_machine(L);
  lua_pushnumber(L, (lua_Number)(actl_now_ns(m->ctx) - m->binding->start_ns) / 1e9);
  return 1;
}

static void open_time(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  if (m->binding->start_ns == 0) m->binding->start_ns = actl_now_ns(m->ctx);
  lua_getglobal(L, LUA_OSLIBNAME);
  actl__lua_replace(L, "time", os_time);
  actl__lua_replace(L, "date", os_date);
  actl__lua_replace(L, "clock", os_clock);
  lua_pop(L, 1);
}

/* ---- Random numbers ---- */

static void push_draws(lua_State *L) {
  actl_ctx *ctx = actl__lua_machine(L)->ctx;
  lua_pushinteger(L, (lua_Integer)actl_ctx_draw(ctx));
  lua_pushinteger(L, (lua_Integer)actl_ctx_draw(ctx));
}

/* The first upvalue is the generator's state, as in Lua's own, which is the second one. */
static int math_randomseed(lua_State *L) {
  if (lua_isnone(L, 1)) push_draws(L);
  return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

static void open_random(lua_State *L) {
  lua_getglobal(L, LUA_MATHLIBNAME);
  lua_getfield(L, -1, "randomseed");
  lua_getupvalue(L, -1, 1);
  lua_insert(L, -2);
  lua_pushcclosure(L, math_randomseed, 2);
  lua_pushvalue(L, -1);
  lua_call(L, 0, 0);
  lua_setfield(L, -2, "randomseed");
  lua_pop(L, 1);
}

/* ---- C functions as objects ---- */

enum { KNOWN_MAX = 512 };

/* Those that have been made objects, so that one function stays one. `objects` is the index of a table
 * that has them in the same order. */
struct known {
  lua_State *L;
  int objects, n;
  lua_CFunction fn[KNOWN_MAX];
};

static void known_init(struct known *known, lua_State *L) {
  lua_newtable(L);
  known->L = L;
  known->objects = lua_gettop(L);
  known->n = 0;
}

static bool is_bare(lua_State *L, int index) {
  if (!lua_iscfunction(L, index)) return false;
  if (lua_getupvalue(L, index, 1) == NULL) return true;
  lua_pop(L, 1);
  return false;
}

static void push_object(struct known *known, lua_CFunction fn) {
  for (int i = 0; i < known->n; i++) {
    if (known->fn[i] != fn) continue;
    lua_rawgeti(known->L, known->objects, i + 1);
    return;
  }
  lua_pushnil(known->L);
  lua_pushcclosure(known->L, fn, 1);
  if (known->n == KNOWN_MAX) return;
  known->fn[known->n++] = fn;
  lua_pushvalue(known->L, -1);
  lua_rawseti(known->L, known->objects, known->n);
}

/* Replaces the C functions in the table at `index`. */
static void settle_table(struct known *known, int index) {
  lua_State *L = known->L;
  index = lua_absindex(L, index);
  lua_pushnil(L);
  while (lua_next(L, index)) {
    if (is_bare(L, -1)) {
      lua_pushvalue(L, -2);
      push_object(known, lua_tocfunction(L, -2));
      lua_rawset(L, index);
    }
    lua_pop(L, 1);
  }
}

/* Replaces those in the tables of the table on top, and in their __index. Pops it. */
static void settle_tables(struct known *known) {
  lua_State *L = known->L;
  int tables = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, tables)) {
    if (lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1)) {
      settle_table(known, -1);
      lua_pushliteral(L, "__index");
      if (lua_rawget(L, -2) == LUA_TTABLE) settle_table(known, -1);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The same for the metatable of the value on top. Pops the value. */
static void settle_metatable(struct known *known) {
  lua_State *L = known->L;
  lua_newtable(L);
  if (lua_getmetatable(L, -2)) lua_setfield(L, -2, "metatable");
  lua_remove(L, -2);
  settle_tables(known);
}

int actl__lua_settle_functions(lua_State *L) {
  struct known known;
  known_init(&known, L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  settle_tables(&known);
  lua_pushvalue(L, LUA_REGISTRYINDEX); /* where named metatables are */
  settle_tables(&known);
  lua_pushliteral(L, "");
  settle_metatable(&known);
  actl__lua_push_pid(L, (actl_pid){0});
  settle_metatable(&known);
  lua_pop(L, 1);
  return 0;
}

/* ---- Functions that hand out C functions ---- */

static int pairs_continue(lua_State *L, int status, lua_KContext k) {
  (void)L;
  (void)status;
  (void)k;
  return 3;
}

/* Upvalue: `next`, as scripts see it. */
static int pairs(lua_State *L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") == LUA_TNIL) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, 1);
    lua_callk(L, 1, 3, 0, pairs_continue);
  }
  return 3;
}

/* Lua's own function, the first upvalue, returns three values of which the first is a C function: one of
 * the objects that are the other two upvalues takes its place. */
static int iterate(lua_State *L) {
  int n = actl__lua_as_original(L);
  lua_CFunction fn = lua_tocfunction(L, -n);
  int i = fn == lua_tocfunction(L, lua_upvalueindex(2)) ? 2 : 3;
  lua_pushvalue(L, lua_upvalueindex(i));
  lua_replace(L, -n - 1);
  return n;
}

/* Replaces the function `name` of the table on top. The stack has what is given to it in two calls, so
 * that it returns each function that it ever does, `n` values each; pops these. */
static void replace_iterator(lua_State *L, const char *name, int n) {
  int table = lua_gettop(L) - 2 * n;
  lua_getfield(L, table, name);
  for (int call = 1; call <= 2; call++) {
    lua_getfield(L, table, name);
    for (int i = 0; i < n; i++) lua_pushvalue(L, table + (call - 1) * n + i + 1);
    lua_call(L, n, 1);
    lua_CFunction fn = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_pushcclosure(L, fn, 1);
  }
  lua_pushcclosure(L, iterate, 3);
  lua_setfield(L, table, name);
  lua_settop(L, table);
}

static void open_iterators(lua_State *L) {
  lua_getglobal(L, LUA_GNAME);
  lua_getfield(L, -1, "next");
  lua_pushcclosure(L, pairs, 1);
  lua_setfield(L, -2, "pairs");
  lua_newtable(L);
  lua_newtable(L);
  replace_iterator(L, "ipairs", 1);
  lua_getfield(L, -1, LUA_UTF8LIBNAME);
  lua_pushliteral(L, "");
  lua_pushboolean(L, 0);
  lua_pushliteral(L, "");
  lua_pushboolean(L, 1);
  replace_iterator(L, "codes", 2);
  lua_pop(L, 2);
}

/* ---- The cache of strings ---- */

/* Lua looks a string of C's up by where it is, for the object that it made of it before; for a long one,
 * the name of a chunk for example, that decides whether memory is taken. Where C has its strings varies,
 * and with it which of them are forgotten. So all are, before long ones are used: the cache has 53 rows
 * of two, by the address, and the texts "a" and "" here get into each row. */
void actl__lua_forget_strings(lua_State *L) {
  enum { ROWS = 53, TEXTS = 2 * ROWS };
  char texts[TEXTS + 1];
  for (int i = 0; i < TEXTS; i++) texts[i] = i % 2 == 0 ? 'a' : '\0';
  texts[TEXTS] = '\0';
  for (int i = 0; i < TEXTS; i++) {
    lua_pushstring(L, texts + i);
    lua_pop(L, 1);
  }
}

/* Upvalue: the function of Lua's own that may use long ones. */
static int forgetting(lua_State *L) {
  actl__lua_forget_strings(L);
  return actl__lua_as_original(L);
}

/* The first upvalue is the table `package`, as in Lua's own, which is the second one. */
static int forgetting_require(lua_State *L) {
  actl__lua_forget_strings(L);
  return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

static void open_loaders(lua_State *L) {
  lua_getglobal(L, LUA_GNAME);
  actl__lua_replace(L, "load", forgetting);
  actl__lua_replace(L, "loadfile", forgetting);
  actl__lua_replace(L, "dofile", forgetting);
  lua_getfield(L, -1, "require");
  lua_getupvalue(L, -1, 1);
  lua_insert(L, -2);
  lua_pushcclosure(L, forgetting_require, 2);
  lua_setfield(L, -2, "require");
  lua_getfield(L, -1, LUA_DBLIBNAME);
  actl__lua_replace(L, "getinfo", forgetting);
  lua_getfield(L, -2, LUA_OSLIBNAME);
  actl__lua_replace(L, "getenv", forgetting);
  lua_pop(L, 3);
}

void actl__lua_open_seeded(lua_State *L) {
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  actl__lua_check_seed(L, actl__lua_machine(L)->hash_seed);
  open_time(L);
  open_random(L);
  open_loaders(L);
  actl__lua_open_shown(L);
  actl__lua_open_sort(L);
  actl__lua_open_preempt(L);
  actl__lua_settle_functions(L);
  open_iterators(L);
  if (actl__lua_machine(L)->scatters) actl__lua_scatter_begin(L);
}
