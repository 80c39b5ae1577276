/*
 * test_cancels.c - a cancelled timer's message never comes, also when it waits already, and the
 * timers of an actor that ended do not either.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

enum tag { GO = 1000, TIMER, LAST, BUSY, SET, ANSWERED, TRIAL /* and more */ };

enum { HOUR_MS = 3600000 };

static uint64_t pending(actl_ctx *ctx) {
  actl_stats stats;
  actl_ctx_stats(ctx, &stats);
  return stats.timers;
}

/* ---- Before and after ---- */

static void before_init(actl_ctx *ctx, struct part *self) {
  actl_timer timer = part_after(ctx, self, TIMER, 3), other = part_after(ctx, self, LAST, 30);
  self->timer = part_after(ctx, self, GO, 10);
  self->wrong += timer.bits == other.bits || timer.bits == self->timer.bits;
  self->number[0] = (int64_t)pending(ctx);
  self->status[0] = actl_cancel(ctx, timer);
  self->number[1] = (int64_t)pending(ctx);
  self->status[1] = actl_cancel(ctx, timer);
  self->status[2] = actl_cancel(ctx, (actl_timer){0});
  self->number[2] = (int64_t)pending(ctx);
}

static actl_status before_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == GO) self->status[3] = actl_cancel(ctx, self->timer);
  if (actl_msg_int(msg, 0, 0) == LAST) {
    self->status[4] = actl_cancel(ctx, self->timer);
    scene_tick(self->scene);
  }
  return ACTL_OK;
}

static void check_before(struct scene *scene) {
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->init = before_init;
  part->receive = before_receive;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  assert_int_equal(part_count(part, TIMER), 0);
  assert_int_equal(part->n_came, 2);
  assert_int_equal(part->status[0], ACTL_OK);
  for (int i = 1; i < 5; i++) assert_int_equal(part->status[i], ACTL_EXPIRED);
  assert_int_equal(part->number[0], 3);
  assert_int_equal(part->number[1], 2);
  assert_int_equal(part->number[2], 2);
  assert_int_equal(scene->host.stats.fired, 2);
  assert_int_equal(letters_of(&scene->host.stats), 0);
}

static void a_cancelled_timer_never_comes_and_one_that_came_cannot_be_cancelled(void **state) {
  (void)state;
  on_scenes(check_before);
}

/* ---- While its message waits ---- */

/* Tells itself without an end, so that a timer's message surely waits behind something. It cancels
 * the timer as soon as that is due, by the clock, plus some time of its own; whether the message
 * waits or has come then is told by what it has seen. */
enum { TRIALS = 60, QUEUED = 3 };

struct waiting {
  uint64_t due_ns, cancel_ns;
  int64_t trial, n_waited, n_came_first;
  bool came;
};

static void trial_start(actl_ctx *ctx, struct part *self) {
  struct waiting *waiting = self->ud;
  uint64_t ms = (uint64_t)(waiting->trial % 3);
  self->timer = part_after(ctx, self, TRIAL + waiting->trial, ms);
  waiting->due_ns = now_ns(ctx) + ms * NS_OF_MS;
  waiting->cancel_ns = waiting->due_ns + (uint64_t)(waiting->trial % 4) * NS_OF_MS;
  waiting->came = false;
}

static void trial_end(actl_ctx *ctx, struct part *self) {
  struct waiting *waiting = self->ud;
  actl_status status = actl_cancel(ctx, self->timer);
  if (status != (waiting->came ? ACTL_EXPIRED : ACTL_OK)) self->wrong++;
  if (!waiting->came) waiting->n_waited++;
  if (waiting->came) waiting->n_came_first++;
  if (++waiting->trial < TRIALS) {
    trial_start(ctx, self);
  } else {
    part_after(ctx, self, LAST, 5);
  }
}

static actl_status waiting_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  struct waiting *waiting = self->ud;
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag == GO) {
    trial_start(ctx, self);
    for (int i = 0; i < QUEUED; i++) part_tell(ctx, self, self->pid, BUSY);
  } else if (tag >= TRIAL) {
    if (waiting->came || tag != TRIAL + waiting->trial) self->wrong++;
    waiting->came = true;
  } else if (tag == BUSY && waiting->trial < TRIALS) {
    burn_until(ctx, now_ns(ctx) + NS_OF_MS / 4);
    if (now_ns(ctx) > waiting->cancel_ns) trial_end(ctx, self);
    part_tell(ctx, self, self->pid, BUSY);
  } else if (tag == LAST) {
    scene_tick(self->scene);
  }
  return ACTL_OK;
}

