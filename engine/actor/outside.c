/*
 * outside.c - sends and asks of a host's threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/outside.h"

#include <string.h>

#include "actor/send.h"
#include "actor/trace.h"
#include "base/clock.h"

enum {
  SPINS = 1,
  SLEEPS = 2,
  STATE_BITS = 2,
  INDEX_BITS = 16, /* of an id: the place's number; what is above it goes up with each ask */
  NOBODY = 0,
  SPIN_NS = 50000,  /* about what a futex round trip costs */
  SPINS_A_LOOK = 16 /* looks at the word for each at the clock */
};

#define SLEEP_NS_MAX ((uint64_t)3600 * 1000000000)

static_assert((OUTSIDE_BLOCK << OUTSIDE_BLOCKS) - OUTSIDE_BLOCK <= 1 << INDEX_BITS,
              "a place's number fits");

void actl__outside_init(struct actl_engine *engine) {
  struct outside *outside = &engine->outside;
  uint32_t processors = actl__thread_processors();
  for (int i = 0; i < OUTSIDE_DOORS; i++) actl__pool_init(&outside->doors[i].pool, &engine->depot);
  /* A thread that spins takes a processor from the workers: one at least is left to them. */
  outside->spinners_max = processors - 1;
  outside->door = engine->trace != NULL ? 0 : PID_TOP;
}

/* ---- Doors ---- */

static struct door *enter(struct actl_engine *engine) {
  struct door *doors = engine->outside.doors;
  uint32_t start = actl__thread_mark();
  for (uint32_t i = 0;; i++) {
    struct door *door = &doors[(start + i) % OUTSIDE_DOORS];
    /* relaxed: a hint. acquire: pairs with leave, so that the pool is as the last one left it. */
    if (!atomic_load_explicit(&door->is_taken, memory_order_relaxed) &&
        !atomic_exchange_explicit(&door->is_taken, true, memory_order_acquire))
      return door;
    /* Somebody in each of them: one that is not running must be let run. */
    if (i % OUTSIDE_DOORS == OUTSIDE_DOORS - 1) actl__thread_yield();
  }
}

static void leave(struct door *door) {
  /* release: pairs with enter. */
  atomic_store_explicit(&door->is_taken, false, memory_order_release);
}

static struct actl_msg *take_node(struct actl_engine *engine) {
  struct door *door = enter(engine);
  struct actl_msg *m = actl__pool_take(&door->pool);
  struct actl_msg *next = door->pool.free;
  leave(door);
  if (next != NULL) ACTL_PREFETCH(next);
  return m;
}

static void free_node(struct actl_engine *engine, struct actl_msg *m) {
  actl__node_clear(m, &engine->mem);
  struct door *door = enter(engine);
  actl__pool_give(&door->pool, m);
  leave(door);
}

/* ---- Places ---- */

/* The block that place `index` is in, and (`at`) where. */
static unsigned block_of(uint32_t index, uint32_t *at) {
  uint32_t n = index / OUTSIDE_BLOCK + 1;
  unsigned block = 31u - (unsigned)__builtin_clz(n);
  *at = index - OUTSIDE_BLOCK * ((1u << block) - 1);
  return block;
}

static size_t block_size(unsigned block) {
  return ((size_t)OUTSIDE_BLOCK << block) * sizeof(struct asker);
}

static struct asker *asker_at(struct outside *outside, uint32_t index) {
  uint32_t at;
  unsigned block = block_of(index, &at);
  return &outside->blocks[block][at];
}

