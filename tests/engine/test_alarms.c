/*
 * test_alarms.c - a vat that sleeps is woken when its timers are due, whichever way the engine runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

enum { VATS = 40, HOUR_MS = 3600000 };

/* ---- Who sleeps ---- */

struct night {
  struct host host;
  atomic_uint set, rung, early; /* relaxed */
};

struct sleeper {
  struct night *night;
  double due; /* seconds */
  actl_timer timer;
};

/* (night, ms, rounds): has itself woken in `ms` milliseconds, so often. ("cancel"): not after all.
 * (rounds): it was woken. */
static actl_status sleeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct sleeper *self = state;
  if (actl_msg_value(msg, 0).type == ACTL_STRING) return actl_cancel(ctx, self->timer);

  int64_t ms = 1, rounds;
  if (actl_msg_count(msg) == 3) {
    self->night = pointer_in(msg, 0);
    ms = actl_msg_int(msg, 1, 0);
    rounds = actl_msg_int(msg, 2, 0);
    tick(&self->night->set);
  } else {
    rounds = actl_msg_int(msg, 0, 0) - 1;
    if (seconds_now() < self->due) tick(&self->night->early);
    tick(&self->night->rung);
  }
  if (rounds == 0) return ACTL_OK;
  /* A millisecond that had begun when it was set is part of it. */
  self->due = seconds_now() + (double)(ms - 1) * 1e-3;
  return actl_after(ctx, (uint64_t)ms, ACTL_VALUES(actl_int(rounds)), &self->timer);
}

static const actl_behavior sleeper = {
    .name = "sleeper", .state_size = sizeof(struct sleeper), .receive = sleeper_receive};

static void night_open(struct night *night, uint32_t workers) {
  memset(night, 0, sizeof *night);
  host_open(&night->host, workers, VATS);
}

static actl_pid night_sleep(struct night *night, uint32_t vat, int64_t ms, int64_t rounds) {
  actl_pid pid = host_spawn(&night->host, vat, &sleeper, NULL, 0);
  host_send(&night->host, pid, ACTL_VALUES(pointer(night), actl_int(ms), actl_int(rounds)));
  return pid;
}

static unsigned count_of(atomic_uint *count) {
  return atomic_load_explicit(count, memory_order_relaxed);
}

static void night_close(struct night *night) {
  assert_int_equal(count_of(&night->early), 0);
  host_close(&night->host);
}

/* ---- Run ---- */

static void a_run_lasts_until_the_last_timer_has_rung(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct night night;
    night_open(&night, workers);
    double start = seconds_now();
    for (uint32_t i = 0; i < VATS; i++) night_sleep(&night, i, 1 + i % 50, 10);
    night_sleep(&night, 0, 100, 1);
    host_run(&night.host);
    assert_true(seconds_now() - start >= 0.099);
    assert_int_equal(count_of(&night.rung), 10 * VATS + 1);
    assert_int_equal(night.host.stats.timers, 0);
    night_close(&night);
  }
}

static void a_timer_that_is_cancelled_does_not_keep_a_run(void **state) {
  (void)state;
  struct night night;
  night_open(&night, 2);
  actl_pid pid = night_sleep(&night, 0, HOUR_MS, 1);
  host_send(&night.host, pid, ACTL_VALUES(actl_text("cancel")));
  host_run(&night.host);
  assert_int_equal(count_of(&night.rung), 0);
  night_close(&night);
}

/* An engine that has no thread, nor can have one, has its vats look at the clock. */
static void without_a_thread_alarms_ring_all_the_same(void **state) {
  (void)state;
  seeds_need_threads();
  struct night night;
  struct rlimit before, none;
  night_open(&night, 1);
  for (uint32_t i = 0; i < 5; i++) night_sleep(&night, i, 20, 3);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 3;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  actl_status status = actl_engine_run(night.host.engine);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(status, ACTL_OK);
  assert_int_equal(count_of(&night.rung), 15);
  actl_stats stats;
  actl_engine_stats(night.host.engine, &stats);
  assert_int_equal(stats.wakes, stats.parks); /* that is, it did not sleep */
  assert_true(stats.parks <= 1);
  night_close(&night);
}

/* ---- Start ---- */

