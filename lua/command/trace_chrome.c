/*
 * trace_chrome.c - events in the Chrome trace format ("Trace Event Format", Google, 2016).
 *
 * The order that the engine promises tells which receive belongs to which send: the k-th message from
 * one actor to another that is begun, or is a dead letter, is the k-th that was sent. Threads of the
 * host are one sender here, and have no order among each other: their arrows may be exchanged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trace_chrome.h"

#include "command/json.h"

#include <stdlib.h>
#include <string.h>

enum {
  OUTSIDE = 100000, /* the process of what is no actor; a vat's is its number + 1: 0 is nobody's */
  FIRST_PAIRS = 64,
  ARROW_BITS = 26 /* of an arrow's id: which message of its pair; 53 bits are exact in a double */
};

struct trace_pair {
  uint64_t from, to;
  uint32_t number; /* counted from 1; 0: free */
  uint32_t sent, taken;
};

const char actl__trace_chrome_head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
const char actl__trace_chrome_foot[] = "\n]}\n";

void actl__trace_chrome_free(struct trace_chrome *chrome) {
  free(chrome->pairs);
  free(chrome->vats);
  *chrome = (struct trace_chrome){0};
}

/* ---- Pairs ---- */

static struct trace_pair *place_of(const struct trace_chrome *chrome, uint64_t from, uint64_t to) {
  uint32_t mask = chrome->capacity - 1;
  uint32_t i = (uint32_t)(((from * 31 + to) * 0x9E3779B97F4A7C15u) >> 32) & mask;
  struct trace_pair *pairs = chrome->pairs;
  while (pairs[i].number != 0 && (pairs[i].from != from || pairs[i].to != to)) i = (i + 1) & mask;
  return &pairs[i];
}

static void grow_pairs(struct trace_chrome *chrome) {
  struct trace_pair *old = chrome->pairs;
  uint32_t old_capacity = chrome->capacity;
  chrome->capacity = old_capacity == 0 ? FIRST_PAIRS : old_capacity * 2;
  size_t size = chrome->capacity * sizeof *chrome->pairs;
  chrome->pairs = actl__text_room(NULL, size);
  memset(chrome->pairs, 0, size);
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i].number != 0) *place_of(chrome, old[i].from, old[i].to) = old[i];
  free(old);
}

static struct trace_pair *pair_of(struct trace_chrome *chrome, actl_pid from, actl_pid to) {
  if ((chrome->n_pairs + 1) * 2 > chrome->capacity) grow_pairs(chrome);
  struct trace_pair *pair = place_of(chrome, from.bits, to.bits);
  if (pair->number == 0)
    *pair = (struct trace_pair){.from = from.bits, .to = to.bits, .number = ++chrome->n_pairs};
  return pair;
}

static uint64_t arrow_of(const struct trace_pair *pair, uint32_t k) {
  return (uint64_t)pair->number << ARROW_BITS | (k & ((1u << ARROW_BITS) - 1));
}

/* ---- Writing ---- */

/* What one call of print works on. */
struct page {
  struct trace_chrome *chrome;
  const struct trace_writer *to;
  const actl_event *event;
  uint64_t ns; /* since the first event */
};

static struct text *out_of(const struct page *page) { return page->to->out; }

static struct json open_object(const struct page *page) {
  struct text *out = out_of(page);
  if (page->chrome->has_event) actl__text_add(out, ",\n", 2);
  page->chrome->has_event = true;
  struct json json = {.out = out};
  actl__json_open(&json, NULL, '{');
  return json;
}

static void add_name_event(const struct page *page, const char *what, uint32_t process,
                           uint32_t thread, const char *name) {
  struct json json = open_object(page);
  actl__json_string(&json, "ph", "M");
  actl__json_string(&json, "name", what);
  actl__json_count(&json, "pid", process);
  actl__json_count(&json, "tid", thread);
  actl__json_open(&json, "args", '{');
  actl__json_string(&json, "name", name);
  actl__json_close(&json, '}');
  actl__json_close(&json, '}');
}

