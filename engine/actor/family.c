/*
 * family.c - an actor's children, near and far.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/family.h"

enum { FAR_TABLE = RECORDS_TABLES - 1 }; /* a vat has fewer tables of records */

struct siblings { /* as both kinds of children have them */
  actor_ref older, younger;
};

static actor_ref ref_of(struct vat *vat, const struct far_child *child) {
  uint64_t index = actl__slots_id(&vat->far_children, child) & UINT32_MAX;
  return (uint32_t)FAR_TABLE << PID_SLOT_BITS | (actor_ref)index;
}

struct far_child *actl__family_far(struct vat *vat, actor_ref ref) {
  if (ACTL_LIKELY(ref >> PID_SLOT_BITS != FAR_TABLE)) return NULL;
  void *entry = actl__slots_at(&vat->far_children, ref & (PID_SLOTS - 1));
  return entry;
}

static void set_older(struct vat *vat, actor_ref ref, actor_ref older) {
  struct far_child *far = actl__family_far(vat, ref);
  *(far != NULL ? &far->older : &actl__vat_at(vat, ref)->older) = older;
}

static void set_younger(struct vat *vat, actor_ref ref, actor_ref younger) {
  struct far_child *far = actl__family_far(vat, ref);
  *(far != NULL ? &far->younger : &actl__vat_at(vat, ref)->younger) = younger;
}

static actor_ref link_youngest(struct vat *vat, struct actor *parent, actor_ref ref) {
  actor_ref older = parent->child;
  if (older != 0) set_younger(vat, older, ref);
  parent->child = ref;
  return older;
}

static void unlink(struct vat *vat, struct actor *parent, struct siblings s) {
  if (s.older != 0) set_younger(vat, s.older, s.younger);
  if (s.younger != 0) {
    set_older(vat, s.younger, s.older);
  } else {
    parent->child = s.older;
  }
}

void actl__family_add_near(struct vat *vat, struct actor *parent, struct actor *child) {
  child->parent = actl__actor_ref(parent);
  child->older = link_youngest(vat, parent, actl__actor_ref(child));
}

void actl__family_remove_near(struct vat *vat, struct actor *child) {
  unlink(vat, actl__vat_at(vat, child->parent), (struct siblings){child->older, child->younger});
}

struct far_child *actl__family_get_far(struct vat *vat, uint64_t id) {
  return actl__slots_get(&vat->far_children, id);
}

struct far_child *actl__family_add_far(struct vat *vat, struct actor *parent, uint64_t *id) {
  struct far_child *child = actl__slots_new(&vat->far_children, &vat->arena, id);
  if (child == NULL) return NULL;
  if ((uint32_t)*id >= PID_SLOTS) {
    actl__slots_free(&vat->far_children, child);
    return NULL;
  }
  child->parent = parent;
  child->older = link_youngest(vat, parent, ref_of(vat, child));
  return child;
}

void actl__family_remove_far(struct vat *vat, struct far_child *child) {
  unlink(vat, child->parent, (struct siblings){child->older, child->younger});
  actl__slots_free(&vat->far_children, child);
}

void actl__family_prepare_gone(struct actl_msg *m, uint64_t parent, uint64_t entry) {
  m->header = actl__node_head(NODE_CHILD_GONE) | NODE_FAR;
  m->slot[NODE_ASK_SLOT] = entry;
  m->slot[NODE_TARGET_SLOT] = parent;
}

void actl__family_tell_gone(struct vat *vat, struct actl_msg *m, uint64_t child) {
  m->from = child;
  actl__vat_post(vat, m);
}
