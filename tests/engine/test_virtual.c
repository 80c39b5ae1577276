/*
 * test_virtual.c - the clock of an engine with a seed: it begins at a fixed time, goes on a little with
 * the work, jumps to timers when nothing is ready, and in a step takes just its time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

#include "actl_driver.h"

enum tag { GO = 1000, TIMER, BEAT, KEEP };

#define US ((uint64_t)1000)
#define MS ((uint64_t)1000000)
#define DAY_MS (UINT64_C(24) * 3600 * 1000)
#define YEAR_MS (365 * DAY_MS)

static uint32_t decide_plain(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  (void)ud, (void)choice, (void)n, (void)drawn;
  return 0;
}

/* Nothing is drawn: time goes on with the work alone. */
static actl_config plain(void) {
  return (actl_config){.is_seeded = true, .seed = 1, .choose = decide_plain, .vats = 2};
}

static actl_config seeded(uint64_t seed) {
  return (actl_config){.is_seeded = true, .seed = seed, .vats = 2};
}

/* ---- Its beginning ---- */

static void look_init(actl_ctx *ctx, struct part *self) {
  self->at_ns[0] = actl_now_ns(ctx);
  self->at_ns[1] = actl_wall_ns(ctx);
}

static void the_clock_begins_at_the_same_time(void **state) {
  (void)state;
  uint64_t at_ns[2] = {0};
  const actl_config config = plain();
  for (int i = 0; i < 2; i++) {
    struct scene *scene = scene_open(1, 0, false, &config);
    scene->parts[0].init = look_init;
    scene_enter(scene, 0, 0);
    scene_run(scene);
    assert_true(scene->parts[0].at_ns[0] != 0 && scene->parts[0].at_ns[1] != 0);
    if (i == 1) assert_memory_equal(at_ns, scene->parts[0].at_ns, sizeof at_ns);
    memcpy(at_ns, scene->parts[0].at_ns, sizeof at_ns);
    scene_close(scene);
  }
}

/* ---- Jumps ---- */

static const uint64_t times_ms[] = {0,
                                    1,
                                    2,
                                    63,
                                    64,
                                    65,
                                    4095,
                                    100000,
                                    DAY_MS,
                                    40 * DAY_MS,
                                    YEAR_MS,
                                    10 * YEAR_MS,
                                    3,
                                    5,
                                    YEAR_MS,
                                    100 * YEAR_MS,
                                    400 * YEAR_MS};
enum { TIMES = sizeof times_ms / sizeof times_ms[0] };

static void set_times(actl_ctx *ctx, struct part *self) {
  for (int i = 0; i < TIMES; i++) {
    self->at_ns[i] = (actl_now_ns(ctx) + MS - 1) / MS * MS + times_ms[i] * MS;
    actl_status status =
        actl_after(ctx, times_ms[i], ACTL_VALUES(actl_int(TIMER), actl_int(i)), NULL);
    if (status != ACTL_OK) self->wrong++;
  }
}

/* Nothing else is ready: who comes at a time has the clock for itself, but for what the others of that
 * millisecond took. */
static actl_status check_time(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  uint64_t due_ns = self->at_ns[actl_msg_int(msg, 1, 0)], now = actl_now_ns(ctx);
  if (now < due_ns || now > due_ns + 10 * US) self->wrong++;
  return ACTL_OK;
}

static void the_clock_jumps_to_each_timer_and_no_further(void **state) {
  (void)state;
  const actl_config config = plain();
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct scene *scene = scene_open(1, vat, false, &config);
    for (int i = 0; i < 2; i++) {
      scene->parts[i].init = set_times;
      scene->parts[i].receive = check_time;
      scene_enter(scene, i, i == 0 ? 0 : vat);
    }
    scene_run(scene);
    for (int i = 0; i < 2; i++) assert_int_equal(scene->parts[i].n_came, TIMES);
    assert_int_equal(scene->host.stats.timers, 0);
    scene_close(scene);
  }
}

static void with_a_seed_no_timer_is_early_however_far_away(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    const actl_config config = seeded(seed);
    struct scene *scene = scene_open(1, 1, false, &config);
    for (int i = 0; i < 2; i++) {
      scene->parts[i].init = set_times;
      scene_enter(scene, i, (uint32_t)i);
    }
    scene_run(scene);
    for (int i = 0; i < 2; i++) {
      const struct part *part = &scene->parts[i];
      assert_int_equal(part->n_came, TIMES);
      assert_true(part->came[TIMES - 1].at_ns >= part->at_ns[TIMES - 1]);
    }
    scene_close(scene);
  }
}

/* The clock counts nanoseconds in 64 bits: what lies behind its end does not come. */
static void set_latest(actl_ctx *ctx, struct part *self) {
  part_after(ctx, self, TIMER, 20);
  if (actl_after(ctx, 1000 * YEAR_MS, ACTL_VALUES(actl_int(BEAT)), NULL) != ACTL_OK) self->wrong++;
}

