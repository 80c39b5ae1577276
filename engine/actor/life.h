/*
 * life.h - how actors begin, end, and own what ends with them.
 *
 *   live  --told to stop-->  stopping: children are stopped, youngest first, then the stop hook runs
 *         --told to die-->   stopping, without the hook
 *   stopping  --no child is left, hook done-->  ended: the slot is free
 *
 * What ends with an actor hangs off its record in three lists: asks under way, requests it has taken
 * and not answered, and timers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_LIFE_H
#define ACTL_ACTOR_LIFE_H

#include "actor/vat.h"

enum wait {              /* what a parked handler waits for */
            WAIT_TURN,   /* its next turn: it gave way */
            WAIT_SLICE,  /* the same, in the middle of what it computes: it runs on, and only a kill
                          * ends it */
            WAIT_ANSWER, /* `waits_for` is the ask */
            WAIT_TIME,   /* `waits_for` is the timer; 0: for ever */
            WAIT_MESSAGE /* the same, unless a message comes before */
};

struct extra {
  void *waiter;              /* parked: the driver's; NULL: no handler waits */
  uint64_t waits_for;        /* 0: nothing that ends by itself */
  struct actl_msg *answer;   /* what it waited for, once it is there */
  struct actl_msg *held;     /* the message that the parked handler handles */
  actl_status answer_status; /* ACTL_OK: `answer` has the values */
  uint8_t held_doing;        /* enum doing */
  uint8_t wait;              /* enum wait */
  bool is_killed;
  due_ref timers;              /* of the newest timer; 0: none */
  actl_status status;          /* why it stops */
  char *text;                  /* the same in words; NULL: none; arena's */
  struct actl_msg *gone;       /* the node that will tell the far parent, as family.h has it */
  uint64_t owned[OWNED_LISTS]; /* id of the newest entry; 0: none */
};

static_assert(sizeof(struct extra) == 80, "a million that wait take no more than they must");

/* What hangs off a record: nothing; its newest timer, when that is all there is (an odd number); or an
 * extra. So a million actors that only have a timer each cost no extra. */
static inline struct extra *actl__extra_of(const struct actor *a) {
  return (a->more & 1) == 0 ? (struct extra *)a->more : NULL;
}
static inline bool actl__actor_has_timers(const struct actor *a) {
  return a->more != 0 && ((a->more & 1) != 0 || actl__extra_of(a)->timers != 0);
}

/* The actor's extra, made when it has none; NULL: no memory. */
struct extra *actl__extra(struct vat *vat, struct actor *a);

/* A new entry of one of the actor's lists; NULL: no memory. */
struct owned *actl__owned_new(struct vat *vat, struct actor *a, enum owned_list list, uint64_t *id);
struct owned *actl__owned_get(struct vat *vat, enum owned_list list, uint64_t id);
void actl__owned_free(struct vat *vat, enum owned_list list, struct owned *entry);

/* Tells a near actor to stop (ACTOR_STOP_NOW) or die (ACTOR_KILL). */
void actl__life_tell(struct vat *vat, struct actor *a, uint16_t flag);

/* Begins to stop the current actor: what is queued becomes dead letters. actl__life_step follows. */
void actl__life_stop(struct vat *vat, struct actor *a, actl_status status, const char *text);

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

/* The actor is to have its turn, if it rests. */
void actl__life_make_ready(struct vat *vat, struct actor *a);

/* Tells all actors without a parent to stop, and drops what is queued. Where the vat alone is to end,
 * those whose parent is in another one too. */
void actl__life_shutdown(struct vat *vat);

/* Whether the engine is shutting down, or the vat is. A vat that did not know of it knows it from then
 * on. */
static inline bool actl__life_is_shut(struct vat *vat) {
  if (ACTL_LIKELY(!actl__engine_is_shut(vat->engine) && !actl__vat_is_closing(vat))) return false;
  if (!vat->is_shut) actl__life_shutdown(vat);
  return true;
}

/* A message to `to` that nobody will handle: counted, its ask failed, the node taken. */
void actl__letter(struct vat *vat, struct actl_msg *m, uint64_t to, actl_status reason);

/* Counts one that was never written. */
void actl__letter_count(struct vat *vat, uint64_t to, actl_status reason);

/* The same as actl__letter for one of the current actor's that was counted as handled. */
void actl__letter_delivered(struct vat *vat, struct actl_msg *m, actl_status reason);

/* ---- wait.c ---- */

static inline bool actl__wait_is_on(const struct actor *a) {
  const struct extra *extra = actl__extra_of(a);
  return extra != NULL && extra->waiter != NULL;
}

/* Parks the current actor, which has an extra, with its handler. */
void actl__wait_park(struct vat *vat, struct actor *a, void *waiter, enum wait wait,
                     uint64_t waits_for);

/* What a parked handler waits for is there: `m` (may be NULL) is taken. */
void actl__wait_answer(struct vat *vat, struct actor *a, actl_status status, struct actl_msg *m);

/* Lets the handler go on: `out` is the delivery. */
void actl__wait_resume(struct vat *vat, struct actor *a, actl_delivery *out);

/* The next message of a process that waits for one. true: `out` is the delivery. */
bool actl__wait_receive(struct vat *vat, struct actor *a, actl_delivery *out);

/* The handler that waits must not go on: its ask, its answer and its message are dropped. */
void actl__wait_abandon(struct vat *vat, struct actor *a, actl_delivery *out);

/* ---- spawn.c ---- */

/* Makes the actor that a NODE_SPAWN from outside asks for; the node is taken. */
void actl__spawn_arrive(struct vat *vat, struct actl_msg *m);

/* ---- ask.c ---- */

/* Fails the ask that `m` (NODE_ASK) is; the node is taken. */
void actl__ask_fail(struct vat *vat, struct actl_msg *m, actl_status status);

/* Hands an answer (NODE_REPLY or NODE_FAILURE, with the ask's id in slot 3) to its near asker. */
void actl__ask_resolve(struct vat *vat, struct actl_msg *m);

/* Frees the entry of an ask that is answered, given up, or ends with its actor. */
void actl__ask_close(struct vat *vat, struct owned *ask);

/* Whether nobody waits for the answer to the ask `m` any more. */
bool actl__ask_is_given_up(struct vat *vat, const struct actl_msg *m);

/* The time of an ask is over. false: no memory, try again. */
bool actl__ask_time_out(struct vat *vat, struct owned *ask);

/* Answers the message `m` if it is an ask: from then on it is none. */
actl_status actl__ask_answer(struct vat *vat, struct actl_msg *m, const actl_value *values,
                             size_t n);

/* Fails a taken request whose actor ends; the entry is freed. */
void actl__request_drop(struct vat *vat, struct owned *request, actl_status status);

/* Fails what can never be answered, now that nothing runs. true: something was failed. */
bool actl__ask_fail_hopeless(struct vat *vat);

#endif
