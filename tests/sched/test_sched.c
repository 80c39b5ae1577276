/*
 * test_sched.c - workers: each task runs as often as it is woken, and quiet is quiet.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/bench.h"

#include <stdlib.h>

/* ---- As often as woken ---- */

enum { CIRCLE = 40 };

static bool may_wake(struct bench *b) {
  return atomic_fetch_sub_explicit(&b->n_wakes_left, 1, memory_order_relaxed) > 0;
}

/* Wakes a few others, in one way or the other. */
static enum verdict wake_some(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  for (uint32_t n = actl__random_below(&job->random, 4); n > 0; n--) {
    struct job *other = &b->jobs[actl__random_below(&job->random, CIRCLE)];
    if (!may_wake(b)) break;
    if (actl__random_below(&job->random, 4) == 0) {
      job_inject(other);
    } else {
      job_wake(w, other);
    }
  }
  for (uint32_t n = actl__random_below(&job->random, 50); n > 0; n--) actl__thread_relax();
  return TASK_IDLE;
}

static void tasks_that_wake_each_other_run_as_often_as_they_are_woken(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 4; n_workers++) {
    struct bench *b = bench_begin(n_workers, wake_some, bench_over_when_quiet);
    atomic_store(&b->n_wakes_left, 30000);
    for (int i = 0; i < CIRCLE; i++) job_inject(&b->jobs[i]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);

    assert_int_equal(bench_runs(b), b->n_wakes);
    assert_int_equal(b->n_wakes, 30000 + CIRCLE);
    assert_int_equal(b->n_quiet, 1);
    struct sched_counts counts = actl__sched_counts(&b->sched);
    assert_int_equal(counts.turns, b->n_wakes);
    if (n_workers == 1) assert_int_equal(counts.steals, 0);
    bench_end(b);
  }
}

static enum verdict wake_all(struct job *job, struct worker *w) {
  if (job->index == 0)
    for (int i = 1; i < JOBS_MAX; i++) job_wake(w, &job->bench->jobs[i]);
  return TASK_IDLE;
}

static void more_tasks_than_a_deque_holds_all_run(void **state) {
  (void)state;
  assert_true((int)JOBS_MAX > (int)ACTL__DEQUE_SIZE);
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, wake_all, bench_over_when_quiet);
    job_inject(&b->jobs[0]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    for (int i = 0; i < JOBS_MAX; i++) assert_int_equal(b->jobs[i].n_runs, 1);
    bench_end(b);
  }
}

static enum verdict count_down(struct job *job, struct worker *w) {
  (void)w;
  return job->n_runs < 1000 ? TASK_AGAIN : TASK_IDLE;
}

static void a_task_with_more_to_do_runs_again(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, count_down, bench_over_when_quiet);
    for (int i = 0; i < 5; i++) job_inject(&b->jobs[i]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(b->jobs[i].n_runs, 1000);
    assert_int_equal(b->n_quiet, 1);
    bench_end(b);
  }
}

/* ---- Fairness on one worker ---- */

/* Jobs 0 and 1 wake each other until job 2 has run; the letter is theirs to lose. */
static enum verdict play(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->index == 2) {
    atomic_store_explicit(&b->flag, true, memory_order_relaxed);
    return TASK_IDLE;
  }
  if (job->index == 0 && job->n_runs == 1) {
    if (atomic_load_explicit(&b->other_flag, memory_order_relaxed)) {
      job_wake(w, &b->jobs[2]); /* pushed to the deque by the next one */
    } else {
      job_inject(&b->jobs[2]);
    }
  }
  bool is_done = atomic_load_explicit(&b->flag, memory_order_relaxed);
  if (!is_done && job->n_runs < 100000) job_wake(w, &b->jobs[1 - job->index]);
  return TASK_IDLE;
}

