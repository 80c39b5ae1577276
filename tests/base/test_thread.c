/*
 * test_thread.c - threads, locks, signals, gates, and the clock.
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

/* A ball that two throw to each other under a lock. */
struct court {
  actl__lock lock;
  actl__signal signals[2];
  unsigned n; /* under lock: even: the first one's turn */
};

static void play(struct court *court, unsigned side) {
  for (unsigned i = 0; i < ROUNDS; i++) {
    actl__lock_take(&court->lock);
    while (court->n % 2 != side)
      actl__signal_wait(&court->signals[side], &court->lock, (uint64_t)60 * 1000000000);
    court->n++;
    actl__lock_drop(&court->lock);
    actl__signal_one(&court->signals[1 - side]);
  }
}

static void play_first(void *arg) { play(arg, 0); }
static void play_second(void *arg) { play(arg, 1); }

static void a_signal_wakes_who_waits_under_the_lock(void **state) {
  (void)state;
  struct court court = {0};
  assert_int_equal(actl__lock_init(&court.lock), ACTL_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(actl__signal_init(&court.signals[i]), ACTL_OK);
  test_race((struct test_racer[]){{play_first, &court}, {play_second, &court}}, 2);
  assert_int_equal(court.n, 2 * ROUNDS);
  for (int i = 0; i < 2; i++) actl__signal_fini(&court.signals[i]);
  actl__lock_fini(&court.lock);
}

static void a_wait_for_a_signal_that_does_not_come_ends_with_its_time(void **state) {
  (void)state;
  struct court court = {0};
  assert_int_equal(actl__lock_init(&court.lock), ACTL_OK);
  assert_int_equal(actl__signal_init(&court.signals[0]), ACTL_OK);
  uint64_t start = actl__clock_ns();
  actl__lock_take(&court.lock);
  while (actl__clock_ns() - start < 3000000)
    actl__signal_wait(&court.signals[0], &court.lock, 1000000);
  actl__lock_drop(&court.lock);
  actl__signal_fini(&court.signals[0]);
  actl__lock_fini(&court.lock);
}

static void mark(void *arg) {
  uint32_t *marks = arg;
  marks[0] = actl__thread_mark();
  actl__thread_yield();
  marks[1] = actl__thread_mark();
}

static void a_threads_mark_stays_the_same(void **state) {
  (void)state;
  uint32_t marks[THREADS][2];
  struct test_racer racers[THREADS];
  for (int i = 0; i < THREADS; i++) racers[i] = (struct test_racer){mark, marks[i]};
  test_race(racers, THREADS);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(marks[i][0], marks[i][1]);
    for (int k = 0; k < i; k++) assert_int_not_equal(marks[i][0], marks[k][0]);
  }
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
      cmocka_unit_test(a_signal_wakes_who_waits_under_the_lock),
      cmocka_unit_test(a_wait_for_a_signal_that_does_not_come_ends_with_its_time),
      cmocka_unit_test(a_threads_mark_stays_the_same),
      cmocka_unit_test(there_is_a_processor),
      cmocka_unit_test(the_clock_goes_on_and_never_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
