/*
 * test_repeats.c - repeating timers keep their phase, skip what was missed, have at most one message
 * waiting, and end when told.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum tag { GO = 1000, EVERY, BUSY, LAST };

/* When a repeating timer was set: by the clock before, and after with the resolution added. */
struct phase {
  uint64_t from_ns, to_ns, ms;
};

/* The time `n` periods on, at the earliest. */
static uint64_t phase_time(const struct phase *phase, uint64_t n) {
  return phase->from_ns + n * phase->ms * NS_OF_MS;
}

/* The first of its times after `ns`, at the earliest. */
static uint64_t phase_after(const struct phase *phase, uint64_t ns) {
  uint64_t since = ns > phase->to_ns ? ns - phase->to_ns : 0;
  return phase_time(phase, since / (phase->ms * NS_OF_MS) + 1);
}

static void phase_start(actl_ctx *ctx, struct part *self, struct phase *phase, uint64_t ms,
                        unsigned options) {
  phase->ms = ms;
  phase->from_ns = now_ns(ctx);
  self->timer = part_every(ctx, self, EVERY, ms, options);
  phase->to_ns = now_ns(ctx) + NS_OF_MS;
}

/* Ends it for good, from its own handler. */
static void phase_stop(actl_ctx *ctx, struct part *self) {
  self->wrong += actl_cancel(ctx, self->timer) != ACTL_OK;
  self->wrong += actl_cancel(ctx, self->timer) != ACTL_EXPIRED;
  part_after(ctx, self, LAST, 10);
}

/* ---- Time after time ---- */

enum { REPEATS = 40 };

static void steady_init(actl_ctx *ctx, struct part *self) {
  phase_start(ctx, self, self->ud, (uint64_t)self->number[0], (unsigned)self->number[1]);
}

static actl_status steady_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST) {
    scene_tick(self->scene);
  } else if (self->n_came == REPEATS) {
    phase_stop(ctx, self);
  }
  return ACTL_OK;
}

static void check_steady(struct scene *scene) {
  struct phase phases[4];
  scene->awaited = 4;
  for (int i = 0; i < 4; i++) {
    struct part *part = &scene->parts[i];
    part->ud = &phases[i];
    part->number[0] = i < 2 ? 1 : 2 + i;
    part->number[1] = i % 2 ? ACTL_TIMER_DELAY : 0;
    part->init = steady_init;
    part->receive = steady_receive;
    scene_enter(scene, i, scene->vat);
  }
  scene_run(scene);
  for (int i = 0; i < 4; i++) {
    const struct part *part = &scene->parts[i];
    assert_int_equal(part_count(part, EVERY), REPEATS);
    assert_int_equal(part_count(part, LAST), 1);
    for (uint64_t n = 0; n < REPEATS; n++) {
      assert_true(part->came[n].at_ns >= phase_time(&phases[i], n + 1));
    }
  }
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, 4 * (REPEATS + 1));
}

static void a_repeating_timer_comes_time_after_time_and_never_early(void **state) {
  (void)state;
  on_scenes(check_steady);
}

/* ---- Missed ---- */

/* The first message is computed for five periods, and the clock noted. */
static actl_status slow_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST) {
    scene_tick(self->scene);
  } else if (self->n_came == 1) {
    burn_ms(ctx, 5 * (uint64_t)self->number[0] + 1);
    self->at_ns[0] = now_ns(ctx);
  } else if (self->n_came == 4) {
    phase_stop(ctx, self);
  }
  return ACTL_OK;
}

static void check_missed(struct scene *scene) {
  for (int64_t ms = 1; ms <= 4; ms += 3) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    struct phase phase;
    struct part *part = &own->parts[0];
    own->awaited = 1;
    part->ud = &phase;
    part->number[0] = ms;
    part->init = steady_init;
    part->receive = slow_receive;
    scene_enter(own, 0, own->vat);
    scene_run(own);
    assert_int_equal(part_count(part, EVERY), 4);
    /* One may have waited: what came after it is of a later time. */
    uint64_t next = phase_after(&phase, part->at_ns[0]);
    assert_true(part->came[2].at_ns >= next);
    assert_true(part->came[3].at_ns >= next + (uint64_t)ms * NS_OF_MS);
    scene_close(own);
  }
}

