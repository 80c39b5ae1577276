/*
 * test_choose.c - a scheduler whose user says which task comes next, and when it is enough.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sched.h>
#include <string.h>

#include "sched/bench.h"

enum { SOME = 12, WAKES = 3, RUNS_MAX = 4000 };

/* What was run, and what a plain list of those that wait says that is to be. */
struct list {
  uint32_t waiting[JOBS_MAX], n;
  uint64_t random;
  uint32_t expected, most; /* the job that was chosen; the largest `n` that was asked with */
  uint32_t n_runs, enough; /* so many choices, then it is enough; 0: never */
  uint32_t n_passes;       /* that are left of what a held scheduler is given */
  int64_t wrong;
};

static struct list list;

static void append(uint32_t job) { list.waiting[list.n++] = job; }

static uint32_t take(uint32_t i) {
  uint32_t job = list.waiting[i];
  memmove(&list.waiting[i], &list.waiting[i + 1], (--list.n - i) * sizeof job);
  return job;
}

static uint32_t choose(void *ud, uint32_t n) {
  (void)ud;
  if (n > list.most) list.most = n;
  if (n == 0 || n != (list.n < 64 ? list.n : 64)) list.wrong++;
  if (list.enough != 0 && list.n_runs == list.enough) return SCHED_ENOUGH;
  uint32_t i = actl__random_below(&list.random, n);
  list.expected = take(i);
  list.n_runs++;
  return i;
}

/* Wakes some that nobody has woken, and now and then comes again: behind those. */
static enum verdict wake_some(struct job *job, struct worker *w) {
  struct bench *b = job->bench;
  if (job->index != list.expected) list.wrong++;
  for (int i = 0; i < WAKES && list.n_runs < RUNS_MAX; i++) {
    struct job *other = &b->jobs[actl__random_below(&job->random, JOBS_MAX)];
    bool is_idle = atomic_load(&other->n_pending) == 0 && list.n < 200;
    if (!is_idle) continue;
    job_wake(w, other);
    append(other->index);
  }
  if (job->n_runs % 3 != 0 || list.n_runs >= RUNS_MAX) return TASK_IDLE;
  append(job->index);
  return TASK_AGAIN;
}

static struct bench *begin(uint64_t seed, job_body body) {
  const struct sched_user user = {.quiet = bench_over_when_quiet, .choose = choose};
  list = (struct list){.random = seed};
  struct bench *b = bench_begin_with(1, body, &user);
  for (uint32_t i = 0; i < SOME; i++) {
    job_inject(&b->jobs[i]);
    append(i);
  }
  return b;
}

static void who_is_chosen_runs_and_the_others_wait_in_their_order(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct bench *b = begin(seed, wake_some);
    assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
    assert_int_equal(list.wrong, 0);
    assert_int_equal(list.n, 0);
    assert_true(list.n_runs >= RUNS_MAX);
    assert_int_equal(list.most, 64);
    assert_int_equal(b->n_quiet, 1);
    bench_end(b);
  }
}

static void when_it_is_enough_a_run_ends_and_what_is_left_is_kept(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct bench *b = begin(seed, wake_some);
    for (uint32_t i = 0; b->n_quiet == 0; i++) {
      list.enough = list.n_runs + i % 50 + 1;
      assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
      assert_true(list.n_runs == list.enough || b->n_quiet == 1);
    }
    assert_int_equal(list.wrong, 0);
    assert_int_equal(list.n, 0);
    assert_true(list.n_runs >= RUNS_MAX);
    bench_end(b);
  }
}

static void when_it_is_enough_a_step_ends_and_says_that_there_is_more(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct bench *b = begin(seed, wake_some);
    enum quiet rest = QUIET_AGAIN;
    for (uint32_t i = 0; rest == QUIET_AGAIN; i++) {
      list.enough = list.n_runs + i % 50 + 1;
      rest = actl__sched_step(&b->sched, UINT64_MAX);
      if (rest == QUIET_AGAIN) assert_int_equal(list.n_runs, list.enough);
    }
    assert_int_equal(rest, QUIET_OVER);
    assert_int_equal(b->n_quiet, 1);
    assert_int_equal(list.wrong, 0);
    assert_int_equal(list.n, 0);
    bench_end(b);
  }
}