static void check_waiting(struct scene *scene) {
  struct waiting waiting = {0};
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->ud = &waiting;
  part->receive = waiting_receive;
  host_send(&scene->host, scene_enter(scene, 0, scene->vat), ACTL_VALUES(actl_int(GO)));
  scene_run(scene);
  assert_int_equal(waiting.trial, TRIALS);
  assert_int_equal(waiting.n_waited + waiting.n_came_first, TRIALS);
  assert_true(waiting.n_waited > 0);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, waiting.n_came_first + 1);
  assert_int_equal(letters_of(&scene->host.stats), 0);
}

static void a_cancel_is_final_while_the_message_waits(void **state) {
  (void)state;
  on_scenes(check_waiting);
}

/* ---- From other handlers, and of other actors ---- */

/* A friend gets the timers' bits and tries to cancel them; it also asks, so that there is a reply. */
static actl_status thief_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  uint64_t seed = 88172645463325252u;
  for (size_t i = 1; i <= 2; i++) {
    actl_timer timer = {(uint64_t)actl_msg_int(msg, i, 0)};
    self->number[0]++;
    self->wrong += actl_cancel(ctx, timer) != ACTL_EXPIRED;
  }
  for (uint64_t i = 0; i < 1000; i++) {
    actl_timer timer = {i < 500 ? i : random_next(&seed)};
    self->wrong += actl_cancel(ctx, timer) != ACTL_EXPIRED;
  }
  return ACTL_OK;
}

static void victim_init(actl_ctx *ctx, struct part *self) {
  actl_timer a = part_after(ctx, self, TIMER, 10), b = part_every(ctx, self, SET, 10, 0);
  self->timer = b;
  part_after(ctx, self, LAST, 30);
  actl_ask_id ask;
  /* Four values: with three they would be taken for a timer's. */
  actl_value values[] = {actl_int(GO), actl_int((int64_t)a.bits), actl_int((int64_t)b.bits),
                         actl_nil()};
  self->wrong += actl_ask(ctx, self->other, values, 4, &ask) != ACTL_OK;
}

static void victim_reply(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  self->wrong += answer->status != ACTL_OK;
  actl_timer timer = part_after(ctx, self, ANSWERED, 1);
  self->wrong += actl_cancel(ctx, timer) != ACTL_OK;
}

static actl_status victim_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST && part_count(self, SET) > 0 && self->n_answers > 0) {
    self->wrong += actl_cancel(ctx, self->timer) != ACTL_OK;
    scene_tick(self->scene);
  } else if (actl_msg_int(msg, 0, 0) == LAST) {
    part_after(ctx, self, LAST, 5);
  }
  return ACTL_OK;
}

static void check_thief(struct scene *scene) {
  struct part *victim = &scene->parts[0], *thief = &scene->parts[1];
  scene->awaited = 1;
  thief->receive = thief_receive;
  victim->other = scene_enter(scene, 1, scene->vat);
  victim->init = victim_init;
  victim->reply = victim_reply;
  victim->receive = victim_receive;
  scene_enter(scene, 0, 0);
  scene_run(scene);
  assert_int_equal(thief->number[0], 2);
  assert_int_equal(part_count(victim, TIMER), 1);
  assert_true(part_count(victim, SET) > 0);
  assert_int_equal(part_count(victim, ANSWERED), 0);
  assert_int_equal(victim->n_answers, 1);
  assert_int_equal(scene->host.stats.timers, 0);
}

static void nobody_else_can_cancel_a_timer(void **state) {
  (void)state;
  on_scenes(check_thief);
}

/* ---- Old names ---- */

enum { LIVES = 100000, KEPT = 64 };

