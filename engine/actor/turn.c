/*
 * turn.c - which actor runs next, and with what.
 *
 * Native actors are run right here; for a driven one actl_turn_next hands the delivery to the driver
 * and keeps no frame: all it must remember is in the vat.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/send.h"
#include "actor/timer.h"
#include "actor/trace.h"
#include "actor/turn.h"

/* ---- Picking ---- */

/* The queue has had its share: from here on the stack comes first, and has a share of its own,
 * whatever one handler has used up. */
static ACTL_NOINLINE struct actor *leave_queue(struct vat *vat) {
  vat->is_gone_through = true;
  vat->queue_until = VAT_TURN;
  if (vat->turn_left < VAT_TURN / 4) vat->turn_left = VAT_TURN / 4;
  struct actor *a = actl__ready_pop_bottom(vat);
  return a != NULL ? a : actl__ready_pop_first(vat);
}

static inline struct actor *choose(struct vat *vat) {
  if (vat->turn_left > vat->queue_until) {
    struct actor *a = actl__ready_pop_first(vat);
    return a != NULL ? a : leave_queue(vat);
  }
  if (ACTL_UNLIKELY(!vat->is_gone_through)) return leave_queue(vat);
  struct actor *a = actl__ready_pop_top(vat);
  return ACTL_LIKELY(a != NULL) ? a : actl__ready_pop_first(vat);
}

/* The next actor becomes current; NULL: the turn is over. */
static inline struct actor *pick(struct vat *vat) {
  if (vat->turn_left <= 0 && vat->is_gone_through) return NULL;
  struct actor *a = choose(vat);
  if (a == NULL) return NULL;

  a->phase = ACTOR_RUNNING;
  vat->current = a;
  vat->budget = VAT_BUDGET;
  return a;
}

static inline void rest(struct vat *vat, struct actor *a) {
  a->phase = ACTOR_IDLE;
  actl__vat_leave(vat);
}

/* Whether the current actor must give way before its next message; then it has. */
static inline bool gives_way(struct vat *vat, struct actor *a) {
  if (ACTL_LIKELY(vat->budget > 0) || a->head == NULL) return false;
  actl__ready_last(vat, a);
  actl__vat_leave(vat);
  return true;
}

/* ---- Native actors ---- */

static void forget_text(struct vat *vat) {
  actl__arena_free(&vat->arena, (void *)(uintptr_t)vat->fail_text, vat->fail_size);
  vat->fail_text = NULL;
}

static ACTL_NOINLINE void native_failed(struct vat *vat, struct actor *a, actl_status status) {
  if (status == ACTL_UNHANDLED && vat->doing == DOING_MESSAGE) {
    struct actl_msg *m = vat->msg;
    vat->msg = NULL;
    actl__letter_delivered(vat, m, ACTL_UNHANDLED);
  } else {
    actl__life_fail(vat, a, status, vat->fail_text);
  }
  if (vat->fail_text != NULL) forget_text(vat);
}

/* The current message has been handled: an ask that is still open is answered with nothing. */
static inline void settle(struct vat *vat, struct actl_msg *m) {
  vat->msg = NULL;
  if (ACTL_UNLIKELY(actl__node_is_ask(m)) && m->slot[NODE_ASK_SLOT] != 0) {
    actl_status status = actl__ask_answer(vat, m, NULL, 0);
    if (status != ACTL_OK) {
      actl__ask_fail(vat, m, status);
      return;
    }
  }
  actl__vat_free_node(vat, m);
}

static inline void run_message(struct vat *vat, struct actor *a, void *state, struct actl_msg *m) {
  vat->msg = m;
  actl__turn_count_message(vat, m);
  actl_status status = a->behavior->receive(actl__ctx(vat), state, m);
  if (ACTL_UNLIKELY(status != ACTL_OK)) {
    native_failed(vat, a, status);
  } else {
    settle(vat, m);
  }
}

static actl_status call_reply(struct vat *vat, struct actor *a, struct actl_msg *m) {
  actl_ask_id id = {m->slot[NODE_ASK_SLOT]};
  bool is_answer = actl__node_kind(m) == NODE_REPLY;
  actl_status why = is_answer ? ACTL_OK : (actl_status)(int64_t)m->slot[0];
  vat->doing = DOING_REPLY;
  return a->behavior->reply(actl__ctx(vat), actl__actor_state(a), id, why, is_answer ? m : NULL);
}

