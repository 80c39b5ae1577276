/*
 * saga.h - a program for engines with a seed: actors in several vats that send, ask, set and cancel
 * timers, spawn and stop one another, as a generator of their own says, and keep a journal. What the
 * engine promises is checked as it goes; what it is free to do makes one journal differ from another.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_SAGA_H
#define ACTL_TESTS_ENGINE_SAGA_H

#include "engine/host.h"

enum { LIVES = 48, JOURNAL = 20000, SAGA_ASKS = 2000, SAGA_TIMERS = 2000 };

/* What is promised, and broken so often. */
struct broken {
  int64_t order; /* messages of one sender to one receiver */
  int64_t birth; /* init is first, and comes once */
  int64_t stop;  /* a stop comes behind what was sent before, its hook runs once and is the last */
  int64_t children; /* they end before their parent, the last born first */
  int64_t asks;     /* each is answered once */
  int64_t timers;   /* those of one actor come in the order of their times, never early, and once */
  int64_t cancels;  /* a timer that was cancelled does not come */
  int64_t calls;    /* something failed that must not fail */
};

struct entry {
  uint64_t at_ns, pid;
  int64_t what, a, b;
};

struct saga_ask {
  uint64_t bits;
  int asker, n_answers;
};

struct saga_timer {
  uint64_t bits, due_ms;
  int owner;
  bool is_cancelled, has_come;
};

struct life {
  struct saga *saga;
  actl_pid pid;
  uint64_t random;
  int parent;                            /* -1: none */
  int children[LIVES], n_children;       /* in the order of their births */
  int32_t sent_to[LIVES], had_of[LIVES]; /* messages, by the other's number */
  int32_t must_have;  /* of its parent's, before it stops; 0: it was not told to */
  int64_t stopped_at; /* a number that grows; 0: it has not */
  bool knows[LIVES];  /* by a message; nobody else's pid is used, however it lies open here */
  bool is_born, was_told, has_left, has_request;
  actl_request request;
  int last_timer; /* that came; -1: none */
};

struct saga {
  struct host host;
  struct life lives[LIVES];
  int n_lives;
  int64_t left; /* things that may still be begun */
  int64_t n_stops;
  bool is_closing;
  uint64_t n_sent; /* messages and asks */
  struct broken broken;
  struct entry journal[JOURNAL];
  int n_entries;
  struct saga_ask asks[SAGA_ASKS];
  int n_asks;
  struct saga_timer timers[SAGA_TIMERS];
  int n_timers;
};

/* An engine with that config, and a root actor in it that has not run yet. It may begin `left` things. */
struct saga *saga_open(const actl_config *config, int64_t left);

/* Checks a saga that has been run till it was quiet: no promise was broken, all asks were answered, all
 * messages are accounted for. */
void saga_check(struct saga *saga);

/* Shuts it down and frees it, having checked that no promise was broken. */
void saga_close(struct saga *saga);

bool saga_equals(const struct saga *a, const struct saga *b);

#endif
