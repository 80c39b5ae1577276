/*
 * wait.c - handlers that wait: for an answer, for time, for a message.
 *
 *   running  --park-->  parked  --answer-->  resumable  --its turn: resume-->  running
 *   running  --receive_wait-->  receiving  --a message, or time, and its turn-->  running
 *   parked, receiving  --it must stop: abandon-->  its coroutine is closed, then it stops
 *
 * A parked actor's messages do not make it ready. One that receives rests like any idle actor, so that
 * a message makes it ready at no cost to who sends; what it then does is told by a flag.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/seeded.h"
#include "actor/send.h"
#include "actor/timer.h"
#include "actor/trace.h"
#include "actor/turn.h"

/* ---- Parking ---- */

/* The body of a process has read what it was given: a million that wait keep no node each for it. */
static void drop_birth(struct vat *vat, const struct actor *a) {
  struct actl_msg *m = vat->msg;
  if ((a->flags & ACTOR_PROCESS) == 0 || m == NULL) return;
  if (actl__node_kind(m) != NODE_INIT && actl__node_kind(m) != NODE_SPAWN) return;
  vat->msg = NULL;
  actl__vat_free_node(vat, m);
}

/* What the actor was doing is put aside. */
static void leave(struct vat *vat, struct actor *a, void *waiter, enum wait wait,
                  uint64_t waits_for) {
  struct extra *extra = actl__extra_of(a);
  if (vat->answer != NULL) {
    actl__vat_free_node(vat, vat->answer);
    vat->answer = NULL;
  }
  drop_birth(vat, a);
  /* What waits for an answer that cannot come is told so when all is quiet, and not later. */
  if (vat->doing == DOING_STOP && wait != WAIT_SLICE)
    actl__timer_bound_hook(vat, a, wait != WAIT_ANSWER);
  extra->waiter = waiter;
  extra->wait = (uint8_t)wait;
  extra->waits_for = waits_for;
  extra->held = vat->msg;
  extra->held_doing = vat->doing;
  if (actl__vat_is_traced(vat)) actl__trace_wait(vat, a);
  vat->msg = NULL;
  vat->doing = DOING_NOTHING;
  actl__vat_leave(vat);
}

void actl__wait_park(struct vat *vat, struct actor *a, void *waiter, enum wait wait,
                     uint64_t waits_for) {
  leave(vat, a, waiter, wait, waits_for);
  a->phase = ACTOR_PARKED;
  /* Who comes next is free here, as it is after a delivery; giving way has counted as one. */
  bool has_counted = wait == WAIT_TURN || wait == WAIT_SLICE;
  if (!has_counted && ACTL_UNLIKELY(vat->is_seeded)) actl__seeded_check(vat);
  actl__life_heed_stop(vat, a);
  /* It was told to stop before, which takes effect at once where the handler waits. */
  if ((a->flags & ACTOR_ATTENTION) != 0 && a->phase == ACTOR_PARKED) actl__ready_last(vat, a);
}

static actl_status give_way(struct vat *vat, void *waiter, enum wait wait) {
  struct actor *a = vat->current;
  if (actl__extra(vat, a) == NULL) return ACTL_NO_MEMORY;
  /* A turn of nothing else comes to its end, too. */
  actl__turn_count_delivery(vat);
  actl__wait_park(vat, a, waiter, wait, 0);
  actl__wait_answer(vat, a, ACTL_OK, NULL);
  return ACTL_OK;
}

actl_status actl_turn_give_way(actl_ctx *ctx, void *waiter) {
  return give_way(actl__vat(ctx), waiter, WAIT_TURN);
}

actl_status actl_turn_preempt(actl_ctx *ctx, void *waiter) {
  return give_way(actl__vat(ctx), waiter, WAIT_SLICE);
}

/* A timer that ends the wait; ACTL_FOREVER: none. */
static actl_status set_end(struct vat *vat, struct actor *a, uint64_t ms, uint64_t *id) {
  *id = 0;
  if (actl__extra(vat, a) == NULL) return ACTL_NO_MEMORY;
  if (ms == ACTL_FOREVER) return ACTL_OK;
  *id = actl__timer_new_wait(vat, a, ms);
  return *id != 0 ? ACTL_OK : ACTL_NO_MEMORY;
}

actl_status actl_sleep_wait(actl_ctx *ctx, uint64_t ms, void *waiter) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  if (ms == 0) return actl_turn_give_way(ctx, waiter);

  uint64_t id;
  actl_status status = set_end(vat, a, ms, &id);
  if (status != ACTL_OK) return status;
  actl__wait_park(vat, a, waiter, WAIT_TIME, id);
  return ACTL_OK;
}

/* ---- Going on ---- */

void actl__wait_answer(struct vat *vat, struct actor *a, actl_status status, struct actl_msg *m) {
  /* Whoever waits for something that a shutdown ends is soon ended too: its wait has no end. */
  if (vat->is_shut && status != ACTL_OK && (a->flags & ACTOR_STOPPING) == 0) return;

  struct extra *extra = actl__extra_of(a);
  extra->answer = m;
  extra->answer_status = status;
  extra->waits_for = 0;
  a->flags |= ACTOR_RESUMABLE;
  if (a->phase == ACTOR_PARKED || a->phase == ACTOR_IDLE) actl__ready_last(vat, a);
}

