/*
 * records.h - the actors of one vat number, by slot.
 *
 *   fresh  --new-->   live  --free-->  free  --new, once 1,024 others are free-->  live
 *   fresh or free  --reserve-->  reserved for a far spawn  --adopt-->  live
 *
 * Invariants
 *   - a record's pid has the top bit if and only if it is live: a look-up compares the whole pid, so
 *     a stale one, whose generation is older, and a forged one find nothing.
 *   - free slots are used again first in first out, and a slot whose generations are used up is
 *     retired, so a pid is never used twice.
 *   - when its vat ends the table begins anew, at a generation that no pid of it has had.
 *   - records never move. They are made in blocks that double, and found through a directory with
 *     an entry for each CHUNK of them: an address less the slots before it, so that the two halves
 *     of a look-up do not wait for each other.
 *   - only the vat's worker touches records. A far spawner takes slots from the reserve, or, when
 *     that is empty, counts `n_fresh` up: slots nobody had before.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_RECORDS_H
#define ACTL_ACTOR_RECORDS_H

#include <stdatomic.h>

#include "actor/pid.h"
#include "base/arena.h"

struct extra; /* life.h: what few actors have */

enum phase {
  ACTOR_IDLE,    /* no message; not in a ready list */
  ACTOR_READY,   /* in the stack or the queue */
  ACTOR_RUNNING, /* the vat's current actor */
  ACTOR_PARKED   /* waits: messages do not make it ready */
};

enum actor_flag {
  ACTOR_DRIVEN = 1 << 0,     /* its word is a driver's, not a state */
  ACTOR_UNBORN = 1 << 1,     /* driven, and the driver has not set its word yet */
  ACTOR_FAR_PARENT = 1 << 2, /* its extra has it; `parent` is 0 */
  ACTOR_STOP_NOW = 1 << 3,   /* told to stop; not begun */
  ACTOR_KILL = 1 << 4,       /* told to die */
  ACTOR_EXIT = 1 << 5,       /* told itself to stop */
  ACTOR_STOPPING = 1 << 6,   /* begun: handles no more messages */
  ACTOR_HOOKED = 1 << 7,     /* its stop hook was called, or must not be */
  ACTOR_RESUMABLE = 1 << 8,  /* parked, and what it waited for is there */
  ACTOR_STEP = 1 << 9,       /* stopping, and a child has ended */
  ACTOR_RECEIVING = 1 << 10, /* a process waits for its next message, which makes it ready */
  ACTOR_PROCESS = 1 << 11,   /* its first delivery is a body that receives */
  /* Before the next message something else is to be done. */
  ACTOR_ATTENTION =
      ACTOR_STOP_NOW | ACTOR_KILL | ACTOR_EXIT | ACTOR_RESUMABLE | ACTOR_STEP | ACTOR_RECEIVING
};

/* A near reference: table number << PID_SLOT_BITS | slot; 0: none (slot 0 is never used). */
typedef uint32_t actor_ref;

struct actor {
  struct actl_msg *head, *last; /* mailbox, oldest and newest; owner only, as all fields */
  struct actor *ready;          /* next in the queue; next of the free slots */
  const actl_behavior *behavior;
  uint64_t pid;   /* not live: without its top bit and home */
  uint64_t word;  /* state of up to 8 bytes, or where it is; driven: the driver's */
  uintptr_t more; /* what few actors have, see actl__extra_of; 0: nothing */
  uint32_t depth; /* messages in the mailbox */
  uint16_t flags;
  uint8_t phase;
  uint8_t table;            /* which of its vat's tables it is in */
  actor_ref parent, child;  /* near parent; youngest child, see family.h */
  actor_ref older, younger; /* siblings */
};
static_assert(sizeof(struct actor) == 80, "an actor's record is small");

