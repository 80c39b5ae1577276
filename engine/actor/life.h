/*
 * life.h - how actors begin, end, and own what ends with them.
 *
 *   live  --told to stop-->  stopping: children are stopped, youngest first, then the stop hook runs
 *         --told to die-->   stopping, without the hook
 *   stopping  --no child is left, hook done-->  ended: the slot is free
 *
 * What ends with an actor hangs off its record in two lists: asks under way, and requests it has taken
 * and not answered.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_LIFE_H
#define ACTL_ACTOR_LIFE_H

#include "actor/vat.h"

struct extra {
  void *waiter;              /* parked: the driver's; NULL: no handler waits */
  uint64_t waits_for;        /* the ask a parked handler waits for; 0: it gave way */
  struct actl_msg *answer;   /* what it waited for, once it is there */
  struct actl_msg *held;     /* the message that the parked handler handles */
  actl_status answer_status; /* ACTL_OK: `answer` has the values */
  uint8_t held_doing;        /* enum doing */
  bool is_killed;
  actl_status status; /* why it stops */
  char *text;         /* the same in words; NULL: none; arena's */
  size_t text_size;
  uint64_t far_parent; /* pid, and its entry for this child */
  uint64_t far_entry;
  struct actl_msg *gone;       /* the node that will tell the far parent */
  uint64_t owned[OWNED_LISTS]; /* id of the newest entry; 0: none */
};

/* The actor's extra, made when it has none; NULL: no memory. */
struct extra *actl__extra(struct vat *vat, struct actor *a);

/* A new entry of one of the actor's lists; NULL: no memory. */
struct owned *actl__owned_new(struct vat *vat, struct actor *a, enum owned_list list, uint64_t *id);
struct owned *actl__owned_get(struct vat *vat, enum owned_list list, uint64_t id);
void actl__owned_free(struct vat *vat, enum owned_list list, struct owned *entry);

/* Tells a near actor to stop (ACTOR_STOP_NOW) or die (ACTOR_KILL). */
void actl__life_tell(struct vat *vat, struct actor *a, uint16_t flag);

/* Begins to stop the current actor: what is queued becomes dead letters. actl__life_step follows. */
void actl__life_stop(struct vat *vat, struct actor *a, actl_status status, const char *text,
                     size_t text_size);

/* Keeps `text` as the reason, in words, of the current actor's end; the first one counts. */
void actl__life_keep_text(struct vat *vat, struct actor *a, const char *text);

/* The current actor fails: reported, its message lost, and it stops. */
void actl__life_fail(struct vat *vat, struct actor *a, actl_status status, const char *text);

/* Does what comes before the next message of the current actor (ACTOR_ATTENTION).
 * true: `out` is a delivery for its driver. Otherwise vat->current tells: NULL, it is not running
 * any more. */
bool actl__life_step(struct vat *vat, struct actor *a, actl_delivery *out);

/* The stop hook has ended. */
void actl__life_end(struct vat *vat, struct actor *a);

/* A far child has told that it ended. */
void actl__life_child_gone(struct vat *vat, struct actl_msg *m);

/* A stop in order has come to a mailbox: where it is next, and the handler waits, it takes effect. */
void actl__life_heed_stop(struct vat *vat, struct actor *a);

/* Parks the current actor with its handler. */
void actl__life_park(struct vat *vat, struct actor *a, void *waiter, uint64_t ask);

/* What a parked handler waits for is there: `m` (may be NULL) is taken. */
void actl__life_answer(struct vat *vat, struct actor *a, actl_status status, struct actl_msg *m);

/* Tells all actors without a parent to stop, and drops what is queued. */
void actl__life_shutdown(struct vat *vat);

/* Whether the engine is shutting down. A vat that did not know of it knows it from then on. */
static inline bool actl__life_is_shut(struct vat *vat) {
  /* seq_cst: see actl__vat_run. */
  if (ACTL_LIKELY(!atomic_load_explicit(&vat->engine->is_shutting_down, memory_order_seq_cst)))
    return false;
  if (!vat->is_shut) actl__life_shutdown(vat);
  return true;
}

/* A message that nobody will handle: counted, its ask failed, the node taken. */
void actl__letter(struct vat *vat, struct actl_msg *m, actl_status reason);

/* Counts one that was never written. */
void actl__letter_count(struct vat *vat, actl_status reason);

/* The same as actl__letter for one that was delivered and counted as handled. */
void actl__letter_delivered(struct vat *vat, struct actl_msg *m, actl_status reason);

/* ---- spawn.c ---- */

/* Makes the actor that a NODE_SPAWN from outside asks for; the node is taken. */
void actl__spawn_arrive(struct vat *vat, struct actl_msg *m);

/* ---- ask.c ---- */

/* Fails the ask that `m` (NODE_ASK) is; the node is taken. */
void actl__ask_fail(struct vat *vat, struct actl_msg *m, actl_status status);

/* Hands an answer (NODE_REPLY or NODE_FAILURE, with the ask's id in slot 3) to its near asker. */
void actl__ask_resolve(struct vat *vat, struct actl_msg *m);

/* Answers the message `m` if it is an ask: from then on it is none. */
actl_status actl__ask_answer(struct vat *vat, struct actl_msg *m, const actl_value *values,
                             size_t n);

/* Fails a taken request whose actor ends; the entry is freed. */
void actl__request_drop(struct vat *vat, struct owned *request, actl_status status);

/* Fails what can never be answered, now that nothing runs. true: something was failed. */
bool actl__ask_fail_hopeless(struct vat *vat);

#endif
