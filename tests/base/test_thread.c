/*
 * test_thread.c - threads, locks, gates, and the clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/thread.h"
#include "support/race.h"

enum { THREADS = 4, ROUNDS = 20000 };

static void add_one(void *arg) { ++*(int *)arg; }

static void a_started_thread_has_run_when_it_is_joined(void **state) {
  (void)state;
  int n = 0;
  for (int i = 1; i <= 100; i++) {
    actl__thread thread;
    assert_int_equal(actl__thread_start(&thread, add_one, &n), ACTL_OK);
    actl__thread_join(&thread);
    assert_int_equal(n, i);
  }
}

struct guarded {
  actl__lock lock;
  unsigned n, n_inside, n_intruders; /* under lock; plain on purpose */
};

static void enter_often(void *arg) {
  struct guarded *g = arg;
  for (int i = 0; i < ROUNDS; i++) {
    actl__lock_take(&g->lock);
    if (g->n_inside++ != 0) g->n_intruders++;
    g->n++;
    g->n_inside--;
    actl__lock_drop(&g->lock);
  }
}

static void a_lock_lets_one_in_at_a_time(void **state) {
  (void)state;
  struct guarded g = {0};
  assert_int_equal(actl__lock_init(&g.lock), ACTL_OK);
  struct test_racer racers[THREADS];
  for (int i = 0; i < THREADS; i++) racers[i] = (struct test_racer){enter_often, &g};
  test_race(racers, THREADS);
  assert_int_equal(g.n, THREADS * ROUNDS);
  assert_int_equal(g.n_intruders, 0);
  actl__lock_fini(&g.lock);
}

struct pair {
  actl__gate there, back;
  unsigned ball, n_faults; /* handed over by the gates; plain on purpose */
};

static void serve(void *arg) {
  struct pair *pair = arg;
  for (unsigned i = 0; i < ROUNDS; i++) {
    pair->ball = 2 * i;
    actl__gate_post(&pair->there);
    actl__gate_wait(&pair->back);
    if (pair->ball != 2 * i + 1) pair->n_faults++;
  }
}

static void answer(void *arg) {
  struct pair *pair = arg;
  for (unsigned i = 0; i < ROUNDS; i++) {
    actl__gate_wait(&pair->there);
    pair->ball++;
    actl__gate_post(&pair->back);
  }
}

static void a_gate_hands_over_what_was_written_before_the_post(void **state) {
  (void)state;
  struct pair pair = {0};
  assert_int_equal(actl__gate_init(&pair.there), ACTL_OK);
  assert_int_equal(actl__gate_init(&pair.back), ACTL_OK);
  test_race((struct test_racer[]){{serve, &pair}, {answer, &pair}}, 2);
  assert_int_equal(pair.n_faults, 0);
  assert_int_equal(pair.ball, 2 * (ROUNDS - 1) + 1);
  actl__gate_fini(&pair.there);
  actl__gate_fini(&pair.back);
}

static void a_gate_counts_posts_that_nobody_waits_for(void **state) {
  (void)state;
  actl__gate gate;
  assert_int_equal(actl__gate_init(&gate), ACTL_OK);
  for (int i = 0; i < 1000; i++) actl__gate_post(&gate);
  for (int i = 0; i < 1000; i++) actl__gate_wait(&gate);
  actl__gate_fini(&gate);
}

static void there_is_a_processor(void **state) {
  (void)state;
  assert_in_range(actl__thread_processors(), 1, 1 << 16);
  for (int i = 0; i < 100; i++) actl__thread_relax();
}

static void the_clock_goes_on_and_never_back(void **state) {
  (void)state;
  uint64_t start = actl__clock_ns(), last = start, now = start;
  for (int i = 0; i < 10000 || now == start; i++) {
    now = actl__clock_ns();
    assert_true(now >= last);
    last = now;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_started_thread_has_run_when_it_is_joined),
      cmocka_unit_test(a_lock_lets_one_in_at_a_time),
      cmocka_unit_test(a_gate_hands_over_what_was_written_before_the_post),
      cmocka_unit_test(a_gate_counts_posts_that_nobody_waits_for),
      cmocka_unit_test(there_is_a_processor),
      cmocka_unit_test(the_clock_goes_on_and_never_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
