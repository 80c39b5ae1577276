/*
 * ask.c - one ask in flight: scenarios/ask.lua, ask-p50.lua, many-asks.lua.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <stdlib.h>

/* Answers what it is asked, and with nothing how often it was. */
static actl_status answerer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *asked = state;
  if (actl_msg_count(msg) == 0) return actl_reply(ctx, ACTL_VALUES(actl_int(*asked)));
  ++*asked;
  return actl_reply(ctx, ACTL_VALUES(actl_msg_value(msg, 0)));
}

const actl_behavior actl_bench_answerer = {
    .name = "bench.answerer",
    .state_size = sizeof(int64_t),
    .receive = answerer_receive,
};

/* Spawned with whom it asks. Asked with a number and whether to take times, asks with 1, 2 .. up
 * to that number, one after the other, and answers how many answers were right, and then the
 * times. */
struct asker {
  actl_pid target;
  actl_request request;
  int64_t asks, i, right, start_ns;
  struct actl_bench_times times;
};

static actl_status asker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct asker *asker = state;
  asker->target = actl_msg_pid(args, 0);
  return ACTL_OK;
}

static actl_status asker_ask(actl_ctx *ctx, struct asker *asker) {
  actl_ask_id ask;
  asker->i++;
  if (asker->times.room > 0) asker->start_ns = actl_bench_now_ns();
  return actl_ask(ctx, asker->target, ACTL_VALUES(actl_int(asker->i)), &ask);
}

static actl_status asker_answer(actl_ctx *ctx, struct asker *asker) {
  actl_value values[] = {actl_int(asker->right), actl_bench_times_value(&asker->times)};
  actl_status status =
      actl_request_reply(ctx, asker->request, values, asker->times.room > 0 ? 2 : 1);
  actl_bench_times_fini(&asker->times);
  return status;
}

static actl_status asker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct asker *asker = state;
  asker->asks = actl_msg_int(msg, 0, 0);
  asker->i = asker->right = 0;
  bool is_timed = actl_msg_value(msg, 1).type == ACTL_TRUE;
  actl_status status = actl_later(ctx, &asker->request);
  if (status == ACTL_OK && is_timed) status = actl_bench_times_init(&asker->times, asker->asks);
  if (status != ACTL_OK) return status;
  return asker->asks > 0 ? asker_ask(ctx, asker) : asker_answer(ctx, asker);
}

static actl_status asker_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ask;
  struct asker *asker = state;
  if (asker->times.room > 0)
    actl_bench_times_add(&asker->times, actl_bench_now_ns() - asker->start_ns);
  if (status == ACTL_OK && actl_msg_int(msg, 0, 0) == asker->i) asker->right++;
  return asker->i < asker->asks ? asker_ask(ctx, asker) : asker_answer(ctx, asker);
}

static void asker_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  struct asker *asker = state;
  actl_bench_times_fini(&asker->times);
}

const actl_behavior actl_bench_asker = {
    .name = "bench.asker",
    .state_size = sizeof(struct asker),
    .init = asker_init,
    .receive = asker_receive,
    .reply = asker_reply,
    .stop = asker_stop,
};