static void a_handler_that_takes_five_periods_is_given_one_message_for_them(void **state) {
  (void)state;
  on_scenes(check_missed);
}

/* Its own messages keep it from the timer's for many periods. */
enum { BUSY_MESSAGES = 12 };

static actl_status blocked_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  switch (actl_msg_int(msg, 0, 0)) {
  case GO:
    for (int i = 0; i < BUSY_MESSAGES; i++) part_tell(ctx, self, self->pid, BUSY);
    phase_start(ctx, self, self->ud, 2, 0);
    break;
  case BUSY:
    burn_ms(ctx, 2);
    self->at_ns[0] = now_ns(ctx);
    break;
  case EVERY:
    if (++self->number[0] == 3) phase_stop(ctx, self);
    break;
  default: scene_tick(self->scene);
  }
  return ACTL_OK;
}

static void check_blocked(struct scene *scene) {
  struct phase phase;
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->ud = &phase;
  part->receive = blocked_receive;
  host_send(&scene->host, scene_enter(scene, 0, scene->vat), ACTL_VALUES(actl_int(GO)));
  scene_run(scene);
  assert_int_equal(part->n_came, 1 + BUSY_MESSAGES + 3 + 1);
  for (int i = 1; i <= BUSY_MESSAGES; i++) assert_int_equal(part->came[i].tag, BUSY);
  uint64_t next = phase_after(&phase, part->at_ns[0]);
  assert_true(part->came[BUSY_MESSAGES + 2].at_ns >= next);
  assert_true(part->came[BUSY_MESSAGES + 3].at_ns >= next + 2 * NS_OF_MS);
}

static void at_most_one_message_of_a_repeating_timer_waits(void **state) {
  (void)state;
  on_scenes(check_blocked);
}

/* ---- Phase and delay ---- */

enum { BEATS = 12, BEAT_MS = 10, COMPUTES_MS = 4 };

static actl_status beat_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST) return ACTL_OK;
  int64_t n = self->n_came - 1;
  burn_ms(ctx, COMPUTES_MS);
  if (n + 1 == BEATS) phase_stop(ctx, self);
  self->at_ns[n] = now_ns(ctx); /* the last it does before it returns */
  return ACTL_OK;
}

/* When the last of its beats came, counted from its start. */
static uint64_t beats_ns(struct scene *scene, unsigned options) {
  struct phase phase;
  struct scene *own = scene_open(scene->workers, scene->vat, false, NULL);
  struct part *part = &own->parts[0];
  part->ud = &phase;
  part->number[0] = BEAT_MS;
  part->number[1] = options;
  part->init = steady_init;
  part->receive = beat_receive;
  scene_enter(own, 0, own->vat);
  scene_run(own);
  assert_int_equal(part_count(part, EVERY), BEATS);
  uint64_t last_ns = part->came[BEATS - 1].at_ns - phase.from_ns;
  for (int n = 1; n < BEATS && options == ACTL_TIMER_DELAY; n++) {
    assert_true(part->came[n].at_ns >= part->at_ns[n - 1] + BEAT_MS * NS_OF_MS);
  }
  scene_close(own);
  return last_ns;
}

/* A timer that began its period anew each time would need so long at least. */
static const uint64_t drifted_ns =
    (BEATS * BEAT_MS + (BEATS - 1) * COMPUTES_MS) * (uint64_t)NS_OF_MS;

static void check_phase(struct scene *scene) {
  if (scene->is_loud) return;
  uint64_t deadline = now_ns(NULL) + UINT64_C(8000) * NS_OF_MS, best = UINT64_MAX;
  while (best >= drifted_ns && now_ns(NULL) < deadline) {
    uint64_t took = beats_ns(scene, 0);
    assert_true(took >= (uint64_t)BEATS * BEAT_MS * NS_OF_MS);
    if (took < best) best = took;
  }
  assert_true(best < drifted_ns); /* on a busy machine not each time, but once at least */
}

