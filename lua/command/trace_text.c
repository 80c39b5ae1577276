/*
 * trace_text.c - an event as a line of text: time, vat, actor, what, and the rest.
 *
 * What can be the same in two runs is the same: no addresses, and columns at the same places. The
 * actor's column is as wide as most names need; a longer one pushes the rest of its line to the right.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trace_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ACTOR_WIDTH = 26, KIND_WIDTH = 9 };

static void add_text(struct text *out, const char *text) {
  actl__text_add(out, text, strlen(text));
}

static void pad(struct text *out, size_t begin, size_t width) {
  while (out->size - begin < width) actl__text_add(out, " ", 1);
}

static void add_time(struct text *out, uint64_t time_ns, uint64_t begin_ns) {
  /* Another thread may have been told of what came a little earlier. */
  const char *sign = time_ns < begin_ns ? "-" : "";
  uint64_t ns = time_ns < begin_ns ? begin_ns - time_ns : time_ns - begin_ns;
  char text[32];
  snprintf(text, sizeof text, "%s%" PRIu64 ".%06u", sign, ns / 1000000, (unsigned)(ns % 1000000));
  actl__text_print(out, "%14s ms  ", text);
}

static void add_vat(struct text *out, uint32_t vat) {
  size_t begin = out->size;
  if (vat == ACTL_VAT_ANY) {
    add_text(out, "-");
  } else {
    actl__text_print(out, "vat %" PRIu32, vat);
  }
  pad(out, begin, 5);
  add_text(out, "  ");
}

static void add_actor(const struct trace_writer *to, const actl_event *event) {
  size_t begin = to->out->size;
  if (event->kind == ACTL_EVENT_CLOCK) {
    add_text(to->out, "-");
  } else {
    actl__trace_names_print(to->names, event->actor, to->out);
  }
  pad(to->out, begin, ACTOR_WIDTH);
  add_text(to->out, "  ");
}

static void add_peer(const struct trace_writer *to, const char *word, actl_pid peer) {
  add_text(to->out, word);
  actl__trace_names_print(to->names, peer, to->out);
}

/* The values, and who else has to do with them. */
static void add_message(const struct trace_writer *to, const actl_event *event, const char *word) {
  if (event->msg != NULL) {
    actl__trace_values_print(to, event->msg, event->kind != ACTL_EVENT_REPLY);
    add_text(to->out, "  ");
  }
  if (word != NULL) add_peer(to, word, event->peer);
}

/* The first line of what an actor failed of. */
static void add_reason(const struct trace_writer *to, const actl_event *event) {
  if (event->status != ACTL_OK) add_text(to->out, actl_status_name(event->status));
  if (event->text == NULL) return;
  if (event->status != ACTL_OK) add_text(to->out, ": ");
  actl__trace_values_escape(to->out, event->text, strcspn(event->text, "\n"));
}

static void add_rest(const struct trace_writer *to, const actl_event *event) {
  switch (event->kind) {
  case ACTL_EVENT_SPAWN: add_peer(to, "by ", event->peer); break;
  case ACTL_EVENT_SEND:
  case ACTL_EVENT_ASK: add_message(to, event, "to "); break;
  case ACTL_EVENT_RECEIVE: add_message(to, event, "from "); break;
  case ACTL_EVENT_TIMER: add_message(to, event, NULL); break;
  case ACTL_EVENT_REPLY:
    if (event->msg == NULL)
      actl__text_print(to->out, "fails: %s  ", actl_status_name(event->status));
    add_message(to, event, "to ");
    break;
  case ACTL_EVENT_WAIT:
    if (event->peer.bits != 0) add_peer(to, "for ", event->peer);
    break;
  case ACTL_EVENT_RESUME:
    if (event->status != ACTL_OK) add_text(to->out, actl_status_name(event->status));
    break;
  case ACTL_EVENT_STOP: add_peer(to, "", event->peer); break;
  case ACTL_EVENT_EXIT: add_reason(to, event); break;
  case ACTL_EVENT_LETTER:
    actl__text_print(to->out, "%s  ", actl_status_name(event->status));
    add_message(to, event, "from ");
    break;
  default: break;
  }
}

void actl__trace_text_print(const struct trace_writer *to, const actl_event *event,
                            uint64_t begin_ns) {
  struct text *out = to->out;
  add_time(out, event->time_ns, begin_ns);
  add_vat(out, event->vat);
  add_actor(to, event);
  size_t begin = out->size;
  add_text(out, actl_event_name(event->kind));
  pad(out, begin, KIND_WIDTH);
  add_rest(to, event);
  while (out->size > 0 && out->bytes[out->size - 1] == ' ') out->bytes[--out->size] = '\0';
}
