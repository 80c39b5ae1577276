/*
 * test_pool.c - nodes from slabs to pools and around through the depot.
 *
 * Two threads that send each other messages carry the nodes in inboxes, as vats do. What a node
 * holds is plain: that one node is had by two is a race for TSan.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/random.h"
#include "msg/inbox.h"
#include "msg/pool.h"
#include "support/alloc.h"
#include "support/race.h"

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct slabs slabs;
  struct depot depot;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  assert_int_equal(actl__slabs_init(&f->slabs, &f->mem), ACTL_OK);
  assert_int_equal(actl__depot_init(&f->depot, &f->slabs), ACTL_OK);
}

static void end(struct fixture *f) {
  actl__depot_fini(&f->depot);
  actl__slabs_fini(&f->slabs);
  assert_true(test_alloc_is_clean(&f->hook));
}

/* ---- One thread ---- */

enum { MANY = 5000 };

static void nodes_are_apart_and_aligned(void **state) {
  (void)state;
  struct fixture f;
  struct pool pool;
  static struct actl_msg *nodes[MANY];
  begin(&f);
  actl__pool_init(&pool, &f.depot);
  for (uint64_t i = 0; i < MANY; i++) {
    struct actl_msg *m = nodes[i] = actl__pool_take(&pool);
    assert_non_null(m);
    assert_int_equal((uintptr_t)m % ACTL__CACHE_LINE, 0);
    m->from = m->header = i;
    for (int s = 0; s < NODE_SLOTS; s++) m->slot[s] = i;
  }
  for (uint64_t i = 0; i < MANY; i++) {
    assert_true(nodes[i]->from == i && nodes[i]->header == i);
    for (int s = 0; s < NODE_SLOTS; s++) assert_true(nodes[i]->slot[s] == i);
  }
  actl__pool_fini(&pool);
  end(&f);
}

static void a_first_node_costs_a_kilobyte(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  /* As many pools as a slab has kilobytes share it. */
  for (int i = 0; i < 250; i++) {
    struct pool pool;
    actl__pool_init(&pool, &f.depot);
    assert_non_null(actl__pool_take(&pool));
  }
  assert_true(f.hook.live_bytes < 300 * 1024);
  end(&f);
}

static void near_nodes_are_used_again_at_once(void **state) {
  (void)state;
  struct fixture f;
  struct pool pool;
  begin(&f);
  actl__pool_init(&pool, &f.depot);
  size_t bytes = 0;
  struct actl_msg *last = NULL;
  for (int i = 0; i < 1000000; i++) {
    struct actl_msg *m = actl__pool_take(&pool);
    assert_true(m != NULL && (last == NULL || m == last));
    m->header = 0;
    actl__pool_give(&pool, m);
    if (i == 0) bytes = f.hook.live_bytes;
    last = m;
  }
  assert_int_equal(f.hook.live_bytes, bytes);
  assert_int_equal(pool.n_aside, 0);
  actl__pool_fini(&pool);
  end(&f);
}

/* Takes until the slabs had to grow; the nodes are not given back. */
static size_t count_without_growth(struct fixture *f, struct pool *pool) {
  size_t n = 0;
  size_t bytes = f->hook.live_bytes;
  test_alloc_fail_from(&f->hook, 1);
  while (actl__pool_take(pool) != NULL) n++;
  assert_true(test_alloc_heal(&f->hook));
  assert_int_equal(f->hook.live_bytes, bytes);
  return n;
}

static void a_pools_end_leaves_all_its_nodes_to_others(void **state) {
  (void)state;
  struct fixture f;
  struct pool first, second;
  static struct actl_msg *nodes[MANY];
  begin(&f);
  actl__pool_init(&first, &f.depot);
  for (int i = 0; i < MANY; i++) {
    nodes[i] = actl__pool_take(&first);
    assert_non_null(nodes[i]);
  }
  for (int i = 0; i < MANY; i++) {
    nodes[i]->header = i % 3 == 0 ? NODE_FAR : 0; /* some in batches, some aside, some free */
    actl__pool_give(&first, nodes[i]);
  }
  actl__pool_fini(&first);
  assert_null(first.free);

  actl__pool_init(&second, &f.depot);
  assert_true(count_without_growth(&f, &second) >= MANY);
  /* Those were all: the first pool has nothing that the second one has too. */
  assert_null(f.depot.batches);
  end(&f);
}

