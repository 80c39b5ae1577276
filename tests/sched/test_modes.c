/*
 * test_modes.c - a scheduler that is started, stepped, held or waited for loses nothing, and sleeps
 * only when it may.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include <sched.h>

#include "sched/bench.h"

enum { POSTERS = 4, POSTS = 5000, CIRCLE = 40 };

/* ---- Posting from outside ---- */

static void post_often(void *arg) {
  struct bench *b = arg;
  uint64_t random = (uint64_t)(uintptr_t)&random;
  for (int i = 0; i < POSTS; i++) {
    job_post(&b->jobs[actl__random_below(&random, CIRCLE)]);
    for (uint32_t n = actl__random_below(&random, 200); n > 0; n--) actl__thread_relax();
  }
  atomic_fetch_sub_explicit(&b->n_wakes_left, 1, memory_order_release); /* posters left */
}

/* Runs `main` on a thread beside the posters. */
static void race_with_posters(struct bench *b, void (*main)(void *arg)) {
  struct test_racer racers[POSTERS + 1] = {{main, b}};
  atomic_store(&b->n_wakes_left, POSTERS);
  for (int i = 0; i < POSTERS; i++) racers[i + 1] = (struct test_racer){post_often, b};
  test_race(racers, POSTERS + 1);
}

/* acquire: what the posters did is seen. */
static bool are_posting(struct bench *b) {
  return atomic_load_explicit(&b->n_wakes_left, memory_order_acquire) > 0;
}

static bool is_past(uint64_t since_ns) { return actl__clock_ns() - since_ns > DEADLINE_NS; }

static void sleep_until_parked(struct bench *b, uint64_t n_parks) {
  uint64_t start = actl__clock_ns();
  while (actl__sched_counts(&b->sched).parks < n_parks && !is_past(start)) sched_yield();
}

/* ---- Started ---- */

static void start_and_wait(void *arg) {
  struct bench *b = arg;
  if (actl__sched_start(&b->sched) != ACTL_OK) bench_fault(b);
  while (are_posting(b)) sched_yield();
  if (actl__sched_wait(&b->sched, UINT64_MAX) != ACTL_OK) bench_fault(b);
  /* Plain reads: what was handled before it was idle is seen. */
  if (bench_runs(b) != b->n_wakes) bench_fault(b);
  actl__sched_stop(&b->sched);
}

static enum quiet over(void *ud) {
  (void)ud;
  return QUIET_OVER;
}

static void a_started_scheduler_is_idle_when_all_that_was_posted_has_run(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, NULL, over);
    race_with_posters(b, start_and_wait);
    assert_int_equal(b->n_wakes, POSTERS * POSTS);
    bench_end(b);
  }
}

static void post_and_wait(void *arg) {
  struct bench *b = arg;
  for (int i = 0; i < 1000; i++) {
    struct job *job = &b->jobs[i % CIRCLE];
    uint64_t runs = job->n_runs;
    job_post(job);
    if (actl__sched_wait(&b->sched, UINT64_MAX) != ACTL_OK) bench_fault(b);
    if (job->n_runs != runs + 1) bench_fault(b);
  }
}

static void who_waits_sees_what_it_posted_before_handled(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, NULL, over);
    assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
    post_and_wait(b);
    assert_int_equal(actl__sched_wait(&b->sched, 0), ACTL_OK); /* nothing is left: at once */
    actl__sched_stop(&b->sched);
    bench_end(b);
  }
}

static enum verdict go_on_until_told(struct job *job, struct worker *w) {
  (void)w;
  return atomic_load_explicit(&job->bench->flag, memory_order_relaxed) ? TASK_IDLE : TASK_AGAIN;
}

static void waiting_ends_with_the_time_and_with_a_stop(void **state) {
  (void)state;
  struct bench *b = bench_begin(2, go_on_until_told, over);
  assert_int_equal(actl__sched_wait(&b->sched, UINT64_MAX), ACTL_INVALID);
  assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
  job_post(&b->jobs[0]);
  assert_int_equal(actl__sched_wait(&b->sched, 0), ACTL_TIMEOUT);
  uint64_t until = actl__clock_ns() + 2000000;
  assert_int_equal(actl__sched_wait(&b->sched, until), ACTL_TIMEOUT);
  assert_true(actl__clock_ns() >= until);
  actl__sched_stop(&b->sched);
  assert_int_equal(actl__sched_wait(&b->sched, UINT64_MAX), ACTL_INVALID);
  bench_end(b);
}

