/*
 * send.c - messages to actors: near ones are linked, far ones are put on their way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/send.h"

#include "actor/trace.h"

/* ---- Near and far ---- */

ACTL_INLINE actl_status send_far(struct vat *vat, uint64_t to, uint64_t head, uint64_t id,
                                 const actl_value *values, size_t n, bool is_traced) {
  if ((to & PID_TOP) == 0) return ACTL_INVALID;
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;
  if (vat->pool.free != NULL) actl__node_fetch_ahead(m, vat->pool.free);

  unsigned room = id != 0 ? NODE_ASK_SLOT : NODE_TARGET_SLOT;
  if (id == 0) head |= vat->age;
  actl_status status = actl__node_write(m, head | NODE_FAR, values, n, room, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  m->from = actl__vat_self(vat);
  if (id != 0) m->slot[NODE_ASK_SLOT] = id;
  m->slot[NODE_TARGET_SLOT] = to;
  if (is_traced) actl__trace_send(vat, to, m);
  actl__vat_post(vat, m);
  return ACTL_OK;
}

/* A message to somebody who is not there still has to be one that can be sent. */
static actl_status send_nobody(struct vat *vat, uint64_t to, const actl_value *values, size_t n) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;

  actl_status status =
      actl__node_write(m, actl__node_head(NODE_MESSAGE), values, n, NODE_SLOTS, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__pool_give(&vat->pool, m);
    return status;
  }
  m->from = actl__vat_self(vat);
  if (actl__vat_is_traced(vat)) actl__trace_send(vat, to, m);
  actl__letter(vat, m, to, ACTL_NO_ACTOR);
  return ACTL_OK;
}

ACTL_INLINE actl_status send_near(struct vat *vat, struct actor *a, uint64_t head, uint64_t id,
                                  const actl_value *values, size_t n, bool is_traced) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (ACTL_UNLIKELY(m == NULL)) return ACTL_NO_MEMORY;

  unsigned room = id != 0 ? NODE_ASK_SLOT : NODE_SLOTS;
  actl_status status = actl__node_write(m, head | vat->age, values, n, room, &vat->engine->mem);
  if (ACTL_UNLIKELY(status != ACTL_OK)) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  m->from = actl__vat_self(vat);
  if (id != 0) m->slot[NODE_ASK_SLOT] = id;
  if (is_traced) actl__trace_send(vat, a->pid, m);
  if (actl__mailbox_push(a, m)) actl__ready_top(vat, a);
  return ACTL_OK;
}

actl_status actl__send_near(struct vat *vat, struct actor *a, uint64_t head, uint64_t id,
                            const actl_value *values, size_t n) {
  return send_near(vat, a, head, id, values, n, false);
}

/* Where the door does not tell who is near. */
static ACTL_NOINLINE actl_status send_looking(struct vat *vat, uint64_t to, uint64_t head,
                                              uint64_t id, const actl_value *values, size_t n) {
  bool is_traced = actl__vat_is_traced(vat);
  struct actor *a = NULL;
  if (!actl__vat_find(vat, to, &a)) return send_far(vat, to, head, id, values, n, is_traced);
  if (a == NULL) return send_nobody(vat, to, values, n);
  const uint64_t expiry = (((uint64_t)1 << NODE_AGE_BITS) - 1) << NODE_AGE_SHIFT;
  return send_near(vat, a, head & ~expiry, id, values, n, is_traced);
}

ACTL_INLINE actl_status send_further(struct vat *vat, uint64_t to, uint64_t head, uint64_t id,
                                     const actl_value *values, size_t n) {
  return actl__vat_door_tells(vat) ? send_far(vat, to, head, id, values, n, false)
                                   : send_looking(vat, to, head, id, values, n);
}

actl_status actl__send_further(struct vat *vat, uint64_t to, uint64_t head, uint64_t id,
                               const actl_value *values, size_t n) {
  return send_further(vat, to, head, id, values, n);
}

static ACTL_NOINLINE actl_status send_message_further(struct vat *vat, uint64_t to,
                                                      const actl_value *values, size_t n) {
  return send_further(vat, to, actl__node_head(NODE_MESSAGE), 0, values, n);
}

/* ---- Sending ---- */

actl_status actl_send(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n) {
  struct vat *vat = actl__vat(ctx);

  vat->budget--;
  if (ACTL_UNLIKELY(!actl__vat_is_open(vat, to.bits)))
    return send_message_further(vat, to.bits, values, n);
  struct actor *a = actl__records_find(&vat->records, to.bits);
  if (ACTL_UNLIKELY(a == NULL)) return send_nobody(vat, to.bits, values, n);
  return actl__send_near(vat, a, actl__node_head(NODE_MESSAGE), 0, values, n);
}

void actl_flush(actl_ctx *ctx) {
  struct vat *vat = actl__vat(ctx);
  actl__vat_flush(vat);
  actl__sched_share(vat->worker);
}

/* ---- Stopping others ---- */

static actl_status tell(actl_ctx *ctx, actl_pid pid, enum node_kind kind, uint16_t flag) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = NULL;
  bool is_traced = actl__vat_is_traced(vat);
  if (!actl__vat_find(vat, pid.bits, &a))
    return send_far(vat, pid.bits, actl__node_head(kind), 0, NULL, 0, is_traced);
  if (is_traced && (a == NULL || flag != 0)) actl__trace_stop(vat, actl__vat_self(vat), pid.bits);
  if (a == NULL) return ACTL_OK;
  if (flag == 0) {
    actl_status status = send_near(vat, a, actl__node_head(kind), 0, NULL, 0, is_traced);
    if (status == ACTL_OK) actl__life_heed_stop(vat, a);
    return status;
  }
  actl__life_tell(vat, a, flag);
  return ACTL_OK;
}

actl_status actl_stop(actl_ctx *ctx, actl_pid pid) { return tell(ctx, pid, NODE_STOP, 0); }

actl_status actl_stop_now(actl_ctx *ctx, actl_pid pid) {
  return tell(ctx, pid, NODE_STOP_NOW, ACTOR_STOP_NOW);
}

actl_status actl_kill(actl_ctx *ctx, actl_pid pid) { return tell(ctx, pid, NODE_KILL, ACTOR_KILL); }
