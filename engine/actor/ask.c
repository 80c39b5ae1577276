/*
 * ask.c - asks and their answers.
 *
 *   open  --answer or failure arrives-->  resolved: the waiting handler goes on, or `reply` is called
 *         --its time is over-->           the same, with ACTL_TIMEOUT
 *         --the asker ends-->             gone
 *
 * A late answer finds no entry and is dropped. The message of an ask that has no entry any more is not
 * handled: near, the entry tells; far, the message says until when it is worth handling.
 *
 * The asker keeps an entry with an id; the message has the id in slot 3 (0: answered). On the other
 * side the ask is owned by exactly one thing: a mailbox, the delivery being handled, or a request
 * that was taken. Each of them fails it when it goes, and with a node that is there already, so that
 * a failure never needs memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/send.h"
#include "actor/timer.h"
#include "actor/trace.h"
#include <string.h>

/* ---- Asking ---- */

static actl_status why_not(const struct actor *target) {
  if (target == NULL) return ACTL_NO_ACTOR;
  return (target->flags & ACTOR_STOPPING) != 0 ? ACTL_STOPPED : ACTL_OK;
}

void actl__ask_close(struct vat *vat, struct owned *ask) {
  actl__timer_forget_ask(vat, ask);
  actl__owned_free(vat, OWNED_ASKS, ask);
}

uint64_t actl__ask_expiry(uint64_t now_ns, uint64_t timeout_ms) {
  const uint64_t mask = ((uint64_t)1 << NODE_AGE_BITS) - 1;
  if (timeout_ms >= (mask + 1) / 2) return 0;
  uint64_t expiry = (now_ns / 1000000 + timeout_ms + 1) & mask;
  return (expiry != 0 ? expiry : 1) << NODE_AGE_SHIFT;
}

static actl_status send_ask(struct vat *vat, uint64_t to, uint64_t id, uint64_t timeout_ms,
                            const actl_value *values, size_t n) {
  uint64_t head = actl__node_head(NODE_ASK);
  if (ACTL_LIKELY(actl__vat_is_open(vat, to)))
    return actl__send_near(vat, actl__records_find(&vat->records, to), head, id, values, n);
  head |= actl__ask_expiry(actl__vat_now(vat), timeout_ms) | (vat->age & NODE_TRACED);
  return actl__send_further(vat, to, head, id, values, n);
}

static actl_status open_ask(struct vat *vat, uint64_t to, const actl_value *values, size_t n,
                            uint64_t timeout_ms, uint64_t *id) {
  struct owned *entry = actl__owned_new(vat, vat->current, OWNED_ASKS, id);
  if (entry == NULL) return ACTL_NO_MEMORY;
  entry->peer = to;
  if (timeout_ms == 0) timeout_ms = vat->engine->ask_timeout_ms;
  if (!actl__timer_watch_ask(vat, entry, timeout_ms)) {
    actl__owned_free(vat, OWNED_ASKS, entry);
    return ACTL_NO_MEMORY;
  }

  actl_status status = send_ask(vat, to, *id, timeout_ms, values, n);
  if (status != ACTL_OK) actl__ask_close(vat, entry);
  vat->budget--;
  return status;
}

/* ACTL_OK: the target may answer. */
static actl_status check_target(struct vat *vat, actl_pid to) {
  struct actor *target = NULL;
  if (vat->current == NULL || (to.bits & PID_TOP) == 0) return ACTL_INVALID;
  if (to.bits == vat->current->pid) return ACTL_SELF;
  if (!actl__vat_find(vat, to.bits, &target)) return ACTL_OK;
  actl_status status = why_not(target);
  /* Near or far, an ask to the dead is a dead letter. */
  if (status != ACTL_OK) actl__letter_count(vat, to.bits, status);
  return status;
}

/* An own ask has failed: tells who asked, with a node that holds nothing, which is taken. */
static void fail_here(struct vat *vat, struct actl_msg *m, uint64_t id, uint64_t peer,
                      actl_status why) {
  m->header = actl__node_head(NODE_FAILURE);
  m->from = peer;
  m->slot[0] = (uint64_t)(int64_t)why;
  m->slot[NODE_ASK_SLOT] = id;
  actl__ask_resolve(vat, m);
}

