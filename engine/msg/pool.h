/*
 * pool.h - where message nodes come from and go back to.
 *
 *   depot (engine)   batches of free nodes; one lock
 *   pool (vat)       a stack of free nodes; owner only
 *
 * A near message takes its node from the vat's pool and gives it back there. A far message's node
 * ends in another pool: it is laid aside there and goes back through the depot by the batch, so the
 * lock is taken once in BATCH messages. Nodes are carved from slabs, a kilobyte first, and stay
 * nodes until the engine is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_MSG_POOL_H
#define ACTL_MSG_POOL_H

#include "base/slab.h"
#include "msg/node.h"

/* So large that a node's cache line has left the receiver's nearest cache before the sender writes it
 * again: batches of 64 cost two busy processors half as much again for each message. */
enum { ACTL__POOL_BATCH = ACTL_TUNE(1024, 3) };

struct depot {
  struct slabs *slabs;
  actl__lock lock;
  struct actl_msg *batches; /* under `lock`; linked through slot 0 of each batch's first node */
};

struct pool {
  struct actl_msg *free;
  struct actl_msg *aside; /* nodes that came from afar */
  uint32_t n_aside;
  uint32_t piece_class; /* of the next piece to carve */
  struct depot *depot;
};

actl_status actl__depot_init(struct depot *depot, struct slabs *slabs);
void actl__depot_fini(struct depot *depot);

void actl__pool_init(struct pool *pool, struct depot *depot);
void actl__pool_fini(struct pool *pool); /* gives all its nodes to the depot */

/* Fills an empty pool and takes one; NULL: no memory. */
struct actl_msg *actl__pool_refill(struct pool *pool);
void actl__pool_return_batch(struct pool *pool);

static inline struct actl_msg *actl__pool_take(struct pool *pool) {
  struct actl_msg *m = pool->free;
  if (ACTL_UNLIKELY(m == NULL)) return actl__pool_refill(pool);
  pool->free = actl__node_next(m);
  return m;
}

/* A node whose blocks have been freed, or never were. */
static inline void actl__pool_give(struct pool *pool, struct actl_msg *m) {
  if (ACTL_LIKELY((m->header & NODE_FAR) == 0)) {
    actl__node_link(m, pool->free);
    pool->free = m;
    return;
  }
  actl__node_link(m, pool->aside);
  pool->aside = m;
  if (++pool->n_aside >= ACTL__POOL_BATCH) actl__pool_return_batch(pool);
}

#endif
