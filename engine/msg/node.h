/*
 * node.h - a message: one cache line that is linked from queue to queue and never copied.
 *
 *   header   bits  0-7   how many values
 *            bits  8-11  kind
 *            bit  12     priority
 *            bits 13-15  flags: NODE_TRACED, NODE_FAR, NODE_DELAYED
 *            bits 16-35  five 4-bit types, one for each slot
 *            bits 36-63  coarse age: the sender's clock in milliseconds; of a far ask: when it
 *                        expires, 0: never
 *   slot     a value each. A string of up to 7 bytes is its length and its bytes in one slot, one of
 *            up to 39 goes on through the next slots (CONT); a longer one, and a table, is a
 *            pointer to a block. More values than there are slots: all of them in one PACK block.
 *            An ask and its answer keep the ask's id in slot 3, a far message its target in slot 4.
 *
 * Types from CONT on have the high bit: one test tells the plain message from one that needs care.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_MSG_NODE_H
#define ACTL_MSG_NODE_H

#include <stdatomic.h>

#include "base/invariant.h"
#include "base/memory.h"

enum node_kind {
  NODE_MESSAGE,
  NODE_ASK,      /* slot 3: the ask's id */
  NODE_TIMER,    /* slot 3: the timer's id; up to here they are for `receive` */
  NODE_REPLY,    /* the answer; slot 3: the ask's id */
  NODE_FAILURE,  /* slot 0: why there is no answer; slot 3: the ask's id */
  NODE_INIT,     /* the values given to spawn */
  NODE_SPAWN,    /* slot 2: the C behavior, or 0 where the first value says what the actor is;
                  * `from`: its parent, slot 3: the parent's entry for it, slot 4: its pid */
  NODE_STOP,     /* in order */
  NODE_STOP_NOW, /* ahead of the queue */
  NODE_KILL,
  NODE_CHILD_GONE, /* a far child (`from`) has ended; slot 3: the parent's entry for it */
  NODE_DOWN,       /* a monitored actor (`from`) has ended */
  NODE_EXIT,       /* a linked actor (`from`) has ended */
  NODE_KINDS
};

enum node_type { /* of a slot; up to TABLE they are enum actl_type */
                 NODE_CONT = 8,
                 NODE_LONG_STRING = 9,
                 NODE_TABLE = 10,
                 NODE_PACK = 11,
                 NODE_SHORT_STRING =
                     12, /* bytes in the slots: its size is not in the value's word */
                 NODE_REQUEST = 13,
                 NODE_BUFFER = 14,
                 NODE_FROZEN = 15
};

enum {
  NODE_SLOTS = 5,
  NODE_WORD_SLOT = 2,
  NODE_ASK_SLOT = 3,
  NODE_TARGET_SLOT = 4,
  NODE_KIND_SHIFT = 8,
  NODE_PRIORITY_SHIFT = 12,
  NODE_TRACED = 1 << 13,  /* the host is told of it: see actor/trace.h */
  NODE_FAR = 1 << 14,     /* came from another thread's pool; slot 4 is taken */
  NODE_DELAYED = 1 << 15, /* its timer (slot 3) begins anew when the message has been handled */
  NODE_TYPES_SHIFT = 16,
  NODE_AGE_SHIFT = 36,
  NODE_AGE_BITS = 28
};

#define NODE_CARE ((uint64_t)0x88888 << NODE_TYPES_SHIFT)

struct actl_msg {
  _Atomic(struct actl_msg *) next; /* owner only, but in a chain being published: see inbox.h */
  uint64_t from;                   /* the sender's pid; 0: from outside */
  uint64_t header;
  uint64_t slot[NODE_SLOTS];
};

static_assert(sizeof(struct actl_msg) == ACTL__CACHE_LINE, "a node is one cache line");
static_assert(NODE_MESSAGE == 0 && NODE_ASK == 1, "see actl__node_is_plain");
static_assert((int)NODE_TABLE == (int)ACTL_TABLE, "the wire form is one table");

