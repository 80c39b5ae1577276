/*
 * test_io.c - an alarm rings once, never early, whoever arms it when.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "io/io.h"
#include "support/alloc.h"
#include "support/race.h"

enum { SLEEPERS = 400, ROUNDS = 5 };
static const uint64_t DEADLINE_NS = 20ull * 1000 * 1000 * 1000;

/* Who is rung. Plain fields are written before it is armed. */
struct sleeper {
  struct alarm *alarm;
  uint64_t due_ms;
  _Atomic(uint32_t) n_rings, n_early; /* the io thread writes: release, read: acquire */
};

struct clockwork {
  struct test_alloc hook;
  struct memory mem;
  struct io *io;
  struct sleeper sleepers[SLEEPERS];
  _Atomic(int) ticks_left; /* relaxed */
  _Atomic(uint32_t) n_ticks, n_faults;
};

static struct clockwork clockwork;

static uint64_t now_ms(void) { return actl__clock_ns() / 1000000; }

static void ring(void *whom) {
  struct sleeper *s = whom;
  if (now_ms() < s->due_ms) atomic_fetch_add_explicit(&s->n_early, 1, memory_order_relaxed);
  /* release: whoever sees the ring may set another time. */
  atomic_fetch_add_explicit(&s->n_rings, 1, memory_order_release);
}

static bool watch(void *ud) {
  struct clockwork *c = ud;
  atomic_fetch_add_explicit(&c->n_ticks, 1, memory_order_relaxed);
  return atomic_fetch_sub_explicit(&c->ticks_left, 1, memory_order_relaxed) > 1;
}

static struct clockwork *begin(void) {
  struct clockwork *c = &clockwork;
  const struct io_user user = {.ring = ring, .watch = watch, .ud = c};
  memset(c, 0, sizeof *c);
  actl__memory_init(&c->mem, test_alloc, &c->hook);
  c->io = actl__io_new(&c->mem, &user);
  assert_non_null(c->io);
  return c;
}

static void end(struct clockwork *c) {
  actl__io_free(c->io);
  assert_int_equal(c->n_faults, 0);
  for (int i = 0; i < SLEEPERS; i++) assert_int_equal(c->sleepers[i].n_early, 0);
  assert_true(test_alloc_is_clean(&c->hook));
}

static bool arm(struct clockwork *c, struct sleeper *s, uint64_t in_ms) {
  s->due_ms = now_ms() + in_ms;
  if (s->alarm == NULL) s->alarm = actl__io_alarm(c->io, s);
  return s->alarm != NULL && actl__io_arm(c->io, s->alarm, s->due_ms);
}

static bool wait_rings(struct sleeper *s, uint32_t n) {
  uint64_t start = actl__clock_ns();
  while (atomic_load_explicit(&s->n_rings, memory_order_acquire) < n) {
    if (actl__clock_ns() - start > DEADLINE_NS) return false;
    sched_yield();
  }
  return true;
}

static void alarms_ring_once_each_and_never_early(void **state) {
  (void)state;
  struct clockwork *c = begin();
  uint64_t random = 1;
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    for (int i = 0; i < SLEEPERS; i++)
      assert_true(arm(c, &c->sleepers[i], actl__random_below(&random, 30)));
    for (int i = 0; i < SLEEPERS; i++) assert_true(wait_rings(&c->sleepers[i], round));
  }
  for (int i = 0; i < SLEEPERS; i++) assert_int_equal(c->sleepers[i].n_rings, ROUNDS);
  end(c);
}

static void a_time_that_has_passed_rings_at_once(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct sleeper *s = &c->sleepers[0];
  s->alarm = actl__io_alarm(c->io, s);
  assert_true(actl__io_arm(c->io, s->alarm, 0));
  assert_true(wait_rings(s, 1));
  end(c);
}

static void the_last_time_counts(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct sleeper *far = &c->sleepers[0], *near = &c->sleepers[1], *last = &c->sleepers[2];
  assert_true(arm(c, far, 0));
  assert_true(wait_rings(far, 1));
  assert_true(arm(c, far, 365ull * 86400000 * 1000)); /* a thousand years */
  assert_true(arm(c, near, 3600000));
  assert_true(arm(c, near, 20)); /* sooner after all */
  assert_true(wait_rings(near, 1));
  assert_true(arm(c, last, 30));
  assert_true(wait_rings(last, 1));
  assert_int_equal(far->n_rings, 1);
  assert_int_equal(near->n_rings, 1);
  end(c); /* with an alarm that never rang */
}

/* Each of its sleepers again and again, as soon as it has rung. */
static void arm_often(void *arg) {
  struct sleeper *s = arg;
  struct clockwork *c = &clockwork;
  uint64_t random = (uint64_t)(uintptr_t)s;
  for (uint32_t round = 1; round <= 200; round++) {
    for (int i = 0; i < 10; i++)
      if (!arm(c, &s[i], actl__random_below(&random, 3))) c->n_faults++;
    for (int i = 0; i < 10; i++)
      if (!wait_rings(&s[i], round)) c->n_faults++;
  }
}

static void threads_that_arm_at_once_lose_no_alarm(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct test_racer racers[4];
  for (int i = 0; i < 4; i++) racers[i] = (struct test_racer){arm_often, &c->sleepers[10 * i]};
  test_race(racers, 4);
  for (int i = 0; i < 40; i++) assert_int_equal(c->sleepers[i].n_rings, 200);
  end(c);
}

/* ---- Ticks ---- */

