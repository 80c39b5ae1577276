/*
 * vats.h - all vats of an engine: how they are made, opened, entered and closed.
 *
 *   open     --actl_vat_close, or an isolate is empty-->        closing   VAT_CLOSING
 *   closing  --no actor is left, and none is on its way-->      closed    actl__vat_end: VAT_CLOSED
 *   closed   --actl_vat_open, or an actor that wants its own--> open      the same number again
 *
 * The state is in the upper bits of `incoming`, whose lower ones count the far spawns on their way.
 *
 * Invariants
 *   - a far spawn is counted from before it takes its pid until it has arrived, and only in an open
 *     vat. So a vat never ends while a spawn is on its way to it: no NODE_SPAWN finds a closed inbox,
 *     and when a vat begins anew every pid that it gave out before has lived and died.
 *   - a vat's struct is freed with the engine: others may have chains for it, or look it up, at any
 *     time.
 *   - the list of all vats only grows, so that any thread may walk it without a lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_VATS_H
#define ACTL_ACTOR_VATS_H

#include "actor/vat.h"

/* A vat beside those there are, open. ACTL_LIMIT, ACTL_NO_MEMORY. Any thread. */
actl_status actl__vats_make(struct actl_engine *engine, struct vat **out);

/* Walks all vats ever made: the first one, or the one after `vat`; NULL: that was the last. Any
 * thread; what is made meanwhile may be missed. */
struct vat *actl__vats_next(struct actl_engine *engine, const struct vat *vat);

/* The vat whose first number this is, or (ACTL_VAT_ANY) the one with the fewest actors; NULL: none.
 * It may be closed. Any thread. */
struct vat *actl__vats_find(struct actl_engine *engine, uint32_t number);

/* Counts a spawn as on its way to `vat`, which stays open until it has arrived; false: it is not open.
 * Any thread. */
bool actl__vats_enter(struct vat *vat);

/* The same for a new isolate. ACTL_LIMIT, ACTL_NO_MEMORY, ACTL_SHUTDOWN. */
actl_status actl__vats_enter_new(struct actl_engine *engine, struct vat **out);

/* The spawn will not arrive. Any thread. */
void actl__vats_leave(struct vat *vat);

/* The spawn has arrived. From the worker that runs the vat. */
static inline void actl__vats_arrive(struct vat *vat) {
  /* relaxed: the owner itself looks at it at the end of the turn. */
  atomic_fetch_sub_explicit(&vat->incoming, 1, memory_order_relaxed);
}

/* Whether the vat, which has nothing ready, is to end now: from then on none is let in. From the worker
 * that runs it. */
bool actl__vats_is_over(struct vat *vat);

/* What a worker knows of a vat before it has let go of it. */
struct farewell {
  bool is_shut, is_empty, is_isolate;
};

/* Whether the vat, which has gone idle, has to be woken for what its worker had not seen. The vat may be
 * another worker's by now. */
bool actl__vats_is_wanted(const struct vat *vat, struct farewell farewell);

/* The vat has ended, and its worker lets go of it: it may be opened again, unless `is_used_up`. */
void actl__vats_put_aside(struct vat *vat, bool is_used_up);

#endif
