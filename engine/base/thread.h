/*
 * thread.h - threads, locks and semaphores, by way of libuv.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_THREAD_H
#define ACTL_BASE_THREAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <uv.h>

#include "actl.h"
#include "base/invariant.h"

typedef uv_mutex_t actl__lock;
typedef uv_sem_t actl__gate; /* counts wake-ups: wait takes one, post gives one */
typedef uv_thread_t actl__thread;

static inline actl_status actl__lock_init(actl__lock *lock) {
  return uv_mutex_init(lock) == 0 ? ACTL_OK : ACTL_SYSTEM;
}
static inline void actl__lock_fini(actl__lock *lock) { uv_mutex_destroy(lock); }
static inline void actl__lock_take(actl__lock *lock) { uv_mutex_lock(lock); }
static inline void actl__lock_drop(actl__lock *lock) { uv_mutex_unlock(lock); }

static inline actl_status actl__gate_init(actl__gate *gate) {
  return uv_sem_init(gate, 0) == 0 ? ACTL_OK : ACTL_SYSTEM;
}
static inline void actl__gate_fini(actl__gate *gate) { uv_sem_destroy(gate); }
static inline void actl__gate_post(actl__gate *gate) { uv_sem_post(gate); }
static inline void actl__gate_wait(actl__gate *gate) { uv_sem_wait(gate); }

/* Runs `body(arg)` on a new thread, to be joined. ACTL_SYSTEM: none is to be had. */
actl_status actl__thread_start(actl__thread *out, void (*body)(void *arg), void *arg);
void actl__thread_join(actl__thread *thread);

/* How many processors this process may use; at least 1. */
uint32_t actl__thread_processors(void);

/* Tells the processor that this thread spins. */
static inline void actl__thread_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
