/*
 * deque.h - a worker's runnable tasks: a bounded ring that others may steal from.
 *
 * The owner pushes at the tail; owner and thieves take the oldest from the head by compare-exchange,
 * so that no task waits behind newer ones. `head` and `tail` only grow; a slot is written again only
 * once `head` has passed it, so a thief whose exchange succeeds has read the right task.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_SCHED_DEQUE_H
#define ACTL_SCHED_DEQUE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory.h"
#include "sched/task.h"

enum { ACTL__DEQUE_SIZE = ACTL_TUNE(256, 2) };

struct deque {
  alignas(ACTL__CACHE_LINE) _Atomic(uint32_t) head; /* owner and thieves */
  alignas(ACTL__CACHE_LINE) _Atomic(uint32_t) tail; /* owner */
  _Atomic(struct task *) ring[ACTL__DEQUE_SIZE];    /* owner writes, thieves read */
};

void actl__deque_init(struct deque *deque);

/* Owner only; false: it is full. */
bool actl__deque_push(struct deque *deque, struct task *task);

/* The oldest task; NULL: none, or (`lost` set) another took it first. Any worker. */
struct task *actl__deque_take(struct deque *deque, bool *lost);

/* Any thread; exact for one who comes after the push in the order of sequentially consistent
 * operations. */
bool actl__deque_has(const struct deque *deque);

#endif