static void wait_for_ever(void *arg) {
  struct bench *b = arg;
  if (actl__sched_wait(&b->sched, UINT64_MAX) != ACTL_INVALID) bench_fault(b);
  atomic_store_explicit(&b->other_flag, true, memory_order_relaxed);
}

static void stop_while_waited_for(void *arg) {
  struct bench *b = arg;
  uint64_t start = actl__clock_ns();
  for (bool is_waited = false; !is_waited && !is_past(start); sched_yield()) {
    actl__lock_take(&b->sched.lock);
    is_waited = b->sched.n_waiting != 0;
    actl__lock_drop(&b->sched.lock);
  }
  actl__sched_stop(&b->sched);
}

static void a_stop_ends_the_waiting(void **state) {
  (void)state;
  struct bench *b = bench_begin(2, go_on_until_told, over);
  assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
  job_post(&b->jobs[0]);
  struct test_racer racers[] = {{wait_for_ever, b}, {stop_while_waited_for, b}};
  test_race(racers, 2);
  assert_true(b->other_flag);
  bench_end(b);
}

static void finish_what_is_left(struct bench *b, bool steps) {
  atomic_store(&b->flag, true);
  if (steps) {
    assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_OVER);
  } else {
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
  }
  for (int i = 0; i < JOBS_MAX; i++) assert_int_equal(b->jobs[i].n_pending, 0);
  assert_int_equal(b->n_quiet, 1);
}

static void what_a_stop_leaves_a_run_or_a_step_goes_on_with(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 4; n_workers++) {
    struct bench *b = bench_begin(n_workers, go_on_until_told, bench_over_when_quiet);
    for (int i = 0; i < JOBS_MAX; i++) job_post(&b->jobs[i]);
    assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
    uint64_t start = actl__clock_ns();
    while (actl__sched_counts(&b->sched).turns < 3 * JOBS_MAX && !is_past(start)) sched_yield();
    actl__sched_stop(&b->sched);
    assert_int_equal(b->n_quiet, 0);
    for (int i = 0; i < JOBS_MAX; i++) assert_int_equal(b->jobs[i].n_pending, 1);
    finish_what_is_left(b, n_workers > 2);
    bench_end(b);
  }
}

static void switch_modes(void *arg) {
  struct bench *b = arg;
  uint64_t random = 7;
  for (int round = 0; round < 1500 || are_posting(b); round++) {
    switch (actl__random_below(&random, 4)) {
    case 0:
      if (actl__sched_run(&b->sched) != ACTL_OK) bench_fault(b);
      break;
    case 1: (void)actl__sched_step(&b->sched, 0); break;
    default:
      if (actl__sched_start(&b->sched) != ACTL_OK) bench_fault(b);
      for (uint32_t n = actl__random_below(&random, 20000); n > 0; n--) actl__thread_relax();
      actl__sched_stop(&b->sched);
    }
  }
  if (actl__sched_run(&b->sched) != ACTL_OK) bench_fault(b);
}

/* Wakes others now and then, in the run-next slot and the deque. */
static enum verdict pass_on(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->n_runs % 3 == 0) {
    job_wake(w, &b->jobs[CIRCLE + actl__random_below(&job->random, CIRCLE)]);
    job_wake(w, &b->jobs[CIRCLE + actl__random_below(&job->random, CIRCLE)]);
  }
  return job->n_runs % 7 == 0 && job->index < CIRCLE ? TASK_AGAIN : TASK_IDLE;
}

static enum verdict pass_on_or_not(struct job *job, struct worker *w) {
  return job->index < CIRCLE ? pass_on(job, w) : TASK_IDLE;
}

