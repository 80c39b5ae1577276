/*
 * family.h - an actor's children, near and far, in one list, the youngest first.
 *
 * A near child is linked by its record, a far one by an entry that its parent keeps for it. Both are
 * named by an actor_ref: those of the last table number are entries.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_FAMILY_H
#define ACTL_ACTOR_FAMILY_H

#include "actor/life.h"

/* What a parent knows of a child in another vat. */
struct far_child {
  struct slot slot;
  struct actor *parent;
  uint64_t pid;
  struct actl_msg *stop; /* the node that will tell it to stop; NULL: it was told */
  actor_ref older, younger;
};

/* A new entry, the youngest child; NULL: no memory, or too many. */
struct far_child *actl__family_add_far(struct vat *vat, struct actor *parent, uint64_t *id);
struct far_child *actl__family_get_far(struct vat *vat, uint64_t id);
void actl__family_remove_far(struct vat *vat, struct far_child *child);

/* The entry that `ref` names; NULL: it names a near child. */
struct far_child *actl__family_far(struct vat *vat, actor_ref ref);

/* Makes a node the one that will tell a far parent, who has `entry` for the child, of its end. */
void actl__family_prepare_gone(struct actl_msg *m, uint64_t parent, uint64_t entry);
void actl__family_tell_gone(struct vat *vat, struct actl_msg *m, uint64_t child);

void actl__family_add_near(struct vat *vat, struct actor *parent, struct actor *child);
void actl__family_remove_near(struct vat *vat, struct actor *child);

#endif