static bool wait_ticks(struct clockwork *c, uint32_t n) {
  uint64_t start = actl__clock_ns();
  while (atomic_load_explicit(&c->n_ticks, memory_order_relaxed) < n) {
    if (actl__clock_ns() - start > DEADLINE_NS) return false;
    sched_yield();
  }
  return true;
}

static void it_ticks_until_the_watch_says_no_more(void **state) {
  (void)state;
  struct clockwork *c = begin();
  for (uint32_t i = 1; i <= 3; i++) {
    atomic_store(&c->ticks_left, 4);
    uint64_t start = actl__clock_ns();
    actl__io_watch(c->io);
    actl__io_watch(c->io);
    assert_true(wait_ticks(c, 4 * i));
    assert_true(actl__clock_ns() - start >= 3 * IO_WATCH_MS * 1000000ull);
    assert_true(arm(c, &c->sleepers[0], 4 * IO_WATCH_MS));
    assert_true(wait_rings(&c->sleepers[0], i));
    assert_int_equal(c->n_ticks, 4 * i);
  }
  end(c);
}

/* ---- Signals ---- */

static _Atomic(int) n_taken[2];

static void take(void *ud, int number) {
  if (number == SIGUSR1 || number == SIGUSR2)
    atomic_fetch_add_explicit((_Atomic(int) *)ud, 1, memory_order_release);
}

static bool wait_taken(int which, int n) {
  uint64_t start = actl__clock_ns();
  while (atomic_load_explicit(&n_taken[which], memory_order_acquire) < n) {
    if (actl__clock_ns() - start > DEADLINE_NS) return false;
    sched_yield();
  }
  return true;
}

static void signals_are_taken_from_the_call_on(void **state) {
  (void)state;
  struct clockwork *c = begin();
  n_taken[0] = n_taken[1] = 0;
  for (int round = 1; round <= 3; round++) {
    if (round == 1) assert_int_equal(actl__io_take(c->io, SIGUSR1, take, &n_taken[0]), ACTL_OK);
    if (round == 2) assert_int_equal(actl__io_take(c->io, SIGUSR2, take, &n_taken[1]), ACTL_OK);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_true(wait_taken(0, round));
    if (round < 2) continue;
    assert_int_equal(kill(getpid(), SIGUSR2), 0);
    assert_true(wait_taken(1, round - 1));
  }
  /* Once for each io, and two do not know of each other. */
  assert_int_equal(actl__io_take(c->io, SIGUSR1, take, &n_taken[1]), ACTL_INVALID);
  assert_int_equal(actl__io_take(c->io, 4711, take, &n_taken[1]), ACTL_INVALID);
  const struct io_user user = {.ring = ring, .watch = watch, .ud = c};
  struct io *other = actl__io_new(&c->mem, &user);
  assert_non_null(other);
  assert_int_equal(actl__io_take(other, SIGUSR1, take, &n_taken[1]), ACTL_OK);
  assert_int_equal(kill(getpid(), SIGUSR1), 0);
  assert_true(wait_taken(0, 4) && wait_taken(1, 3));
  actl__io_free(other);
  assert_int_equal(kill(getpid(), SIGUSR1), 0);
  assert_true(wait_taken(0, 5));
  assert_int_equal(n_taken[1], 3);
  /* With memory running out nothing changes. */
  test_alloc_fail_from(&c->hook, 1);
  assert_int_equal(actl__io_take(c->io, SIGHUP, take, &n_taken[1]), ACTL_NO_MEMORY);
  assert_true(test_alloc_heal(&c->hook));
  end(c);
}

/* ---- Refusals ---- */

static void without_memory_there_is_no_alarm(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct sleeper *s = &c->sleepers[0];
  test_alloc_fail_from(&c->hook, 1);
  assert_false(arm(c, s, 0));
  assert_null(s->alarm);
  const struct io_user user = {.ring = ring, .watch = watch, .ud = c};
  assert_null(actl__io_new(&c->mem, &user));
  assert_true(test_alloc_heal(&c->hook));
  assert_true(arm(c, s, 0));
  assert_true(wait_rings(s, 1));
  end(c);
}

static void without_a_descriptor_an_alarm_says_so_and_tries_again(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct sleeper *s = &c->sleepers[0];
  struct rlimit before, none;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 3;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  bool first = arm(c, s, 0), second = arm(c, s, 0);
  atomic_store(&c->ticks_left, 1);
  actl__io_watch(c->io);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_false(first || second);
  assert_int_equal(s->n_rings + c->n_ticks, 0);
  assert_true(arm(c, s, 0));
  assert_true(wait_rings(s, 1));
  assert_true(wait_ticks(c, 1)); /* the watch was not forgotten */
  end(c);
}

static void without_a_thread_nothing_is_left(void **state) {
  (void)state;
  struct clockwork *c = begin();
  struct rlimit before, none;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 3;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  bool is_armed = arm(c, &c->sleepers[0], 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_false(is_armed);
  end(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alarms_ring_once_each_and_never_early),
      cmocka_unit_test(a_time_that_has_passed_rings_at_once),
      cmocka_unit_test(the_last_time_counts),
      cmocka_unit_test(threads_that_arm_at_once_lose_no_alarm),
      cmocka_unit_test(it_ticks_until_the_watch_says_no_more),
      cmocka_unit_test(signals_are_taken_from_the_call_on),
      cmocka_unit_test(without_memory_there_is_no_alarm),
      cmocka_unit_test(without_a_descriptor_an_alarm_says_so_and_tries_again),
      cmocka_unit_test(without_a_thread_nothing_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