static void the_times_of_a_repeating_timer_keep_their_phase(void **state) {
  (void)state;
  on_scenes(check_phase);
}

static void check_delay(struct scene *scene) {
  assert_true(beats_ns(scene, ACTL_TIMER_DELAY) >= drifted_ns);
}

static void a_delayed_timer_begins_its_period_when_the_message_has_been_handled(void **state) {
  (void)state;
  on_scenes(check_delay);
}

/* ---- In the background ---- */

static void quiet_init(actl_ctx *ctx, struct part *self) {
  unsigned options = ACTL_TIMER_BACKGROUND | (unsigned)self->number[1];
  for (uint64_t ms = 1; ms < 5000000; ms *= 7) part_every(ctx, self, EVERY, ms, options);
}

static void check_background(struct scene *scene) {
  for (int i = 0; i < 2; i++) {
    scene->parts[i].init = quiet_init;
    scene->parts[i].number[1] = i ? ACTL_TIMER_DELAY : 0;
    scene_enter(scene, i, i == 0 ? 0 : scene->vat);
  }
  scene_run(scene); /* would never return if they kept it alive */
  assert_int_equal(scene->host.stats.timers, 2 * 8);
  assert_int_equal(scene->host.stats.alive, scene->is_loud ? 6 : 2);
}

static void background_timers_do_not_keep_a_run_alive(void **state) {
  (void)state;
  on_scenes(check_background);
}

static void companion_init(actl_ctx *ctx, struct part *self) {
  phase_start(ctx, self, self->ud, 2, (unsigned)self->number[1]);
}

static actl_status companion_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)ctx, (void)msg;
  if (self->n_came == 5) scene_tick(self->scene);
  return ACTL_OK;
}

/* While something else keeps the run alive, they come; and again in a later run. */
static void check_companion(struct scene *scene) {
  struct phase phase;
  struct part *part = &scene->parts[0];
  part->ud = &phase;
  part->number[1] = ACTL_TIMER_BACKGROUND;
  part->init = companion_init;
  part->receive = companion_receive;
  scene->awaited = 1;
  scene_enter(scene, 0, scene->vat);
  scene_keep(scene);
  scene_run(scene);
  assert_in_range(part->n_came, 5, CAME_MAX);
  int64_t before = part->n_came;
  scene->awaited = 2;
  part->n_came = 0;
  scene_keep(scene);
  host_run(&scene->host);
  assert_in_range(part->n_came, 5, CAME_MAX);
  assert_int_equal(scene->host.stats.timers, 1);
  assert_true(scene->host.stats.fired > (uint64_t)(before + part->n_came));
}

static void background_timers_come_in_every_run_that_others_keep_alive(void **state) {
  (void)state;
  on_scenes(check_companion);
}

/* A plain one keeps the run alive until somebody ends it: another handler, or its actor's end. */
static actl_status kept_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == GO) {
    if (self->number[2] == 0) self->wrong += actl_cancel(ctx, self->timer) != ACTL_OK;
    if (self->number[2] == 1) actl_exit(ctx, NULL);
    if (self->number[2] == 2) return actl_fail(ctx, "enough");
    return ACTL_OK;
  }
  if (self->n_came == 3) {
    scene_tick(self->scene);
    part_tell(ctx, self, self->pid, GO);
  }
  return ACTL_OK;
}

static void check_kept(struct scene *scene) {
  struct phase phases[3];
  scene->awaited = 3;
  for (int i = 0; i < 3; i++) {
    struct part *part = &scene->parts[i];
    part->ud = &phases[i];
    part->number[0] = 3 + i;
    part->number[2] = i;
    part->init = steady_init;
    part->receive = kept_receive;
    scene_enter(scene, i, scene->vat);
  }
  scene_run(scene);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(part_count(&scene->parts[i], GO), 1);
    assert_true(part_count(&scene->parts[i], EVERY) >= 3);
  }
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.failed, 1);
}