/* Sets and cancels over and over, while one stands; the names of the old end nothing. */
static actl_status reuse_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag == TIMER) scene_tick(self->scene);
  if (tag != GO) return ACTL_OK;
  actl_timer old[KEPT] = {{0}};
  int64_t n = SIZED(LIVES, 100);
  for (int64_t i = 0; i < n; i++) {
    for (int j = 0; j < 2; j++) self->wrong += actl_cancel(ctx, old[(i + j) % KEPT]) == ACTL_OK;
    actl_timer timer = part_after(ctx, self, LAST, (uint64_t)i % 5);
    for (int j = 0; j < 2; j++) self->wrong += actl_cancel(ctx, old[(i + j) % KEPT]) == ACTL_OK;
    self->wrong += actl_cancel(ctx, timer) != ACTL_OK;
    old[i % KEPT] = timer;
  }
  self->timer = part_after(ctx, self, TIMER, 1);
  for (int j = 0; j < KEPT; j++) self->wrong += actl_cancel(ctx, old[j]) != ACTL_EXPIRED;
  return ACTL_OK;
}

static void check_reuse(struct scene *scene) {
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->receive = reuse_receive;
  host_send(&scene->host, scene_enter(scene, 0, scene->vat), ACTL_VALUES(actl_int(GO)));
  scene_run(scene);
  assert_int_equal(part_count(part, TIMER), 1);
  assert_int_equal(part_count(part, LAST), 0);
  assert_int_equal(scene->host.stats.fired, 1);
}

static void the_name_of_an_ended_timer_ends_no_other(void **state) {
  (void)state;
  on_scenes(check_reuse);
}

/* ---- Ends ---- */

enum end { BY_STOP, BY_STOP_NOW, BY_KILL, BY_FAILURE, BY_EXIT, BY_SHUTDOWN, ENDS };

enum { MORTAL_TIMERS = 300, MORTAL_EVERY = 10 };

/* Many timers of all times, some of them due at once. */
static void mortal_init(actl_ctx *ctx, struct part *self) {
  for (int64_t i = 0; i < MORTAL_TIMERS; i++) {
    uint64_t ms = i % 3 == 0 ? (uint64_t)i % 10 : i % 3 == 1 ? HOUR_MS : UINT64_C(1) << (i % 40);
    part_after(ctx, self, TIMER, ms);
  }
  for (uint64_t i = 0; i < MORTAL_EVERY; i++) {
    part_every(ctx, self, TIMER, i + 1, (unsigned)i % 4);
  }
  part_every(ctx, self, TIMER, HOUR_MS, 0);
}

/* Ends itself, after it has computed for so long that some timers are due. */
static actl_status mortal_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (self->n_stops > 0) self->wrong++;
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  burn_ms(ctx, 4);
  switch ((enum end)actl_msg_int(msg, 1, 0)) {
  case BY_STOP: return actl_stop(ctx, self->pid);
  case BY_STOP_NOW: return actl_stop_now(ctx, self->pid);
  case BY_KILL: return actl_kill(ctx, self->pid);
  case BY_FAILURE: return actl_fail(ctx, "it falls");
  case BY_SHUTDOWN: actl_engine_shutdown(actl_ctx_engine(ctx)); return ACTL_OK;
  default: actl_exit(ctx, NULL); return ACTL_OK;
  }
}

/* The other part ends it from elsewhere: it is told by the first's timers having been set. */
static actl_status killer_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  switch ((enum end)actl_msg_int(msg, 1, 0)) {
  case BY_STOP: return actl_stop(ctx, self->other);
  case BY_STOP_NOW: return actl_stop_now(ctx, self->other);
  default: return actl_kill(ctx, self->other);
  }
}

/* A third one waits a while longer, for what might still come. */
static void witness_init(actl_ctx *ctx, struct part *self) { part_after(ctx, self, TIMER, 30); }

static actl_status witness_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)ctx, (void)msg;
  scene_tick(self->scene);
  return ACTL_OK;
}

