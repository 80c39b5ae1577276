/*
 * test_inbox.c - chains from many threads to one owner: its states, its order, its wake-ups, its end.
 *
 * The threaded tests keep what the inbox has to carry over in plain fields: the contents of nodes,
 * and what one owner leaves to the next. Where an ordering is missing, TSan sees a race on them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/random.h"
#include "base/thread.h"
#include "msg/inbox.h"
#include "support/race.h"

/* ---- Nodes ---- */

/* slot 0: the producer; slot 1: its count; slot 2: both, mixed */
static uint64_t mixed(uint64_t producer, uint64_t n) {
  return (producer + 1) * 0x9E3779B97F4A7C15ull ^ n;
}

static void fill(struct actl_msg *m, uint64_t producer, uint64_t n) {
  m->slot[0] = producer;
  m->slot[1] = n;
  m->slot[2] = mixed(producer, n);
}

static struct actl_msg *new_node(uint64_t producer, uint64_t n) {
  struct actl_msg *m = aligned_alloc(ACTL__CACHE_LINE, sizeof *m);
  if (m == NULL) abort();
  fill(m, producer, n);
  return m;
}

static void append(struct chain *chain, struct actl_msg *m) {
  if (chain->first == NULL) {
    chain->first = m;
  } else {
    actl__node_link(chain->last, m);
  }
  chain->last = m;
}

static struct chain new_chain(uint64_t producer, uint64_t *n, uint32_t length) {
  struct chain chain = {0};
  for (uint32_t i = 0; i < length; i++) append(&chain, new_node(producer, (*n)++));
  return chain;
}

/* ---- States ---- */

enum { NODES = 16 };

struct solo {
  struct inbox inbox;
  struct actl_msg nodes[NODES];
};

static struct chain chain_of(struct solo *s, int from, int to) {
  struct chain chain = {0};
  for (int i = from; i <= to; i++) append(&chain, &s->nodes[i]);
  /* The last one's link need not be set. */
  actl__node_link(chain.last, &s->nodes[0]);
  return chain;
}

static enum inbox_push push(struct solo *s, int from, int to) {
  struct chain back;
  return actl__inbox_push(&s->inbox, chain_of(s, from, to), &back);
}

static void expect(struct solo *s, int from, int to) {
  for (int i = from; i <= to; i++) {
    assert_true(actl__inbox_has(&s->inbox));
    assert_ptr_equal(actl__inbox_pop(&s->inbox), &s->nodes[i]);
  }
}

static void the_first_push_wakes_and_the_later_ones_do_not(void **state) {
  (void)state;
  struct solo s;
  actl__inbox_init(&s.inbox);
  assert_true(actl__inbox_is_idle(&s.inbox));
  assert_false(actl__inbox_has(&s.inbox));
  assert_null(actl__inbox_pop(&s.inbox));

  for (int round = 0; round < 3; round++) {
    assert_int_equal(push(&s, 0, 0), INBOX_WAKE);
    assert_false(actl__inbox_is_idle(&s.inbox));
    assert_int_equal(push(&s, 1, 3), INBOX_BUSY);
    expect(&s, 0, 1);
    assert_int_equal(push(&s, 4, 5), INBOX_BUSY);
    assert_false(actl__inbox_try_idle(&s.inbox)); /* both taken and untaken nodes are there */
    expect(&s, 2, 3);
    assert_false(actl__inbox_try_idle(&s.inbox)); /* untaken nodes are */
    expect(&s, 4, 5);
    assert_null(actl__inbox_pop(&s.inbox));
    assert_false(actl__inbox_has(&s.inbox));
    assert_false(actl__inbox_is_idle(&s.inbox));

    assert_int_equal(push(&s, 6, 6), INBOX_BUSY); /* empty, not idle */
    expect(&s, 6, 6);
    assert_true(actl__inbox_try_idle(&s.inbox));
    assert_true(actl__inbox_is_idle(&s.inbox));
    assert_null(actl__inbox_pop(&s.inbox));
  }
}

