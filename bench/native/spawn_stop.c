/*
 * spawn_stop.c - actors are made and stopped, and every start and stop confirmed:
 * scenarios/spawn-stop.lua.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <stdlib.h>

/* What a child tells its parent. */
enum { STARTED = 1, STOPPED = 2 };

/* Spawned with its parent. */
static actl_status child_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  actl_pid *parent = state;
  *parent = actl_msg_pid(args, 0);
  return actl_send(ctx, *parent, ACTL_VALUES(actl_int(STARTED)));
}

static actl_status child_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  (void)state;
  (void)msg;
  return ACTL_UNHANDLED;
}

static void child_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  const actl_pid *parent = state;
  actl_send(ctx, *parent, ACTL_VALUES(actl_int(STOPPED)));
}

static const actl_behavior child_behavior = {
    .name = "bench.stopper_child",
    .state_size = sizeof(actl_pid),
    .init = child_init,
    .receive = child_receive,
    .stop = child_stop,
};

/* Spawned with the number of children and their vat. Asked for a round, makes them, stops them
 * when all have started, and answers when all have stopped: how many started, how many stopped. */
struct stopper {
  int64_t actors, started, stopped;
  uint32_t vat;
  actl_request request;
  actl_pid *children;
};

static actl_status stopper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct stopper *stopper = state;
  stopper->actors = actl_msg_int(args, 0, 0);
  stopper->vat = (uint32_t)actl_msg_int(args, 1, 0);
  if (stopper->actors < 1 || stopper->actors > INT32_MAX) return ACTL_INVALID;
  stopper->children = malloc((size_t)stopper->actors * sizeof *stopper->children);
  return stopper->children != NULL ? ACTL_OK : ACTL_NO_MEMORY;
}

static actl_status stopper_round(actl_ctx *ctx, struct stopper *stopper) {
  stopper->started = stopper->stopped = 0;
  actl_value me = actl_who(actl_self(ctx));
  actl_status status = actl_later(ctx, &stopper->request);
  for (int64_t i = 0; i < stopper->actors && status == ACTL_OK; i++)
    status = actl_spawn_on(ctx, stopper->vat, &child_behavior, &me, 1, &stopper->children[i]);
  return status;
}

static actl_status stopper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct stopper *stopper = state;
  int64_t what = actl_msg_int(msg, 0, 0);
  actl_status status = ACTL_OK;
  if (what == STARTED) {
    if (++stopper->started < stopper->actors) return ACTL_OK;
    for (int64_t i = 0; i < stopper->actors && status == ACTL_OK; i++)
      status = actl_stop(ctx, stopper->children[i]);
    return status;
  }
  if (what != STOPPED) return stopper_round(ctx, stopper);

  if (++stopper->stopped < stopper->actors) return ACTL_OK;
  return actl_request_reply(ctx, stopper->request,
                            ACTL_VALUES(actl_int(stopper->started), actl_int(stopper->stopped)));
}

static void stopper_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  struct stopper *stopper = state;
  free(stopper->children);
}

const actl_behavior actl_bench_stopper = {
    .name = "bench.stopper",
    .state_size = sizeof(struct stopper),
    .init = stopper_init,
    .receive = stopper_receive,
    .stop = stopper_stop,
};