static void a_repeating_timer_keeps_a_run_alive_until_it_is_ended(void **state) {
  (void)state;
  on_scenes(check_kept);
}

/* ---- A process that was suspended ---- */

enum { SUSPENDED_MS = 300, SHORT_MS = 5 };

/* Whether more messages came in time than the timer has times, not counting the long pause. */
static actl_status suspended_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST) {
    int64_t n = part_count(self, EVERY);
    uint64_t pause = 0;
    for (int64_t i = 1; i < n; i++) {
      uint64_t gap = self->came[i].at_ns - self->came[i - 1].at_ns;
      if (gap > pause) pause = gap;
    }
    uint64_t ns = now_ns(ctx) - self->at_ns[0] - pause;
    self->number[3] = pause < SUSPENDED_MS * (uint64_t)NS_OF_MS / 2;
    self->number[4] = n > (int64_t)(ns / (SHORT_MS * NS_OF_MS)) + 2;
    return actl_cancel(ctx, self->timer);
  }
  return ACTL_OK;
}

static void suspended_init(actl_ctx *ctx, struct part *self) {
  self->at_ns[0] = now_ns(ctx);
  self->timer = part_every(ctx, self, EVERY, SHORT_MS, 0);
  part_after(ctx, self, LAST, 2 * SUSPENDED_MS);
}

/* Runs in a process of its own: 0 when all is well. */
static int be_suspended(int ready) {
  struct part *part = calloc(1, sizeof *part);
  actl_engine *engine = NULL;
  actl_config config = {.workers = 2, .vats = 2};
  actl_pid pid;
  if (part == NULL || actl_engine_new(&engine, &config) != ACTL_OK) return 10;
  part->init = suspended_init;
  part->receive = suspended_receive;
  if (actl_engine_spawn(engine, 1, &part_behavior, ACTL_VALUES(pointer(part)), &pid) != ACTL_OK) {
    return 11;
  }
  if (write(ready, "r", 1) != 1) return 12;
  if (actl_engine_run(engine) != ACTL_OK) return 13;
  int result = part->wrong != 0 ? 14 : (int)(part->number[3] + 2 * part->number[4]);
  actl_engine_free(engine);
  free(part);
  return result;
}

static void what_was_missed_while_the_process_was_suspended_is_skipped(void **state) {
  (void)state;
  seeds_need_threads();
  int ready[2], status = -1;
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(60);
    _exit(be_suspended(ready[1]));
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  struct timespec soon = {.tv_nsec = 50 * 1000000l}, pause = {.tv_nsec = SUSPENDED_MS * 1000000l};
  nanosleep(&soon, NULL);
  assert_int_equal(kill(child, SIGSTOP), 0);
  nanosleep(&pause, NULL); /* this long it is suspended: the subject of the test */
  assert_int_equal(kill(child, SIGCONT), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  close(ready[0]);
  close(ready[1]);
  assert_true(WIFEXITED(status));
  /* 1: it was not suspended in between, which a very slow machine can bring about. */
  assert_in_range(WEXITSTATUS(status), 0, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(what_was_missed_while_the_process_was_suspended_is_skipped),
      WATCHED(a_repeating_timer_comes_time_after_time_and_never_early),
      WATCHED(a_handler_that_takes_five_periods_is_given_one_message_for_them),
      WATCHED(at_most_one_message_of_a_repeating_timer_waits),
      WATCHED(the_times_of_a_repeating_timer_keep_their_phase),
      WATCHED(a_delayed_timer_begins_its_period_when_the_message_has_been_handled),
      WATCHED(background_timers_do_not_keep_a_run_alive),
      WATCHED(background_timers_come_in_every_run_that_others_keep_alive),
      WATCHED(a_repeating_timer_keeps_a_run_alive_until_it_is_ended),
  };
  return seeds_main(tests);
}
