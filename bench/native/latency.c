/*
 * latency.c - who notes how late it heard: scenarios/latency.lua. Who tells it is in fan.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Spawned with the number of messages that it will get. Told a nanosecond, takes the time since
 * then; asked with a zero, answers how many it has; with anything else, the times. */
static actl_status listener_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  return actl_bench_times_init(state, actl_msg_int(args, 0, 0));
}

static actl_status listener_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct actl_bench_times *times = state;
  int64_t due_ns = actl_msg_int(msg, 0, -1);
  if (due_ns > 0) {
    actl_bench_times_add(times, actl_bench_now_ns() - due_ns);
    return ACTL_OK;
  }
  actl_value answer = due_ns == 0 ? actl_int(times->n) : actl_bench_times_value(times);
  return actl_reply(ctx, &answer, 1);
}

static void listener_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  actl_bench_times_fini(state);
}

const actl_behavior actl_bench_listener = {
    .name = "bench.listener",
    .state_size = sizeof(struct actl_bench_times),
    .init = listener_init,
    .receive = listener_receive,
    .stop = listener_stop,
};