enum {
  RECORDS_CHUNK = 64,                              /* slots of a directory entry */
  RECORDS_BLOCK_MAX = 1 << 19,                     /* slots of the largest block */
  RECORDS_REUSE = ACTL_TUNE(1024, 4),              /* free slots before one is used again */
  RECORDS_SLOTS = ACTL_TUNE(PID_SLOTS - 64, 2000), /* slots of one vat number */
  RECORDS_RESERVE = ACTL_TUNE(64, 2),              /* slots put aside at first */
  RECORDS_TABLES = 256                             /* more than the numbers one vat may have */
};

struct records {
  struct records *next;         /* an older further table of its vat (number.c); constant */
  uintptr_t *directory;         /* by chunk; owner, as the two that follow */
  uint32_t n_chunks, capacity;  /* of the directory: used, and room for */
  uint64_t home;                /* the pid bits of this vat number; constant */
  uint32_t table;               /* which of its vat's tables this is; constant */
  uint32_t n_touched;           /* records below it are initialised; owner */
  uint32_t fresh_at, fresh_end; /* the owner's share of the fresh slots */
  uint32_t n_free;              /* owner, as the two lists */
  struct actor *free, **free_end;
  uint32_t floor;  /* the generation of slots nobody had before; constant while its vat lives */
  uint32_t unused; /* the lowest generation that no pid has had; owner */
  struct arena *arena;
  const struct memory *mem;

  _Atomic(uint32_t) n_fresh; /* slots given out at least once; any thread */
  _Atomic(bool) is_low;      /* the reserve wants filling; any thread */
  actl__lock lock;
  uint64_t *reserved; /* pids; under `lock`, as all that follows */
  uint32_t n_reserved, reserved_capacity;
  uint32_t wanted;   /* so many are put aside; doubled when that was too few again and again */
  uint32_t n_missed; /* far spawns that found none, since `wanted` was doubled */
};

actl_status actl__records_init(struct records *records, uint64_t home, uint32_t table,
                               struct arena *arena, const struct memory *mem);
void actl__records_fini(struct records *records);

/* Owner only, when no actor lives, no pid is reserved and the arena is about to go: the table is as
 * new, and its pids are others than before. false: it has no others left. */
bool actl__records_renew(struct records *records);

static inline actor_ref actl__actor_ref(const struct actor *a) {
  return (uint32_t)a->table << PID_SLOT_BITS | actl__pid_slot(a->pid);
}

/* Owner only: a live record with its pid set and all else zero; NULL: no memory, or
 * (`is_used_up`) no slot is left. */
struct actor *actl__records_new(struct records *records, bool *is_used_up);
void actl__records_free(struct records *records, struct actor *a);

/* Any thread: a pid for a far spawn; 0: no slot is left. */
uint64_t actl__records_reserve(struct records *records);

/* Any thread: gives a reserved pid back that no message was sent to. It may be lost. */
void actl__records_unreserve(struct records *records, uint64_t pid);

/* Owner only: makes a reserved pid live; NULL: no memory. */
struct actor *actl__records_adopt(struct records *records, uint64_t pid);

/* Owner only: a reserved pid will never be live. Its slot is lost until the table is renewed. */
void actl__records_lose(struct records *records, uint64_t pid);

/* Owner only: puts free slots aside for far spawns, when some were taken. */
void actl__records_fill_reserve(struct records *records);

static inline struct actor *actl__records_at(const struct records *records, uint32_t slot) {
  return (struct actor *)(records->directory[slot / RECORDS_CHUNK] +
                          (uintptr_t)slot * sizeof(struct actor));
}

/* Owner only: the live actor of `pid`, which is of this table's home; NULL: none. */
static inline struct actor *actl__records_find(const struct records *records, uint64_t pid) {
  uint32_t slot = actl__pid_slot(pid);
  if (ACTL_UNLIKELY(slot >= records->n_touched)) return NULL;
  struct actor *a = actl__records_at(records, slot);
  return ACTL_LIKELY(a->pid == pid) ? a : NULL;
}

#endif
