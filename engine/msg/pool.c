/*
 * pool.c - pools of message nodes and the depot between them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "msg/pool.h"

enum { PIECE_CLASS_MAX = 6 }; /* 64 kB */

actl_status actl__depot_init(struct depot *depot, struct slabs *slabs) {
  *depot = (struct depot){.slabs = slabs};
  return actl__lock_init(&depot->lock);
}

/* The nodes are the slabs'. */
void actl__depot_fini(struct depot *depot) { actl__lock_fini(&depot->lock); }

void actl__pool_init(struct pool *pool, struct depot *depot) {
  *pool = (struct pool){.depot = depot};
}

static void give_batch(struct depot *depot, struct actl_msg *first) {
  if (first == NULL) return;
  actl__lock_take(&depot->lock);
  first->slot[0] = (uint64_t)(uintptr_t)depot->batches;
  depot->batches = first;
  actl__lock_drop(&depot->lock);
}

static struct actl_msg *take_batch(struct depot *depot) {
  actl__lock_take(&depot->lock);
  struct actl_msg *first = depot->batches;
  if (first != NULL) depot->batches = (struct actl_msg *)(uintptr_t)first->slot[0];
  actl__lock_drop(&depot->lock);
  return first;
}

void actl__pool_fini(struct pool *pool) {
  give_batch(pool->depot, pool->free);
  give_batch(pool->depot, pool->aside);
  actl__pool_init(pool, pool->depot);
}

void actl__pool_return_batch(struct pool *pool) {
  give_batch(pool->depot, pool->aside);
  pool->aside = NULL;
  pool->n_aside = 0;
}

/* A pool that is still small takes no more of a batch than it would carve: thousands of small vats
 * must not sit on all the nodes of a few large ones. */
static void cut(struct pool *pool, struct actl_msg *last) {
  if (pool->piece_class >= PIECE_CLASS_MAX) return;
  size_t n = ((size_t)ACTL__PIECE_MIN << pool->piece_class++) / sizeof *last;

  struct actl_msg *rest = actl__node_next(last);
  for (; n > 1 && rest != NULL; n--, rest = actl__node_next(last)) last = rest;
  actl__node_link(last, NULL);
  give_batch(pool->depot, rest);
}

static struct actl_msg *carve(struct pool *pool) {
  struct actl_msg *nodes = actl__slabs_take(pool->depot->slabs, pool->piece_class);
  if (nodes == NULL) return NULL;

  size_t n = ((size_t)ACTL__PIECE_MIN << pool->piece_class) / sizeof *nodes;
  for (size_t i = 0; i < n; i++) actl__node_link(&nodes[i], i + 1 < n ? &nodes[i + 1] : NULL);
  if (pool->piece_class < PIECE_CLASS_MAX) pool->piece_class++;
  return nodes;
}

struct actl_msg *actl__pool_refill(struct pool *pool) {
  struct actl_msg *first = pool->aside;
  if (first != NULL) {
    pool->aside = NULL;
    pool->n_aside = 0;
  } else {
    first = take_batch(pool->depot);
    if (first != NULL) cut(pool, first);
  }
  if (first == NULL) first = carve(pool);
  if (first == NULL) return NULL;

  pool->free = actl__node_next(first);
  return first;
}
