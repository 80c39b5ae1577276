/*
 * sleepers.c - many actors that each wait for a timer: scenarios/sleepers.lua.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Spawned with its nursery and the milliseconds that it sleeps. What it has to remember is in the
 * timer's message, so it has no state: the nursery, and the nanosecond at which it is due. */
static actl_status sleeper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  int64_t ms = actl_msg_int(args, 1, 0);
  int64_t due_ns = actl_bench_now_ns() + ms * 1000000;
  return actl_after(ctx, (uint64_t)ms, ACTL_VALUES(actl_msg_value(args, 0), actl_int(due_ns)),
                    NULL);
}

static actl_status sleeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_exit(ctx, NULL);
  return actl_send(ctx, actl_msg_pid(msg, 0),
                   ACTL_VALUES(actl_msg_value(msg, 1), actl_int(actl_bench_now_ns())));
}

static const actl_behavior sleeper_behavior = {
    .name = "bench.sleeper",
    .init = sleeper_init,
    .receive = sleeper_receive,
};

/* Spawned with the number of sleepers and how many milliseconds they sleep. Asked to "sleep",
 * makes them and answers when all are made; to "wait", answers how many woke and how many of them
 * early, when all have; to "count", answers at once how many woke and how many timers there are.
 * */
struct nursery {
  int64_t actors, ms;
  int64_t made, woke, early;
  actl_request born, request;
  bool is_waited_for;
  actl_name sleep, count;
};

static actl_status nursery_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct nursery *nursery = state;
  nursery->actors = actl_msg_int(args, 0, 0);
  nursery->ms = actl_msg_int(args, 1, 0);
  if (nursery->actors < 0 || nursery->ms < 1) return ACTL_INVALID;
  actl_status status = actl_name_intern(actl_ctx_engine(ctx), "sleep", 5, &nursery->sleep);
  if (status != ACTL_OK) return status;
  return actl_name_intern(actl_ctx_engine(ctx), "count", 5, &nursery->count);
}

static actl_status make_batch(actl_ctx *ctx, struct nursery *nursery) {
  const actl_value args[] = {actl_who(actl_self(ctx)), actl_int(nursery->ms)};
  actl_status status = ACTL_OK;
  for (int i = 0; i < ACTL_BENCH_BATCH && nursery->made < nursery->actors; i++) {
    actl_pid sleeper;
    status = actl_spawn(ctx, &sleeper_behavior, args, 2, &sleeper);
    if (status != ACTL_OK) return status;
    nursery->made++;
  }
  if (nursery->made < nursery->actors) return actl_send(ctx, actl_self(ctx), NULL, 0);
  return actl_request_reply(ctx, nursery->born, ACTL_VALUES(actl_int(nursery->made)));
}

static actl_status nursery_asked(actl_ctx *ctx, struct nursery *nursery, const actl_msg *msg) {
  if (actl_msg_is(ctx, msg, 0, nursery->sleep)) {
    actl_status status = actl_later(ctx, &nursery->born);
    return status == ACTL_OK ? make_batch(ctx, nursery) : status;
  }
  if (actl_msg_is(ctx, msg, 0, nursery->count)) {
    actl_stats stats;
    actl_ctx_stats(ctx, &stats);
    return actl_reply(ctx, ACTL_VALUES(actl_int(nursery->woke), actl_int((int64_t)stats.timers)));
  }
  if (nursery->woke == nursery->actors)
    return actl_reply(ctx, ACTL_VALUES(actl_int(nursery->woke), actl_int(nursery->early)));
  nursery->is_waited_for = true;
  return actl_later(ctx, &nursery->request);
}

static actl_status nursery_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct nursery *nursery = state;
  size_t n = actl_msg_count(msg);
  if (n == 0) return make_batch(ctx, nursery);
  if (n == 1) return nursery_asked(ctx, nursery, msg);

  nursery->woke++;
  nursery->early += actl_msg_int(msg, 1, 0) < actl_msg_int(msg, 0, INT64_MAX);
  if (nursery->woke < nursery->actors || !nursery->is_waited_for) return ACTL_OK;
  return actl_request_reply(ctx, nursery->request,
                            ACTL_VALUES(actl_int(nursery->woke), actl_int(nursery->early)));
}

const actl_behavior actl_bench_nursery = {
    .name = "bench.nursery",
    .state_size = sizeof(struct nursery),
    .init = nursery_init,
    .receive = nursery_receive,
};