static void a_push_to_the_awake_leaves_a_sleeper_and_a_closed_one_alone(void **state) {
  (void)state;
  struct solo s;
  actl__inbox_init(&s.inbox);
  for (int round = 0; round < 3; round++) {
    assert_false(actl__inbox_push_awake(&s.inbox, chain_of(&s, 0, 0)));
    assert_true(actl__inbox_is_idle(&s.inbox));
    assert_null(actl__inbox_pop(&s.inbox));

    assert_int_equal(push(&s, 0, 1), INBOX_WAKE);
    assert_true(actl__inbox_push_awake(&s.inbox, chain_of(&s, 2, 4))); /* behind what is there */
    assert_int_equal(push(&s, 5, 5), INBOX_BUSY);
    expect(&s, 0, 5);
    assert_true(actl__inbox_push_awake(&s.inbox, chain_of(&s, 6, 7))); /* into an empty one */
    expect(&s, 6, 7);
    assert_null(actl__inbox_pop(&s.inbox));
    assert_true(actl__inbox_try_idle(&s.inbox));
  }
  assert_true(actl__inbox_wake(&s.inbox));
  assert_null(actl__inbox_close(&s.inbox).first);
  assert_false(actl__inbox_push_awake(&s.inbox, chain_of(&s, 0, 0)));
  assert_false(actl__inbox_has(&s.inbox));
}

static void a_wake_up_without_a_message_is_had_once(void **state) {
  (void)state;
  struct solo s;
  actl__inbox_init(&s.inbox);
  assert_true(actl__inbox_wake(&s.inbox));
  assert_false(actl__inbox_wake(&s.inbox));
  assert_false(actl__inbox_is_idle(&s.inbox));
  assert_false(actl__inbox_has(&s.inbox));
  assert_null(actl__inbox_pop(&s.inbox));
  assert_int_equal(push(&s, 0, 0), INBOX_BUSY);
  assert_false(actl__inbox_wake(&s.inbox));
  expect(&s, 0, 0);
  assert_false(actl__inbox_wake(&s.inbox));
  assert_true(actl__inbox_try_idle(&s.inbox));
  assert_int_equal(push(&s, 0, 0), INBOX_WAKE);
}

static void check_chain(struct solo *s, struct chain chain, int from, int to) {
  assert_ptr_equal(chain.first, &s->nodes[from]);
  assert_ptr_equal(chain.last, &s->nodes[to]);
  for (int i = from; i < to; i++) assert_ptr_equal(actl__node_next(&s->nodes[i]), &s->nodes[i + 1]);
}

static void close_gives_back_what_was_not_popped_in_order(void **state) {
  (void)state;
  /* taken: 0 to `taken`, some popped; untaken: up to `pushed` */
  for (int pushed = 1; pushed < 8; pushed++) {
    for (int taken = 0; taken <= pushed; taken++) {
      for (int popped = 0; popped <= taken; popped++) {
        struct solo s;
        actl__inbox_init(&s.inbox);
        if (taken > 0) push(&s, 0, taken - 1);
        if (popped == 0 && taken > 0) continue; /* a take is by a pop */
        expect(&s, 0, popped - 1);
        for (int i = taken; i < pushed; i++) push(&s, i, i);

        struct chain rest = actl__inbox_close(&s.inbox);
        if (popped == pushed) {
          assert_null(rest.first);
        } else {
          check_chain(&s, rest, popped, pushed - 1);
        }
      }
    }
  }
}

