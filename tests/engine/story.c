/*
 * story.c - see story.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct hero {
  uint64_t pid; /* 0: the place is free */
  bool is_born, is_dead, is_begun, waits, goes_on;
};

void story_init(struct story *story, bool keeps) {
  memset(story, 0, sizeof *story);
  story->keeps = keeps;
  pthread_mutex_init(&story->lock, NULL);
}

void story_fini(struct story *story) {
  free(story->told);
  free(story->heroes);
  pthread_mutex_destroy(&story->lock);
}

static void *room_for(void *old, size_t size) {
  void *room = realloc(old, size);
  if (room == NULL) abort();
  return room;
}

/* ---- Heroes ---- */

static struct hero *place_of(const struct story *story, uint64_t pid) {
  size_t i = (size_t)((pid * 0x9E3779B97F4A7C15u) >> 32) & (story->capacity - 1);
  while (story->heroes[i].pid != 0 && story->heroes[i].pid != pid)
    i = (i + 1) & (story->capacity - 1);
  return &story->heroes[i];
}

static void grow(struct story *story) {
  struct hero *old = story->heroes;
  size_t n = story->capacity;
  story->capacity = n == 0 ? 64 : n * 2;
  story->heroes = room_for(NULL, story->capacity * sizeof *old);
  memset(story->heroes, 0, story->capacity * sizeof *old);
  for (size_t i = 0; i < n; i++)
    if (old[i].pid != 0) *place_of(story, old[i].pid) = old[i];
  free(old);
}

static struct hero *hero_of(struct story *story, uint64_t pid) {
  if ((story->n_heroes + 1) * 2 > story->capacity) grow(story);
  struct hero *hero = place_of(story, pid);
  if (hero->pid == 0) story->n_heroes++;
  hero->pid = pid;
  return hero;
}

/* ---- Checking ---- */

static void expect(struct story *story, const actl_event *event, bool is, const char *what) {
  if (is) return;
  if (story->wrong++ != 0) return;
  snprintf(story->what, sizeof story->what, "%s of %llx, with %llx: %s",
           actl_event_name(event->kind), (unsigned long long)event->actor.bits,
           (unsigned long long)event->peer.bits, what);
}

static void bury(struct story *story, const actl_event *event, struct hero *hero) {
  bool is_of_begun = event->status == ACTL_FAILED || event->status == ACTL_UNHANDLED ||
                     event->status == ACTL_STOPPED;
  if (event->msg == NULL) {
    story->unwritten_letters++;
  } else if (hero->is_begun && is_of_begun) {
    hero->is_begun = false;
    story->begun_letters++;
  }
}

static void act(struct story *story, const actl_event *event, struct hero *hero) {
  switch (event->kind) {
  case ACTL_EVENT_RECEIVE:
  case ACTL_EVENT_TIMER:
    expect(story, event, !hero->is_begun, "begun before the last one was done");
    hero->is_begun = true;
    hero->waits = false;
    break;
  case ACTL_EVENT_HANDLED:
    expect(story, event, hero->is_begun || hero->goes_on, "nothing was begun");
    hero->is_begun = hero->goes_on = false;
    break;
  case ACTL_EVENT_WAIT:
    expect(story, event, !hero->waits, "it waits already");
    hero->waits = true;
    break;
  case ACTL_EVENT_RESUME:
    hero->waits = false;
    hero->goes_on = true;
    break;
  case ACTL_EVENT_EXIT:
    expect(story, event, !hero->is_begun, "not done with a message");
    hero->is_dead = true;
    break;
  default: break;
  }
}

