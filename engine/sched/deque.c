/*
 * deque.c - a bounded ring of tasks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/deque.h"

void actl__deque_init(struct deque *deque) {
  atomic_init(&deque->head, 0);
  atomic_init(&deque->tail, 0);
  for (uint32_t i = 0; i < ACTL__DEQUE_SIZE; i++) atomic_init(&deque->ring[i], NULL);
}

bool actl__deque_push(struct deque *deque, struct task *task) {
  /* relaxed: the owner alone writes it. */
  uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
  /* acquire: pairs with take, so that the slot is written after the one who took it read it. */
  uint32_t head = atomic_load_explicit(&deque->head, memory_order_acquire);
  if (tail - head >= ACTL__DEQUE_SIZE) return false;

  /* relaxed: the store of `tail` publishes it. */
  atomic_store_explicit(&deque->ring[tail % ACTL__DEQUE_SIZE], task, memory_order_relaxed);
  /* release: pairs with take. seq_cst: a parking worker either sees this task when it looks once
   * more, or has announced itself before the owner looks for someone to wake (sched.c). */
  atomic_store_explicit(&deque->tail, tail + 1, memory_order_seq_cst);
  return true;
}

struct task *actl__deque_take(struct deque *deque, bool *lost) {
  /* acquire: a later head implies the pushes before it. */
  uint32_t head = atomic_load_explicit(&deque->head, memory_order_acquire);
  /* acquire: pairs with push, so that the slot and the task are seen. */
  uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_acquire);
  if ((int32_t)(tail - head) <= 0) return NULL;

  struct task *task =
      atomic_load_explicit(&deque->ring[head % ACTL__DEQUE_SIZE], memory_order_relaxed);
  /* release: pairs with push, see there. */
  if (!atomic_compare_exchange_strong_explicit(&deque->head, &head, head + 1, memory_order_acq_rel,
                                               memory_order_relaxed)) {
    *lost = true;
    return NULL;
  }
  return task;
}

bool actl__deque_has(const struct deque *deque) {
  /* seq_cst: see push. */
  uint32_t head = atomic_load_explicit(&deque->head, memory_order_seq_cst);
  uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_seq_cst);
  return (int32_t)(tail - head) > 0;
}