static void resume(struct vat *vat, struct actor *a, actl_delivery *out) {
  struct extra *extra = actl__extra_of(a);
  a->flags &= (uint16_t)~ACTOR_RESUMABLE;
  vat->msg = extra->held;
  vat->doing = extra->held_doing;
  vat->answer = extra->answer;
  *out = (actl_delivery){.kind = ACTL_DELIVER_RESUME,
                         .status = extra->answer_status,
                         .word = a->word,
                         .msg = extra->answer,
                         .waiter = extra->waiter};
  extra->waiter = NULL;
  extra->held = extra->answer = NULL;
}

void actl__wait_resume(struct vat *vat, struct actor *a, actl_delivery *out) {
  resume(vat, a, out);
  if (actl__vat_is_traced(vat))
    actl__trace_resume(vat, a, out->msg != NULL ? out->msg->from : 0, out->status);
}

/* What the wait would have ended with is not to come any more. */
static void forget(struct vat *vat, struct extra *extra) {
  struct owned *ask =
      extra->wait == WAIT_ANSWER ? actl__owned_get(vat, OWNED_ASKS, extra->waits_for) : NULL;
  if (ask != NULL) {
    actl__ask_close(vat, ask);
  } else if (extra->waits_for != 0 && extra->wait != WAIT_ANSWER) {
    actl__timer_end(vat, extra->waits_for);
  }
  extra->waits_for = 0;
}

void actl__wait_abandon(struct vat *vat, struct actor *a, actl_delivery *out) {
  struct extra *extra = actl__extra_of(a);
  forget(vat, extra);
  if (extra->answer != NULL) actl__vat_free_node(vat, extra->answer);
  if (extra->held != NULL) actl__letter_delivered(vat, extra->held, ACTL_STOPPED);

  a->flags &= (uint16_t) ~(ACTOR_RESUMABLE | ACTOR_RECEIVING);
  *out = (actl_delivery){.kind = ACTL_DELIVER_ABANDON, .word = a->word, .waiter = extra->waiter};
  extra->waiter = NULL;
  extra->held = extra->answer = NULL;
  vat->doing = DOING_ABANDON;
}

/* ---- Receiving ---- */

/* The message that a process has now is done with. */
static void end_message(struct vat *vat) {
  struct actl_msg *m = vat->msg;
  vat->msg = NULL;
  if (m == NULL) return;
  if (actl__node_is_ask(m) && m->slot[NODE_ASK_SLOT] != 0) {
    actl__ask_fail(vat, m, ACTL_UNANSWERED);
  } else {
    actl__vat_free_node(vat, m);
  }
}

static bool is_next_traced(struct vat *vat, struct actl_msg *m) {
  if (actl__turn_skips(vat, m)) return false;
  actl__trace_begin(vat, m);
  return true;
}

/* The next message that is to be handled; NULL: none, or the actor has been told to stop. */
static struct actl_msg *take_message(struct vat *vat, struct actor *a) {
  for (struct actl_msg *m; (m = actl__mailbox_pop(a)) != NULL;) {
    if (ACTL_LIKELY(actl__node_is_plain(m))) {
      if (!actl__turn_skips(vat, m)) return m;
      continue;
    }
    unsigned kind = actl__node_kind(m);
    if (kind == NODE_STOP) {
      a->flags |= ACTOR_STOP_NOW;
      actl__vat_free_node(vat, m);
      return NULL;
    }
    if (kind == NODE_TIMER ? actl__timer_arrives(vat, m) : is_next_traced(vat, m)) return m;
  }
  return NULL;
}

static void begin_message(struct vat *vat, struct actl_msg *m) {
  vat->msg = m;
  vat->doing = DOING_MESSAGE;
  actl__turn_count_message(vat, m);
}

const actl_msg *actl_receive_next(actl_ctx *ctx) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  end_message(vat);
  actl__turn_count_delivery(vat);
  if ((a->flags & ACTOR_ATTENTION) != 0 || vat->budget <= 0) return NULL;

  struct actl_msg *m = take_message(vat, a);
  if (m != NULL) begin_message(vat, m);
  return m;
}

actl_status actl_receive_wait(actl_ctx *ctx, uint64_t timeout_ms, void *waiter) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  uint64_t id;
  actl_status status = set_end(vat, a, timeout_ms == 0 ? ACTL_FOREVER : timeout_ms, &id);
  if (status != ACTL_OK) return status;

  leave(vat, a, waiter, WAIT_MESSAGE, id);
  bool has_more = a->head != NULL || (a->flags & ACTOR_ATTENTION) != 0;
  a->flags |= ACTOR_RECEIVING;
  a->phase = ACTOR_IDLE;
  if (timeout_ms == 0) {
    actl__wait_answer(vat, a, ACTL_TIMEOUT, NULL);
  } else if (has_more) {
    actl__ready_last(vat, a);
  }
  return ACTL_OK;
}

bool actl__wait_receive(struct vat *vat, struct actor *a, actl_delivery *out) {
  struct extra *extra = actl__extra_of(a);
  struct actl_msg *m = take_message(vat, a);
  if ((a->flags & ACTOR_STOP_NOW) != 0) {
    actl__wait_abandon(vat, a, out);
    return true;
  }
  if (m == NULL && (a->flags & ACTOR_RESUMABLE) == 0) {
    a->phase = ACTOR_IDLE;
    actl__vat_leave(vat);
    return false;
  }

  a->flags &= (uint16_t)~ACTOR_RECEIVING;
  if (m != NULL) {
    forget(vat, extra);
    extra->answer_status = ACTL_OK;
  }
  /* That it goes on is told by the message, where there is one. */
  (m != NULL ? resume : actl__wait_resume)(vat, a, out);
  if (m != NULL) begin_message(vat, m);
  vat->doing = DOING_MESSAGE;
  out->msg = m;
  return true;
}