static ACTL_NOINLINE actl_status call_reply_traced(struct vat *vat, struct actor *a,
                                                   struct actl_msg *m) {
  bool is_answer = actl__node_kind(m) == NODE_REPLY;
  actl__trace_resume(vat, a, m->from, is_answer ? ACTL_OK : (actl_status)(int64_t)m->slot[0]);
  actl_status status = call_reply(vat, a, m);
  if (status == ACTL_OK) actl__trace_end(vat, NULL);
  return status;
}

static actl_status call_special(struct vat *vat, struct actor *a, struct actl_msg *m) {
  unsigned kind = actl__node_kind(m);
  if (kind == NODE_INIT) {
    vat->doing = DOING_INIT;
    return a->behavior->init(actl__ctx(vat), actl__actor_state(a), m);
  }
  if (kind == NODE_STOP) {
    actl__life_stop(vat, a, ACTL_OK, NULL);
    return ACTL_OK;
  }
  if (a->behavior->reply == NULL) return ACTL_OK;
  return actl__vat_is_traced(vat) ? call_reply_traced(vat, a, m) : call_reply(vat, a, m);
}

/* A timer's message, or one that nothing but its trace makes special. false: it was no delivery. */
static ACTL_NOINLINE bool run_special_message(struct vat *vat, struct actor *a,
                                              struct actl_msg *m) {
  if (actl__node_kind(m) == NODE_TIMER) {
    if (actl__timer_arrives(vat, m)) run_message(vat, a, actl__actor_state(a), m);
    return true;
  }
  if (actl__turn_skips(vat, m)) return false;
  actl__trace_begin(vat, m);
  run_message(vat, a, actl__actor_state(a), m);
  return true;
}

/* false: it was no delivery. */
static ACTL_NOINLINE bool run_special(struct vat *vat, struct actor *a, struct actl_msg *m) {
  if (actl__node_kind(m) <= NODE_TIMER) return run_special_message(vat, a, m);
  vat->msg = m;
  actl_status status = call_special(vat, a, m);
  if (status != ACTL_OK) {
    native_failed(vat, a, status);
  } else {
    settle(vat, m);
  }
  vat->doing = DOING_MESSAGE;
  return true;
}

/* Runs the current actor until it rests, gives way or ends. */
ACTL_INLINE void run_native(struct vat *vat, struct actor *a) {
  void *state = actl__actor_state(a);
  vat->doing = DOING_MESSAGE;
  for (;;) {
    if (ACTL_UNLIKELY((a->flags & ACTOR_ATTENTION) != 0)) {
      actl_delivery none;
      bool is_driven = actl__life_step(vat, a, &none);
      ACTL_INVARIANT(!is_driven);
      if (vat->current != a) break;
      continue;
    }
    if (ACTL_UNLIKELY(gives_way(vat, a))) break;
    struct actl_msg *m = actl__mailbox_pop(a);
    if (m == NULL) {
      rest(vat, a);
      break;
    }
    if (ACTL_LIKELY(actl__node_is_plain(m))) {
      if (ACTL_UNLIKELY(actl__turn_skips(vat, m))) continue;
      run_message(vat, a, state, m);
    } else if (!run_special(vat, a, m)) {
      continue;
    }
    actl__turn_count_delivery(vat);
  }
}

/* Between the deliveries of driven actors. */
static ACTL_NOINLINE void run_native_between(struct vat *vat, struct actor *a) {
  run_native(vat, a);
}

bool actl__turn_natives(struct vat *vat) {
  for (struct actor *a; (a = pick(vat)) != NULL;) {
    if ((a->flags & ACTOR_DRIVEN) != 0) return true;
    run_native(vat, a);
  }
  return false;
}

/* ---- Driven actors ---- */

static void fill(struct vat *vat, struct actor *a, struct actl_msg *m, enum doing doing,
                 actl_delivery *out) {
  vat->msg = m;
  vat->doing = (uint8_t)doing;
  out->word = a->word;
  out->msg = m;
}

static inline void message_for_driver(struct vat *vat, struct actor *a, struct actl_msg *m,
                                      actl_delivery *out) {
  out->kind = ACTL_DELIVER_MESSAGE;
  out->is_ask = actl__node_is_ask(m);
  fill(vat, a, m, DOING_MESSAGE, out);
  actl__turn_count_message(vat, m);
}