static void a_timer_behind_the_end_of_time_does_not_keep_a_run(void **state) {
  (void)state;
  const actl_config config = plain();
  struct scene *scene = scene_open(1, 0, false, &config);
  scene->parts[0].init = set_latest;
  scene_enter(scene, 0, 0);
  scene_run(scene);
  assert_int_equal(part_count(&scene->parts[0], TIMER), 1);
  assert_int_equal(part_count(&scene->parts[0], BEAT), 0);
  assert_int_equal(scene->host.stats.timers, 1);
  scene_close(scene);
}

/* ---- A million ---- */

enum { SLEEPERS = SCALED(1000000), SETTERS = 1000, SLEEP_MS = 5000 };

static actl_status sleeper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  for (int64_t i = actl_msg_int(args, 1, 0); i > 0; i--) {
    actl_status status = actl_after(ctx, SLEEP_MS, ACTL_VALUES(actl_msg_value(args, 0)), NULL);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static actl_status sleeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  uint64_t *last_ns = pointer_in(msg, 0);
  *last_ns = actl_now_ns(ctx);
  return ACTL_OK;
}

static const actl_behavior sleeper = {
    .name = "sleeper", .init = sleeper_init, .receive = sleeper_receive};

/* By actors that have a thousand each, and by one that has them all. */
static void a_million_sleepers_take_the_time_of_their_work(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    uint64_t last_ns = 0;
    struct host host;
    const actl_config config = seeded(seed);
    host_open_with(&host, &config);
    int64_t n_setters = seed == 3 ? 1 : SETTERS;
    for (int64_t i = 0; i < n_setters; i++) {
      host_spawn(&host, (uint32_t)i % 2, &sleeper,
                 ACTL_VALUES(pointer(&last_ns), actl_int(SLEEPERS / n_setters)));
    }
    host_run(&host);
    assert_int_equal(host.stats.fired, SLEEPERS);
    assert_true(last_ns > SLEEP_MS * MS);
    host_close(&host);
  }
}

/* ---- What comes first ---- */

static void keep_or_tell(actl_ctx *ctx, struct part *self) {
  part_every(ctx, self, BEAT, 1000, ACTL_TIMER_BACKGROUND);
}

static actl_status keep_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  actl_request request;
  if (actl_msg_int(msg, 0, 0) == KEEP) self->wrong += actl_later(ctx, &request) != ACTL_OK;
  return ACTL_OK;
}

static void ask_keeper(actl_ctx *ctx, struct part *self) {
  self->at_ns[0] = actl_now_ns(ctx);
  part_ask(ctx, self, self->other, KEEP, (uint64_t)self->number[0]);
  if (self->number[1] != 0) part_after(ctx, self, TIMER, (uint64_t)self->number[1]);
}

static struct scene *ask_scene(const actl_config *config, uint32_t vat, int64_t ask_ms,
                               int64_t timer_ms) {
  struct scene *scene = scene_open(1, vat, false, config);
  scene->parts[0].init = keep_or_tell;
  scene->parts[0].receive = keep_receive;
  scene->parts[1].init = ask_keeper;
  scene->parts[1].number[0] = ask_ms;
  scene->parts[1].number[1] = timer_ms;
  scene->parts[1].other = scene_enter(scene, 0, vat);
  scene_enter(scene, 1, 0);
  scene_run(scene);
  assert_int_equal(scene->parts[1].n_answers, 1);
  return scene;
}

static void a_deadlock_is_told_before_the_clock_jumps(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    const actl_config config = seeded(seed);
    struct scene *scene = ask_scene(&config, seed % 2, 5000, 0);
    const struct part *asker = &scene->parts[1];
    assert_int_equal(asker->answers[0].status, ACTL_DEADLOCK);
    assert_int_equal(scene->host.stats.deadlocks, 1);
    assert_true(asker->answers[0].at_ns < asker->at_ns[0] + 1000 * MS);
    assert_int_equal(scene->parts[0].n_came - 1, part_count(&scene->parts[0], BEAT));
    scene_close(scene);
  }
}

static void while_a_timer_keeps_the_run_an_ask_has_its_time(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    const actl_config config = seeded(seed);
    struct scene *scene = ask_scene(&config, seed % 2, 50, 60000);
    const struct part *asker = &scene->parts[1];
    assert_int_equal(asker->answers[0].status, ACTL_TIMEOUT);
    assert_true(asker->answers[0].at_ns >= asker->at_ns[0] + 50 * MS);
    assert_true(asker->answers[0].at_ns < asker->at_ns[0] + 1000 * MS);
    assert_in_range(part_count(&scene->parts[0], BEAT), 58, 61);
    assert_int_equal(scene->host.stats.deadlocks, 0);
    scene_close(scene);
  }
}