static void a_closed_inbox_hands_each_chain_back(void **state) {
  (void)state;
  struct solo s;
  actl__inbox_init(&s.inbox);
  assert_true(actl__inbox_wake(&s.inbox));
  assert_null(actl__inbox_close(&s.inbox).first);

  for (int i = 0; i < 3; i++) {
    struct chain back = {0};
    assert_int_equal(actl__inbox_push(&s.inbox, chain_of(&s, 1, 3), &back), INBOX_CLOSED);
    check_chain(&s, back, 1, 3);
    assert_int_equal(actl__inbox_push(&s.inbox, chain_of(&s, 4, 4), &back), INBOX_CLOSED);
    check_chain(&s, back, 4, 4);

    assert_null(actl__inbox_pop(&s.inbox));
    assert_false(actl__inbox_has(&s.inbox));
    assert_false(actl__inbox_is_idle(&s.inbox));
    assert_false(actl__inbox_wake(&s.inbox));
    assert_false(actl__inbox_try_idle(&s.inbox));
    assert_null(actl__inbox_close(&s.inbox).first);
  }
  actl__inbox_init(&s.inbox);
  assert_int_equal(push(&s, 0, 0), INBOX_WAKE);
  expect(&s, 0, 0);
}

/* ---- Several producers, an owner that changes ---- */

enum { PRODUCERS = 3, OWNERS = 2, EACH = 30000, CHAIN_MAX = 5 };

/* Two threads are owners in turn: each wake-up makes one of them the owner until it goes idle. */
struct crowd {
  struct inbox inbox;
  actl__gate wake;
  _Atomic(uint32_t) n_owners;               /* relaxed: to see two at once, not to order anything */
  _Atomic(uint64_t) n_wakes, n_empty_wakes; /* relaxed */
  _Atomic(bool) is_over;                    /* relaxed */

  /* The owner's; handed on by try_idle and push alone. */
  uint64_t next[PRODUCERS];
  uint64_t n_popped, n_idles, n_faults;
};

struct producer {
  struct crowd *crowd;
  uint64_t index, n_pushed, n_awake;
  bool wakes_too; /* now and then without a message */
  unsigned n_faults;
};

static void post_wake(struct crowd *c) {
  atomic_fetch_add_explicit(&c->n_wakes, 1, memory_order_relaxed);
  actl__gate_post(&c->wake);
}

static void produce(void *arg) {
  struct producer *p = arg;
  struct crowd *c = p->crowd;
  uint64_t random = p->index + 1, n = 0;
  while (n < EACH) {
    uint32_t length = 1 + actl__random_below(&random, CHAIN_MAX);
    struct chain back = {0}, chain = new_chain(p->index, &n, length);
    bool tries_awake = actl__random_below(&random, 2) == 0;
    if (tries_awake && actl__inbox_push_awake(&c->inbox, chain)) {
      p->n_awake++;
    } else {
      switch (actl__inbox_push(&c->inbox, chain, &back)) {
      case INBOX_WAKE: post_wake(c); break;
      case INBOX_BUSY: break;
      case INBOX_CLOSED: p->n_faults++; break;
      }
    }
    /* Pauses, so that the owner goes idle often, and two wake it at once. */
    unsigned spins = 0;
    if (actl__random_below(&random, 16) == 0)
      while (!actl__inbox_is_idle(&c->inbox)) test_race_wait(&spins);
    if (p->wakes_too && actl__random_below(&random, 8) == 0 && actl__inbox_wake(&c->inbox)) {
      atomic_fetch_add_explicit(&c->n_empty_wakes, 1, memory_order_relaxed);
      post_wake(c);
    }
  }
  p->n_pushed = n;
}

static void check_and_free(struct crowd *c, struct actl_msg *m) {
  uint64_t producer = m->slot[0];
  if (producer >= PRODUCERS || m->slot[2] != mixed(producer, m->slot[1])) {
    c->n_faults++;
  } else if (m->slot[1] != c->next[producer]++) {
    c->n_faults++;
  }
  c->n_popped++;
  free(m); /* a pusher that still writes into it is found out */
}