/* An ask that fails before it was sent still comes back as a delivery. */
static actl_status fail_own(struct vat *vat, actl_pid to, actl_status why, actl_ask_id *out) {
  uint64_t id;
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;
  struct owned *entry = actl__owned_new(vat, vat->current, OWNED_ASKS, &id);
  if (entry == NULL) {
    actl__vat_give_blank(vat, m);
    return ACTL_NO_MEMORY;
  }

  fail_here(vat, m, id, to.bits, why);
  out->bits = id;
  return ACTL_OK;
}

actl_status actl_ask_within(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                            uint64_t timeout_ms, actl_ask_id *out) {
  struct vat *vat = actl__vat(ctx);
  actl_status status = check_target(vat, to);
  if (status == ACTL_NO_ACTOR || status == ACTL_STOPPED) return fail_own(vat, to, status, out);
  if (status != ACTL_OK) return status;

  uint64_t id;
  status = open_ask(vat, to.bits, values, n, timeout_ms, &id);
  if (status == ACTL_OK) out->bits = id;
  return status;
}

actl_status actl_ask(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                     actl_ask_id *out) {
  return actl_ask_within(ctx, to, values, n, 0, out);
}

actl_status actl_ask_wait(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                          uint64_t timeout_ms, void *waiter) {
  struct vat *vat = actl__vat(ctx);
  actl_status status = check_target(vat, to);
  if (status != ACTL_OK) return status;
  struct actor *a = vat->current;
  if (actl__extra(vat, a) == NULL) return ACTL_NO_MEMORY;

  uint64_t id = 0;
  bool is_told = (a->flags & (ACTOR_STOP_NOW | ACTOR_KILL | ACTOR_EXIT)) != 0;
  if (!is_told) status = open_ask(vat, to.bits, values, n, timeout_ms, &id);
  if (status == ACTL_OK) actl__wait_park(vat, a, waiter, WAIT_ANSWER, id);
  return status;
}

/* ---- Being given up ---- */

bool actl__ask_is_given_up(struct vat *vat, const struct actl_msg *m) {
  uint64_t id = m->slot[NODE_ASK_SLOT];
  if (id == 0) return true;
  if ((m->header & NODE_FAR) == 0) return actl__owned_get(vat, OWNED_ASKS, id) == NULL;

  /* The two clocks are one; the vat's was read when its turn began. */
  uint32_t expiry = (uint32_t)(m->header >> NODE_AGE_SHIFT);
  uint32_t now = (uint32_t)(vat->age >> NODE_AGE_SHIFT);
  return expiry != 0 && (int32_t)((expiry - now) << (32 - NODE_AGE_BITS)) < 0;
}

/* ---- Answers arriving ---- */

static bool is_waited_for(const struct actor *a, uint64_t id) {
  const struct extra *extra = actl__extra_of(a);
  return extra->waits_for == id && extra->wait == WAIT_ANSWER;
}

void actl__ask_resolve(struct vat *vat, struct actl_msg *m) {
  struct owned *entry = actl__owned_get(vat, OWNED_ASKS, m->slot[NODE_ASK_SLOT]);
  if (entry == NULL) {
    vat->stats.late_replies++;
    actl__vat_free_node(vat, m);
    return;
  }

  struct actor *a = entry->owner;
  bool waits = is_waited_for(a, m->slot[NODE_ASK_SLOT]);
  actl__ask_close(vat, entry);
  if (!waits) {
    if (actl__mailbox_push(a, m)) actl__ready_last(vat, a);
  } else if (actl__node_kind(m) == NODE_REPLY) {
    actl__wait_answer(vat, a, ACTL_OK, m);
  } else {
    actl_status status = (actl_status)(int64_t)m->slot[0];
    actl__vat_free_node(vat, m);
    actl__wait_answer(vat, a, status, NULL);
  }
}

bool actl__ask_time_out(struct vat *vat, struct owned *ask) {
  uint64_t id = actl__slots_id(&vat->owned[OWNED_ASKS], ask);
  struct actor *a = ask->owner;
  if (is_waited_for(a, id)) {
    actl__ask_close(vat, ask);
    actl__wait_answer(vat, a, ACTL_TIMEOUT, NULL);
  } else {
    struct actl_msg *m = actl__pool_take(&vat->pool);
    if (m == NULL) return false;
    fail_here(vat, m, id, ask->peer, ACTL_TIMEOUT);
  }
  vat->stats.timeouts++;
  return true;
}

