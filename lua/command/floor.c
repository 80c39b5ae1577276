/*
 * floor.c - measures the two floors: the median of several short repetitions, since a busy machine
 * only ever makes one slower, and the least would be a stroke of luck no run can have throughout.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/floor.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
  REPETITIONS = 15, /* after one unmeasured */
  CALLS = 10000,    /* in a repetition */
  LINES = 1024,     /* of the ring, written and then read */
  ROUNDS = 40       /* over the ring in a repetition */
};

struct line {
  uint64_t words[8]; /* 64 bytes: the size of a message node */
};

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, REPETITIONS, sizeof *values, compare);
  return values[REPETITIONS / 2];
}

static int do_nothing(lua_State *L) {
  (void)L;
  return 0;
}

/* Protected: measures and returns the nanoseconds of one call in and one call out. */
static int measure_lua(lua_State *L) {
  static const char code[] = "local out = ... return function() out() end";
  double values[REPETITIONS];

  if (luaL_loadstring(L, code) != LUA_OK) return lua_error(L);
  lua_pushcfunction(L, do_nothing);
  lua_call(L, 1, 1);
  for (int i = -1; i < REPETITIONS; i++) {
    double start = now_ns();
    for (int call = 0; call < CALLS; call++) {
      lua_pushvalue(L, -1);
      lua_call(L, 0, 0);
    }
    if (i >= 0) values[i] = (now_ns() - start) / CALLS;
  }
  lua_pushnumber(L, median(values));
  return 1;
}

double actl__floor_lua(void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return 0;
  lua_pushcfunction(L, measure_lua);
  double ns = lua_pcall(L, 0, 1, 0) == LUA_OK ? lua_tonumber(L, -1) : 0;
  lua_close(L);
  return ns;
}

/* Writes every line of the ring, then reads every one. What is read goes into the next writing, so
 * that neither can be left out. */
static uint64_t go_round(struct line *ring, uint64_t sum) {
  for (uint64_t i = 0; i < LINES; i++) {
    ring[i] = (struct line){{i, sum, 1, 2, sum, 3, 4, 5}};
    __asm__ volatile("" : : "r"(ring) : "memory");
  }
  for (uint64_t i = 0; i < LINES; i++) {
    sum += ring[i].words[0] + ring[i].words[3] + ring[i].words[7];
    __asm__ volatile("" : : "r"(ring) : "memory");
  }
  return sum;
}

double actl__floor_native(void) {
  double values[REPETITIONS];
  struct line *ring = aligned_alloc(64, LINES * sizeof *ring);
  if (ring == NULL) return 0;
  uint64_t sum = 0;
  for (int i = -1; i < REPETITIONS; i++) {
    double start = now_ns();
    for (int round = 0; round < ROUNDS; round++) sum = go_round(ring, sum);
    if (i >= 0) values[i] = (now_ns() - start) / ((double)ROUNDS * LINES);
  }
  free(ring);
  return median(values);
}
