/*
 * outside.h - the threads of a host, which run no actor: what they send with, and how they wait for
 * an answer.
 *
 * Doors. A thread of the host takes nodes from the pool of a door, which it has for itself meanwhile:
 * each thread tries a door of its own first, and the next ones where another is in it. Nobody waits
 * while there are more doors than threads that send at once.
 *
 * Askers. A thread that asks has a place, and the ask has the place's number in its id. All asks from
 * outside come from one pid, PID_OUTSIDE, whose vat does not exist: a message that is sent to it is a
 * dead letter, an answer is handed to the place. The place's word says how it is with its latest ask:
 *
 *   id | SPINS    --sleep-->     id | SLEEPS
 *   either        --answer-->    the answer's address      actl__outside_answer
 *   either        --give up-->   NOBODY                    take_answer
 *
 * An id is not used twice, so an answer that comes too late finds a word that is not its ask's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_OUTSIDE_H
#define ACTL_ACTOR_OUTSIDE_H

#include "actor/pid.h"
#include "msg/inbox.h"
#include "msg/pool.h"

enum {
  OUTSIDE_DOORS = ACTL_TUNE(8, 2),
  OUTSIDE_BLOCK = ACTL_TUNE(8, 1), /* places in the first block; each block doubles */
  OUTSIDE_BLOCKS = 13
};

struct asker {
  _Atomic(uint64_t) word; /* who has the place, and who answers */
  uint64_t id;            /* of its latest ask; who has the place, as `next` */
  struct asker *next;     /* of the free places of a door */
  actl__lock lock;        /* held but for the wait itself by who goes to sleep */
  actl__signal signal;
};

struct door {
  alignas(ACTL__CACHE_LINE) _Atomic(bool) is_taken; /* any thread */
  struct pool pool;                                 /* who has taken it, as all that follows */
  struct asker *askers;                             /* free places */
};

struct outside {
  struct door doors[OUTSIDE_DOORS];
  struct asker *blocks[OUTSIDE_BLOCKS]; /* written under the engine's lock, before any id that leads
                                         * there is given away */
  uint32_t n_askers;                    /* under the engine's lock */
  uint32_t spinners_max;                /* constant, as the next one */
  uint64_t door; /* a pid without a bit of it is none; traced: 0, so that every send is looked at */
  _Atomic(uint32_t) n_spinning;                   /* any thread, as all that follows */
  _Atomic(uint64_t) letters[ACTL_LETTER_REASONS]; /* what no vat counted */
  _Atomic(uint64_t) late_replies, timeouts;
};

void actl__outside_init(struct actl_engine *engine);
void actl__outside_fini(struct actl_engine *engine); /* nobody asks any more */
void actl__outside_add_stats(struct actl_engine *engine, actl_stats *out);

/* Hands the answer of an ask from outside to who waits for it. false: nobody does, or it is no answer;
 * the node is still the caller's. Any thread. */
bool actl__outside_answer(struct actl_engine *engine, struct actl_msg *m);

/* Turns a chain that cannot be delivered into dead letters, from a thread that runs no vat. */
void actl__outside_bury(struct actl_engine *engine, struct chain chain);

/* Sends; `word` goes with a NODE_SPAWN. */
actl_status actl__outside_send(struct actl_engine *engine, uint64_t to, uint64_t head,
                               uint64_t word, const actl_value *values, size_t n);

#endif
