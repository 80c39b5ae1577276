/*
 * sched.h - workers that run tasks until nothing is runnable.
 *
 *   running  --nothing to take-->  spinning  --nothing for a while-->  parked
 *   spinning --took a task-->      running                             parked  --woken-->  spinning
 *
 * A worker takes, in this order: its run-next slot (capped, so that two tasks that wake each other
 * cannot starve the rest), its own deque, the global list (every 61st time first), another's deque,
 * and, once it has sat there for 5 us of one turn, another's run-next slot.
 *
 * The scheduler is quiet when every worker is parked: each looked at all queues once more after it
 * had announced itself, so nothing can be runnable. The last one to park then asks its user what to
 * do; while it does, no task runs anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_SCHED_SCHED_H
#define ACTL_SCHED_SCHED_H

#include "base/memory.h"
#include "base/thread.h"
#include "sched/deque.h"
#include "sched/task.h"

struct sched;

struct worker {
  struct sched *sched;      /* constant */
  uint32_t index;           /* constant */
  actl__thread thread;      /* of workers after the first; the starter's */
  struct worker *next_idle; /* under the scheduler's lock */
  bool is_parked;           /* under the scheduler's lock */
  actl__gate gate;          /* posted once for each time it is unparked */

  alignas(ACTL__CACHE_LINE) uint64_t random; /* owner only, to the next line */
  uint32_t n_taken;
  uint32_t n_run_next; /* tasks in a row from the run-next slot */
  bool is_spinning;

  alignas(
      ACTL__CACHE_LINE) _Atomic(struct task *) run_next; /* owner fills; owner and thieves take */
  _Atomic(uint64_t) turns;         /* owner writes: thieves see whether a turn goes on */
  _Atomic(uint64_t) steals, parks; /* owner writes */
  struct deque deque;
};

struct sched {
  const struct memory *mem; /* constant, as the four that follow */
  task_run run;
  bool (*quiet)(void *ud); /* true: there is work again; false: the run is over */
  void *ud;
  struct worker *workers;
  uint32_t n_workers;

  alignas(ACTL__CACHE_LINE) _Atomic(uint32_t) n_spinning;
  _Atomic(uint32_t) n_parked;  /* written under `lock` */
  _Atomic(uint32_t) n_global;  /* written under `lock` */
  _Atomic(uint32_t) n_outside; /* threads between making a task runnable and injecting it */
  _Atomic(bool) is_over;       /* written under `lock` */

  alignas(ACTL__CACHE_LINE) actl__lock lock;
  struct worker *idle; /* under `lock`, as all that follows */
  struct task *global, **global_end;
  bool is_asking;     /* `quiet` is being called: nobody is woken */
  uint32_t n_started; /* workers of the present run; written before they start */
};

actl_status actl__sched_init(struct sched *sched, const struct memory *mem, uint32_t n_workers,
                             task_run run, bool (*quiet)(void *ud), void *ud);
void actl__sched_fini(struct sched *sched);

/* Runs tasks, on this thread and n_workers - 1 more, until `quiet` says that it is over.
 * ACTL_SYSTEM: a thread could not be started; those that were have ended again. */
actl_status actl__sched_run(struct sched *sched);

/* Makes a task runnable, from the worker that runs now: to its run-next slot, and what was there
 * to its deque. */
void actl__sched_wake(struct worker *worker, struct task *task);

/* Makes a task runnable from any thread, a worker's or not. */
void actl__sched_inject(struct sched *sched, struct task *task);

/* For a thread that is no worker: it makes a task runnable by the task's own state and then injects
 * it, between these two calls. Meanwhile the scheduler is not quiet: others may have found the task
 * runnable and left it to that thread. */
static inline void actl__sched_outside_begin(struct sched *sched) {
  /* seq_cst: comes before the task's change of state, for who parks after it has seen that. */
  atomic_fetch_add_explicit(&sched->n_outside, 1, memory_order_seq_cst);
}
static inline void actl__sched_outside_end(struct sched *sched) {
  atomic_fetch_sub_explicit(&sched->n_outside, 1, memory_order_seq_cst);
}

/* For a turn that has gone on for a while: wakes a worker for the task in the run-next slot, if
 * nobody is looking for work. */
void actl__sched_share(struct worker *worker);

/* Whether there are other workers and this one has nothing else to run: its task may wait a little
 * for more instead of going idle. */
bool actl__sched_may_linger(const struct worker *worker);

/* Sums over the workers, since the scheduler was made; exact while nothing runs. Any thread. */
void actl__sched_counts(struct sched *sched, uint64_t *steals, uint64_t *parks, uint64_t *turns);

#endif