static void name_vat(const struct page *page, uint32_t vat, uint32_t process, uint32_t thread) {
  struct trace_chrome *chrome = page->chrome;
  uint32_t bit = vat == ACTL_VAT_ANY ? 0 : vat + 1, words = bit / 32 + 1;
  if (words > chrome->n_vats) {
    chrome->vats = actl__text_room(chrome->vats, words * sizeof *chrome->vats);
    memset(chrome->vats + chrome->n_vats, 0, (words - chrome->n_vats) * sizeof *chrome->vats);
    chrome->n_vats = words;
  }
  if ((chrome->vats[bit / 32] >> bit % 32 & 1) != 0) return;
  chrome->vats[bit / 32] |= 1u << bit % 32;
  char *name = vat == ACTL_VAT_ANY ? actl__text_copy("outside", 7)
                                   : actl__text_format("vat %u", (unsigned)vat);
  add_name_event(page, "process_name", process, thread, name);
  free(name);
}

static uint32_t process_of(const struct trace_actor *actor) {
  return actor->vat == ACTL_VAT_ANY ? (uint32_t)OUTSIDE : actor->vat + 1;
}

/* The actor, in whose own vat this happens; whoever is no actor is elsewhere. */
static struct trace_actor *find_actor(const struct page *page, actl_pid pid) {
  struct trace_actor *actor = actl__trace_names_get(page->to->names, pid);
  if (actor->is_placed) return actor;
  actor->is_placed = true;
  actor->vat = pid.bits == 0 ? ACTL_VAT_ANY : page->event->vat;
  name_vat(page, actor->vat, process_of(actor), actor->number);

  struct text name = {0};
  actl__trace_names_print(page->to->names, pid, &name);
  add_name_event(page, "thread_name", process_of(actor), actor->number, name.bytes);
  actl__text_free(&name);
  return actor;
}

/* Opens what happens on the actor's track now. */
static struct json open_event(const struct page *page, const struct trace_actor *actor,
                              const char *phase) {
  struct json json = open_object(page);
  actl__json_string(&json, "ph", phase);
  actl__json_number(&json, "ts", (double)page->ns / 1000, 0);
  actl__json_count(&json, "pid", process_of(actor));
  actl__json_count(&json, "tid", actor->number);
  return json;
}

/* `name` in front of what the message is. */
static void add_title(const struct page *page, struct json *json, const char *name) {
  struct text text = {0};
  struct trace_writer to = *page->to;
  to.out = &text;
  actl__text_print(&text, "%s", name);
  if (page->event->msg != NULL && page->event->kind != ACTL_EVENT_REPLY) {
    if (name[0] != '\0') actl__text_add(&text, " ", 1);
    actl__trace_values_name(&to, page->event->msg);
  }
  actl__json_bytes(json, "name", text.bytes, text.size);
  actl__text_free(&text);
}

static void add_pid(const struct page *page, struct json *json, const char *key, actl_pid pid) {
  struct text text = {0};
  actl__trace_names_print(page->to->names, pid, &text);
  actl__json_bytes(json, key, text.bytes, text.size);
  actl__text_free(&text);
}

static void add_values(const struct page *page, struct json *json) {
  if (page->event->msg == NULL) return;
  struct text text = {0};
  struct trace_writer to = *page->to;
  to.out = &text;
  actl__trace_values_print(&to, page->event->msg, page->event->kind != ACTL_EVENT_REPLY);
  actl__json_bytes(json, "message", text.bytes, text.size);
  actl__text_free(&text);
}

/* What belongs to the event, and closes it. `peer` NULL: the other one says nothing. */
static void close_event(const struct page *page, struct json *json, const char *peer) {
  const actl_event *event = page->event;
  actl__json_open(json, "args", '{');
  add_values(page, json);
  if (peer != NULL) add_pid(page, json, peer, event->peer);
  if (event->status != ACTL_OK) actl__json_string(json, "status", actl_status_name(event->status));
  if (event->text != NULL && event->kind != ACTL_EVENT_SPAWN)
    actl__json_string(json, "text", event->text);
  actl__json_close(json, '}');
  actl__json_close(json, '}');
}

