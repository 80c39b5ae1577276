/*
 * tell.c - one actor tells one actor: scenarios/tell.lua.
 *
 *   the run asks the producer; it tells the counter in batches and itself to go on, and at the end
 *   asks the counter, whose count is then the answer. The counter's ask is the last thing that the
 *   producer sends, so it is handled after everything else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Spawned with the counter's pid and the number of messages. An ask starts it. */
struct producer {
  actl_pid counter;
  int64_t left;
  actl_request request;
};

static actl_status producer_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct producer *producer = state;
  producer->counter = actl_msg_pid(args, 0);
  producer->left = actl_msg_int(args, 1, 0);
  return producer->left > 0 ? ACTL_OK : ACTL_INVALID;
}

static actl_status producer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct producer *producer = state;
  bool is_start = actl_msg_value(msg, 0).type != ACTL_INTEGER;
  actl_status status = is_start ? actl_later(ctx, &producer->request) : ACTL_OK;

  int64_t batch = producer->left < ACTL_BENCH_BATCH ? producer->left : ACTL_BENCH_BATCH;
  for (int64_t i = 0; i < batch && status == ACTL_OK; i++)
    status = actl_send(ctx, producer->counter, ACTL_VALUES(actl_int(1)));
  if (status != ACTL_OK) return status;

  producer->left -= batch;
  if (producer->left > 0) return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(0)));
  actl_ask_id ask;
  return actl_ask(ctx, producer->counter, ACTL_VALUES(actl_int(0)), &ask);
}

static actl_status producer_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                  const actl_msg *msg) {
  (void)ask;
  struct producer *producer = state;
  if (status != ACTL_OK) return actl_request_fail(ctx, producer->request, status);
  return actl_request_reply(ctx, producer->request, ACTL_VALUES(actl_msg_value(msg, 0)));
}

const actl_behavior actl_bench_producer = {
    .name = "bench.producer",
    .state_size = sizeof(struct producer),
    .init = producer_init,
    .receive = producer_receive,
    .reply = producer_reply,
};

/* Adds up what it is told; a zero asks for the sum. */
static actl_status counter_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *count = state;
  int64_t n = actl_msg_int(msg, 0, 0);
  if (n == 0) return actl_reply(ctx, ACTL_VALUES(actl_int(*count)));
  *count += n;
  return ACTL_OK;
}

const actl_behavior actl_bench_counter = {
    .name = "bench.counter",
    .state_size = sizeof(int64_t),
    .receive = counter_receive,
};