static void end_one(struct scene *scene, enum end end, bool by_itself) {
  struct part *part = &scene->parts[0];
  part->init = mortal_init;
  part->receive = mortal_receive;
  actl_pid pid = scene_enter(scene, 0, 0);
  scene->parts[1].receive = killer_receive;
  scene->parts[1].other = pid;
  actl_pid by = by_itself ? pid : scene_enter(scene, 1, scene->vat);
  scene->parts[2].init = witness_init;
  scene->parts[2].receive = witness_receive;
  scene_enter(scene, 2, scene->vat);
  host_send(&scene->host, by, ACTL_VALUES(actl_int(GO), actl_int(end)));
  scene->awaited = end == BY_SHUTDOWN ? 0 : 1;
  scene_run(scene); /* it would last an hour if one timer were left */
  assert_int_equal(scene->host.stats.timers, 0);
  bool was_born = part->pid.bits != 0; /* its end may have come before */
  assert_true(was_born || (!by_itself && end != BY_STOP));
  assert_int_equal(part->n_stops, end == BY_KILL || !was_born ? 0 : 1);
  assert_int_equal(part_count(part, GO), by_itself ? 1 : 0);
  assert_int_equal(part_count(part, TIMER) + by_itself, part->n_came);
  assert_int_equal(scene->host.stats.fired, part_count(part, TIMER) + scene->parts[2].n_came);
}

static void check_ends(struct scene *scene) {
  for (enum end end = BY_STOP; end < ENDS; end++) {
    for (int by_itself = 0; by_itself < 2; by_itself++) {
      if (end > BY_KILL && !by_itself) continue;
      struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
      end_one(own, end, by_itself != 0);
      scene_close(own);
    }
  }
}

static void the_timers_of_one_that_ended_are_gone(void **state) {
  (void)state;
  on_scenes(check_ends);
}

/* A parent that waits for its child's end has its timers still, but handles no message of them. */
static void slow_child_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)ctx, (void)reason;
  burn_ms(ctx, 5);
  scene_tick(self->scene);
}

static void parent_init(actl_ctx *ctx, struct part *self) {
  struct part *child = &self->scene->parts[1];
  child->stop = slow_child_stop;
  self->wrong += actl_spawn_on(ctx, self->scene->vat, &part_behavior, ACTL_VALUES(pointer(child)),
                               &self->other) != ACTL_OK;
  part_every(ctx, self, TIMER, 1, 0);
  part_after(ctx, self, TIMER, HOUR_MS);
  part_after(ctx, self, GO, 4);
}

static actl_status parent_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (self->number[0] != 0) self->wrong++;
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  self->number[0] = 1; /* nothing is handled from now on */
  return actl_stop_now(ctx, self->pid);
}

static void check_parent(struct scene *scene) {
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->init = parent_init;
  part->receive = parent_receive;
  scene_enter(scene, 0, 0);
  scene_run(scene);
  assert_int_equal(part->number[0], 1);
  assert_int_equal(part->n_stops, 1);
  assert_int_equal(scene->parts[1].n_stops, 1);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.alive, scene->is_loud ? 4 : 0);
}

static void one_that_is_stopping_handles_no_timer(void **state) {
  (void)state;
  on_scenes(check_parent);
}

/* Ended before its init was run, or by a failed one. */
static actl_status failing_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  for (uint64_t i = 0; i < 20; i++) {
    if (actl_every(ctx, 1 + i * 1000, 0, NULL, 0, NULL) != ACTL_OK) return ACTL_OK;
  }
  return actl_fail(ctx, "no");
}

static actl_status never_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  return actl_fail(ctx, "a message came");
}

static const actl_behavior failing = {
    .name = "failing", .init = failing_init, .receive = never_receive};

static void check_failed_init(struct scene *scene) {
  for (int i = 0; i < 10; i++) host_spawn(&scene->host, scene->vat, &failing, NULL, 0);
  scene_run(scene);
  assert_int_equal(scene->host.stats.failed, 10);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, 0);
}

static void the_timers_of_a_failed_init_are_gone(void **state) {
  (void)state;
  on_scenes(check_failed_init);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_cancelled_timer_never_comes_and_one_that_came_cannot_be_cancelled),
      WATCHED(a_cancel_is_final_while_the_message_waits),
      WATCHED(nobody_else_can_cancel_a_timer),
      WATCHED(the_name_of_an_ended_timer_ends_no_other),
      WATCHED(the_timers_of_one_that_ended_are_gone),
      WATCHED(one_that_is_stopping_handles_no_timer),
      WATCHED(the_timers_of_a_failed_init_are_gone),
  };
  return seeds_main(tests);
}