static void two_tasks_that_wake_each_other_do_not_starve_a_third(void **state) {
  (void)state;
  for (int from_deque = 0; from_deque < 2; from_deque++) {
    struct bench *b = bench_begin(1, play, bench_over_when_quiet);
    atomic_store(&b->other_flag, from_deque != 0);
    job_inject(&b->jobs[0]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(b->jobs[2].n_runs, 1);
    assert_true(b->jobs[0].n_runs + b->jobs[1].n_runs < 200);
    bench_end(b);
  }
}

/* Jobs 0 and 3 have always more to do, so that the deque is never empty; job 1 waits in the global
 * list, job 2 in the deque. */
static enum verdict go_on_until_others_ran(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->index == 1 || job->index == 2) {
    atomic_store_explicit(job->index == 1 ? &b->flag : &b->other_flag, true, memory_order_relaxed);
    return TASK_IDLE;
  }
  if (job->index == 0 && job->n_runs == 1) {
    job_wake(w, &b->jobs[3]);
    job_wake(w, &b->jobs[2]);
    job_inject(&b->jobs[1]);
  }
  bool both = atomic_load_explicit(&b->flag, memory_order_relaxed) &&
              atomic_load_explicit(&b->other_flag, memory_order_relaxed);
  return !both && job->n_runs < 100000 ? TASK_AGAIN : TASK_IDLE;
}

static void a_task_that_goes_on_does_not_starve_others(void **state) {
  (void)state;
  struct bench *b = bench_begin(1, go_on_until_others_ran, bench_over_when_quiet);
  job_inject(&b->jobs[0]);
  assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
  assert_int_equal(b->jobs[1].n_runs, 1);
  assert_int_equal(b->jobs[2].n_runs, 1);
  assert_true(b->jobs[0].n_runs < 200);
  assert_true(b->jobs[3].n_runs > 0);
  bench_end(b);
}

/* ---- Quiet ---- */

enum { QUIET_ROUNDS = 2000 };

/* Gives work again, of varying width: some tasks at once, which wake some more. */
static enum quiet next_round(void *ud) {
  struct bench *b = ud;
  bench_check_quiet(b);
  if (b->n_rounds_left == 0) return QUIET_OVER;
  b->n_rounds_left--;
  atomic_store_explicit(&b->n_wakes_left, (int64_t)(b->n_rounds_left % 30), memory_order_relaxed);
  for (uint64_t i = 0; i <= b->n_rounds_left % 5; i++) job_inject(&b->jobs[i]);
  return QUIET_AGAIN;
}

static void quiet_is_asked_once_each_time_that_nothing_is_runnable(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, wake_some, next_round);
    b->n_rounds_left = QUIET_ROUNDS;
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(b->n_quiet, QUIET_ROUNDS + 1);
    assert_int_equal(bench_runs(b), b->n_wakes);
    assert_true(b->n_wakes > QUIET_ROUNDS);
    bench_end(b);
  }
}

/* Says that there is work when there is none, and that there is none when there is. */
static enum quiet contrary(void *ud) {
  struct bench *b = ud;
  bench_check_quiet(b);
  if (b->n_rounds_left == 0) return QUIET_OVER;
  b->n_rounds_left--;
  if (b->n_rounds_left % 2 == 0) return QUIET_AGAIN;
  job_inject(&b->jobs[0]);
  return QUIET_OVER;
}

static void a_run_goes_on_while_there_is_work_whatever_quiet_says(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, NULL, contrary);
    b->n_rounds_left = 200;
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(b->n_quiet, 201);
    assert_int_equal(b->jobs[0].n_runs, 100);
    bench_end(b);
  }
}

static void runs_can_be_repeated(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, wake_some, bench_over_when_quiet);
    for (uint64_t i = 1; i <= 200; i++) {
      atomic_store(&b->n_wakes_left, 20);
      if (i % 4 != 0) job_inject(&b->jobs[i % CIRCLE]); /* now and then there is nothing to do */
      assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
      assert_int_equal(b->n_quiet, i);
      assert_int_equal(bench_runs(b), b->n_wakes);
    }
    bench_end(b);
  }
}

/* ---- From outside ---- */

enum { OUTSIDERS = 2, INJECTIONS = 10000 };