static void a_small_pool_takes_no_more_than_it_needs_of_a_large_batch(void **state) {
  (void)state;
  struct fixture f;
  struct pool large, small;
  static struct actl_msg *nodes[MANY];
  begin(&f);
  actl__pool_init(&large, &f.depot);
  for (int i = 0; i < MANY; i++) assert_non_null(nodes[i] = actl__pool_take(&large));
  for (int i = 0; i < MANY; i++) {
    nodes[i]->header = 0;
    actl__pool_give(&large, nodes[i]);
  }
  actl__pool_fini(&large); /* one batch of them all */

  size_t bytes = f.hook.live_bytes;
  for (int i = 0; i < MANY / 16; i++) { /* a kilobyte is 16 nodes */
    actl__pool_init(&small, &f.depot);
    assert_non_null(actl__pool_take(&small));
    assert_int_equal(f.hook.live_bytes, bytes);
  }
  end(&f);
}

static void nodes_laid_aside_serve_before_new_ones(void **state) {
  (void)state;
  struct fixture f;
  struct pool pool;
  begin(&f);
  actl__pool_init(&pool, &f.depot);
  struct actl_msg *m = actl__pool_take(&pool);
  assert_non_null(m);
  (void)count_without_growth(&f, &pool); /* nothing is left */
  m->header = NODE_FAR;
  actl__pool_give(&pool, m);
  test_alloc_fail_from(&f.hook, 1);
  assert_ptr_equal(actl__pool_take(&pool), m);
  assert_null(actl__pool_take(&pool));
  assert_true(test_alloc_heal(&f.hook));
  assert_int_equal(pool.n_aside, 0);
  end(&f);
}

static void a_batch_goes_to_the_depot_when_it_is_full(void **state) {
  (void)state;
  struct fixture f;
  struct pool pool;
  begin(&f);
  actl__pool_init(&pool, &f.depot);
  static struct actl_msg *nodes[ACTL__POOL_BATCH];
  for (int i = 0; i < ACTL__POOL_BATCH; i++) {
    nodes[i] = actl__pool_take(&pool);
    assert_non_null(nodes[i]);
  }
  for (int i = 0; i < ACTL__POOL_BATCH; i++) {
    assert_null(f.depot.batches);
    nodes[i]->header = NODE_FAR;
    actl__pool_give(&pool, nodes[i]);
  }
  assert_ptr_equal(f.depot.batches, nodes[ACTL__POOL_BATCH - 1]);
  int n = 0;
  for (struct actl_msg *m = f.depot.batches; m != NULL; m = actl__node_next(m)) n++;
  assert_int_equal(n, ACTL__POOL_BATCH);
  assert_null(pool.aside);
  end(&f);
}

static void a_pool_without_memory_serves_again_when_there_is_some(void **state) {
  (void)state;
  struct fixture f;
  struct pool pool;
  begin(&f);
  actl__pool_init(&pool, &f.depot);
  unsigned n_refused = 0;
  for (size_t n = 1; n <= 6; n++) {
    test_alloc_fail_from(&f.hook, n);
    while (actl__pool_take(&pool) != NULL) {}
    assert_null(actl__pool_take(&pool));
    n_refused += test_alloc_heal(&f.hook);
    assert_non_null(actl__pool_take(&pool));
  }
  assert_int_equal(n_refused, 6);
  end(&f);
}

/* ---- Two threads ---- */

enum { WINDOW = 500, MESSAGES = 500000, QUIET_AFTER = 50000 };

struct vat { /* a thread that sends and receives */
  struct inbox inbox;
  struct pool pool;
  struct fixture *fixture;
  struct vat *other;
  _Atomic(uint64_t) n_received; /* relaxed: bounds what the other has under way */
  uint64_t seed, n_sent;
  size_t bytes_early; /* what the slabs had after a tenth of the messages */
  unsigned n_faults;
};

/* The owner's, in a node in use and in a free one. */
enum { IN_USE = 0x111, FREE = 0x222 };