static void own(void *arg) {
  struct crowd *c = arg;
  for (;;) {
    actl__gate_wait(&c->wake);
    if (atomic_load_explicit(&c->is_over, memory_order_relaxed)) return;
    if (atomic_fetch_add_explicit(&c->n_owners, 1, memory_order_relaxed) != 0) c->n_faults++;

    unsigned spins = 0;
    for (;;) {
      struct actl_msg *m = actl__inbox_pop(&c->inbox);
      if (m != NULL) {
        check_and_free(c, m);
        continue;
      }
      c->n_idles++;
      atomic_fetch_sub_explicit(&c->n_owners, 1, memory_order_relaxed);
      if (actl__inbox_try_idle(&c->inbox)) break;
      atomic_fetch_add_explicit(&c->n_owners, 1, memory_order_relaxed);
      c->n_idles--;
      test_race_wait(&spins);
    }
  }
}

static void oversee(void *arg) {
  struct crowd *c = arg;
  struct producer producers[PRODUCERS] = {{0}};
  struct test_racer racers[PRODUCERS];
  for (unsigned i = 0; i < PRODUCERS; i++) {
    producers[i] = (struct producer){.crowd = c, .index = i, .wakes_too = i == 0};
    racers[i] = (struct test_racer){produce, &producers[i]};
  }
  test_race(racers, PRODUCERS);

  /* Nothing wakes it any more: idle is for good, and means that all was popped. */
  unsigned spins = 0;
  while (!actl__inbox_is_idle(&c->inbox)) test_race_wait(&spins);
  atomic_store_explicit(&c->is_over, true, memory_order_relaxed);
  for (int i = 0; i < OWNERS; i++) actl__gate_post(&c->wake);

  for (unsigned i = 0; i < PRODUCERS; i++)
    if (producers[i].n_faults > 0 || producers[i].n_awake == 0) abort();
}

static void no_message_is_lost_and_each_senders_order_is_kept(void **state) {
  (void)state;
  static struct crowd c;
  memset(&c, 0, sizeof c);
  actl__inbox_init(&c.inbox);
  assert_int_equal(actl__gate_init(&c.wake), ACTL_OK);

  test_race((struct test_racer[]){{own, &c}, {own, &c}, {oversee, &c}}, OWNERS + 1);

  assert_int_equal(c.n_faults, 0);
  for (int i = 0; i < PRODUCERS; i++) assert_in_range(c.next[i], EACH, EACH + CHAIN_MAX);
  assert_int_equal(c.n_popped, c.next[0] + c.next[1] + c.next[2]);
  /* One wake-up for each time that it was idle, and it was so more than once. */
  assert_int_equal(c.n_idles, c.n_wakes);
  assert_true(c.n_wakes > 10);
  assert_true(c.n_empty_wakes > 0);
  assert_null(actl__inbox_pop(&c.inbox));
  actl__gate_fini(&c.wake);
}

/* ---- Close with pushers under way ---- */

struct halfway {
  struct inbox inbox;
  struct actl_msg first, second;
  _Atomic(bool) is_closing; /* relaxed */
};

static void link_late(void *arg) {
  struct halfway *h = arg;
  unsigned spins = 0;
  while (!atomic_load_explicit(&h->is_closing, memory_order_relaxed)) test_race_wait(&spins);
  while (spins < 100000) test_race_wait(&spins);
  atomic_store_explicit(&h->first.next, &h->second, memory_order_release);
}

static void close_late(void *arg) {
  struct halfway *h = arg;
  atomic_store_explicit(&h->is_closing, true, memory_order_relaxed);
  struct chain rest = actl__inbox_close(&h->inbox);
  bool is_right = rest.first == &h->first && rest.last == &h->second &&
                  actl__node_next(&h->first) == &h->second;
  h->first.slot[0] = is_right;
}

