/*
 * task.h - what the scheduler runs: it knows nothing else of a vat.
 *
 * A task is in one place at a time: a worker's deque, its run-next slot, the global list, or running.
 * Who makes it runnable guarantees that, by the task's own state (see msg/inbox.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_SCHED_TASK_H
#define ACTL_SCHED_TASK_H

struct worker;

enum verdict {
  TASK_AGAIN, /* it has more to do: to the back of the worker's deque */
  TASK_IDLE   /* it sleeps: whoever gives it work schedules it (it may run elsewhere already) */
};

struct task {
  struct task *next; /* in the global list, under its lock */
};

/* One turn of `task` on `worker`. After TASK_IDLE the scheduler does not touch the task. */
typedef enum verdict (*task_run)(struct task *task, struct worker *worker);

#endif
