/*
 * thread.c - starting, joining and yielding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/thread.h"

#include <sched.h>

actl_status actl__thread_start(actl__thread *out, void (*body)(void *arg), void *arg) {
  return uv_thread_create(out, body, arg) == 0 ? ACTL_OK : ACTL_SYSTEM;
}

void actl__thread_join(actl__thread *thread) {
  int failed = uv_thread_join(thread);
  ACTL_INVARIANT(failed == 0);
  (void)failed;
}

void actl__thread_yield(void) { (void)sched_yield(); }

uint32_t actl__thread_processors(void) {
  unsigned n = uv_available_parallelism();
  return n == 0 ? 1 : (uint32_t)n;
}
