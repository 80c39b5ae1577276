/*
 * thread.h - threads, locks, signals and semaphores, by way of libuv.
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
typedef uv_sem_t actl__gate;    /* counts wake-ups: wait takes one, post gives one */
typedef uv_cond_t actl__signal; /* for who waits under a lock */
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

static inline actl_status actl__signal_init(actl__signal *signal) {
  return uv_cond_init(signal) == 0 ? ACTL_OK : ACTL_SYSTEM;
}
static inline void actl__signal_fini(actl__signal *signal) { uv_cond_destroy(signal); }
/* Wakes all who wait. */
static inline void actl__signal_all(actl__signal *signal) { uv_cond_broadcast(signal); }
/* Wakes one who waits. */
static inline void actl__signal_one(actl__signal *signal) { uv_cond_signal(signal); }
/* Under `lock`, which is free meanwhile: returns when it was woken, when the time is over, or for
 * nothing. */
static inline void actl__signal_wait(actl__signal *signal, actl__lock *lock, uint64_t ns) {
  (void)uv_cond_timedwait(signal, lock, ns);
}

/* Runs `body(arg)` on a new thread, to be joined. ACTL_SYSTEM: none is to be had. */
actl_status actl__thread_start(actl__thread *out, void (*body)(void *arg), void *arg);
void actl__thread_join(actl__thread *thread);

/* How many processors this process may use; at least 1. */
uint32_t actl__thread_processors(void);

/* A number that differs from thread to thread, mostly; the same one for each thread at all times. */
static inline uint32_t actl__thread_mark(void) {
  return (uint32_t)((uint64_t)uv_thread_self() * 0x9E3779B97F4A7C15ull >> 32);
}

/* Lets other threads run, on this processor too. */
void actl__thread_yield(void);

/* Tells the processor that this thread spins. */
static inline void actl__thread_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
