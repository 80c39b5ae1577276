/*
 * tell.c - one actor tells one actor: scenarios/tell.lua, tell-1k.lua, four-into-one.lua.
 *
 *   the run asks the producer; it tells the counter in batches and itself to go on, and at the end
 *   asks the counter, whose count is then the answer. The counter's ask is the last thing that the
 *   producer sends, so it is handled after everything else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Spawned with the counter's pid, the number of messages, and what each says (1 if that is left
 * out; bytes in place of it). An ask starts it. */
struct producer {
  actl_pid counter;
  int64_t left;
  actl_value value;
  char *bytes; /* of the value; NULL: it has none */
  actl_request request;
};

static actl_status producer_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct producer *producer = state;
  producer->counter = actl_msg_pid(args, 0);
  producer->left = actl_msg_int(args, 1, 0);
  if (producer->left <= 0) return ACTL_INVALID;

  actl_value value = actl_msg_value(args, 2);
  producer->value = actl_int(1);
  if (value.type != ACTL_STRING) return ACTL_OK;
  producer->bytes = malloc(value.size + 1);
  if (producer->bytes == NULL) return ACTL_NO_MEMORY;
  memcpy(producer->bytes, value.as.bytes, value.size);
  producer->value = actl_bytes(producer->bytes, value.size);
  return ACTL_OK;
}

static actl_status producer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct producer *producer = state;
  bool is_start = actl_msg_value(msg, 0).type != ACTL_INTEGER;
  actl_status status = is_start ? actl_later(ctx, &producer->request) : ACTL_OK;

  int64_t batch = producer->left < ACTL_BENCH_BATCH ? producer->left : ACTL_BENCH_BATCH;
  for (int64_t i = 0; i < batch && status == ACTL_OK; i++)
    status = actl_send(ctx, producer->counter, &producer->value, 1);
  if (status != ACTL_OK) return status;

  producer->left -= batch;
  if (producer->left > 0) return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(0)));
  actl_ask_id ask;
  return actl_ask_within(ctx, producer->counter, ACTL_VALUES(actl_int(0)), ACTL_FOREVER, &ask);
}

static actl_status producer_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                  const actl_msg *msg) {
  (void)ask;
  struct producer *producer = state;
  if (status != ACTL_OK) return actl_request_fail(ctx, producer->request, status);
  return actl_request_reply(ctx, producer->request, ACTL_VALUES(actl_msg_value(msg, 0)));
}

static void producer_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  struct producer *producer = state;
  free(producer->bytes);
}

const actl_behavior actl_bench_producer = {
    .name = "bench.producer",
    .state_size = sizeof(struct producer),
    .init = producer_init,
    .receive = producer_receive,
    .reply = producer_reply,
    .stop = producer_stop,
};

/* What is no number to add: a string counts with its bytes, an empty one and a zero ask for the
 * sum, a zero with a pid has it told there, and a number below zero asks for it and resets it. */
static actl_status counter_tell(actl_ctx *ctx, int64_t *count, const actl_msg *msg) {
  actl_value value = actl_msg_value(msg, 0);
  if (value.type == ACTL_STRING && value.size > 0) {
    *count += value.size;
    return ACTL_OK;
  }

  actl_value sum = actl_int(*count);
  actl_pid to = actl_msg_pid(msg, 1);
  if (value.type == ACTL_INTEGER && value.as.integer < 0) *count = 0;
  return to.bits != 0 ? actl_send(ctx, to, &sum, 1) : actl_reply(ctx, &sum, 1);
}

/* Adds up what it is told. */
static actl_status counter_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *count = state;
  int64_t n = actl_msg_int(msg, 0, 0);
  if (n <= 0) return counter_tell(ctx, count, msg);
  *count += n;
  return ACTL_OK;
}

const actl_behavior actl_bench_counter = {
    .name = "bench.counter",
    .state_size = sizeof(int64_t),
    .receive = counter_receive,
};