static bool send_chain(struct vat *v, uint32_t length) {
  struct chain chain = {0}, back;
  for (uint32_t i = 0; i < length; i++) {
    struct actl_msg *m = actl__pool_take(&v->pool);
    if (m == NULL) return false;
    if (m->from == IN_USE) v->n_faults++;
    m->from = IN_USE;
    m->header = actl__node_head(NODE_MESSAGE) | NODE_FAR;
    m->slot[1] = v->n_sent++;
    if (chain.first == NULL) {
      chain.first = m;
    } else {
      actl__node_link(chain.last, m);
    }
    chain.last = m;
  }
  return actl__inbox_push(&v->other->inbox, chain, &back) != INBOX_CLOSED;
}

static bool receive(struct vat *v) {
  struct actl_msg *m = actl__inbox_pop(&v->inbox);
  if (m == NULL) return false;
  /* relaxed: only this thread writes it. */
  uint64_t n = atomic_load_explicit(&v->n_received, memory_order_relaxed);
  if (m->from != IN_USE || m->slot[1] != n) v->n_faults++;
  m->from = FREE;
  actl__pool_give(&v->pool, m);
  atomic_store_explicit(&v->n_received, n + 1, memory_order_relaxed);
  return true;
}

static void exchange(void *arg) {
  struct vat *v = arg;
  unsigned spins = 0;
  for (;;) {
    uint64_t received = atomic_load_explicit(&v->other->n_received, memory_order_relaxed);
    uint32_t length = 1 + actl__random_below(&v->seed, 64);
    bool did_send = v->n_sent < MESSAGES && v->n_sent + length <= received + WINDOW;
    if (did_send && !send_chain(v, length)) v->n_faults++;

    bool did_receive = false;
    for (int i = 0; i < 64 && receive(v); i++) did_receive = true;
    if (v->bytes_early == 0 && v->n_sent > QUIET_AFTER)
      v->bytes_early = atomic_load_explicit(&v->fixture->hook.live_bytes, memory_order_relaxed);

    uint64_t own = atomic_load_explicit(&v->n_received, memory_order_relaxed);
    if (v->n_sent >= MESSAGES && own >= MESSAGES && received >= v->n_sent &&
        !actl__inbox_has(&v->inbox))
      return;
    if (!did_send && !did_receive) test_race_wait(&spins);
  }
}

static void a_million_far_messages_need_no_more_nodes_than_the_first(void **state) {
  (void)state;
  struct fixture f;
  static struct vat vats[2];
  begin(&f);
  memset(vats, 0, sizeof vats);
  for (int i = 0; i < 2; i++) {
    actl__inbox_init(&vats[i].inbox);
    actl__pool_init(&vats[i].pool, &f.depot);
    vats[i].fixture = &f;
    vats[i].other = &vats[1 - i];
    vats[i].seed = (uint64_t)i + 1;
  }
  test_race((struct test_racer[]){{exchange, &vats[0]}, {exchange, &vats[1]}}, 2);

  for (int i = 0; i < 2; i++) {
    assert_int_equal(vats[i].n_faults, 0);
    assert_int_equal(vats[i].n_received, vats[1 - i].n_sent);
    assert_true(vats[i].n_received >= MESSAGES);
    assert_int_equal(vats[i].bytes_early, f.hook.live_bytes);
    actl__pool_fini(&vats[i].pool);
  }
  /* Windows, pools and the batches between them: a quarter of a megabyte. */
  assert_true(f.hook.live_bytes < 300 * 1024);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_apart_and_aligned),
      cmocka_unit_test(a_first_node_costs_a_kilobyte),
      cmocka_unit_test(near_nodes_are_used_again_at_once),
      cmocka_unit_test(a_pools_end_leaves_all_its_nodes_to_others),
      cmocka_unit_test(a_small_pool_takes_no_more_than_it_needs_of_a_large_batch),
      cmocka_unit_test(nodes_laid_aside_serve_before_new_ones),
      cmocka_unit_test(a_batch_goes_to_the_depot_when_it_is_full),
      cmocka_unit_test(a_pool_without_memory_serves_again_when_there_is_some),
      cmocka_unit_test(a_million_far_messages_need_no_more_nodes_than_the_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