/* ---- Work ---- */

/* One vat works without an end, while the other sleeps: the clock gets to its timers all the same. */
static actl_status work_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  if (!scene_is_over(self->scene)) part_tell(ctx, self, actl_self(ctx), GO);
  return ACTL_OK;
}

static void sleep_init(actl_ctx *ctx, struct part *self) { part_after(ctx, self, TIMER, 3); }

static actl_status sleep_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  scene_tick(self->scene);
  if (++self->number[0] < 3) part_after(ctx, self, TIMER, 3);
  return ACTL_OK;
}

static void time_goes_on_while_others_work(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    const actl_config config = seed == 1 ? plain() : seeded(seed);
    struct scene *scene = scene_open(1, 1, false, &config);
    scene->awaited = 6;
    scene->parts[0].receive = work_receive;
    host_send(&scene->host, scene_enter(scene, 0, 0), ACTL_VALUES(actl_int(GO)));
    for (int i = 1; i <= 2; i++) {
      scene->parts[i].init = sleep_init;
      scene->parts[i].receive = sleep_receive;
      scene_enter(scene, i, (uint32_t)i - 1);
    }
    scene_run(scene);
    for (int i = 1; i <= 2; i++) assert_int_equal(scene->parts[i].n_came, 3);
    scene_close(scene);
  }
}

/* ---- Steps ---- */

/* Clocks are not looked at here, which would take time: a trace tells it. */
struct looks {
  uint64_t at_ns; /* of the last message */
  uint64_t n;
};

static void note_message(void *ud, const actl_event *event) {
  struct looks *looks = ud;
  if (event->kind != ACTL_EVENT_RECEIVE) return;
  looks->at_ns = event->time_ns;
  looks->n++;
}

/* Begins to beat with its first message. */
static actl_status beat_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *beats = state;
  if (actl_msg_count(msg) == 1)
    return actl_every(ctx, 1, 0, ACTL_VALUES(actl_nil(), actl_nil()), NULL);
  if (actl_msg_count(msg) == 2) ++*beats;
  if (actl_msg_count(msg) == 3) *(int64_t *)pointer_in(msg, 0) = *beats;
  return ACTL_OK;
}

static const actl_behavior beat = {
    .name = "beat", .state_size = sizeof(int64_t), .receive = beat_receive};

/* Sends it a message, and has just that handled: when. */
static uint64_t look(struct host *host, struct looks *looks, actl_pid pid, const actl_value *values,
                     size_t n) {
  uint64_t before = looks->n;
  host_send(host, pid, values, n);
  while (looks->n == before) assert_int_equal(actl_engine_step(host->engine, 0, NULL), ACTL_OK);
  assert_int_equal(looks->n, before + 1);
  return looks->at_ns;
}

static void step_times(uint64_t seed, const uint64_t *for_us, size_t n) {
  struct looks looks = {0};
  struct host host;
  actl_config config = seed == 1 ? plain() : seeded(seed);
  config.trace = note_message;
  config.trace_ud = &looks;
  host_open_with(&host, &config);
  actl_pid pid = host_spawn(&host, (uint32_t)(seed % 2), &beat, NULL, 0);
  const uint64_t first_ns = look(&host, &looks, pid, ACTL_VALUES(actl_nil()));
  uint64_t last_ns = first_ns;
  for (size_t i = 0; i < n; i++) {
    actl_rest rest = ACTL_REST_QUIET;
    for (int j = 0; j < 20; j++) {
      assert_int_equal(actl_engine_step(host.engine, for_us[i], &rest), ACTL_OK);
      assert_int_equal(rest, ACTL_REST_TIMER);
    }
    int64_t beats = 0;
    uint64_t now = look(&host, &looks, pid, ACTL_VALUES(pointer(&beats), actl_nil(), actl_nil()));
    assert_int_equal(now - last_ns, 20 * for_us[i] * US);
    last_ns = now;
    /* Fewer, where one was late, or waited for its turn. */
    int64_t due = (int64_t)((now - first_ns) / MS);
    assert_in_range(beats, due / 4, due);
    if (seed == 1) assert_in_range(beats, due > 0 ? due - 1 : 0, due);
  }
  host_close(&host);
}

static void a_step_takes_just_its_time_and_the_timers_in_it_come(void **state) {
  (void)state;
  static const uint64_t for_us[] = {1, 17, 999, 1000, 1001, 2500, 100000};
  for (uint64_t seed = 1; seed <= 100; seed++) step_times(seed, for_us, 7);
}

static void a_step_of_an_hour_is_done_at_once(void **state) {
  (void)state;
  static const uint64_t for_us[] = {SCALED(UINT64_C(3600000000)) / 20};
  step_times(1, for_us, 1);
}