/* ---- Answering ---- */

static ACTL_NOINLINE void hand_over_looking(struct vat *vat, struct actl_msg *m, uint64_t asker) {
  struct actor *a = NULL;
  if (actl__vat_is_traced(vat)) actl__trace_reply(vat, asker, m);
  if (actl__vat_find(vat, asker, &a)) {
    actl__ask_resolve(vat, m);
  } else {
    m->slot[NODE_TARGET_SLOT] = asker;
    actl__vat_post(vat, m);
  }
}

/* Hands a node with an answer to the asker, near or far. */
static void hand_over(struct vat *vat, struct actl_msg *m, uint64_t asker, uint64_t id) {
  m->from = actl__vat_self(vat);
  m->slot[NODE_ASK_SLOT] = id;
  if (ACTL_LIKELY(actl__vat_is_open(vat, asker))) {
    actl__ask_resolve(vat, m);
  } else if (actl__vat_door_tells(vat)) {
    m->slot[NODE_TARGET_SLOT] = asker;
    actl__vat_post(vat, m);
  } else {
    hand_over_looking(vat, m, asker);
  }
}

static actl_status reply_to(struct vat *vat, uint64_t asker, uint64_t id, const actl_value *values,
                            size_t n) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;

  bool is_near = actl__vat_is_home(vat, asker);
  uint64_t head = actl__node_head(NODE_REPLY) | vat->age | (is_near ? 0 : NODE_FAR);
  actl_status status = actl__node_write(m, head, values, n, NODE_ASK_SLOT, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  vat->budget--;
  hand_over(vat, m, asker, id);
  return ACTL_OK;
}

/* The node is taken. */
static void fail_to(struct vat *vat, struct actl_msg *m, uint64_t asker, uint64_t id,
                    actl_status status) {
  m->header = actl__node_head(NODE_FAILURE) | (m->header & NODE_FAR);
  m->slot[0] = (uint64_t)(int64_t)status;
  if (!actl__vat_is_home(vat, asker)) m->header |= NODE_FAR;
  hand_over(vat, m, asker, id);
}

void actl__ask_fail(struct vat *vat, struct actl_msg *m, actl_status status) {
  uint64_t id = m->slot[NODE_ASK_SLOT];
  bool is_begun = (m->header & NODE_TRACED) != 0;
  actl__node_clear(m, &vat->engine->mem);
  if (id == 0) {
    actl__pool_give(&vat->pool, m);
  } else {
    fail_to(vat, m, m->from, id, status);
  }
  if (ACTL_UNLIKELY(is_begun)) actl__trace_end(vat, NULL);
}

actl_status actl__ask_answer(struct vat *vat, struct actl_msg *m, const actl_value *values,
                             size_t n) {
  if (m == NULL || !actl__node_is_ask(m)) return ACTL_INVALID;
  uint64_t id = m->slot[NODE_ASK_SLOT];
  if (id == 0) return ACTL_EXPIRED;

  actl_status status = reply_to(vat, m->from, id, values, n);
  if (status == ACTL_OK) m->slot[NODE_ASK_SLOT] = 0;
  return status;
}

actl_status actl_reply(actl_ctx *ctx, const actl_value *values, size_t n) {
  struct vat *vat = actl__vat(ctx);
  return actl__ask_answer(vat, vat->msg, values, n);
}

/* ---- Requests ---- */

actl_status actl_later(actl_ctx *ctx, actl_request *out) {
  struct vat *vat = actl__vat(ctx);
  struct actl_msg *m = vat->msg;
  if (m == NULL || vat->current == NULL || !actl__node_is_ask(m)) return ACTL_INVALID;
  if (m->slot[NODE_ASK_SLOT] == 0) return ACTL_EXPIRED;

  uint64_t id;
  struct actl_msg *node = actl__pool_take(&vat->pool);
  if (node == NULL) return ACTL_NO_MEMORY;
  node->header = 0;
  struct owned *entry = actl__owned_new(vat, vat->current, OWNED_REQUESTS, &id);
  if (entry == NULL) {
    actl__pool_give(&vat->pool, node);
    return ACTL_NO_MEMORY;
  }
  entry->peer = m->from;
  entry->key = m->slot[NODE_ASK_SLOT];
  entry->node = node;
  m->slot[NODE_ASK_SLOT] = 0;
  out->bits = id;
  return ACTL_OK;
}

