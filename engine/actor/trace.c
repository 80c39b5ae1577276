/*
 * trace.c - telling the host what happens.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/trace.h"

#include <stdio.h>
#include <string.h>

#include "actor/send.h"

enum { NAME_SIZE = 160, BEHAVIOR_SIZE = 96 };

static void tell(struct actl_engine *engine, actl_event *event) {
  const uint64_t nobody = PID_OUTSIDE;
  event->time_ns = actl__clock_now(&engine->clock);
  if (event->actor.bits == nobody) event->actor.bits = 0;
  if (event->peer.bits == nobody) event->peer.bits = 0;
  engine->trace(engine->trace_ud, event);
}

static actl_event event_of(const struct vat *vat, actl_event_kind kind, uint64_t actor,
                           uint64_t peer) {
  return (actl_event){.kind = kind, .vat = vat->number, .actor = {actor}, .peer = {peer}};
}

/* ---- Messages ---- */

void actl__trace_stop(struct vat *vat, uint64_t from, uint64_t to) {
  actl_event event = event_of(vat, ACTL_EVENT_STOP, from, to);
  tell(vat->engine, &event);
}

void actl__trace_send(struct vat *vat, uint64_t to, const struct actl_msg *m) {
  unsigned kind = actl__node_kind(m);
  if (kind > NODE_ASK) {
    actl__trace_stop(vat, m->from, to);
    return;
  }
  actl_event event =
      event_of(vat, kind == NODE_ASK ? ACTL_EVENT_ASK : ACTL_EVENT_SEND, m->from, to);
  event.msg = m;
  tell(vat->engine, &event);
}

void actl__trace_begin(struct vat *vat, const struct actl_msg *m) {
  bool is_timer = actl__node_kind(m) == NODE_TIMER;
  actl_event event =
      event_of(vat, is_timer ? ACTL_EVENT_TIMER : ACTL_EVENT_RECEIVE, actl__vat_self(vat), m->from);
  event.msg = m;
  tell(vat->engine, &event);
}

void actl__trace_end(struct vat *vat, const struct actl_msg *m) {
  if (m != NULL && actl__node_kind(m) > NODE_ASK) return;
  actl_event event = event_of(vat, ACTL_EVENT_HANDLED, actl__vat_self(vat), 0);
  tell(vat->engine, &event);
}

void actl__trace_reply(struct vat *vat, uint64_t asker, const struct actl_msg *m) {
  actl_event event = event_of(vat, ACTL_EVENT_REPLY, m->from, asker);
  if (actl__node_kind(m) == NODE_REPLY) {
    event.msg = m;
  } else {
    event.status = (actl_status)(int64_t)m->slot[0];
  }
  tell(vat->engine, &event);
}

/* ---- Waits ---- */

void actl__trace_wait(struct vat *vat, struct actor *a) {
  const struct extra *extra = actl__extra_of(a);
  const struct owned *ask =
      extra->wait == WAIT_ANSWER ? actl__owned_get(vat, OWNED_ASKS, extra->waits_for) : NULL;
  actl_event event = event_of(vat, ACTL_EVENT_WAIT, a->pid, ask != NULL ? ask->peer : 0);
  tell(vat->engine, &event);
}

void actl__trace_resume(struct vat *vat, const struct actor *a, uint64_t by, actl_status status) {
  actl_event event = event_of(vat, ACTL_EVENT_RESUME, a->pid, by);
  event.status = status;
  tell(vat->engine, &event);
}

/* ---- Births and deaths ---- */

/* What a driven actor is said to be, where that is a string. */
static const char *name_in(struct actl_engine *engine, const struct actl_msg *m, char *out,
                           size_t size) {
  actl_value value = actl_msg_value(m, 0);
  size_t n = value.size;
  const char *bytes = value.as.bytes;
  if (value.type == ACTL_NAME) bytes = actl_name_bytes(engine, value.as.name, &n);
  if (value.type != ACTL_NAME && value.type != ACTL_STRING) return "actor";
  (void)snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), bytes);
  return out;
}

