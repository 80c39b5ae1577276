/*
 * test_threads.c - where a thread is not to be had, nothing is run.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "actl.h"
#include "base/clock.h"

enum { WORKERS = 4, PATIENCE_MS = 50 };

static atomic_int n_left; /* threads that may be made */
static atomic_int n_run;

/* In place of the system's: after `n_left` threads there are no more, which is only told once those
 * that there are have had the time to do what they should not. */
ACTL_API int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *),
                            void *arg) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  if (atomic_fetch_sub(&n_left, 1) > 0) return real(out, attributes, body, arg);

  uint64_t until_ns = actl__clock_ns() + (uint64_t)PATIENCE_MS * 1000000;
  while (atomic_load(&n_run) == 0 && actl__clock_ns() < until_ns) {}
  return EAGAIN;
}

static actl_status count(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  (void)state;
  (void)msg;
  atomic_fetch_add(&n_run, 1);
  return ACTL_OK;
}

static const actl_behavior counter = {.name = "counter", .init = count, .receive = count};

static actl_engine *engine_with_work(void) {
  actl_engine *engine;
  const actl_config config = {.workers = WORKERS, .vats = WORKERS};
  assert_int_equal(actl_engine_new(&engine, &config), ACTL_OK);
  for (uint32_t vat = 0; vat < WORKERS; vat++) {
    actl_pid pid;
    assert_int_equal(actl_engine_spawn(engine, vat, &counter, NULL, 0, &pid), ACTL_OK);
  }
  atomic_store(&n_run, 0);
  return engine;
}

/* All is done by a later run. */
static void finish(actl_engine *engine) {
  assert_int_equal(atomic_load(&n_run), 0);
  atomic_store(&n_left, WORKERS);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  assert_int_equal(atomic_load(&n_run), WORKERS);
  actl_engine_free(engine);
}

static void a_run_that_lacks_a_thread_runs_nothing(void **state) {
  (void)state;
  for (int n = 0; n < WORKERS - 1; n++) {
    actl_engine *engine = engine_with_work();
    atomic_store(&n_left, n);
    assert_int_equal(actl_engine_run(engine), ACTL_SYSTEM);
    finish(engine);
  }
}

static void a_start_that_lacks_a_thread_runs_nothing(void **state) {
  (void)state;
  for (int n = 0; n < WORKERS; n++) {
    actl_engine *engine = engine_with_work();
    atomic_store(&n_left, n);
    assert_int_equal(actl_engine_start(engine), ACTL_SYSTEM);
    assert_int_equal(actl_engine_stop(engine), ACTL_INVALID);
    finish(engine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_that_lacks_a_thread_runs_nothing),
      cmocka_unit_test(a_start_that_lacks_a_thread_runs_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
