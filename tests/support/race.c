/*
 * race.c - bodies that run on threads of their own and begin together.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/race.h"

#include <sched.h>
#include <stdlib.h>
#include <uv.h>

struct runner {
  const struct test_racer *racer;
  uv_barrier_t *start;
  uv_thread_t thread;
};

static void run(void *arg) {
  struct runner *runner = arg;
  uv_barrier_wait(runner->start);
  runner->racer->body(runner->racer->arg);
}

void test_race(const struct test_racer *racers, size_t n) {
  uv_barrier_t start;
  struct runner runners[TEST_RACE_MAX];
  if (n > TEST_RACE_MAX || uv_barrier_init(&start, (unsigned)n) != 0) abort();

  for (size_t i = 0; i < n; i++) {
    runners[i].racer = &racers[i];
    runners[i].start = &start;
    if (uv_thread_create(&runners[i].thread, run, &runners[i]) != 0) abort();
  }
  for (size_t i = 0; i < n; i++) uv_thread_join(&runners[i].thread);
  uv_barrier_destroy(&start);
}

void test_race_wait(unsigned *spins) {
  if (++*spins % 64 == 0) sched_yield();
}
