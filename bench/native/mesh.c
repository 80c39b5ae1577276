/*
 * mesh.c - many actors pass messages on at random: scenarios/mesh.lua.
 *
 * The mesh makes the nodes, its children, and tells each how many hops its message has. A node
 * counts what it gets and passes it on to a random other with one hop less; who gets the last hop
 * tells the mesh. When all messages have ended, the mesh asks every node for its tally.
 *
 * The table of pids is one for all nodes, in whatever vat they are: it is complete before the first
 * node is told anything, is only read from then on, and goes when the mesh stops, after its nodes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <stdlib.h>

struct peers {
  int64_t n;
  actl_pid mesh;
  actl_pid node[];
};

/* ---- A node: spawned with the table's address and its own place in it ---- */

struct node {
  const struct peers *peers;
  uint64_t random;
  int64_t got;
  uint32_t place;
};

/* What a message to a node says in place of the hops left. */
enum { TALLY = 0 };

static actl_status node_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct node *node = state;
  node->peers = (const struct peers *)(intptr_t)actl_msg_int(args, 0, 0);
  node->place = (uint32_t)actl_msg_int(args, 1, 0);
  /* The golden ratio spreads the seeds: neighbours' first numbers have nothing in common. */
  node->random = (node->place + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return ACTL_OK;
}

/* Xorshift (Marsaglia, 2003), its high half scaled to the number of others. */
static uint32_t node_other(struct node *node) {
  uint64_t x = node->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  node->random = x;
  uint32_t other = (uint32_t)(((x >> 32) * (uint64_t)(node->peers->n - 1)) >> 32);
  return other < node->place ? other : other + 1;
}

static actl_status node_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct node *node = state;
  int64_t hops = actl_msg_int(msg, 0, TALLY);
  if (hops == TALLY) return actl_reply(ctx, ACTL_VALUES(actl_int(node->got)));

  node->got++;
  if (hops == 1) return actl_send(ctx, node->peers->mesh, ACTL_VALUES(actl_int(1)));
  actl_pid other = node->peers->node[node_other(node)];
  return actl_send(ctx, other, ACTL_VALUES(actl_int(hops - 1)));
}

static const actl_behavior node_behavior = {
    .name = "bench.mesh_node",
    .state_size = sizeof(struct node),
    .init = node_init,
    .receive = node_receive,
};

/* ---- The mesh: spawned with the number of nodes, of hops and of vats to spread them over ----
 *
 * The first ask starts it and is answered with the number of messages that came to their end; each
 * further one is answered with the sum of the nodes' tallies. */

struct mesh {
  struct peers *peers;
  int64_t hops, ended;
  int64_t owed, tally; /* nodes that have not told their tally yet; the sum so far */
  actl_request request;
  bool has_started;
};

static actl_status mesh_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct mesh *mesh = state;
  int64_t n = actl_msg_int(args, 0, 0);
  int64_t n_vats = actl_msg_int(args, 2, 1);
  mesh->hops = actl_msg_int(args, 1, 0);
  if (n < 2 || n > UINT32_MAX || mesh->hops < 1 || n_vats < 1) return ACTL_INVALID;

  struct peers *peers = malloc(sizeof *peers + (size_t)n * sizeof peers->node[0]);
  if (peers == NULL) return ACTL_NO_MEMORY;
  peers->n = n;
  peers->mesh = actl_self(ctx);
  mesh->peers = peers;

  for (int64_t i = 0; i < n; i++) {
    uint32_t vat = n_vats > 1 ? (uint32_t)(i % n_vats) : actl_ctx_vat(ctx);
    actl_status status =
        actl_spawn_on(ctx, vat, &node_behavior, ACTL_VALUES(actl_int((intptr_t)peers), actl_int(i)),
                      &peers->node[i]);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static actl_status mesh_start(actl_ctx *ctx, struct mesh *mesh) {
  mesh->has_started = true;
  actl_status status = actl_later(ctx, &mesh->request);
  for (int64_t i = 0; i < mesh->peers->n && status == ACTL_OK; i++)
    status = actl_send(ctx, mesh->peers->node[i], ACTL_VALUES(actl_int(mesh->hops)));
  return status;
}

static actl_status mesh_ask_all(actl_ctx *ctx, struct mesh *mesh) {
  mesh->owed = mesh->peers->n;
  mesh->tally = 0;
  actl_status status = actl_later(ctx, &mesh->request);
  for (int64_t i = 0; i < mesh->peers->n && status == ACTL_OK; i++) {
    actl_ask_id ask;
    status = actl_ask_within(ctx, mesh->peers->node[i], ACTL_VALUES(actl_int(TALLY)), ACTL_FOREVER,
                             &ask);
  }
  return status;
}

static actl_status mesh_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct mesh *mesh = state;
  int64_t ended = actl_msg_int(msg, 0, 0);
  if (ended == 0) return mesh->has_started ? mesh_ask_all(ctx, mesh) : mesh_start(ctx, mesh);

  mesh->ended += ended;
  if (mesh->ended < mesh->peers->n) return ACTL_OK;
  return actl_request_reply(ctx, mesh->request, ACTL_VALUES(actl_int(mesh->ended)));
}

static actl_status mesh_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                              const actl_msg *msg) {
  (void)ask;
  struct mesh *mesh = state;
  if (status == ACTL_OK) mesh->tally += actl_msg_int(msg, 0, 0);
  if (--mesh->owed > 0) return ACTL_OK;
  return actl_request_reply(ctx, mesh->request, ACTL_VALUES(actl_int(mesh->tally)));
}

static void mesh_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  struct mesh *mesh = state;
  free(mesh->peers);
}

const actl_behavior actl_bench_mesh = {
    .name = "bench.mesh",
    .state_size = sizeof(struct mesh),
    .init = mesh_init,
    .receive = mesh_receive,
    .reply = mesh_reply,
    .stop = mesh_stop,
};