/* Whether the event says what it must. */
static void check_shape(struct story *story, const actl_event *event) {
  actl_event_kind kind = event->kind;
  bool needs_msg = kind == ACTL_EVENT_SEND || kind == ACTL_EVENT_ASK ||
                   kind == ACTL_EVENT_RECEIVE || kind == ACTL_EVENT_TIMER ||
                   (kind == ACTL_EVENT_REPLY && event->status == ACTL_OK);
  expect(story, event, !needs_msg || event->msg != NULL, "no message");
  expect(story, event, kind != ACTL_EVENT_TIMER || event->peer.bits == event->actor.bits,
         "a timer of another");
  expect(story, event, kind != ACTL_EVENT_LETTER || event->status != ACTL_OK, "no reason");
}

/* What came from somewhere was sent before. */
static void check_sent(struct story *story, const actl_event *event) {
  uint64_t taken = story->n[ACTL_EVENT_RECEIVE] + story->n[ACTL_EVENT_LETTER] -
                   story->unwritten_letters - story->begun_letters;
  uint64_t sent = story->n[ACTL_EVENT_SEND] + story->n[ACTL_EVENT_ASK];
  expect(story, event, taken <= sent, "more than was sent");
}

static void check(struct story *story, const actl_event *event) {
  check_shape(story, event);
  if (event->actor.bits == 0) return;
  struct hero *hero = hero_of(story, event->actor.bits);
  if (event->kind == ACTL_EVENT_SPAWN) {
    expect(story, event, !hero->is_born, "born twice");
    expect(story, event, event->text != NULL && strchr(event->text, '<') != NULL, "no name");
    hero->is_born = true;
    return;
  }
  if (event->kind == ACTL_EVENT_LETTER) {
    bury(story, event, hero);
    return;
  }
  expect(story, event, hero->is_born, "not born");
  expect(story, event, !hero->is_dead, "dead");
  act(story, event, hero);
}

static void keep(struct story *story, const actl_event *event) {
  if (story->n_told == story->room) {
    story->room = story->room == 0 ? 256 : story->room * 2;
    story->told = room_for(story->told, story->room * sizeof *story->told);
  }
  struct told *told = &story->told[story->n_told++];
  *told = (struct told){event->kind,
                        event->vat,
                        event->time_ns,
                        event->actor,
                        event->peer,
                        event->status,
                        -1,
                        -1,
                        event->msg != NULL,
                        ""};
  if (event->msg != NULL) {
    told->first = actl_msg_int(event->msg, 0, -1);
    told->second = actl_msg_int(event->msg, 1, -1);
  }
  if (event->text != NULL) snprintf(told->text, sizeof told->text, "%s", event->text);
}

void story_tell(void *ud, const actl_event *event) {
  struct story *story = ud;
  pthread_mutex_lock(&story->lock);
  story->n[event->kind]++;
  check(story, event);
  check_sent(story, event);
  if (story->keeps) keep(story, event);
  pthread_mutex_unlock(&story->lock);
}

void story_check(const struct story *story, const actl_stats *stats, bool is_over) {
  if (story->wrong != 0) print_error("%u things are wrong, first: %s\n", story->wrong, story->what);
  assert_int_equal(story->wrong, 0);
  uint64_t letters = 0;
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) letters += stats->dead_letters[i];
  uint64_t begun = story->n[ACTL_EVENT_RECEIVE] + story->n[ACTL_EVENT_TIMER];

  assert_true(story->n[ACTL_EVENT_SPAWN] >= stats->spawned);
  assert_int_equal(story->n[ACTL_EVENT_EXIT], stats->stopped);
  assert_int_equal(story->n[ACTL_EVENT_TIMER], stats->fired);
  assert_int_equal(story->n[ACTL_EVENT_LETTER], letters);
  assert_int_equal(begun - story->begun_letters, stats->messages);
  if (!is_over) return;
  assert_int_equal(story->n[ACTL_EVENT_SPAWN], stats->spawned);
  assert_int_equal(story->n[ACTL_EVENT_SEND] + story->n[ACTL_EVENT_ASK],
                   story->n[ACTL_EVENT_RECEIVE] + letters - story->begun_letters -
                       story->unwritten_letters);
}
