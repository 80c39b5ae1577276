/*
 * ping_pong.c - two actors, one message in flight: scenarios/ping-pong.lua, ping-pong-10k.lua.
 *
 *   the run asks the pinger; then  pinger --its tally--> echo --its tally--> pinger  and so on
 *
 * The answer to the ask is both tallies: what the pinger got back, and what the echo had heard.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Spawned with the echo's pid and the number of exchanges. An ask starts it, and may be made
 * again. */
struct pinger {
  actl_pid echo;
  int64_t exchanges, got;
  actl_request request;
};

static actl_status pinger_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct pinger *pinger = state;
  pinger->echo = actl_msg_pid(args, 0);
  pinger->exchanges = actl_msg_int(args, 1, 0);
  return pinger->exchanges > 0 ? ACTL_OK : ACTL_INVALID;
}

static actl_status pinger_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct pinger *pinger = state;
  int64_t heard = actl_msg_int(msg, 0, -1);

  if (heard < 0) {
    actl_status status = actl_later(ctx, &pinger->request);
    if (status != ACTL_OK) return status;
    pinger->got = 0;
  } else if (++pinger->got == pinger->exchanges) {
    return actl_request_reply(ctx, pinger->request,
                              ACTL_VALUES(actl_int(pinger->got), actl_int(heard)));
  }
  return actl_send(ctx, pinger->echo, ACTL_VALUES(actl_int(pinger->got)));
}

const actl_behavior actl_bench_pinger = {
    .name = "bench.pinger",
    .state_size = sizeof(struct pinger),
    .init = pinger_init,
    .receive = pinger_receive,
};

/* Answers whoever sends to it with the number of messages heard so far. */
static actl_status echo_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)msg;
  int64_t *heard = state;
  ++*heard;
  return actl_send(ctx, actl_sender(ctx), ACTL_VALUES(actl_int(*heard)));
}

const actl_behavior actl_bench_echo = {
    .name = "bench.echo",
    .state_size = sizeof(int64_t),
    .receive = echo_receive,
};