/* Until quiet was asked once more, which it is when all have run: the post lets it go on if it waits. */
static void wait_for_quiet(struct bench *b) {
  unsigned spins = 0;
  uint64_t before = atomic_load_explicit(&b->n_asked, memory_order_relaxed);
  actl__gate_post(&b->event);
  while (atomic_load_explicit(&b->n_asked, memory_order_relaxed) == before) test_race_wait(&spins);
}

static void inject_often(void *arg) {
  struct bench *b = arg;
  uint64_t random = (uint64_t)(uintptr_t)&random;
  for (int i = 0; i < INJECTIONS; i++) {
    job_inject(&b->jobs[actl__random_below(&random, CIRCLE)]);
    actl__gate_post(&b->event);
    for (uint32_t n = actl__random_below(&random, 200); n > 0; n--) actl__thread_relax();
    if (i % 500 == 0) wait_for_quiet(b);
  }
  atomic_fetch_sub_explicit(&b->n_wakes_left, 1, memory_order_relaxed); /* outsiders left */
  actl__gate_post(&b->event);
}

/* Waits for an injection, as an engine waits for timers. Pending wake-ups are no fault here: an
 * outsider may be about to schedule. */
static enum quiet wait_for_outsiders(void *ud) {
  struct bench *b = ud;
  b->n_quiet++;
  atomic_fetch_add_explicit(&b->n_asked, 1, memory_order_relaxed);
  if (atomic_load_explicit(&b->n_running, memory_order_relaxed) != 0) bench_fault(b);
  for (int i = 0; i < JOBS_MAX; i++) b->sum += b->jobs[i].n_runs;
  if (atomic_load_explicit(&b->n_wakes_left, memory_order_relaxed) <= 0) return QUIET_OVER;
  actl__gate_wait(&b->event);
  return QUIET_AGAIN;
}

static void run_the_workers(void *arg) {
  struct bench *b = arg;
  if (actl__sched_run(&b->sched) != ACTL_OK) bench_fault(b);
}

static void what_is_injected_from_outside_runs(void **state) {
  (void)state;
  for (uint32_t n_workers = 1; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, NULL, wait_for_outsiders);
    atomic_store(&b->n_wakes_left, OUTSIDERS);
    struct test_racer racers[OUTSIDERS + 1] = {{run_the_workers, b}};
    for (int i = 0; i < OUTSIDERS; i++) racers[i + 1] = (struct test_racer){inject_often, b};
    test_race(racers, OUTSIDERS + 1);

    assert_int_equal(b->n_wakes, OUTSIDERS * INJECTIONS);
    assert_int_equal(bench_runs(b), b->n_wakes);
    assert_true(b->n_quiet >= INJECTIONS / 500);
    bench_end(b);
  }
}

/* ---- A long turn, and others that park and are woken ---- */

enum { ALARMS = 1500 };

static bool wait_until(struct bench *b, _Atomic(bool) *flag, struct worker *shares) {
  uint64_t start = actl__clock_ns();
  unsigned spins = 0;
  while (!atomic_load_explicit(flag, memory_order_relaxed)) {
    if (shares != NULL) actl__sched_share(shares);
    test_race_wait(&spins);
    if (actl__clock_ns() - start > DEADLINE_NS) {
      bench_fault(b);
      return false;
    }
  }
  return true;
}

static void pause_for(struct job *job) {
  /* From nothing to well over the time that a worker spins before it parks. */
  uint64_t until = actl__clock_ns() + actl__random_below(&job->random, 120000);
  while (actl__clock_ns() < until) actl__thread_relax();
}

/* Job 0 holds its worker and injects the others one by one: each must be run by another worker,
 * which is about to park, or parked. */
static enum verdict inject_one_by_one(struct job *job, struct worker *w) {
  (void)w;
  struct bench *b = job->bench;
  if (job->index != 0) {
    atomic_store_explicit(&b->flag, true, memory_order_relaxed);
    return TASK_IDLE;
  }
  for (int i = 0; i < ALARMS; i++) {
    atomic_store_explicit(&b->flag, false, memory_order_relaxed);
    job_inject(&b->jobs[1 + i % 7]);
    if (!wait_until(b, &b->flag, NULL)) break;
    pause_for(job);
  }
  return TASK_IDLE;
}