static void modes_in_any_order_lose_nothing_that_is_posted(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, pass_on_or_not, over);
    race_with_posters(b, switch_modes);
    for (int i = 0; i < JOBS_MAX; i++) assert_int_equal(b->jobs[i].n_pending, 0);
    assert_true(b->n_wakes > POSTERS * POSTS);
    assert_true(bench_runs(b) >= b->n_wakes);
    bench_end(b);
  }
}

/* ---- Waiting for what comes later ---- */

static enum quiet wait_until_told(void *ud) {
  struct bench *b = ud;
  atomic_fetch_add_explicit(&b->n_asked, 1, memory_order_relaxed);
  return atomic_load_explicit(&b->flag, memory_order_relaxed) ? QUIET_OVER : QUIET_WAIT;
}

static void run_the_workers(void *arg) {
  struct bench *b = arg;
  if (actl__sched_run(&b->sched) != ACTL_OK) bench_fault(b);
}

static enum verdict answer(struct job *job, struct worker *w) {
  (void)w;
  atomic_store_explicit(&job->bench->other_flag, true, memory_order_relaxed);
  return TASK_IDLE;
}

/* Each time when the workers have parked, or are about to. */
static void post_one_by_one(void *arg) {
  struct bench *b = arg;
  uint64_t random = 3;
  for (int i = 0; i < 1500; i++) {
    uint64_t start = actl__clock_ns();
    uint64_t until = start + actl__random_below(&random, 120000);
    while (actl__clock_ns() < until) actl__thread_relax();
    if (i == 1499) atomic_store_explicit(&b->flag, true, memory_order_relaxed);

    atomic_store_explicit(&b->other_flag, false, memory_order_relaxed);
    job_post(&b->jobs[i % 7]);
    while (!atomic_load_explicit(&b->other_flag, memory_order_relaxed) && !is_past(start))
      sched_yield();
  }
}

static void a_run_that_waits_is_woken_by_each_post(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, answer, wait_until_told);
    /* As a host's hold does, until the first post has been made. */
    struct test_racer racers[] = {{run_the_workers, b}, {post_one_by_one, b}};
    test_race(racers, 2);
    assert_int_equal(bench_runs(b), 1500);
    struct sched_counts counts = actl__sched_counts(&b->sched);
    assert_true(counts.parks > n_workers && b->n_asked > 1);
    assert_int_equal(counts.wakes, counts.parks);
    bench_end(b);
  }
}

/* ---- Holds ---- */

/* With the random numbers of a job that never runs. */
static void drop_after_a_while(void *arg) {
  struct job *job = arg;
  uint64_t until = actl__clock_ns() + actl__random_below(&job->random, 150000);
  while (actl__clock_ns() < until) actl__thread_relax();
  actl__sched_drop(&job->bench->sched);
}

static void a_run_ends_with_the_last_drop_and_not_before(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, NULL, bench_over_when_quiet);
    for (uint64_t i = 1; i <= 300; i++) {
      actl__sched_hold(&b->sched);
      actl__sched_hold(&b->sched);
      if (i % 2 == 0) job_post(&b->jobs[i % CIRCLE]);
      struct test_racer racers[] = {{run_the_workers, b},
                                    {drop_after_a_while, &b->jobs[CIRCLE]},
                                    {drop_after_a_while, &b->jobs[CIRCLE + 1]}};
      test_race(racers, 3);
      assert_int_equal(b->n_quiet, i); /* not asked while it was held */
    }
    assert_int_equal(bench_runs(b), 150);
    bench_end(b);
  }
}

static void wait_for_idle(void *arg) {
  struct bench *b = arg;
  if (actl__sched_wait(&b->sched, UINT64_MAX) != ACTL_OK) bench_fault(b);
  if (!atomic_load_explicit(&b->flag, memory_order_relaxed)) bench_fault(b);
}

static void drop_when_parked(void *arg) {
  struct bench *b = arg;
  sleep_until_parked(b, 2);
  atomic_store_explicit(&b->flag, true, memory_order_relaxed);
  actl__sched_drop(&b->sched);
}

