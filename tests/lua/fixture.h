/*
 * fixture.h - an engine with Lua, for the C tests of the binding.
 *
 * With a seed (support/seeds.h) it has that. Its log is kept in memory; the functions of the fixture
 * may be called on the main thread only, except the log callback.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_LUA_FIXTURE_H
#define ACTL_TESTS_LUA_FIXTURE_H

#include "actl.h"
#include "actl_lua.h"

#include <pthread.h>

#include "support/seeds.h"

struct fixture {
  actl_engine *engine;
  const char *script; /* run in each machine when it is made */
  lua_CFunction host; /* made global as `host` */
  size_t memory_limit;
  uint32_t vats;
  uint64_t seed; /* 0: none */
  actl_alloc_fn alloc;
  void *alloc_ud;
  pthread_mutex_t lock; /* for the log */
  char log[65536];
  size_t log_size;
};

/* Makes the engine; the fields above are set before. Returns what failed first. */
actl_status fixture_open(struct fixture *f);

/* Runs until the engine is quiet, frees it, and leaves the statistics in `out` (may be NULL). */
void fixture_close(struct fixture *f, actl_stats *out);

/* Makes an actor of the behavior that `script` calls "main", and runs until quiet. */
void fixture_run(struct fixture *f, const actl_value *values, size_t n);

/* Whether the log has the text in it. */
int fixture_logged(const struct fixture *f, const char *text);

#endif
