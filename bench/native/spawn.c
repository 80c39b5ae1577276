/*
 * spawn.c - many actors with one message each: scenarios/spawn.lua.
 *
 * The spawner makes the actors, its children, in batches; each is told its number, adds it to its
 * state and tells the spawner what it has. The ask that started the spawner is answered when all
 * have told, with how many they were and with the sum of what they said.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Told a number by its parent; tells back the sum of its numbers. */
static actl_status newborn_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *sum = state;
  *sum += actl_msg_int(msg, 0, 0);
  return actl_send(ctx, actl_sender(ctx), ACTL_VALUES(actl_int(*sum)));
}

static const actl_behavior newborn_behavior = {
    .name = "bench.newborn",
    .state_size = sizeof(int64_t),
    .receive = newborn_receive,
};

/* Spawned with the number of actors. An ask starts it. */
struct spawner {
  int64_t actors, born;
  int64_t handled, sum;
  actl_request request;
};

/* What the spawner tells itself; the numbers of the actors begin at 1. */
enum { GO_ON = 0 };

static actl_status spawner_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct spawner *spawner = state;
  spawner->actors = actl_msg_int(args, 0, 0);
  return spawner->actors > 0 ? ACTL_OK : ACTL_INVALID;
}

static actl_status spawner_batch(actl_ctx *ctx, struct spawner *spawner) {
  int64_t end = spawner->born + ACTL_BENCH_BATCH;
  if (end > spawner->actors) end = spawner->actors;

  while (spawner->born < end) {
    actl_pid newborn;
    actl_status status = actl_spawn(ctx, &newborn_behavior, NULL, 0, &newborn);
    if (status != ACTL_OK) return status;
    spawner->born++;
    status = actl_send(ctx, newborn, ACTL_VALUES(actl_int(spawner->born)));
    if (status != ACTL_OK) return status;
  }
  if (spawner->born == spawner->actors) return ACTL_OK;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(GO_ON)));
}

static actl_status spawner_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct spawner *spawner = state;
  int64_t number = actl_msg_int(msg, 0, -1);

  if (number <= GO_ON) {
    actl_status status = number < 0 ? actl_later(ctx, &spawner->request) : ACTL_OK;
    return status == ACTL_OK ? spawner_batch(ctx, spawner) : status;
  }
  spawner->sum += number;
  if (++spawner->handled < spawner->actors) return ACTL_OK;
  return actl_request_reply(ctx, spawner->request,
                            ACTL_VALUES(actl_int(spawner->handled), actl_int(spawner->sum)));
}

const actl_behavior actl_bench_spawner = {
    .name = "bench.spawner",
    .state_size = sizeof(struct spawner),
    .init = spawner_init,
    .receive = spawner_receive,
};
