/*
 * turn.h - what is done for each delivery of a turn.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_TURN_H
#define ACTL_ACTOR_TURN_H

#include "actor/send.h"

static inline void actl__turn_count_delivery(struct vat *vat) {
  vat->budget--;
  if (ACTL_UNLIKELY(--vat->check_in <= 0)) actl__vat_check(vat);
}

static inline void actl__turn_count_message(struct vat *vat, const struct actl_msg *m) {
  vat->stats.messages++;
  if (ACTL_UNLIKELY((m->header & NODE_FAR) != 0)) vat->stats.far_messages++;
}

/* An ask that its caller has given up is not handled: then it is done with. */
static inline bool actl__turn_skips(struct vat *vat, struct actl_msg *m) {
  if (ACTL_LIKELY(!actl__node_is_ask(m)) || !actl__ask_is_given_up(vat, m)) return false;
  m->slot[NODE_ASK_SLOT] = 0; /* nobody needs to hear of it */
  actl__letter(vat, m, actl__vat_self(vat), ACTL_EXPIRED);
  return true;
}

#endif