static void who_waits_waits_for_timers(void **state) {
  (void)state;
  seeds_need_threads();
  struct night night;
  night_open(&night, 2);
  actl_pid pid = night_sleep(&night, 0, HOUR_MS, 1);
  night_sleep(&night, 1, 10, 1);
  assert_int_equal(actl_engine_start(night.host.engine), ACTL_OK);
  while (count_of(&night.rung) == 0) sched_yield();
  assert_int_equal(actl_engine_wait(night.host.engine, 5), ACTL_TIMEOUT);
  host_send(&night.host, pid, ACTL_VALUES(actl_text("cancel")));
  assert_int_equal(actl_engine_wait(night.host.engine, ACTL_FOREVER), ACTL_OK);
  night_sleep(&night, 2, 10, 2);
  assert_int_equal(actl_engine_wait(night.host.engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(count_of(&night.rung), 3);
  assert_int_equal(actl_engine_stop(night.host.engine), ACTL_OK);
  night_close(&night);
}

static void timers_go_on_over_stops_and_starts(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct night night;
    uint64_t seed = workers;
    night_open(&night, workers);
    for (uint32_t i = 0; i < VATS; i++) night_sleep(&night, i, 1 + i % 3, 20);
    while (count_of(&night.rung) < 20 * VATS) {
      assert_int_equal(actl_engine_start(night.host.engine), ACTL_OK);
      (void)actl_engine_wait(night.host.engine, random_next(&seed) % 4);
      assert_int_equal(actl_engine_stop(night.host.engine), ACTL_OK);
      if (random_next(&seed) % 4 == 0)
        assert_int_equal(actl_engine_step(night.host.engine, 100, NULL), ACTL_OK);
    }
    host_run(&night.host);
    assert_int_equal(count_of(&night.rung), 20 * VATS);
    night_close(&night);
  }
}

/* ---- Step ---- */

static actl_rest step(struct night *night) {
  actl_rest rest = ACTL_REST_MORE;
  assert_int_equal(actl_engine_step(night->host.engine, 1000000, &rest), ACTL_OK);
  return rest;
}

static void a_step_tells_of_timers_and_serves_those_that_are_due(void **state) {
  (void)state;
  seeds_need_threads();
  struct night night;
  night_open(&night, 2);
  assert_int_equal(step(&night), ACTL_REST_QUIET);
  actl_pid pid = night_sleep(&night, 0, HOUR_MS, 1);
  assert_int_equal(step(&night), ACTL_REST_TIMER);
  host_send(&night.host, pid, ACTL_VALUES(actl_text("cancel")));
  assert_int_equal(step(&night), ACTL_REST_QUIET);

  for (unsigned i = 1; i <= 50; i++) {
    night_sleep(&night, i % VATS, 2, 1);
    while (count_of(&night.set) <= i) (void)step(&night);
    /* From when its time has come a single step is enough. */
    double due = seconds_now() + 0.003;
    while (seconds_now() < due) sched_yield();
    assert_int_equal(step(&night), ACTL_REST_QUIET);
    assert_int_equal(count_of(&night.rung), i);
  }
  night_close(&night);
}

/* Keeps what it is asked. */
static actl_status keep(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)msg;
  return actl_later(ctx, state);
}

static const actl_behavior keeper = {
    .name = "keeper", .state_size = sizeof(actl_request), .receive = keep};

/* (answer, keeper): asks it, for 20 ms, and writes down what came of it. */
static actl_status ask_keeper(actl_ctx *ctx, void *state, const actl_msg *msg) {
  actl_ask_id id;
  *(void **)state = pointer_in(msg, 0);
  return actl_ask_within(ctx, actl_msg_pid(msg, 1), NULL, 0, 20, &id);
}

static actl_status note_answer(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ctx, (void)ask, (void)msg;
  **(actl_status **)state = status;
  return ACTL_OK;
}

static const actl_behavior asker = {
    .name = "asker", .state_size = sizeof(void *), .receive = ask_keeper, .reply = note_answer};

static void a_step_tells_of_asks_that_have_a_time(void **state) {
  (void)state;
  struct night night;
  actl_status answer = ACTL_OK;
  night_open(&night, 2);
  actl_pid kept = host_spawn(&night.host, 1, &keeper, NULL, 0);
  host_send(&night.host, host_spawn(&night.host, 0, &asker, NULL, 0),
            ACTL_VALUES(pointer(&answer), actl_who(kept)));
  actl_rest rest = step(&night);
  assert_true(rest == ACTL_REST_TIMER || answer == ACTL_TIMEOUT);
  double patience = seconds_now() + 20;
  while (step(&night) != ACTL_REST_QUIET && seconds_now() < patience) sched_yield();
  assert_int_equal(answer, ACTL_TIMEOUT);
  night_close(&night);
}

static void a_loop_that_polls_hears_of_timers(void **state) {
  (void)state;
  seeds_need_threads();
  struct night night;
  int fd = -1, n_missed = 0;
  night_open(&night, 2);
  assert_int_equal(actl_engine_fd(night.host.engine, &fd), ACTL_OK);
  for (uint32_t i = 0; i < VATS; i++) night_sleep(&night, i, 1 + i % 7, 10);
  while (step(&night) != ACTL_REST_QUIET) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (poll(&poll_fd, 1, 20000) != 1) n_missed++;
  }
  assert_int_equal(n_missed, 0);
  assert_int_equal(count_of(&night.rung), 10 * VATS);
  night_close(&night);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_run_lasts_until_the_last_timer_has_rung),
      WATCHED(a_timer_that_is_cancelled_does_not_keep_a_run),
      WATCHED(without_a_thread_alarms_ring_all_the_same),
      WATCHED(who_waits_waits_for_timers),
      WATCHED(timers_go_on_over_stops_and_starts),
      WATCHED(a_step_tells_of_timers_and_serves_those_that_are_due),
      WATCHED(a_step_tells_of_asks_that_have_a_time),
      WATCHED(a_loop_that_polls_hears_of_timers),
  };
  return seeds_main(tests);
}
