/*
 * sched.h - workers that run tasks.
 *
 *   running  --nothing to take-->  spinning  --nothing for a while-->  parked
 *   spinning --took a task-->      running                             parked  --woken-->  spinning
 *
 * A worker takes, in this order: its run-next slot (capped, so that two tasks that wake each other
 * cannot starve the rest), its own deque, the global list (every 61st time first), another's deque,
 * and, once it has sat there for 5 us of one turn, another's run-next slot.
 *
 * The scheduler is quiet when every worker is parked: each looked at all queues once more after it
 * had announced itself, so nothing can be runnable. Its user is then asked what to do; while it
 * answers, no task runs anywhere.
 *
 *   at rest --run-->   running  --quiet, and the user says so-->  at rest
 *   at rest --start--> started  --stop-->                         at rest
 *   at rest --step-->  stepping --nothing left, or time over-->   at rest
 *
 * At rest all runnable tasks are in the global list, so that whatever comes next finds them.
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
  actl__thread thread;      /* the starter's */
  struct worker *next_idle; /* under the scheduler's lock */
  bool is_parked;           /* under the scheduler's lock */
  actl__gate gate;          /* posted once to begin, and for each time it is unparked */
  uint64_t watched_turns;   /* `turns` at the last look of actl__sched_watch, which alone uses it */

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

#define SCHED_ENOUGH UINT32_MAX

enum quiet {
  QUIET_AGAIN, /* there is work again */
  QUIET_WAIT,  /* nothing to do now; something will come from another thread */
  QUIET_OVER   /* nothing to do until the host says so: ends a run */
};

/* What a scheduler calls, with no lock held. `ud` is handed to each but `run`. */
struct sched_user {
  task_run run;
  enum quiet (*quiet)(void *ud); /* from a worker, the stepper or who waits; nothing else runs */
  void (*watch)(void *ud);  /* have actl__sched_watch called until it says false; NULL: cannot */
  void (*notify)(void *ud); /* see actl__sched_notify; NULL: it is not called */

  /* Which of the `n` tasks that have waited longest comes next, or SCHED_ENOUGH: what runs is to end.
   * NULL: the scheduler's own order. Only with one worker. */
  uint32_t (*choose)(void *ud, uint32_t n);

  /* In place of `quiet` while the scheduler is held; true: there is work again. NULL: there is none. */
  bool (*pass)(void *ud);
  void *ud;
};

struct sched {
  const struct memory *mem; /* constant, as what follows to the next line */
  struct sched_user user;
  struct worker *workers;
  uint32_t n_workers;

  /* Read all the time and seldom written. */
  alignas(ACTL__CACHE_LINE) _Atomic(bool) is_over; /* written under `lock` */
  _Atomic(bool) is_watched;                        /* `watch` was called: any worker, the watcher */
  _Atomic(uint32_t) n_parked;                      /* written under `lock` */
  uint32_t n_started; /* workers that run now, 0: at rest; written under `lock` while none does */

  alignas(ACTL__CACHE_LINE) _Atomic(uint32_t) n_spinning;
  _Atomic(uint32_t) n_global;  /* written under `lock` */
  _Atomic(uint32_t) n_outside; /* threads between making a task runnable and injecting it */
  _Atomic(uint64_t) wakes;     /* written under `lock` */

  alignas(ACTL__CACHE_LINE) actl__lock lock;
  struct worker *idle; /* under `lock`, as all that follows but the last */
  struct task *global, **global_end;
  bool is_asking;  /* `quiet` is being called: nobody is woken */
  bool is_started; /* by actl__sched_start: quiet does not end it */
  bool may_notify;
  bool wants_notice; /* at rest, `notify` may be called, and there is nothing runnable */
  uint32_t n_holds;
  uint32_t n_waiting;     /* threads in actl__sched_wait */
  uint64_t n_idle;        /* how often a started scheduler was found to have nothing to do */
  actl__signal has_idled; /* `n_idle` has grown, or it is started no more */
  uint32_t n_calm;        /* the watcher's: looks in a row that found no run-next slot filled */
};

struct sched_counts {
  uint64_t steals, parks, turns, wakes;
};

actl_status actl__sched_init(struct sched *sched, const struct memory *mem, uint32_t n_workers,
                             const struct sched_user *user);
void actl__sched_fini(struct sched *sched);

/* ---- Running: one of the three at a time ---- */

/* Runs tasks, on this thread and n_workers - 1 more, until `quiet` says that it is over.
 * ACTL_SYSTEM: a thread could not be started; those that were have ended again. */
actl_status actl__sched_run(struct sched *sched);

/* Runs tasks on n_workers threads, until stop, which waits for the turns under way. */
actl_status actl__sched_start(struct sched *sched);
void actl__sched_stop(struct sched *sched);

/* Runs tasks on this thread until nothing is runnable and `quiet` has no more, or the clock shows
 * `until_ns`: then there is more. Runs one at least. */
enum quiet actl__sched_step(struct sched *sched, uint64_t until_ns);

/* ---- From any thread ---- */

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

/* While it is held, `quiet` is not asked in a run or by who waits, so that neither ends. */
void actl__sched_hold(struct sched *sched);
void actl__sched_drop(struct sched *sched);

/* Waits until a started scheduler has nothing to do: `quiet` says that it is over, and it is not
 * held. ACTL_TIMEOUT: not before the clock shows `until_ns` (UINT64_MAX: without end). ACTL_INVALID:
 * it is not started. */
actl_status actl__sched_wait(struct sched *sched, uint64_t until_ns);

/* From now on `notify` is called when a step would find something: while it is at rest, by who makes
 * a task runnable or leaves some; once, until the next run, start or step. */
void actl__sched_notify(struct sched *sched);

/* Sums over the workers, since the scheduler was made; exact while nothing runs. */
struct sched_counts actl__sched_counts(struct sched *sched);

/* For one thread, every few milliseconds after `watch` was called: a task that has sat in a run-next
 * slot while its worker was in one turn from one look to the next gets another worker. false: no
 * look is needed until `watch` is called again. */
bool actl__sched_watch(struct sched *sched);

/* ---- From a worker ---- */

/* Makes a task runnable, from the worker that runs now: to its run-next slot, and what was there
 * to its deque. */
void actl__sched_wake(struct worker *worker, struct task *task);

/* For a turn that has gone on for a while: wakes a worker for the task in the run-next slot, if
 * nobody is looking for work. */
void actl__sched_share(struct worker *worker);

/* Whether there are other workers and this one has nothing else to run: its task may wait a little
 * for more instead of going idle. */
bool actl__sched_may_linger(const struct worker *worker);

#endif
