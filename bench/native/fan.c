/*
 * fan.c - one actor tells many in turn: scenarios/one-into-64.lua, cpu-work.lua, latency.lua.
 *
 *   the run asks the spreader; it tells its targets in batches and itself to go on, and at the end
 *   asks each of them how much it has counted: the sum is its answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

enum { TARGETS_MAX = 200 };

/* Spawned with the number of messages in all, what each says, and the targets. An ask starts it.
 *
 * If what they say is nil, the messages are due at a rate and say when they were, in nanoseconds.
 * What starts it is then followed by how many a second there are, and by an echo (ping_pong.c):
 * what goes to and fro with that one takes the place of what it tells itself otherwise, so that
 * its targets have their turn between two looks at the clock. */
struct spreader {
  int64_t messages, sent;
  actl_value value;
  int64_t start_ns;
  double interval_ns;
  actl_pid echo;
  actl_request request;
  int64_t sum;
  uint32_t n_targets, owed;
  actl_pid targets[TARGETS_MAX];
};

static actl_status spreader_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct spreader *spreader = state;
  size_t n = actl_msg_count(args);
  if (n < 3 || n - 2 > TARGETS_MAX) return ACTL_INVALID;
  spreader->messages = actl_msg_int(args, 0, 0);
  spreader->value = actl_msg_value(args, 1);
  spreader->n_targets = (uint32_t)(n - 2);
  for (uint32_t i = 0; i < spreader->n_targets; i++)
    spreader->targets[i] = actl_msg_pid(args, i + 2);
  return ACTL_OK;
}

static bool is_paced(const struct spreader *spreader) { return spreader->value.type == ACTL_NIL; }

/* What the next message says. */
static actl_value next_value(const struct spreader *spreader) {
  if (!is_paced(spreader)) return spreader->value;
  return actl_int(spreader->start_ns + (int64_t)((double)spreader->sent * spreader->interval_ns));
}

static actl_status send_batch(actl_ctx *ctx, struct spreader *spreader) {
  int64_t now_ns = is_paced(spreader) ? actl_bench_now_ns() : 0;
  actl_status status = ACTL_OK;
  for (int i = 0; i < ACTL_BENCH_BATCH && status == ACTL_OK; i++) {
    actl_value value = next_value(spreader);
    bool is_due = !is_paced(spreader) || value.as.integer <= now_ns;
    if (!is_due || spreader->sent == spreader->messages) break;
    actl_pid target = spreader->targets[spreader->sent++ % spreader->n_targets];
    status = actl_send(ctx, target, &value, 1);
  }
  return status;
}

static actl_status ask_all(actl_ctx *ctx, struct spreader *spreader) {
  actl_status status = ACTL_OK;
  for (; spreader->owed < spreader->n_targets && status == ACTL_OK; spreader->owed++) {
    actl_ask_id ask;
    status = actl_ask_within(ctx, spreader->targets[spreader->owed], ACTL_VALUES(actl_int(0)),
                             ACTL_FOREVER, &ask);
  }
  return status;
}

static actl_status spreader_start(actl_ctx *ctx, struct spreader *spreader, const actl_msg *msg) {
  spreader->start_ns = actl_bench_now_ns();
  spreader->interval_ns = 1e9 / (double)actl_msg_int(msg, 1, 1);
  spreader->echo = is_paced(spreader) ? actl_msg_pid(msg, 2) : actl_self(ctx);
  return actl_later(ctx, &spreader->request);
}

static actl_status spreader_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct spreader *spreader = state;
  bool is_start = actl_msg_value(msg, 0).type != ACTL_INTEGER;
  if (!is_start && spreader->sent == spreader->messages) return ACTL_OK;

  /* First, so that whom it tells now is ahead of the echo. */
  actl_status status = is_start ? spreader_start(ctx, spreader, msg) : ACTL_OK;
  if (status == ACTL_OK) status = actl_send(ctx, spreader->echo, ACTL_VALUES(actl_int(0)));
  if (status == ACTL_OK) status = send_batch(ctx, spreader);
  if (status != ACTL_OK || spreader->sent < spreader->messages) return status;
  return ask_all(ctx, spreader);
}

static actl_status spreader_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                  const actl_msg *msg) {
  (void)ask;
  struct spreader *spreader = state;
  if (status == ACTL_OK) spreader->sum += actl_msg_int(msg, 0, 0);
  if (--spreader->owed > 0) return ACTL_OK;
  return actl_request_reply(ctx, spreader->request, ACTL_VALUES(actl_int(spreader->sum)));
}

const actl_behavior actl_bench_spreader = {
    .name = "bench.spreader",
    .state_size = sizeof(struct spreader),
    .init = spreader_init,
    .receive = spreader_receive,
    .reply = spreader_reply,
};

/* Told a number, goes that often round a loop: cpu-work's work. Asked with a zero, answers how many
 * messages it was told. */
struct worker {
  int64_t count;
  uint64_t x;
};

static actl_status worker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct worker *worker = state;
  int64_t rounds = actl_msg_int(msg, 0, 0);
  if (rounds == 0) return actl_reply(ctx, ACTL_VALUES(actl_int(worker->count)));

  worker->count++;
  uint64_t x = worker->x | 1;
  for (int64_t i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  worker->x = x;
  return ACTL_OK;
}

const actl_behavior actl_bench_worker = {
    .name = "bench.worker",
    .state_size = sizeof(struct worker),
    .receive = worker_receive,
};