/* Nothing at all has run, and all of it is there. */
static void it_may_be_enough_at_once(void **state) {
  (void)state;
  struct bench *b = begin(1, wake_some);
  list.enough = RUNS_MAX;
  list.n_runs = RUNS_MAX;
  assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
  assert_int_equal(actl__sched_step(&b->sched, UINT64_MAX), QUIET_AGAIN);
  assert_int_equal(bench_runs(b), 0);
  list.enough = 0;
  assert_int_equal(actl__sched_run(&b->sched), ACTL_OK);
  assert_int_equal(list.wrong, 0);
  assert_int_equal(list.n, 0);
  assert_true(bench_runs(b) >= SOME);
  bench_end(b);
}

/* ---- Held ---- */

static uint32_t choose_first(void *ud, uint32_t n) {
  (void)ud;
  if (n == 0) list.wrong++;
  return 0;
}

/* Gives it something to do, so often; not while anything runs. */
static bool pass(void *ud) {
  struct bench *b = ud;
  if (atomic_load(&b->n_running) != 0) list.wrong++;
  if (list.n_passes == 0) {
    actl__gate_post(&b->event); /* there is nothing more: the other thread may drop it */
    return false;
  }
  list.n_passes--;
  job_post(&b->jobs[list.n_passes % SOME]);
  return true;
}

static void drop_it(void *ud) {
  struct bench *b = ud;
  actl__gate_wait(&b->event);
  actl__sched_drop(&b->sched);
}

static void run_it(void *ud) {
  struct bench *b = ud;
  if (actl__sched_run(&b->sched) != ACTL_OK) bench_fault(b);
}

static void while_it_is_held_pass_is_asked_in_place_of_quiet(void **state) {
  (void)state;
  for (int i = 0; i < 50; i++) {
    const struct sched_user user = {
        .quiet = bench_over_when_quiet, .choose = choose_first, .pass = pass};
    list = (struct list){.n_passes = 100};
    struct bench *b = bench_begin_with(1, NULL, &user);
    actl__sched_hold(&b->sched);
    const struct test_racer racers[] = {{run_it, b}, {drop_it, b}};
    test_race(racers, 2);
    assert_int_equal(list.n_passes, 0);
    assert_int_equal(bench_runs(b), 100);
    assert_int_equal(b->n_quiet, 1);
    assert_int_equal(list.wrong, 0);
    bench_end(b);
  }
}

/* ---- Threads of the host ---- */

enum { POSTERS = 3, POSTS = SOME * 300 };

static void post_often(void *ud) {
  struct bench *b = ud;
  uint64_t random = (uint64_t)(uintptr_t)&random;
  for (int i = 0; i < POSTS; i++) job_post(&b->jobs[actl__random_below(&random, SOME)]);
  actl__sched_drop(&b->sched);
}

static uint32_t choose_any(void *ud, uint32_t n) {
  (void)ud;
  if (n == 0) list.wrong++;
  return actl__random_below(&list.random, n);
}

static void what_others_post_meanwhile_is_chosen_too(void **state) {
  (void)state;
  const struct sched_user user = {.quiet = bench_over_when_quiet, .choose = choose_any};
  list = (struct list){.random = 7};
  struct bench *b = bench_begin_with(1, NULL, &user);
  struct test_racer racers[POSTERS + 1] = {{run_it, b}};
  for (int i = 1; i <= POSTERS; i++) {
    actl__sched_hold(&b->sched);
    racers[i] = (struct test_racer){post_often, b};
  }
  test_race(racers, POSTERS + 1);
  assert_int_equal(bench_runs(b), b->n_wakes);
  assert_int_equal(b->n_wakes, POSTERS * POSTS);
  assert_int_equal(list.wrong, 0);
  bench_end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_is_chosen_runs_and_the_others_wait_in_their_order),
      cmocka_unit_test(when_it_is_enough_a_run_ends_and_what_is_left_is_kept),
      cmocka_unit_test(when_it_is_enough_a_step_ends_and_says_that_there_is_more),
      cmocka_unit_test(it_may_be_enough_at_once),
      cmocka_unit_test(while_it_is_held_pass_is_asked_in_place_of_quiet),
      cmocka_unit_test(what_others_post_meanwhile_is_chosen_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