static void who_waits_waits_for_the_last_drop(void **state) {
  (void)state;
  struct bench *b = bench_begin(2, NULL, over);
  assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
  actl__sched_hold(&b->sched);
  assert_int_equal(actl__sched_wait(&b->sched, actl__clock_ns() + 1000000), ACTL_TIMEOUT);
  struct test_racer racers[] = {{wait_for_idle, b}, {drop_when_parked, b}};
  test_race(racers, 2);
  actl__sched_stop(&b->sched);
  bench_end(b);
}

/* ---- Steps ---- */

static void a_step_says_what_is_left_and_never_parks(void **state) {
  (void)state;
  struct bench *b = bench_begin(3, go_on_until_told, wait_until_told);
  assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_WAIT);
  for (int i = 0; i < 5; i++) job_post(&b->jobs[i]);
  for (uint64_t i = 1; i <= 20; i++) {
    assert_int_equal(actl__sched_step(&b->sched, 0), QUIET_AGAIN);
    assert_int_equal(bench_runs(b), i); /* one turn each, */
  }
  for (int i = 0; i < 5; i++) assert_int_equal(b->jobs[i].n_runs, 4); /* of each in turn */

  atomic_store(&b->flag, true);
  assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_OVER);
  assert_int_equal(bench_runs(b), 25);
  struct sched_counts counts = actl__sched_counts(&b->sched);
  assert_int_equal(counts.parks + counts.wakes, 0);
  bench_end(b);
}

static enum quiet one_more_round(void *ud) {
  struct bench *b = ud;
  bench_check_quiet(b);
  if (b->n_rounds_left == 0) return QUIET_OVER;
  b->n_rounds_left--;
  job_inject(&b->jobs[0]);
  return QUIET_AGAIN;
}

static void a_step_goes_on_while_quiet_has_more(void **state) {
  (void)state;
  struct bench *b = bench_begin(2, NULL, one_more_round);
  b->n_rounds_left = 100;
  assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_OVER);
  assert_int_equal(b->jobs[0].n_runs, 100);
  bench_end(b);
}

static void post_event(void *ud) {
  struct bench *b = ud;
  atomic_fetch_add_explicit(&b->n_asked, 1, memory_order_relaxed); /* notices */
  actl__gate_post(&b->event);
}

static void step_when_notified(void *arg) {
  struct bench *b = arg;
  uint64_t random = 5;
  while (bench_runs(b) < (uint64_t)POSTERS * POSTS) {
    actl__gate_wait(&b->event); /* a notice that does not come hangs here */
    uint64_t until = actl__clock_ns() + actl__random_below(&random, 20000);
    (void)actl__sched_step(&b->sched, until);
  }
}

static const struct sched_user notified = {.quiet = over, .notify = post_event};

static void who_steps_when_notified_misses_nothing(void **state) {
  (void)state;
  struct bench *b = bench_begin_with(2, NULL, &notified);
  actl__sched_notify(&b->sched);
  race_with_posters(b, step_when_notified);
  assert_int_equal(bench_runs(b), POSTERS * POSTS);
  bench_end(b);
}

static void one_notice_is_given_for_many_posts(void **state) {
  (void)state;
  struct bench *b = bench_begin_with(2, go_on_until_told, &notified);
  job_post(&b->jobs[0]);
  assert_int_equal(b->n_asked, 0);
  actl__sched_notify(&b->sched); /* for what was there before */
  assert_int_equal(b->n_asked, 1);
  for (int i = 1; i < 100; i++) job_post(&b->jobs[i]);
  assert_int_equal(b->n_asked, 1);

  assert_int_equal(actl__sched_step(&b->sched, 0), QUIET_AGAIN);
  assert_int_equal(b->n_asked, 2); /* for what is left */
  atomic_store(&b->flag, true);
  assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_OVER);
  assert_int_equal(b->n_asked, 2);
  job_post(&b->jobs[7]);
  job_post(&b->jobs[8]);
  assert_int_equal(b->n_asked, 3);

  assert_int_equal(actl__sched_start(&b->sched), ACTL_OK);
  for (int i = 0; i < 100; i++) job_post(&b->jobs[i]);
  assert_int_equal(actl__sched_wait(&b->sched, UINT64_MAX), ACTL_OK);
  assert_int_equal(b->n_asked, 3); /* somebody else looks */
  atomic_store(&b->flag, false);
  job_post(&b->jobs[0]);
  actl__sched_stop(&b->sched);
  assert_int_equal(b->n_asked, 4); /* for what the stop left */
  bench_end(b);
}