/* A pusher's two writes are done by hand, far apart: in between the owner takes, and closes. */
static void close_waits_for_a_pusher_between_its_two_writes(void **state) {
  (void)state;
  for (int pops = 0; pops < 2; pops++) {
    static struct halfway h;
    memset(&h, 0, sizeof h);
    actl__inbox_init(&h.inbox);
    struct chain back;
    assert_int_equal(actl__inbox_push(&h.inbox, (struct chain){&h.first, &h.first}, &back),
                     INBOX_WAKE);
    atomic_exchange_explicit(&h.inbox.last, (uintptr_t)&h.second, memory_order_seq_cst);
    if (pops > 0) assert_null(actl__inbox_pop(&h.inbox)); /* takes both; nothing yet */

    test_race((struct test_racer[]){{link_late, &h}, {close_late, &h}}, 2);
    assert_int_equal(h.first.slot[0], 1);
  }
}

enum { ROUNDS = 3000, PUSHERS = 3, PUSHES = 6, LENGTH = 3, PER_PUSHER = PUSHES * LENGTH };

struct closing {
  struct inbox inbox;
  uv_barrier_t begin, end;
  struct actl_msg nodes[PUSHERS][PER_PUSHER]; /* contents plain */
  uint8_t visits[PUSHERS][PER_PUSHER];        /* by whoever got the node */
  uint32_t n_popped, n_rest;                  /* of all rounds; the owner's */
  unsigned n_faults;                          /* the owner's */
};

struct pusher {
  struct closing *closing;
  uint64_t index;
  uint32_t n_back; /* nodes handed back */
  unsigned n_faults;
};

/* Each node is checked by the one who has it in the end: twice is a race, and a wrong count. */
static bool visit(struct closing *c, struct actl_msg *m) {
  uint64_t producer = m->slot[0], n = m->slot[1];
  if (producer >= PUSHERS || n >= PER_PUSHER || m->slot[2] != mixed(producer, n)) return false;
  if (m != &c->nodes[producer][n]) return false;
  c->visits[producer][n]++;
  m->slot[2] = 0;
  return true;
}

static uint32_t visit_chain(struct closing *c, struct chain chain, unsigned *n_faults) {
  uint32_t n = 0;
  for (struct actl_msg *m = chain.first, *next; m != NULL; m = next) {
    next = m == chain.last ? NULL : actl__node_next(m);
    if (next == NULL && m != chain.last) ++*n_faults;
    if (!visit(c, m)) ++*n_faults;
    n++;
  }
  return n;
}

static void push_round(struct pusher *p, int round) {
  struct closing *c = p->closing;
  struct actl_msg *nodes = c->nodes[p->index];
  uint64_t random = (uint64_t)round * PUSHERS + p->index + 1;
  for (uint32_t i = actl__random_below(&random, 64); i > 0; i--) actl__thread_relax();

  for (uint64_t i = 0; i < PUSHES; i++) {
    struct chain chain = {0}, back = {0};
    for (uint64_t k = i * LENGTH; k < (i + 1) * LENGTH; k++) {
      fill(&nodes[k], p->index, k);
      append(&chain, &nodes[k]);
    }
    if (actl__inbox_push(&c->inbox, chain, &back) == INBOX_CLOSED) {
      if (back.first != chain.first) p->n_faults++;
      p->n_back += visit_chain(c, back, &p->n_faults);
    }
  }
}

static void push_rounds(void *arg) {
  struct pusher *p = arg;
  for (int round = 0; round < ROUNDS; round++) {
    uv_barrier_wait(&p->closing->begin);
    push_round(p, round);
    uv_barrier_wait(&p->closing->end);
  }
}

static void close_round(struct closing *c, int round) {
  uint64_t random = (uint64_t)round + 1;
  actl__inbox_wake(&c->inbox);
  for (uint32_t i = actl__random_below(&random, PUSHERS * PER_PUSHER); i > 0; i--) {
    struct actl_msg *m = actl__inbox_pop(&c->inbox);
    if (m == NULL) continue;
    if (!visit(c, m)) c->n_faults++;
    c->n_popped++;
  }
  struct chain rest = actl__inbox_close(&c->inbox);
  c->n_rest += visit_chain(c, rest, &c->n_faults);
}

