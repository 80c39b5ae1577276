/*
 * send.h - putting a message into a mailbox or on its way.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_SEND_H
#define ACTL_ACTOR_SEND_H

#include "actor/life.h"

/* The pid that a message sent now comes from; 0: the vat's own code. */
static inline uint64_t actl__vat_self(const struct vat *vat) {
  return ACTL_LIKELY(vat->current != NULL) ? vat->current->pid : 0;
}

/* To an actor that actl__vat_is_open lets everybody see; and to any other. `head` is the kind, and for an
 * ask to any other its expiry; `id` is kept in slot 3, 0: none. On failure nothing was sent. */
actl_status actl__send_near(struct vat *vat, struct actor *a, uint64_t head, uint64_t id,
                            const actl_value *values, size_t n);
actl_status actl__send_further(struct vat *vat, uint64_t to, uint64_t head, uint64_t id,
                               const actl_value *values, size_t n);

/* What a far ask that waits so long has in place of its age: until when it is worth handling. */
uint64_t actl__ask_expiry(uint64_t now_ns, uint64_t timeout_ms);

#endif