/* true: `out` is filled. false: the message is done with. */
static bool special_for_driver(struct vat *vat, struct actor *a, struct actl_msg *m,
                               actl_delivery *out) {
  unsigned kind = actl__node_kind(m);
  *out = (actl_delivery){.kind = ACTL_DELIVER_INIT};
  if (kind <= NODE_TIMER) {
    bool is_next = kind == NODE_TIMER ? actl__timer_arrives(vat, m) : !actl__turn_skips(vat, m);
    if (!is_next) return false;
    if (kind <= NODE_ASK) actl__trace_begin(vat, m);
    message_for_driver(vat, a, m, out);
    return true;
  }
  if (kind == NODE_INIT) {
    /* The body of a process is no init: it may fail at any time. */
    fill(vat, a, m, (a->flags & ACTOR_PROCESS) != 0 ? DOING_MESSAGE : DOING_INIT, out);
    return true;
  }
  if (kind == NODE_SPAWN) {
    out->kind = ACTL_DELIVER_BORN;
    fill(vat, a, m, DOING_INIT, out);
    return true;
  }
  if (kind == NODE_STOP) actl__life_stop(vat, a, ACTL_OK, NULL);
  actl__vat_free_node(vat, m);
  return false;
}

/* The next delivery of the current actor; false: it has none, and is not current any more. */
static inline bool next_of(struct vat *vat, struct actor *a, actl_delivery *out) {
  for (;;) {
    if (ACTL_UNLIKELY((a->flags & ACTOR_ATTENTION) != 0)) {
      if (actl__life_step(vat, a, out)) return true;
      if (vat->current != a) return false;
      continue;
    }
    if (ACTL_UNLIKELY(gives_way(vat, a))) return false;
    struct actl_msg *m = actl__mailbox_pop(a);
    if (m == NULL) {
      rest(vat, a);
      return false;
    }
    if (ACTL_LIKELY(actl__node_is_plain(m))) {
      if (ACTL_UNLIKELY(actl__turn_skips(vat, m))) continue;
      message_for_driver(vat, a, m, out);
      return true;
    }
    if (special_for_driver(vat, a, m, out)) return true;
  }
}

bool actl_turn_next(actl_ctx *ctx, actl_delivery *out) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  for (;;) {
    if (a == NULL && (a = pick(vat)) == NULL) return false;
    if ((a->flags & ACTOR_DRIVEN) == 0) {
      run_native_between(vat, a);
    } else if (next_of(vat, a, out)) {
      return true;
    }
    a = NULL;
  }
}

static inline void end_delivery(struct vat *vat) {
  vat->doing = DOING_NOTHING;
  if (ACTL_UNLIKELY(vat->answer != NULL)) {
    actl__vat_free_node(vat, vat->answer);
    vat->answer = NULL;
  }
}

/* What the body of a process returns is no answer to what it received last. */
static ACTL_NOINLINE actl_status answer_driven(struct vat *vat, struct actl_msg *m,
                                               const actl_value *values, size_t n) {
  bool answers = (vat->current->flags & ACTOR_PROCESS) == 0;
  actl_status status = answers ? actl__ask_answer(vat, m, values, n) : ACTL_UNANSWERED;
  if (status == ACTL_OK) {
    actl__vat_free_node(vat, m);
  } else {
    actl__ask_fail(vat, m, status);
  }
  return status;
}

actl_status actl_turn_done(actl_ctx *ctx, const actl_value *values, size_t n) {
  struct vat *vat = actl__vat(ctx);
  struct actl_msg *m = vat->msg;
  uint8_t doing = vat->doing;
  actl_status status = ACTL_OK;

  vat->msg = NULL;
  if (ACTL_LIKELY(m != NULL)) {
    if (ACTL_UNLIKELY(actl__node_is_ask(m)) && m->slot[NODE_ASK_SLOT] != 0) {
      status = answer_driven(vat, m, values, n);
    } else {
      actl__vat_free_node(vat, m);
    }
  }
  end_delivery(vat);
  actl__turn_count_delivery(vat);
  if (ACTL_UNLIKELY(doing == DOING_STOP)) actl__life_end(vat, vat->current);
  return status;
}

void actl_turn_fail(actl_ctx *ctx, actl_status status, const char *text) {
  struct vat *vat = actl__vat(ctx);
  actl__life_fail(vat, vat->current, status, text);
  end_delivery(vat);
  if (vat->current != NULL) actl__turn_count_delivery(vat);
}

