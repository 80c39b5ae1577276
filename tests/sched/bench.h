/*
 * bench.h - a scheduler with jobs to run, which know how often they were woken.
 *
 * A job's state is as a vat's inbox: who adds the first wake-up schedules it, and the runner sets it
 * back. The job's other fields are plain, so that what the scheduler hands over unordered, or gives
 * to two, is a race for TSan. The orders on `n_pending` are the least: release by the runner,
 * acquire by the next waker; from waker to runner all goes through the scheduler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SCHED_BENCH_H
#define TESTS_SCHED_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "sched/sched.h"
#include "support/alloc.h"
#include "support/race.h"

enum { JOBS_MAX = 1024 };
static const uint64_t DEADLINE_NS = 20ull * 1000 * 1000 * 1000;

struct job;
struct bench;
typedef enum verdict (*job_body)(struct job *job, struct worker *w);

struct job {
  struct task task;
  struct bench *bench;
  job_body body;
  _Atomic(uint32_t) n_pending; /* wake-ups not yet run */
  uint32_t index;
  uint64_t n_runs; /* plain, as all that follows: the runner's */
  uint64_t random;
  uint64_t letter; /* the scheduling waker's, then the runner's */
};

struct bench {
  struct sched sched;
  struct test_alloc hook;
  struct memory mem;
  struct job jobs[JOBS_MAX];
  _Atomic(uint32_t) n_running;    /* relaxed */
  _Atomic(uint32_t) n_faults;     /* relaxed */
  _Atomic(int64_t) n_wakes_left;  /* relaxed */
  _Atomic(uint64_t) n_asked;      /* relaxed */
  _Atomic(uint64_t) n_wakes;      /* relaxed */
  _Atomic(bool) flag, other_flag; /* relaxed */
  uint64_t n_quiet;               /* quiet's, as the next */
  uint64_t n_rounds_left;
  uint64_t sum;     /* written in turns of one job, read by quiet: plain */
  actl__gate event; /* for quiet, or another thread, to wait on */
};

/* The `run` and `ud` of `user` are not used. */
struct bench *bench_begin_with(uint32_t n_workers, job_body body, const struct sched_user *user);
struct bench *bench_begin(uint32_t n_workers, job_body body, enum quiet (*quiet)(void *ud));
void bench_end(struct bench *b); /* asserts that there was no fault */

enum verdict bench_run(struct task *task, struct worker *w);

/* How often all jobs have run. */
uint64_t bench_runs(const struct bench *b);

/* Something is wrong: the test fails at its end. Any thread. */
void bench_fault(struct bench *b);

/* For `quiet`: nothing may run or have been woken. */
void bench_check_quiet(struct bench *b);
enum quiet bench_over_when_quiet(void *ud);

/* Wakes a job: from a worker's turn, from a thread whose wake-ups nobody shares, from any other. */
void job_wake(struct worker *w, struct job *job);
void job_inject(struct job *job);
void job_post(struct job *job);

#endif