void actl__request_drop(struct vat *vat, struct owned *request, actl_status status) {
  struct actl_msg *node = request->node;
  uint64_t asker = request->peer, id = request->key;
  actl__owned_free(vat, OWNED_REQUESTS, request);
  fail_to(vat, node, asker, id, status);
}

actl_status actl_request_reply(actl_ctx *ctx, actl_request request, const actl_value *values,
                               size_t n) {
  struct vat *vat = actl__vat(ctx);
  struct owned *entry = actl__owned_get(vat, OWNED_REQUESTS, request.bits);
  if (entry == NULL) return ACTL_EXPIRED;

  uint64_t asker = entry->peer, id = entry->key;
  actl_status status = reply_to(vat, asker, id, values, n);
  if (status != ACTL_OK) return status;
  actl__pool_give(&vat->pool, entry->node);
  actl__owned_free(vat, OWNED_REQUESTS, entry);
  return ACTL_OK;
}

actl_status actl_request_fail(actl_ctx *ctx, actl_request request, actl_status status) {
  struct vat *vat = actl__vat(ctx);
  struct owned *entry = actl__owned_get(vat, OWNED_REQUESTS, request.bits);
  if (entry == NULL) return ACTL_EXPIRED;
  if (status == ACTL_OK) return ACTL_INVALID;
  actl__request_drop(vat, entry, status);
  return ACTL_OK;
}

/* ---- Deadlocks ---- */

enum { NAME_SIZE = 160, WHERE_SIZE = 160 };

static void describe_peer(struct vat *vat, uint64_t pid, char *out, size_t size) {
  struct vat_number number = actl__number(vat->engine, actl__pid_vat(pid));
  struct actor *a = number.vat != NULL ? actl__records_find(number.records, pid) : NULL;
  if (a != NULL) {
    actl__describe(number.vat, a, out, size, NULL, 0);
  } else {
    (void)strncpy(out, "an actor that is gone", size);
  }
}

static void report_stuck(struct vat *vat, const struct owned *entry) {
  char name[NAME_SIZE], where[WHERE_SIZE] = "", peer[NAME_SIZE];
  actl__describe(vat, entry->owner, name, sizeof name, where, sizeof where);
  describe_peer(vat, entry->peer, peer, sizeof peer);
  actl__log(vat->engine, ACTL_LOG_ERROR, ACTL_LOG_STUCK,
            "deadlock: %s waits%s%s for an answer of %s, which cannot come", name,
            where[0] != '\0' ? " at " : "", where, peer);
}

/* Nothing runs, so the target's mailbox may be searched for the ask, wherever it is: when its turn
 * comes, nobody will wait for the answer. */
static void withdraw(struct vat *vat, const struct owned *entry, uint64_t id) {
  struct vat_number number = actl__number(vat->engine, actl__pid_vat(entry->peer));
  struct actor *target =
      number.vat != NULL ? actl__records_find(number.records, entry->peer) : NULL;
  if (target == NULL) return;
  for (struct actl_msg *m = target->head; m != NULL; m = actl__node_next(m))
    if (actl__node_is_ask(m) && m->from == entry->owner->pid && m->slot[NODE_ASK_SLOT] == id)
      m->slot[NODE_ASK_SLOT] = 0;
}

static bool fail_hopeless(struct vat *vat, struct owned *entry) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return false;

  uint64_t id = actl__slots_id(&vat->owned[OWNED_ASKS], entry);
  report_stuck(vat, entry);
  withdraw(vat, entry, id);
  vat->stats.deadlocks++;
  fail_here(vat, m, id, entry->peer, ACTL_DEADLOCK);
  return true;
}

bool actl__ask_fail_hopeless(struct vat *vat) {
  struct slots *asks = &vat->owned[OWNED_ASKS];
  bool any = false;
  for (uint32_t i = 0; i < asks->n_touched; i++) {
    struct slot *slot = actl__slots_at(asks, i);
    if ((slot->serial & 1) != 0) any |= fail_hopeless(vat, (struct owned *)(void *)slot);
  }
  return any;
}