static void close_rounds(void *arg) {
  struct closing *c = arg;
  for (int round = 0; round < ROUNDS; round++) {
    actl__inbox_init(&c->inbox);
    memset(c->visits, 0, sizeof c->visits);
    uv_barrier_wait(&c->begin);
    close_round(c, round);
    uv_barrier_wait(&c->end);

    for (int i = 0; i < PUSHERS; i++)
      for (int k = 0; k < PER_PUSHER; k++)
        if (c->visits[i][k] != 1) c->n_faults++;
    struct chain back;
    struct actl_msg m;
    if (actl__inbox_push(&c->inbox, (struct chain){&m, &m}, &back) != INBOX_CLOSED ||
        back.first != &m || back.last != &m)
      c->n_faults++;
  }
}

static void each_message_of_a_closing_inbox_is_had_by_one(void **state) {
  (void)state;
  static struct closing c;
  memset(&c, 0, sizeof c);
  assert_int_equal(uv_barrier_init(&c.begin, PUSHERS + 1), 0);
  assert_int_equal(uv_barrier_init(&c.end, PUSHERS + 1), 0);

  struct pusher pushers[PUSHERS];
  struct test_racer racers[PUSHERS + 1] = {{close_rounds, &c}};
  for (unsigned i = 0; i < PUSHERS; i++) {
    pushers[i] = (struct pusher){.closing = &c, .index = i};
    racers[i + 1] = (struct test_racer){push_rounds, &pushers[i]};
  }
  test_race(racers, PUSHERS + 1);

  uint32_t n_back = 0;
  for (int i = 0; i < PUSHERS; i++) {
    assert_int_equal(pushers[i].n_faults, 0);
    n_back += pushers[i].n_back;
  }
  assert_int_equal(c.n_faults, 0);
  assert_int_equal(c.n_popped + c.n_rest + n_back, ROUNDS * PUSHERS * PER_PUSHER);
  assert_true(c.n_popped > 0);
  assert_true(c.n_rest > 0);
  assert_true(n_back > 0);
  uv_barrier_destroy(&c.begin);
  uv_barrier_destroy(&c.end);
}

/* ---- A closed inbox under contention ---- */

struct bouncer {
  struct inbox *inbox;
  uint64_t index, n_back, n_others, n_faults;
};

enum { BOUNCES = 60000 };

static void bounce(void *arg) {
  struct bouncer *b = arg;
  for (uint64_t n = 0; n < BOUNCES;) {
    struct chain back;
    if (actl__inbox_push(b->inbox, new_chain(b->index, &n, 2), &back) != INBOX_CLOSED) continue;

    for (struct actl_msg *m = back.first, *next; m != NULL; m = next) {
      next = m == back.last ? NULL : actl__node_next(m);
      if (m->slot[2] != mixed(m->slot[0], m->slot[1])) b->n_faults++;
      if (m->slot[0] != b->index) b->n_others++;
      b->n_back++;
      free(m);
    }
  }
}

static void a_chain_behind_one_that_bounces_comes_back_with_it(void **state) {
  (void)state;
  static struct inbox inbox;
  actl__inbox_init(&inbox);
  assert_true(actl__inbox_wake(&inbox));
  assert_null(actl__inbox_close(&inbox).first);

  struct bouncer bouncers[PUSHERS];
  struct test_racer racers[PUSHERS];
  for (unsigned i = 0; i < PUSHERS; i++) {
    bouncers[i] = (struct bouncer){.inbox = &inbox, .index = i};
    racers[i] = (struct test_racer){bounce, &bouncers[i]};
  }
  uint64_t n_others = 0;
  for (int tries = 0; n_others == 0 && tries < 50; tries++) {
    uint64_t n_back = 0;
    test_race(racers, PUSHERS);
    for (int i = 0; i < PUSHERS; i++) {
      assert_int_equal(bouncers[i].n_faults, 0);
      n_back += bouncers[i].n_back;
      n_others += bouncers[i].n_others;
      bouncers[i].n_back = 0;
    }
    assert_int_equal(n_back, PUSHERS * BOUNCES);
    assert_false(actl__inbox_has(&inbox));
    assert_false(actl__inbox_try_idle(&inbox));
  }
  assert_true(n_others > 0);
}

