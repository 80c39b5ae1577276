/*
 * story.h - what a trace tells of a run, checked as it comes.
 *
 * A story that is true has each actor born before it does anything, does nothing after its end, begins
 * one message at a time and is done with it, is told of a wait before it goes on, and sees no more
 * messages begun or buried than were sent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_STORY_H
#define ACTL_TESTS_ENGINE_STORY_H

#include "actl.h"

#include <pthread.h>
#include <stdbool.h>

struct hero;

/* One event, as the test reads it later. */
struct told {
  actl_event_kind kind;
  uint32_t vat;
  uint64_t time_ns;
  actl_pid actor, peer;
  actl_status status;
  int64_t first, second; /* the first two values of its message, -1 where they are no integers */
  bool has_msg;
  char text[80];
};

struct story {
  pthread_mutex_t lock;
  uint64_t n[ACTL_EVENT_KINDS];
  uint64_t begun_letters;     /* dead letters that were begun */
  uint64_t unwritten_letters; /* those that were never written */
  bool keeps;                 /* all events, in `told` */
  struct told *told;
  size_t n_told, room;
  struct hero *heroes;
  size_t n_heroes, capacity;
  unsigned wrong;
  char what[256]; /* the first thing that is wrong */
};

void story_init(struct story *story, bool keeps);
void story_fini(struct story *story);

/* For actl_config.trace. */
void story_tell(void *story, const actl_event *event);

/* That it is true so far, and tells no less than the statistics have; once nothing is under way
 * (`is_over`) no more either. */
void story_check(const struct story *story, const actl_stats *stats, bool is_over);

#endif