void actl__trace_spawn(struct vat *vat, uint64_t pid) {
  char said[BEHAVIOR_SIZE], name[NAME_SIZE];
  struct actor *a = NULL;
  bool is_near = actl__vat_find(vat, pid, &a);
  ACTL_INVARIANT(is_near && a != NULL);
  if ((a->flags & ACTOR_UNBORN) != 0) {
    actl__describe_as(name_in(vat->engine, a->head, said, sizeof said), pid, name, sizeof name);
  } else {
    actl__describe(vat, a, name, sizeof name, NULL, 0);
  }
  actl_event event = event_of(vat, ACTL_EVENT_SPAWN, pid, actl__vat_self(vat));
  event.text = name;
  tell(vat->engine, &event);
}

static const char *name_of(struct actl_engine *engine, const struct actl_msg *m, char *out,
                           size_t size) {
  const actl_behavior *behavior = (const actl_behavior *)(uintptr_t)m->slot[NODE_WORD_SLOT];
  if (behavior == NULL) return name_in(engine, m, out, size);
  return behavior->name != NULL ? behavior->name : "actor";
}

static void tell_spawn_far(struct actl_engine *engine, actl_event event, const struct actl_msg *m) {
  char said[BEHAVIOR_SIZE], name[NAME_SIZE];
  actl__describe_as(name_of(engine, m, said, sizeof said), event.actor.bits, name, sizeof name);
  event.text = name;
  tell(engine, &event);
}

void actl__trace_spawn_far(struct vat *vat, uint64_t pid, const struct actl_msg *m) {
  tell_spawn_far(vat->engine, event_of(vat, ACTL_EVENT_SPAWN, pid, m->from), m);
}

void actl__trace_exit(struct vat *vat, const struct actor *a) {
  const struct extra *extra = actl__extra_of(a);
  actl_event event = event_of(vat, ACTL_EVENT_EXIT, a->pid, 0);
  if (extra != NULL) {
    event.status = extra->status;
    event.text = extra->text;
  }
  tell(vat->engine, &event);
}

void actl__trace_stillborn(struct vat *vat, uint64_t pid, actl_status status) {
  actl_event event = event_of(vat, ACTL_EVENT_EXIT, pid, 0);
  event.status = status;
  tell(vat->engine, &event);
}

/* ---- Dead letters ---- */

static void tell_letter(struct actl_engine *engine, actl_event event, struct actl_msg *m,
                        actl_status reason) {
  event.status = reason;
  event.msg = m;
  if (m != NULL) event.peer.bits = m->from;
  tell(engine, &event);
  if (m != NULL) m->header &= ~(uint64_t)NODE_TRACED;
}

void actl__trace_letter(struct vat *vat, uint64_t to, struct actl_msg *m, actl_status reason) {
  tell_letter(vat->engine, event_of(vat, ACTL_EVENT_LETTER, to, actl__vat_self(vat)), m, reason);
}

void actl__trace_letter_outside(struct actl_engine *engine, struct actl_msg *m,
                                actl_status reason) {
  const actl_event event = {
      .kind = ACTL_EVENT_LETTER, .vat = ACTL_VAT_ANY, .actor = {m->slot[NODE_TARGET_SLOT]}};
  tell_letter(engine, event, m, reason);
}

/* ---- Outside ---- */

void actl__trace_reply_outside(struct actl_engine *engine, const struct actl_msg *m) {
  actl_event event = {.kind = ACTL_EVENT_REPLY,
                      .vat = ACTL_VAT_ANY,
                      .peer = {m->slot[NODE_TARGET_SLOT]},
                      .status = (actl_status)(int64_t)m->slot[0]};
  tell(engine, &event);
}

void actl__trace_send_outside(struct actl_engine *engine, struct actl_msg *m) {
  unsigned kind = actl__node_kind(m);
  uint64_t to = m->slot[NODE_TARGET_SLOT];
  if (kind == NODE_SPAWN) {
    tell_spawn_far(engine,
                   (actl_event){.kind = ACTL_EVENT_SPAWN, .vat = ACTL_VAT_ANY, .actor = {to}}, m);
    return;
  }
  m->header |= NODE_TRACED;
  actl_event event = {.kind = kind == NODE_ASK ? ACTL_EVENT_ASK : ACTL_EVENT_SEND,
                      .vat = ACTL_VAT_ANY,
                      .peer = {to},
                      .msg = m};
  tell(engine, &event);
}

void actl__trace_clock(struct actl_engine *engine) {
  actl_event event = {.kind = ACTL_EVENT_CLOCK, .vat = ACTL_VAT_ANY};
  tell(engine, &event);
}
