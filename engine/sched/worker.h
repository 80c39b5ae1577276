/*
 * worker.h - how a worker finds its next task; for sched.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_SCHED_WORKER_H
#define ACTL_SCHED_WORKER_H

#include "sched/sched.h"

/* The next task, after looking for it for a while; NULL: none. Others are woken for more. */
struct task *actl__worker_next(struct worker *w);

/* The next of its own tasks and the global ones; NULL: none. */
struct task *actl__worker_own(struct worker *w);

/* After a turn that left more to do: another task if there is one, and this one to the back of the
 * deque. A task that is alone stays with its worker, out of the thieves' sight. */
struct task *actl__worker_after_again(struct worker *w, struct task *task);

/* Counts the worker among those who look for work, and no more. */
void actl__worker_spin_begin(struct worker *w);
void actl__worker_spin_end(struct worker *w);

/* One more in a counter that the owner alone writes. */
static inline void actl__worker_count(_Atomic(uint64_t) *counter) {
  /* relaxed: others read it as a statistic, or as a hint that a turn has ended. */
  uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, n + 1, memory_order_relaxed);
}

/* ---- sched.c ---- */

/* There is a task that somebody might take: wakes a worker unless one is looking already. */
void actl__sched_wake_one(struct sched *sched);

/* Whether anything is runnable, or about to be injected. */
bool actl__sched_has_work(struct sched *sched);

#endif
