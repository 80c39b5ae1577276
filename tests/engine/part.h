/*
 * part.h - native actors that play a part which a test writes for them, on a scene: an engine, where
 * the second party lives, and whether there is noise.
 *
 * A message is (tag, ...). Each part writes down what comes to it and when. A timer set with part_after
 * or part_every brings (tag, clock before the call, milliseconds), and that it is not early and comes
 * from the actor itself is checked for every one of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_PART_H
#define ACTL_TESTS_ENGINE_PART_H

#include "engine/host.h"

enum { CAME_MAX = 2048, PARTS = 8, STATUSES = 32, NS_OF_MS = 1000000 };

struct scene;
struct part;

/* One message. */
struct came {
  int64_t tag;
  uint64_t at_ns;
};

/* One answer. */
struct answer {
  actl_ask_id ask;
  actl_status status;
  int64_t value;
  uint64_t at_ns;
};

/* Written by its actor only, once that is spawned. */
struct part {
  /* What it does beside taking notes; each may be NULL. */
  void (*init)(actl_ctx *ctx, struct part *self);
  actl_status (*receive)(actl_ctx *ctx, struct part *self, const actl_msg *msg);
  void (*reply)(actl_ctx *ctx, struct part *self, const struct answer *answer);
  void (*stop)(actl_ctx *ctx, struct part *self, const actl_reason *reason);
  void *ud;
  struct scene *scene;
  actl_pid pid, other;

  int64_t n_came, n_answers, n_stops, wrong;
  struct came came[CAME_MAX]; /* the first of them */
  struct answer answers[CAME_MAX];
  int64_t by_status[STATUSES]; /* answers, by minus their status */

  /* For the test's own use. */
  actl_timer timer;
  actl_status status[STATUSES];
  uint64_t at_ns[STATUSES];
  int64_t number[STATUSES];
};

struct scene {
  struct host host;
  uint32_t workers, vat; /* `vat`: of the second party; the first lives in vat 0 */
  bool is_loud;
  unsigned awaited;     /* scene_tick is called so often before it is over */
  atomic_uint ticks;    /* any thread */
  atomic_uint gave_up;  /* of what waits for the end, past the deadline */
  uint64_t deadline_ns; /* 0: with a seed, where the watchdog alone knows of time */
  struct part parts[PARTS];
};

/* What a message does: notes, checks, and calls `receive`. */
extern const actl_behavior part_behavior;

/* Sets a timer, which must succeed. */
actl_timer part_after(actl_ctx *ctx, struct part *self, int64_t tag, uint64_t ms);
actl_timer part_every(actl_ctx *ctx, struct part *self, int64_t tag, uint64_t ms, unsigned options);

/* Sends (tag), which must succeed. */
void part_tell(actl_ctx *ctx, struct part *self, actl_pid to, int64_t tag);

/* Asks (tag) and waits so long, which must succeed. */
actl_ask_id part_ask(actl_ctx *ctx, struct part *self, actl_pid to, int64_t tag, uint64_t ms);

/* How many messages of that tag came, and when the first did (0: none). */
int64_t part_count(const struct part *part, int64_t tag);
uint64_t part_first(const struct part *part, int64_t tag);

/* Two vats unless `config` says more; it may be NULL. */
struct scene *scene_open(uint32_t workers, uint32_t vat, bool is_loud, const actl_config *config);

/* Spawns part number `i`. */
actl_pid scene_enter(struct scene *scene, int i, uint32_t vat);

/* One of the ticks that the scene awaits; and whether it has had them all, or has waited too long. */
void scene_tick(struct scene *scene);
bool scene_is_over(struct scene *scene);

/* Has an actor of vat 1 keep the run alive, with a plain timer, until the scene is over. */
void scene_keep(struct scene *scene);

/* Runs until it is quiet; a loud scene until it is over, too. */
void scene_run(struct scene *scene);

/* Frees it and checks what always holds. */
void scene_close(struct scene *scene);

/* Plays it near and far, silent and loud, with one worker and two. */
typedef void scene_test(struct scene *scene);
void on_scenes(scene_test *test);
void on_scenes_with(scene_test *test, const actl_config *config);

#endif
