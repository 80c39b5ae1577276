/*
 * test_signals.c - signals of the process come to the engines that take them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <signal.h>
#include <unistd.h>

/* A repeating timer keeps the run alive; the third time it raises the signal. */
static actl_status begin(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  return actl_every(ctx, 1, 0, NULL, 0, NULL);
}

static actl_status tick_on(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)msg;
  int64_t *n = state;
  if (++*n == 3) kill(getpid(), SIGUSR1);
  return ACTL_OK;
}

static const actl_behavior ticker = {
    .name = "ticker", .state_size = sizeof(int64_t), .init = begin, .receive = tick_on};

static _Atomic(int) n_came;

static void end_it(void *engine, int number) {
  if (number == SIGUSR1) atomic_fetch_add(&n_came, 1);
  actl_engine_shutdown(engine);
}

static void a_signal_may_shut_the_engine_down(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct host host;
    n_came = 0;
    host_open(&host, workers, 2);
    assert_int_equal(actl_engine_on_signal(host.engine, SIGUSR1, NULL, NULL), ACTL_INVALID);
    assert_int_equal(actl_engine_on_signal(host.engine, SIGUSR1, end_it, host.engine), ACTL_OK);
    assert_int_equal(actl_engine_on_signal(host.engine, SIGUSR1, end_it, host.engine),
                     ACTL_INVALID);
    host_spawn(&host, 1, &ticker, NULL, 0);
    host_run(&host);
    assert_int_equal(n_came, 1);
    assert_int_equal(host.stats.alive, 0);
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {WATCHED(a_signal_may_shut_the_engine_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