/* Under the engine's lock. */
static actl_status add_asker(struct actl_engine *engine, struct asker **out) {
  struct outside *outside = &engine->outside;
  uint32_t at, index = outside->n_askers;
  unsigned block = block_of(index, &at);
  if (block == OUTSIDE_BLOCKS) return ACTL_LIMIT;

  struct asker **place = &outside->blocks[block];
  if (*place == NULL) *place = actl__memory_new_aligned(&engine->mem, block_size(block));
  if (*place == NULL) return ACTL_NO_MEMORY;
  struct asker *asker = &(*place)[at];
  memset(asker, 0, sizeof *asker);
  if (actl__lock_init(&asker->lock) != ACTL_OK) return ACTL_SYSTEM;
  if (actl__signal_init(&asker->signal) != ACTL_OK) {
    actl__lock_fini(&asker->lock);
    return ACTL_SYSTEM;
  }
  asker->id = index;
  outside->n_askers++;
  *out = asker;
  return ACTL_OK;
}

static actl_status make_asker(struct actl_engine *engine, struct asker **out) {
  actl__lock_take(&engine->lock);
  actl_status status = add_asker(engine, out);
  actl__lock_drop(&engine->lock);
  return status;
}

void actl__outside_fini(struct actl_engine *engine) {
  struct outside *outside = &engine->outside;
  for (uint32_t i = 0; i < outside->n_askers; i++) {
    struct asker *asker = asker_at(outside, i);
    actl__signal_fini(&asker->signal);
    actl__lock_fini(&asker->lock);
  }
  for (unsigned block = 0; block < OUTSIDE_BLOCKS; block++)
    if (outside->blocks[block] != NULL)
      actl__memory_free_aligned(&engine->mem, outside->blocks[block], block_size(block));
}

/* ---- Dead letters ---- */