static void add_point(const struct page *page, const struct trace_actor *actor, const char *name,
                      const char *peer) {
  struct json json = open_event(page, actor, "i");
  actl__json_string(&json, "s", page->event->kind == ACTL_EVENT_CLOCK ? "g" : "t");
  add_title(page, &json, name);
  close_event(page, &json, peer);
}

static void add_arrow(const struct page *page, const struct trace_actor *actor, const char *phase,
                      const char *what, uint64_t id) {
  struct json json = open_event(page, actor, phase);
  actl__json_string(&json, "name", what);
  actl__json_string(&json, "cat", what);
  actl__json_count(&json, "id", id);
  if (phase[0] == 'f') actl__json_string(&json, "bp", "e");
  actl__json_close(&json, '}');
}

/* ---- Slices ---- */

static void end_slice(const struct page *page, struct trace_actor *actor, const char *peer) {
  if (!actor->is_open) return;
  actor->is_open = false;
  struct json json = open_event(page, actor, "E");
  if (peer != NULL) {
    close_event(page, &json, peer);
  } else {
    actl__json_close(&json, '}');
  }
}

static void forget(struct trace_actor *actor) {
  free(actor->doing);
  actor->doing = NULL;
  actor->is_begun = false;
}

static void begin_message(const struct page *page) {
  const actl_event *event = page->event;
  struct trace_actor *actor = find_actor(page, event->actor);
  bool is_timer = event->kind == ACTL_EVENT_TIMER;
  end_slice(page, actor, NULL);
  forget(actor);
  struct text name = {0};
  struct trace_writer to = *page->to;
  to.out = &name;
  actl__trace_values_name(&to, event->msg);
  actor->doing = name.bytes;
  actor->is_begun = actor->is_open = true;
  actor->waits = false;

  struct json json = open_event(page, actor, "B");
  actl__json_string(&json, "name", actor->doing);
  actl__json_string(&json, "cat", actl_event_name(event->kind));
  close_event(page, &json, is_timer ? NULL : "from");
  if (is_timer) return;
  struct trace_pair *pair = pair_of(page->chrome, event->peer, event->actor);
  if (pair->taken < pair->sent) add_arrow(page, actor, "f", "message", arrow_of(pair, pair->taken));
  pair->taken++;
}

static void resume(const struct page *page) {
  struct trace_actor *actor = find_actor(page, page->event->actor);
  end_slice(page, actor, NULL);
  actor->is_open = true;
  actor->waits = false;
  struct json json = open_event(page, actor, "B");
  actl__json_string(&json, "name", actor->doing != NULL ? actor->doing : "resume");
  actl__json_string(&json, "cat", "resume");
  close_event(page, &json, NULL);
  if (actor->answer != 0) add_arrow(page, actor, "f", "answer", actor->answer);
  actor->answer = 0;
}

static void wait_for(const struct page *page) {
  struct trace_actor *actor = find_actor(page, page->event->actor);
  actor->waits = page->event->peer.bits != 0;
  end_slice(page, actor, actor->waits ? "waits for" : NULL);
}

static void end_message(const struct page *page) {
  struct trace_actor *actor = find_actor(page, page->event->actor);
  end_slice(page, actor, NULL);
  forget(actor);
}

/* ---- Messages ---- */

/* A slice of its own, however short, for an arrow to begin at. */
static void add_sending(const struct page *page, const struct trace_actor *actor,
                        const char *name) {
  struct json json = open_event(page, actor, "X");
  actl__json_number(&json, "dur", 0.001, 0);
  add_title(page, &json, name);
  actl__json_string(&json, "cat", actl_event_name(page->event->kind));
  close_event(page, &json, "to");
}

static void send_message(const struct page *page) {
  const actl_event *event = page->event;
  struct trace_actor *actor = find_actor(page, event->actor);
  add_sending(page, actor, actl_event_name(event->kind));
  struct trace_pair *pair = pair_of(page->chrome, event->actor, event->peer);
  add_arrow(page, actor, "s", "message", arrow_of(pair, pair->sent++));
}

