/*
 * bench.c - see bench.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/bench.h"

#include <string.h>

void bench_fault(struct bench *b) {
  atomic_fetch_add_explicit(&b->n_faults, 1, memory_order_relaxed);
}

/* Counts one wake-up; true: the caller must schedule the job. */
static bool add_wake(struct job *job) {
  atomic_fetch_add_explicit(&job->bench->n_wakes, 1, memory_order_relaxed);
  /* acquire: pairs with the runner's release in run; nothing goes to the runner by this. */
  if (atomic_fetch_add_explicit(&job->n_pending, 1, memory_order_acquire) != 0) return false;
  job->letter = 1;
  return true;
}

void job_wake(struct worker *w, struct job *job) {
  if (add_wake(job)) actl__sched_wake(w, &job->task);
}

void job_inject(struct job *job) {
  if (add_wake(job)) actl__sched_inject(&job->bench->sched, &job->task);
}

void job_post(struct job *job) {
  actl__sched_outside_begin(&job->bench->sched);
  job_inject(job);
  actl__sched_outside_end(&job->bench->sched);
}

enum verdict bench_run(struct task *task, struct worker *w) {
  struct job *job = (struct job *)task;
  struct bench *b = job->bench;
  atomic_fetch_add_explicit(&b->n_running, 1, memory_order_relaxed);
  if (job->letter != 1) bench_fault(b);
  job->n_runs++;

  enum verdict verdict = job->body == NULL ? TASK_IDLE : job->body(job, w);
  atomic_fetch_sub_explicit(&b->n_running, 1, memory_order_relaxed);
  if (verdict == TASK_AGAIN) return TASK_AGAIN;
  /* relaxed: the next is a hint that saves a write. */
  if (atomic_load_explicit(&job->n_pending, memory_order_relaxed) == 1) job->letter = 0;
  /* release: see add_wake. */
  if (atomic_fetch_sub_explicit(&job->n_pending, 1, memory_order_release) == 1) return TASK_IDLE;
  job->letter = 1;
  return TASK_AGAIN;
}

void bench_check_quiet(struct bench *b) {
  b->n_quiet++;
  if (atomic_load_explicit(&b->n_running, memory_order_relaxed) != 0) bench_fault(b);
  for (int i = 0; i < JOBS_MAX; i++) {
    /* relaxed, and the plain read: the scheduler orders all turns before quiet. */
    if (atomic_load_explicit(&b->jobs[i].n_pending, memory_order_relaxed) != 0) bench_fault(b);
    b->sum += b->jobs[i].n_runs;
  }
}

enum quiet bench_over_when_quiet(void *ud) {
  bench_check_quiet(ud);
  return QUIET_OVER;
}

static struct bench bench;

struct bench *bench_begin_with(uint32_t n_workers, job_body body, const struct sched_user *user) {
  struct bench *b = &bench;
  memset(b, 0, sizeof *b);
  actl__memory_init(&b->mem, test_alloc, &b->hook);
  for (uint32_t i = 0; i < JOBS_MAX; i++)
    b->jobs[i] = (struct job){.bench = b, .body = body, .index = i, .random = i + 1};
  assert_int_equal(actl__gate_init(&b->event), ACTL_OK);
  struct sched_user own = *user;
  own.run = bench_run;
  own.ud = b;
  assert_int_equal(actl__sched_init(&b->sched, &b->mem, n_workers, &own), ACTL_OK);
  return b;
}

struct bench *bench_begin(uint32_t n_workers, job_body body, enum quiet (*quiet)(void *ud)) {
  const struct sched_user user = {.quiet = quiet};
  return bench_begin_with(n_workers, body, &user);
}

void bench_end(struct bench *b) {
  assert_int_equal(b->n_faults, 0);
  actl__sched_fini(&b->sched);
  actl__gate_fini(&b->event);
  assert_true(test_alloc_is_clean(&b->hook));
}

uint64_t bench_runs(const struct bench *b) {
  uint64_t n = 0;
  for (int i = 0; i < JOBS_MAX; i++) n += b->jobs[i].n_runs;
  return n;
}