/* ---- The watch ---- */

enum { LONG_TURNS = 200 };

static bool wait_for_flag(struct bench *b) {
  uint64_t start = actl__clock_ns();
  while (!atomic_load_explicit(&b->other_flag, memory_order_relaxed))
    if (is_past(start)) return false;
  return true;
}

/* Until the others sleep and the watch has ended. */
static void wait_for_calm(struct bench *b) {
  sleep_until_parked(b, actl__sched_counts(&b->sched).wakes + b->sched.n_workers - 1);
  uint64_t start = actl__clock_ns();
  while (atomic_load_explicit(&b->sched.is_watched, memory_order_relaxed) && !is_past(start))
    sched_yield();
}

/* Job 0 waits, in its turn, for a task that it has in its run-next slot: each fourth time while all
 * is calm, and else in whatever state the others and the watch are. */
static enum verdict wake_and_compute(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->index != 0) {
    atomic_store_explicit(&b->other_flag, true, memory_order_relaxed);
    return TASK_IDLE;
  }
  for (int i = 0; i < LONG_TURNS; i++) {
    if (i % 4 == 0) wait_for_calm(b);
    uint64_t until = actl__clock_ns() + actl__random_below(&job->random, 1000000);
    while (actl__clock_ns() < until) actl__thread_relax();
    atomic_store_explicit(&b->other_flag, false, memory_order_relaxed);
    job_wake(w, &b->jobs[1]);
    if (!wait_for_flag(b)) bench_fault(b);
  }
  atomic_store_explicit(&b->flag, true, memory_order_relaxed);
  actl__gate_post(&b->event);
  return TASK_IDLE;
}

static void look_when_asked(void *arg) {
  struct bench *b = arg;
  for (;;) {
    actl__gate_wait(&b->event);
    if (atomic_load_explicit(&b->flag, memory_order_relaxed)) return;
    do {
      uint64_t until = actl__clock_ns() + 300000;
      while (actl__clock_ns() < until) sched_yield();
    } while (actl__sched_watch(&b->sched));
  }
}

static void a_task_in_the_slot_of_a_long_turn_runs_elsewhere(void **state) {
  (void)state;
  const struct sched_user user = {.quiet = over, .watch = post_event};
  for (uint32_t n_workers = 2; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin_with(n_workers, wake_and_compute, &user);
    job_inject(&b->jobs[0]);
    struct test_racer racers[] = {{run_the_workers, b}, {look_when_asked, b}};
    test_race(racers, 2);
    assert_int_equal(b->jobs[1].n_runs, LONG_TURNS);
    assert_true(b->n_asked >= LONG_TURNS / 4);
    assert_true(actl__sched_counts(&b->sched).steals > 0);
    bench_end(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_started_scheduler_is_idle_when_all_that_was_posted_has_run),
      cmocka_unit_test(who_waits_sees_what_it_posted_before_handled),
      cmocka_unit_test(waiting_ends_with_the_time_and_with_a_stop),
      cmocka_unit_test(a_stop_ends_the_waiting),
      cmocka_unit_test(what_a_stop_leaves_a_run_or_a_step_goes_on_with),
      cmocka_unit_test(modes_in_any_order_lose_nothing_that_is_posted),
      cmocka_unit_test(a_run_that_waits_is_woken_by_each_post),
      cmocka_unit_test(a_run_ends_with_the_last_drop_and_not_before),
      cmocka_unit_test(who_waits_waits_for_the_last_drop),
      cmocka_unit_test(a_step_says_what_is_left_and_never_parks),
      cmocka_unit_test(a_step_goes_on_while_quiet_has_more),
      cmocka_unit_test(who_steps_when_notified_misses_nothing),
      cmocka_unit_test(one_notice_is_given_for_many_posts),
      cmocka_unit_test(a_task_in_the_slot_of_a_long_turn_runs_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