/* ---- Closed and opened ---- */

enum { OPENINGS = 20000 };

struct reopening {
  struct inbox inbox;
  uint64_t n_popped, n_rest; /* the owner's */
};

static uint64_t free_chain(struct chain chain) {
  uint64_t n = 0;
  for (struct actl_msg *m = chain.first, *next; m != NULL; m = next, n++) {
    next = m == chain.last ? NULL : actl__node_next(m);
    free(m);
  }
  return n;
}

static void push_or_bounce(void *arg) {
  struct bouncer *b = arg;
  for (uint64_t n = 0; n < BOUNCES;) {
    struct chain back;
    if (actl__inbox_push(b->inbox, new_chain(b->index, &n, 2), &back) == INBOX_CLOSED)
      b->n_back += free_chain(back);
  }
}

static void open_and_close(void *arg) {
  struct reopening *r = arg;
  for (int i = 0; i < OPENINGS; i++) {
    actl__inbox_open(&r->inbox);
    (void)actl__inbox_wake(&r->inbox); /* it is this thread's, whoever woke it */
    for (int n = i % 8; n > 0; n--) {
      struct actl_msg *m = actl__inbox_pop(&r->inbox);
      if (m == NULL) continue;
      r->n_popped++;
      free(m);
    }
    r->n_rest += free_chain(actl__inbox_close(&r->inbox));
  }
}

static void an_inbox_that_is_opened_again_and_again_loses_nothing(void **state) {
  (void)state;
  static struct reopening r;
  actl__inbox_init(&r.inbox);
  assert_true(actl__inbox_wake(&r.inbox));
  assert_null(actl__inbox_close(&r.inbox).first);

  struct bouncer bouncers[PUSHERS];
  struct test_racer racers[PUSHERS + 1] = {{open_and_close, &r}};
  for (unsigned i = 0; i < PUSHERS; i++) {
    bouncers[i] = (struct bouncer){.inbox = &r.inbox, .index = i};
    racers[i + 1] = (struct test_racer){push_or_bounce, &bouncers[i]};
  }
  uint64_t n_back = 0, n = 0;
  for (int tries = 0; tries < 50 && (r.n_popped == 0 || r.n_rest == 0 || n_back == 0); tries++) {
    test_race(racers, PUSHERS + 1);
    n += PUSHERS * BOUNCES;
    n_back = 0;
    for (int i = 0; i < PUSHERS; i++) n_back += bouncers[i].n_back;
    assert_int_equal(r.n_popped + r.n_rest + n_back, n);
  }
  assert_true(r.n_popped > 0 && r.n_rest > 0 && n_back > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_push_wakes_and_the_later_ones_do_not),
      cmocka_unit_test(a_push_to_the_awake_leaves_a_sleeper_and_a_closed_one_alone),
      cmocka_unit_test(a_wake_up_without_a_message_is_had_once),
      cmocka_unit_test(close_gives_back_what_was_not_popped_in_order),
      cmocka_unit_test(a_closed_inbox_hands_each_chain_back),
      cmocka_unit_test(no_message_is_lost_and_each_senders_order_is_kept),
      cmocka_unit_test(close_waits_for_a_pusher_between_its_two_writes),
      cmocka_unit_test(each_message_of_a_closing_inbox_is_had_by_one),
      cmocka_unit_test(a_chain_behind_one_that_bounces_comes_back_with_it),
      cmocka_unit_test(an_inbox_that_is_opened_again_and_again_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