/* What a handler takes beyond the end of a step is taken from the next. */
static actl_status slow_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  uint64_t until_ns = actl_now_ns(ctx) + 3 * MS;
  while (actl_now_ns(ctx) < until_ns) continue;
  return ACTL_OK;
}

static const actl_behavior slow = {.name = "slow", .receive = slow_receive};

static void steps_make_up_for_a_handler_that_took_longer(void **state) {
  (void)state;
  struct looks looks = {0};
  struct host host;
  actl_config config = plain();
  config.trace = note_message;
  config.trace_ud = &looks;
  host_open_with(&host, &config);
  actl_pid one = host_spawn(&host, 0, &slow, NULL, 0), other = host_spawn(&host, 1, &beat, NULL, 0);
  uint64_t before_ns = look(&host, &looks, other, NULL, 0);
  look(&host, &looks, one, NULL, 0);
  for (int i = 0; i < 10; i++) assert_int_equal(actl_engine_step(host.engine, 1000, NULL), ACTL_OK);
  assert_int_equal(look(&host, &looks, other, NULL, 0), before_ns + 10 * MS);
  host_close(&host);
}

static void a_step_ends_with_its_time_amid_endless_work(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    struct looks looks = {0};
    actl_config config = seed == 1 ? plain() : seeded(seed);
    config.trace = note_message;
    config.trace_ud = &looks;
    struct scene *scene = scene_open(1, 0, false, &config);
    scene->awaited = 1;
    for (int i = 0; i < 2; i++) {
      scene->parts[i].receive = work_receive;
      host_send(&scene->host, scene_enter(scene, i, (uint32_t)i), ACTL_VALUES(actl_int(GO)));
    }
    while (looks.n == 0) assert_int_equal(actl_engine_step(scene->host.engine, 0, NULL), ACTL_OK);
    uint64_t until_ns = looks.at_ns;
    for (int i = 0; i < 40; i++) {
      actl_rest rest = ACTL_REST_QUIET;
      until_ns += 50 * US;
      assert_int_equal(actl_engine_step(scene->host.engine, 50, &rest), ACTL_OK);
      assert_int_equal(rest, ACTL_REST_MORE);
      /* The parts look at the clock, often at one time, which takes a little. */
      assert_true(looks.at_ns + 100 * US > until_ns && looks.at_ns < until_ns + 200 * US);
    }
    scene_tick(scene);
    scene_run(scene);
    scene_close(scene);
  }
}

/* It says what is left, and no ask fails for want of others. */
static void a_step_with_a_seed_says_what_is_left(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    const actl_config config = seed == 1 ? plain() : seeded(seed);
    struct scene *scene = scene_open(1, 1, false, &config);
    actl_rest rest = ACTL_REST_MORE;
    assert_int_equal(actl_engine_step(scene->host.engine, 1000, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_QUIET);
    scene->parts[0].receive = keep_receive;
    scene->parts[1].init = ask_keeper;
    scene->parts[1].number[0] = 50;
    scene->parts[1].other = scene_enter(scene, 0, 1);
    scene_enter(scene, 1, 0);
    assert_int_equal(actl_engine_step(scene->host.engine, 40000, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_TIMER);
    assert_int_equal(scene->parts[0].n_came, 1);
    assert_int_equal(scene->parts[1].n_answers, 0);
    assert_int_equal(actl_engine_step(scene->host.engine, ACTL_FOREVER, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_QUIET);
    assert_int_equal(scene->parts[1].answers[0].status, ACTL_TIMEOUT);
    assert_true(scene->parts[1].answers[0].at_ns >= scene->parts[1].at_ns[0] + 50 * MS);
    assert_int_equal(actl_engine_step(scene->host.engine, ACTL_FOREVER, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_QUIET);
    scene_close(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(the_clock_begins_at_the_same_time),
      WATCHED(the_clock_jumps_to_each_timer_and_no_further),
      WATCHED(with_a_seed_no_timer_is_early_however_far_away),
      WATCHED(a_timer_behind_the_end_of_time_does_not_keep_a_run),
      WATCHED(a_million_sleepers_take_the_time_of_their_work),
      WATCHED(a_deadlock_is_told_before_the_clock_jumps),
      WATCHED(while_a_timer_keeps_the_run_an_ask_has_its_time),
      WATCHED(time_goes_on_while_others_work),
      WATCHED(a_step_takes_just_its_time_and_the_timers_in_it_come),
      WATCHED(a_step_of_an_hour_is_done_at_once),
      WATCHED(steps_make_up_for_a_handler_that_took_longer),
      WATCHED(a_step_ends_with_its_time_amid_endless_work),
      WATCHED(a_step_with_a_seed_says_what_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