static void count(_Atomic(uint64_t) *counter) {
  /* relaxed: a statistic. */
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void actl__outside_add_stats(struct actl_engine *engine, actl_stats *out) {
  struct outside *outside = &engine->outside;
  for (int i = 0; i < ACTL_LETTER_REASONS; i++)
    out->dead_letters[i] += atomic_load_explicit(&outside->letters[i], memory_order_relaxed);
  out->late_replies += atomic_load_explicit(&outside->late_replies, memory_order_relaxed);
  out->timeouts += atomic_load_explicit(&outside->timeouts, memory_order_relaxed);
}

/* Sends the node of an ask back as its failure. */
static void fail_ask(struct actl_engine *engine, struct actl_msg *m, actl_status status) {
  uint64_t asker = m->from;
  actl__node_clear(m, &engine->mem);
  m->header = actl__node_head(NODE_FAILURE) | NODE_FAR;
  m->from = 0;
  m->slot[0] = (uint64_t)(int64_t)status;
  m->slot[NODE_TARGET_SLOT] = asker;
  if (engine->trace != NULL) actl__trace_reply_outside(engine, m);

  struct vat *to = actl__number(engine, actl__pid_vat(asker)).vat;
  if (to != NULL) {
    actl__vat_publish_outside(to, (struct chain){m, m});
  } else if (!actl__outside_answer(engine, m)) {
    count(&engine->outside.late_replies);
    free_node(engine, m);
  }
}

static void count_letter(struct actl_engine *engine, struct actl_msg *m, actl_status reason) {
  actl_letter letter = reason == ACTL_SHUTDOWN ? ACTL_LETTER_SHUTDOWN : ACTL_LETTER_NO_ACTOR;
  count(&engine->outside.letters[letter]);
  if (engine->trace != NULL) actl__trace_letter_outside(engine, m, reason);
}

static void bury(struct actl_engine *engine, struct actl_msg *m) {
  actl_status reason = actl__engine_is_shut(engine) ? ACTL_SHUTDOWN : ACTL_NO_ACTOR;
  switch (actl__node_kind(m)) {
  case NODE_ASK:
    count_letter(engine, m, reason);
    fail_ask(engine, m, reason);
    return;
  case NODE_MESSAGE: count_letter(engine, m, reason); break;
  case NODE_REPLY:
  case NODE_FAILURE: count(&engine->outside.late_replies); break;
  default: break; /* what the engine itself sent */
  }
  free_node(engine, m);
}

void actl__outside_bury(struct actl_engine *engine, struct chain chain) {
  for (struct actl_msg *m = chain.first, *next; m != NULL; m = next) {
    next = m == chain.last ? NULL : actl__node_next(m);
    bury(engine, m);
  }
}

/* ---- Sending ---- */

static actl_status write_node(struct actl_engine *engine, struct actl_msg *m, uint64_t head,
                              unsigned room, const actl_value *values, size_t n) {
  actl_status status = actl__node_write(m, head | NODE_FAR, values, n, room, &engine->mem);
  if (status != ACTL_OK) {
    m->header = 0;
    free_node(engine, m);
  }
  return status;
}

static void post(struct actl_engine *engine, struct actl_msg *m) {
  struct chain chain = {m, m};
  struct vat *to = actl__number(engine, actl__pid_vat(m->slot[NODE_TARGET_SLOT])).vat;
  if (to != NULL) {
    actl__vat_publish_outside(to, chain);
  } else {
    actl__outside_bury(engine, chain);
  }
}

ACTL_INLINE actl_status send_node(struct actl_engine *engine, uint64_t to, uint64_t head,
                                  uint64_t word, const actl_value *values, size_t n,
                                  bool is_traced) {
  bool is_spawn = (head >> NODE_KIND_SHIFT & 15) == NODE_SPAWN;
  struct actl_msg *m = take_node(engine);
  if (m == NULL) return ACTL_NO_MEMORY;
  actl_status status =
      write_node(engine, m, head, is_spawn ? NODE_WORD_SLOT : NODE_TARGET_SLOT, values, n);
  if (status != ACTL_OK) return status;

  m->from = 0;
  if (is_spawn) {
    m->slot[NODE_WORD_SLOT] = word;
    m->slot[NODE_ASK_SLOT] = 0;
  }
  m->slot[NODE_TARGET_SLOT] = to;
  if (is_traced) actl__trace_send_outside(engine, m);
  post(engine, m);
  return ACTL_OK;
}

ACTL_NOINLINE actl_status actl__outside_send(struct actl_engine *engine, uint64_t to, uint64_t head,
                                             uint64_t word, const actl_value *values, size_t n) {
  if ((to & PID_TOP) == 0) return ACTL_INVALID;
  return send_node(engine, to, head, word, values, n, engine->trace != NULL);
}

actl_status actl_engine_send(actl_engine *engine, actl_pid to, const actl_value *values, size_t n) {
  uint64_t head = actl__node_head(NODE_MESSAGE);
  if (ACTL_UNLIKELY((to.bits & engine->outside.door) == 0))
    return actl__outside_send(engine, to.bits, head, 0, values, n);
  return send_node(engine, to.bits, head, 0, values, n, false);
}

/* ---- Answers ---- */

bool actl__outside_answer(struct actl_engine *engine, struct actl_msg *m) {
  unsigned kind = actl__node_kind(m);
  if (m->slot[NODE_TARGET_SLOT] != PID_OUTSIDE || (kind != NODE_REPLY && kind != NODE_FAILURE))
    return false;

  uint64_t id = m->slot[NODE_ASK_SLOT];
  struct asker *asker = asker_at(&engine->outside, (uint32_t)id & ((1u << INDEX_BITS) - 1));
  /* release: pairs with take_answer. acquire: pairs with go_to_sleep, so that the lock is taken after it
   * was by who sleeps. */
  uint64_t word = id << STATE_BITS | SPINS;
  if (atomic_compare_exchange_strong_explicit(&asker->word, &word, (uintptr_t)m,
                                              memory_order_acq_rel, memory_order_relaxed))
    return true;
  if (word != (id << STATE_BITS | SLEEPS)) return false;
  if (!atomic_compare_exchange_strong_explicit(&asker->word, &word, (uintptr_t)m,
                                               memory_order_acq_rel, memory_order_relaxed))
    return false;

  /* Who sleeps looked at the word under the lock: from here on it is in its wait. The place may be
   * another ask's by now, which then wakes for nothing. */
  actl__lock_take(&asker->lock);
  actl__lock_drop(&asker->lock);
  actl__signal_one(&asker->signal);
  return true;
}

static bool is_answered(struct asker *asker) {
  /* relaxed: take_answer looks again. */
  uint64_t word = atomic_load_explicit(&asker->word, memory_order_relaxed);
  return (word & (SPINS | SLEEPS)) == 0;
}

/* The answer; NULL: none has come, and what comes now comes too late. */
static struct actl_msg *take_answer(struct asker *asker) {
  /* acquire, here and below: pairs with actl__outside_answer. */
  uint64_t word = atomic_load_explicit(&asker->word, memory_order_acquire);
  if ((word & (SPINS | SLEEPS)) != 0 &&
      atomic_compare_exchange_strong_explicit(&asker->word, &word, NOBODY, memory_order_acquire,
                                              memory_order_acquire))
    return NULL;
  return (struct actl_msg *)(uintptr_t)word;
}

/* ---- Waiting ---- */

/* Looks for a while; `now` is the time. */
static void spin(struct outside *outside, struct asker *asker, uint64_t now, uint64_t deadline) {
  /* relaxed, both: a hint how busy the processors are. */
  uint32_t n = atomic_fetch_add_explicit(&outside->n_spinning, 1, memory_order_relaxed);
  uint64_t end = deadline - now > SPIN_NS ? now + SPIN_NS : deadline;
  while (n < outside->spinners_max && now < end && !is_answered(asker)) {
    for (int i = 0; i < SPINS_A_LOOK && !is_answered(asker); i++) actl__thread_relax();
    now = actl__clock_ns();
  }
  atomic_fetch_sub_explicit(&outside->n_spinning, 1, memory_order_relaxed);
}

static void go_to_sleep(struct asker *asker, uint64_t deadline) {
  uint64_t word = asker->id << STATE_BITS | SPINS;
  actl__lock_take(&asker->lock);
  /* release: pairs with actl__outside_answer, which takes the lock. */
  atomic_compare_exchange_strong_explicit(&asker->word, &word, asker->id << STATE_BITS | SLEEPS,
                                          memory_order_release, memory_order_relaxed);
  while (!is_answered(asker)) {
    uint64_t now = actl__clock_ns();
    if (now >= deadline) break;
    uint64_t left = deadline - now;
    actl__signal_wait(&asker->signal, &asker->lock, left < SLEEP_NS_MAX ? left : SLEEP_NS_MAX);
  }
  actl__lock_drop(&asker->lock);
}

static struct actl_msg *await(struct outside *outside, struct asker *asker, uint64_t now,
                              uint64_t deadline) {
  spin(outside, asker, now, deadline);
  if (!is_answered(asker)) go_to_sleep(asker, deadline);
  return take_answer(asker);
}

/* ---- Asking ---- */

/* What keeps an ask from simply being sent. */
static ACTL_NOINLINE void post_oddly(struct actl_engine *engine, struct actl_msg *m) {
  if (engine->trace != NULL) actl__trace_send_outside(engine, m);
  if (actl__engine_is_shut(engine)) {
    actl__outside_bury(engine, (struct chain){m, m});
  } else {
    post(engine, m);
  }
}

static uint64_t deadline_of(uint64_t now, uint64_t timeout_ms) {
  uint64_t most_ms = (UINT64_MAX - now) / 1000000;
  return timeout_ms < most_ms ? now + timeout_ms * 1000000 : UINT64_MAX;
}

static void close_ask(struct actl_engine *engine, struct asker *asker, struct actl_msg *m) {
  if (m != NULL) actl__node_clear(m, &engine->mem);
  struct door *door = enter(engine);
  if (m != NULL) actl__pool_give(&door->pool, m);
  asker->next = door->askers;
  door->askers = asker;
  leave(door);
}

/* A node, and a place whose id is a new one. */
static actl_status open_ask(struct actl_engine *engine, struct asker **out_asker,
                            struct actl_msg **out) {
  struct door *door = enter(engine);
  struct actl_msg *m = actl__pool_take(&door->pool);
  struct asker *asker = m != NULL ? door->askers : NULL;
  if (asker != NULL) door->askers = asker->next;
  leave(door);
  if (m == NULL) return ACTL_NO_MEMORY;

  if (asker == NULL) {
    actl_status status = make_asker(engine, &asker);
    if (status != ACTL_OK) {
      m->header = 0;
      free_node(engine, m);
      return status;
    }
  }
  asker->id += (uint64_t)1 << INDEX_BITS;
  *out_asker = asker;
  *out = m;
  return ACTL_OK;
}

static actl_status write_ask(struct actl_engine *engine, struct asker *asker, struct actl_msg *m,
                             uint64_t to, uint64_t expiry, const actl_value *values, size_t n) {
  uint64_t head = actl__node_head(NODE_ASK) | expiry | NODE_FAR;
  actl_status status = actl__node_write(m, head, values, n, NODE_ASK_SLOT, &engine->mem);
  if (status != ACTL_OK) {
    m->header = 0;
    close_ask(engine, asker, m);
    return status;
  }
  m->from = PID_OUTSIDE;
  m->slot[NODE_ASK_SLOT] = asker->id;
  m->slot[NODE_TARGET_SLOT] = to;
  /* relaxed: the node's way there and back is what publishes it. */
  atomic_store_explicit(&asker->word, asker->id << STATE_BITS | SPINS, memory_order_relaxed);
  return ACTL_OK;
}

/* What the answer says; it is in `out` or freed, and the place is free. */
static actl_status end_ask(struct actl_engine *engine, struct asker *asker, struct actl_msg *m,
                           struct actl_msg **out) {
  bool is_answer = actl__node_kind(m) == NODE_REPLY;
  actl_status status = is_answer ? ACTL_OK : (actl_status)(int64_t)m->slot[0];
  bool is_kept = is_answer && out != NULL;
  close_ask(engine, asker, is_kept ? NULL : m);
  if (is_kept) *out = m;
  return status;
}

actl_status actl_engine_ask(actl_engine *engine, actl_pid to, const actl_value *values, size_t n,
                            uint64_t timeout_ms, actl_msg **out) {
  if ((to.bits & PID_TOP) == 0) return ACTL_INVALID;
  if (timeout_ms == 0) timeout_ms = engine->ask_timeout_ms;
  uint64_t now = actl__clock_ns(), deadline = deadline_of(now, timeout_ms);

  struct asker *asker;
  struct actl_msg *m;
  actl_status status = open_ask(engine, &asker, &m);
  if (status != ACTL_OK) return status;
  /* A virtual clock is the thread's that runs the engine: then it is handled, however late. */
  uint64_t expiry = engine->clock.is_virtual ? 0 : actl__ask_expiry(now, timeout_ms);
  status = write_ask(engine, asker, m, to.bits, expiry, values, n);
  if (status != ACTL_OK) return status;

  if (ACTL_UNLIKELY(atomic_load_explicit(&engine->state, memory_order_seq_cst) != 0)) {
    post_oddly(engine, m);
  } else {
    post(engine, m);
  }
  /* The shutdown sets its flag and then wakes the vats; the ask was put into a vat's inbox and then
   * the flag is looked at. All four are sequentially consistent: if it is not set here, a run after
   * the shutdown finds the ask; otherwise that run may be over, and the ask is given up, unless its
   * failure is there. */
  if (actl__engine_is_shut(engine)) deadline = now;
  m = await(&engine->outside, asker, now, deadline);
  if (m != NULL) return end_ask(engine, asker, m, out);

  close_ask(engine, asker, NULL);
  if (deadline == now) return ACTL_SHUTDOWN;
  count(&engine->outside.timeouts);
  return ACTL_TIMEOUT;
}

void actl_msg_free(actl_engine *engine, actl_msg *msg) {
  if (msg != NULL) free_node(engine, msg);
}
