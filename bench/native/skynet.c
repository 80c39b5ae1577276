/*
 * skynet.c - a tree of actors that add up their leaves' numbers: scenarios/skynet.lua.
 *
 * A node spawns ten children, down to single leaves. A leaf answers its number; a node adds up ten
 * answers, and how many actors they stand for, and passes both to its parent; the root answers an
 * ask with them. Every actor stops itself when it has answered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

enum { CHILDREN = 10 };

/* Spawned as a node is. It has done everything when its init returns. */
static actl_status leaf_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  actl_exit(ctx, NULL);
  return actl_send(ctx, actl_msg_pid(args, 0), ACTL_VALUES(actl_msg_value(args, 1), actl_int(1)));
}

static actl_status leaf_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  (void)state;
  (void)msg;
  return ACTL_UNHANDLED;
}

static const actl_behavior leaf_behavior = {
    .name = "bench.skynet_leaf",
    .init = leaf_init,
    .receive = leaf_receive,
};

/* Spawned with its parent, the number of its first leaf, the number of its leaves (a power of ten,
 * not 1), and for the root the number of vats over which to spread its children (0 or none: they
 * are near). The root has nobody for a parent and is asked for the answer. */
struct node {
  actl_pid parent;
  actl_request request;
  int64_t sum, actors;
  uint32_t owed;
};

enum { NEAR = -1 };

/* Makes one child in vat number `vat`, or near. */
static actl_status node_spawn(actl_ctx *ctx, int64_t number, int64_t leaves, int64_t vat) {
  actl_pid child;
  const actl_behavior *behavior = leaves == 1 ? &leaf_behavior : &actl_bench_skynet;
  const actl_value values[] = {actl_who(actl_self(ctx)), actl_int(number), actl_int(leaves)};
  if (vat == NEAR) return actl_spawn(ctx, behavior, values, 3, &child);
  return actl_spawn_on(ctx, (uint32_t)vat, behavior, values, 3, &child);
}

static actl_status node_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct node *node = state;
  int64_t number = actl_msg_int(args, 1, 0);
  int64_t part = actl_msg_int(args, 2, 0) / CHILDREN;
  int64_t n_vats = actl_msg_int(args, 3, 0);
  if (part < 1) return ACTL_INVALID;
  node->parent = actl_msg_pid(args, 0);
  node->actors = 1;
  node->owed = CHILDREN;

  for (int64_t i = 0; i < CHILDREN; i++) {
    int64_t vat = n_vats > 0 ? i % n_vats : NEAR;
    actl_status status = node_spawn(ctx, number + i * part, part, vat);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static actl_status node_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct node *node = state;
  /* The root's ask is in its queue before it has a child that could answer. */
  if (actl_msg_count(msg) < 2) return actl_later(ctx, &node->request);

  node->sum += actl_msg_int(msg, 0, 0);
  node->actors += actl_msg_int(msg, 1, 0);
  if (--node->owed > 0) return ACTL_OK;

  actl_exit(ctx, NULL);
  actl_value answer[] = {actl_int(node->sum), actl_int(node->actors)};
  if (node->parent.bits != 0) return actl_send(ctx, node->parent, answer, 2);
  return actl_request_reply(ctx, node->request, answer, 2);
}

const actl_behavior actl_bench_skynet = {
    .name = "bench.skynet",
    .state_size = sizeof(struct node),
    .init = node_init,
    .receive = node_receive,
};