static void no_wake_up_is_lost_to_a_worker_that_parks(void **state) {
  (void)state;
  for (uint32_t n_workers = 2; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, inject_one_by_one, bench_over_when_quiet);
    job_inject(&b->jobs[0]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(bench_runs(b), ALARMS + 1);
    struct sched_counts counts = actl__sched_counts(&b->sched);
    assert_true(counts.parks > n_workers);
    bench_end(b);
  }
}

/* Job 0 wakes two at a time: the first goes to its deque, where others steal it. */
static enum verdict wake_in_pairs(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->index != 0) {
    atomic_store_explicit(job->index % 2 == 1 ? &b->flag : &b->other_flag, true,
                          memory_order_relaxed);
    return TASK_IDLE;
  }
  for (uint32_t i = 0; i < ALARMS; i++) {
    atomic_store_explicit(&b->flag, false, memory_order_relaxed);
    atomic_store_explicit(&b->other_flag, false, memory_order_relaxed);
    job_wake(w, &b->jobs[1 + 2 * (i % 3)]);
    job_wake(w, &b->jobs[2 + 2 * (i % 3)]);
    if (!wait_until(b, &b->flag, NULL)) break;
    if (!wait_until(b, &b->other_flag, w)) break;
    pause_for(job);
  }
  return TASK_IDLE;
}

static void a_long_turns_tasks_are_stolen_and_its_run_next_when_shared(void **state) {
  (void)state;
  for (uint32_t n_workers = 2; n_workers <= 3; n_workers++) {
    struct bench *b = bench_begin(n_workers, wake_in_pairs, bench_over_when_quiet);
    job_inject(&b->jobs[0]);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(bench_runs(b), 2 * ALARMS + 1);
    struct sched_counts counts = actl__sched_counts(&b->sched);
    assert_true(counts.steals > ALARMS);
    assert_int_equal(counts.turns, 2 * ALARMS + 1);
    bench_end(b);
  }
}

/* ---- Init ---- */

static void init_without_memory_leaves_nothing(void **state) {
  (void)state;
  struct test_alloc hook = {0};
  struct memory mem;
  actl__memory_init(&mem, test_alloc, &hook);
  unsigned n_refused = 0;
  for (uint32_t n_workers = 1; n_workers <= 256; n_workers *= 2) {
    for (size_t n = 1;; n++) {
      static struct sched sched;
      test_alloc_fail_from(&hook, n);
      const struct sched_user user = {.run = bench_run, .quiet = bench_over_when_quiet};
      actl_status status = actl__sched_init(&sched, &mem, n_workers, &user);
      if (!test_alloc_heal(&hook)) {
        assert_int_equal(status, ACTL_OK);
        for (uint32_t i = 0; i < n_workers; i++)
          assert_int_equal((uintptr_t)&sched.workers[i] % ACTL__CACHE_LINE, 0);
        actl__sched_fini(&sched);
        break;
      }
      assert_int_equal(status, ACTL_NO_MEMORY);
      assert_int_equal(hook.live_blocks, 0);
      n_refused++;
    }
    assert_true(test_alloc_is_clean(&hook));
  }
  assert_true(n_refused > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tasks_that_wake_each_other_run_as_often_as_they_are_woken),
      cmocka_unit_test(more_tasks_than_a_deque_holds_all_run),
      cmocka_unit_test(a_task_with_more_to_do_runs_again),
      cmocka_unit_test(two_tasks_that_wake_each_other_do_not_starve_a_third),
      cmocka_unit_test(a_task_that_goes_on_does_not_starve_others),
      cmocka_unit_test(quiet_is_asked_once_each_time_that_nothing_is_runnable),
      cmocka_unit_test(a_run_goes_on_while_there_is_work_whatever_quiet_says),
      cmocka_unit_test(runs_can_be_repeated),
      cmocka_unit_test(what_is_injected_from_outside_runs),
      cmocka_unit_test(no_wake_up_is_lost_to_a_worker_that_parks),
      cmocka_unit_test(a_long_turns_tasks_are_stolen_and_its_run_next_when_shared),
      cmocka_unit_test(init_without_memory_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