void actl_turn_unhandled(actl_ctx *ctx, const char *name, bool log) {
  struct vat *vat = actl__vat(ctx);
  struct actl_msg *m = vat->msg;
  vat->msg = NULL;
  if (log) {
    char who[160];
    actl__describe(vat, vat->current, who, sizeof who, NULL, 0);
    actl__log(vat->engine, ACTL_LOG_WARN, ACTL_LOG_UNANSWERED, "%s has no handler for \"%s\"", who,
              name);
  }
  actl__letter_delivered(vat, m, ACTL_UNHANDLED);
  end_delivery(vat);
  actl__turn_count_delivery(vat);
}

void actl_turn_set_word(actl_ctx *ctx, uint64_t word) {
  struct actor *a = actl__vat(ctx)->current;
  a->word = word;
  a->flags &= (uint16_t)~ACTOR_UNBORN;
}

uint64_t actl_turn_word(actl_ctx *ctx) { return actl__vat(ctx)->current->word; }

void actl_turn_set_hooks(actl_ctx *ctx, unsigned hooks) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  if ((hooks & ACTL_HAS_STOP) != 0) {
    a->flags &= (uint16_t)~ACTOR_HOOKED;
  } else {
    a->flags |= ACTOR_HOOKED;
  }
  if ((hooks & ACTL_IS_PROCESS) == 0) return;
  a->flags |= ACTOR_PROCESS;
  vat->doing = DOING_MESSAGE;
}

void *actl_turn_step_out(actl_ctx *ctx) {
  struct vat *vat = actl__vat(ctx);
  struct actor *a = vat->current;
  vat->current = NULL;
  return a;
}

void actl_turn_step_in(actl_ctx *ctx, void *actor) { actl__vat(ctx)->current = actor; }

bool actl_turn_has_actor(actl_ctx *ctx) { return actl__vat(ctx)->current != NULL; }

bool actl_turn_may_wait(actl_ctx *ctx) {
  const struct vat *vat = actl__vat(ctx);
  return vat->current != NULL && vat->doing != DOING_ABANDON && vat->doing != DOING_NOTHING;
}

bool actl_turn_is_overdrawn(actl_ctx *ctx) {
  return actl__vat(ctx)->budget <= VAT_BUDGET - VAT_OVERDRAFT;
}

bool actl_turn_is_idle(actl_ctx *ctx) {
  const struct vat *vat = actl__vat(ctx);
  return vat->queue == NULL && !actl__vat_has_stack(vat) && !actl__inbox_has(&vat->inbox);
}

/* ---- What a handler knows ---- */

actl_engine *actl_ctx_engine(actl_ctx *ctx) { return actl__vat(ctx)->engine; }
actl_pid actl_self(actl_ctx *ctx) { return (actl_pid){actl__vat_self(actl__vat(ctx))}; }
uint32_t actl_ctx_vat(actl_ctx *ctx) { return actl__vat(ctx)->number; }

actl_pid actl_sender(actl_ctx *ctx) {
  const struct vat *vat = actl__vat(ctx);
  uint64_t from = vat->msg != NULL ? vat->msg->from : 0;
  return (actl_pid){from != PID_OUTSIDE ? from : 0};
}

actl_cursor actl_msg_begin(const actl_msg *msg) {
  return (actl_cursor){.msg = msg, .at = NULL, .left = actl__node_count(msg), .slot = 0};
}

bool actl_msg_next(actl_cursor *cursor, actl_value *out) {
  const struct actl_msg *m = cursor->msg;
  if (cursor->left == 0) return false;

  cursor->left--;
  if (ACTL_LIKELY((m->header & NODE_CARE) == 0)) {
    out->type = actl__node_type(m, cursor->slot);
    out->as.bits = m->slot[cursor->slot++];
    return true;
  }
  return actl__node_read(m, &cursor->slot, &cursor->at, out);
}

bool actl_msg_is(actl_ctx *ctx, const actl_msg *msg, size_t i, actl_name name) {
  actl_value v = actl_msg_value(msg, i);
  if (v.type == ACTL_NAME) return v.as.name.id == name.id;
  if (v.type != ACTL_STRING) return false;
  return actl__names_equal(&actl__vat(ctx)->engine->names, name.id, v.as.bytes, v.size);
}

void actl_exit(actl_ctx *ctx, const char *text) {
  struct vat *vat = actl__vat(ctx);
  if (vat->current == NULL || (vat->current->flags & ACTOR_STOPPING) != 0) return;
  vat->current->flags |= ACTOR_EXIT;
  if (text != NULL) actl__life_keep_text(vat, vat->current, text);
}