static void reply(const struct page *page) {
  const actl_event *event = page->event;
  struct trace_actor *actor = find_actor(page, event->actor);
  struct trace_actor *asker = actl__trace_names_get(page->to->names, event->peer);
  add_sending(page, actor, event->status == ACTL_OK ? "reply" : "reply that it fails");
  if (!asker->waits || asker->answer != 0) return;
  asker->answer = ++page->chrome->n_arrows;
  add_arrow(page, actor, "s", "answer", asker->answer);
}

/* One that the actor had begun, or one that was waiting. */
static void bury(const struct page *page) {
  const actl_event *event = page->event;
  struct trace_actor *actor = actl__trace_names_get(page->to->names, event->actor);
  bool is_of_begun = event->status == ACTL_FAILED || event->status == ACTL_UNHANDLED ||
                     event->status == ACTL_STOPPED;
  if (actor->is_begun && is_of_begun) {
    end_slice(page, actor, NULL);
    forget(actor);
  } else if (event->msg != NULL) {
    struct trace_pair *pair = pair_of(page->chrome, event->peer, event->actor);
    if (pair->taken < pair->sent) pair->taken++;
  }
  if (!actor->is_placed) actor = find_actor(page, (actl_pid){0});
  add_point(page, actor, "dead letter", "from");
}

static void end_actor(const struct page *page) {
  struct trace_actor *actor = find_actor(page, page->event->actor);
  end_slice(page, actor, NULL);
  forget(actor);
  add_point(page, actor, page->event->status == ACTL_OK ? "exit" : "failed exit", NULL);
}

static void add_spawn(const struct page *page) {
  const actl_event *event = page->event;
  char *name = actl__text_format("spawn %s", event->text != NULL ? event->text : "an actor");
  add_point(page, find_actor(page, event->peer), name, NULL);
  free(name);
}

/* ---- An event ---- */

static uint64_t time_of(struct trace_chrome *chrome, const actl_event *event) {
  if (chrome->begin_ns == 0) {
    chrome->begin_ns = event->time_ns;
    chrome->last_ns = 0;
    return 0;
  }
  uint64_t ns = event->time_ns > chrome->begin_ns ? event->time_ns - chrome->begin_ns : 0;
  if (ns <= chrome->last_ns) ns = chrome->last_ns + 1;
  chrome->last_ns = ns;
  return ns;
}

void actl__trace_chrome_print(struct trace_chrome *chrome, const struct trace_writer *to,
                              const actl_event *event) {
  const struct page page = {chrome, to, event, time_of(chrome, event)};
  switch (event->kind) {
  case ACTL_EVENT_SPAWN: add_spawn(&page); break;
  case ACTL_EVENT_SEND:
  case ACTL_EVENT_ASK: send_message(&page); break;
  case ACTL_EVENT_RECEIVE:
  case ACTL_EVENT_TIMER: begin_message(&page); break;
  case ACTL_EVENT_HANDLED: end_message(&page); break;
  case ACTL_EVENT_REPLY: reply(&page); break;
  case ACTL_EVENT_WAIT: wait_for(&page); break;
  case ACTL_EVENT_RESUME: resume(&page); break;
  case ACTL_EVENT_STOP: add_point(&page, find_actor(&page, event->actor), "stop", "whom"); break;
  case ACTL_EVENT_EXIT: end_actor(&page); break;
  case ACTL_EVENT_LETTER: bury(&page); break;
  case ACTL_EVENT_CLOCK:
    add_point(&page, find_actor(&page, (actl_pid){0}), "the clock jumps", NULL);
    break;
  default: break;
  }
}

void actl__trace_chrome_end(struct trace_chrome *chrome, const struct trace_writer *to) {
  const actl_event none = {.vat = ACTL_VAT_ANY};
  const struct page page = {chrome, to, &none, chrome->last_ns + 1};
  for (uint32_t i = 0; i < to->names->capacity; i++)
    if (to->names->actors[i] != NULL) end_slice(&page, to->names->actors[i], NULL);
}