/* A block behind a slot: a long string, a table, or a pack of values. */
struct block {
  uint64_t size; /* of `bytes` */
  char bytes[];
};

static inline struct actl_msg *actl__node_next(struct actl_msg *m) {
  /* relaxed: the owner alone reads and writes links outside an inbox. */
  return atomic_load_explicit(&m->next, memory_order_relaxed);
}
static inline void actl__node_link(struct actl_msg *m, struct actl_msg *next) {
  atomic_store_explicit(&m->next, next, memory_order_relaxed);
}

/* Nodes that follow each other in a chain or a pool mostly do so in memory too, upwards or downwards,
 * and come from another processor's cache: fetches one that will come soon. A wrong guess does no harm. */
static inline void actl__node_fetch_ahead(const struct actl_msg *m, const struct actl_msg *next) {
  enum { AHEAD = 6 };
  uintptr_t step = (uintptr_t)next - (uintptr_t)m;
  ACTL_PREFETCH((const void *)((uintptr_t)next + AHEAD * step));
}

static inline unsigned actl__node_kind(const struct actl_msg *m) {
  return (unsigned)(m->header >> NODE_KIND_SHIFT) & 15;
}
static inline uint64_t actl__node_head(enum node_kind kind) {
  return (uint64_t)kind << NODE_KIND_SHIFT;
}
static inline unsigned actl__node_count(const struct actl_msg *m) {
  return (unsigned)m->header & 255;
}
static inline unsigned actl__node_type(const struct actl_msg *m, unsigned slot) {
  return (unsigned)(m->header >> (NODE_TYPES_SHIFT + 4 * slot)) & 15;
}
/* A message or an ask with nothing beside it. */
static inline bool actl__node_is_plain(const struct actl_msg *m) {
  const uint64_t odd = (uint64_t)(15 & ~NODE_ASK) << NODE_KIND_SHIFT | NODE_TRACED;
  return (m->header & odd) == 0;
}
static inline bool actl__node_is_ask(const struct actl_msg *m) {
  return actl__node_kind(m) == NODE_ASK;
}

/* The slow half of actl__node_write: strings, tables, more values than `room`. */
actl_status actl__node_write_care(struct actl_msg *m, uint64_t head, const actl_value *values,
                                  size_t n, unsigned room, const struct memory *mem);

/*
 * Writes header and values; `head` has kind, priority, flags and age, the first `room` slots may be
 * used. ACTL_INVALID (too many values), ACTL_ENCODING (a type that no message has), ACTL_NO_MEMORY:
 * the node holds nothing.
 */
static inline actl_status actl__node_write(struct actl_msg *m, uint64_t head,
                                           const actl_value *values, size_t n, unsigned room,
                                           const struct memory *mem) {
  if (ACTL_UNLIKELY(n > room)) return actl__node_write_care(m, head, values, n, room, mem);

  uint64_t header = head | n;
  for (size_t i = 0; i < n; i++) {
    uint32_t type = values[i].type;
    if (ACTL_UNLIKELY(type >= ACTL_STRING))
      return actl__node_write_care(m, head, values, n, room, mem);
    m->slot[i] = values[i].as.bits;
    header |= (uint64_t)type << (NODE_TYPES_SHIFT + 4 * i);
  }
  m->header = header;
  return ACTL_OK;
}

/* Writes what `from` has into `m`, with its own blocks. ACTL_NO_MEMORY: the node holds nothing. */
actl_status actl__node_copy(struct actl_msg *m, const struct actl_msg *from,
                            const struct memory *mem);

/* Frees the blocks behind the slots; the node itself stays with its owner. */
void actl__node_clear_care(struct actl_msg *m, const struct memory *mem);

static inline void actl__node_clear(struct actl_msg *m, const struct memory *mem) {
  if (ACTL_UNLIKELY((m->header & NODE_CARE) != 0)) actl__node_clear_care(m, mem);
}

/* Reading: `at` is the slot or byte that comes next. */
bool actl__node_read(const struct actl_msg *m, uint32_t *slot, const void **at, actl_value *out);

#endif
