/*
 * test_fairness.c - a flood at one actor delays no timer, stop or message from elsewhere by more than
 * a turn, and no vat keeps another from its turn. Each flood goes on until what it might delay has
 * come; a flood that has to give up is the failure.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

enum tag { GO = 1000, FLOOD, TIMER, LETTER, ASKED };

/* How many flooding messages a vat may handle between the time of a timer and its message. */
enum { TURNS = 5, TURN = 1000 };

enum { AMID = 200 }; /* messages that a flood has had when it is in full swing */

/* Tells itself, or the other, without an end: (FLOOD). It starts with `number[0]` of them. */
static actl_status flood_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag != FLOOD && tag != GO) return ACTL_OK;
  if (scene_is_over(self->scene)) return ACTL_OK;
  /* Whom it is to tell is told when the flood has come to pass. */
  actl_pid told = {self->at_ns[0]};
  if (++self->number[1] == AMID) {
    scene_tick(self->scene);
    if (told.bits != 0) part_tell(ctx, self, told, GO);
  }
  int64_t n = tag == GO ? self->number[0] : 1;
  for (int64_t i = 0; i < n; i++) part_tell(ctx, self, self->other, FLOOD);
  return ACTL_OK;
}

/* A flood of its own at part `i`, which is made here; the scene awaits that it comes to pass. */
static void flood_enter(struct scene *scene, int i, uint32_t vat, int64_t n) {
  struct part *part = &scene->parts[i];
  part->receive = flood_receive;
  part->number[0] = n;
  scene->awaited++;
  part->other = scene_enter(scene, i, vat);
  host_send(&scene->host, part->other, ACTL_VALUES(actl_int(GO)));
}

/* Two parts that flood each other. */
static void floods_enter(struct scene *scene, int i, uint32_t vat_a, uint32_t vat_b, int64_t n) {
  struct part *a = &scene->parts[i], *b = &scene->parts[i + 1];
  a->receive = b->receive = flood_receive;
  a->number[0] = b->number[0] = n;
  scene->awaited += 2;
  b->other = scene_enter(scene, i, vat_a);
  a->other = scene_enter(scene, i + 1, vat_b);
  host_send(&scene->host, b->other, ACTL_VALUES(actl_int(GO)));
}

static void flood_check(const struct scene *scene, int i) {
  assert_true(scene->parts[i].number[1] >= AMID); /* there was a flood */
}

/* ---- Timers ---- */

/* Chains of timers, each set by the one before. */
enum { LINKS = 10 };

static void chain_init(actl_ctx *ctx, struct part *self) { part_after(ctx, self, TIMER, 1); }

/* Others may tell it something beside. */
static actl_status chain_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != TIMER) return ACTL_OK;
  if (++self->number[0] == LINKS) {
    scene_tick(self->scene);
  } else {
    part_after(ctx, self, TIMER, (uint64_t)self->number[0] % 4);
  }
  return ACTL_OK;
}

static void check_timers(struct scene *scene) {
  static const int64_t widths[] = {1, 10, 1000};
  for (int i = 0; i < 3; i++) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    own->awaited = 2;
    for (int j = 0; j < 2; j++) {
      own->parts[j].init = chain_init;
      own->parts[j].receive = chain_receive;
      scene_enter(own, j, j == 0 ? 0 : own->vat);
    }
    flood_enter(own, 2, own->vat, widths[i]);
    scene_run(own);
    for (int j = 0; j < 2; j++) assert_int_equal(own->parts[j].n_came, LINKS);
    flood_check(own, 2);
    scene_close(own);
  }
}

static void a_flood_keeps_no_timer_from_coming(void **state) {
  (void)state;
  seeds_need_time(10);
  on_scenes(check_timers);
}

/* The flooded actor's own timer comes too, behind what was queued before it. */
static actl_status drowning_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag == GO) self->timer = part_every(ctx, self, TIMER, 2, 0);
  if (tag == TIMER && ++self->number[2] == LINKS) {
    self->wrong += actl_cancel(ctx, self->timer) != ACTL_OK;
    scene_tick(self->scene);
  }
  return flood_receive(ctx, self, msg);
}

static void check_own_timer(struct scene *scene) {
  scene->awaited = 1;
  flood_enter(scene, 0, scene->vat, 100);
  scene->parts[0].receive = drowning_receive;
  scene_run(scene);
  assert_int_equal(scene->parts[0].number[2], LINKS);
  flood_check(scene, 0);
}

static void a_flood_keeps_no_timer_from_the_one_that_it_is_at(void **state) {
  (void)state;
  seeds_need_time(10);
  on_scenes(check_own_timer);
}

/* By the vat's own progress: what it handles after the time of a timer and before its message. The
 * flood notes how much it has handled since the clock showed that time. */
struct delay {
  uint64_t due_ns;
  int64_t n_late;
};

static actl_status counting_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  struct delay *delay = self->ud;
  if (delay->due_ns != 0 && now_ns(ctx) > delay->due_ns) delay->n_late++;
  return flood_receive(ctx, self, msg);
}

static void delayed_init(actl_ctx *ctx, struct part *self) {
  struct delay *delay = self->ud;
  part_after(ctx, self, TIMER, 5);
  delay->due_ns = now_ns(ctx) + 6 * NS_OF_MS; /* with the resolution */
}

static actl_status delayed_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  struct delay *delay = self->ud;
  self->number[self->n_came] = delay->n_late;
  delay->n_late = 0;
  if (self->n_came == LINKS) {
    scene_tick(self->scene);
  } else {
    delayed_init(ctx, self);
  }
  return ACTL_OK;
}

static void check_delay(struct scene *scene) {
  if (scene->is_loud) return;
  struct delay delay = {0};
  scene->awaited = 1;
  scene->parts[0].ud = scene->parts[1].ud = &delay;
  scene->parts[0].init = delayed_init;
  scene->parts[0].receive = delayed_receive;
  scene_enter(scene, 0, scene->vat);
  flood_enter(scene, 1, scene->vat, 3);
  scene->parts[1].receive = counting_receive;
  scene_run(scene);
  assert_int_equal(scene->parts[0].n_came, LINKS);
  flood_check(scene, 1);
  for (int i = 1; i <= LINKS; i++) {
    assert_in_range(scene->parts[0].number[i], 0, TURNS * TURN);
  }
}

static void a_timer_comes_within_a_turn_of_its_vat(void **state) {
  (void)state;
  seeds_need_time(10);
  on_scenes(check_delay);
}

/* ---- Stops and messages from elsewhere ---- */

/* Ends the other. */
static actl_status somebody_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  switch (self->number[0]) {
  case 0: return actl_stop(ctx, self->other);
  case 1: return actl_stop_now(ctx, self->other);
  default: return actl_kill(ctx, self->other);
  }
}

static void victim_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)ctx, (void)reason;
  scene_tick(self->scene);
}

static void check_stops(struct scene *scene) {
  for (int64_t how = 0; how < 2; how++) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    struct part *victim = &own->parts[0], *by = &own->parts[1];
    own->awaited = 1;
    victim->stop = victim_stop;
    by->number[0] = how;
    by->receive = somebody_receive;
    by->other = scene_enter(own, 0, own->vat);
    own->parts[2].at_ns[0] = scene_enter(own, 1, 0).bits;
    flood_enter(own, 2, own->vat, how == 1 ? 1000 : 10);
    scene_run(own);
    assert_int_equal(victim->n_stops, 1);
    flood_check(own, 2);
    scene_close(own);
  }
}

static void a_flood_keeps_no_other_actor_from_its_stop(void **state) {
  (void)state;
  on_scenes(check_stops);
}

/* One that floods itself is stopped in the middle: in order, ahead of the queue, or killed. Nothing
 * else ends its flood. */
static void check_flooded_stops(struct scene *scene) {
  for (int64_t how = 0; how < 3; how++) {
    /* Whose hook is not run cannot say when the noise may end. */
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud && how < 2, NULL);
    struct part *victim = &own->parts[0], *by = &own->parts[1];
    own->awaited = 1;
    victim->stop = victim_stop;
    by->number[0] = how;
    by->receive = somebody_receive;
    victim->at_ns[0] = scene_enter(own, 1, 0).bits;
    flood_enter(own, 0, own->vat, 100);
    by->other = victim->other;
    scene_run(own);
    flood_check(own, 0);
    assert_int_equal(victim->n_stops, how < 2);
    assert_int_equal(own->host.stats.stopped, 1);
    assert_true(own->host.stats.alive > 0);
    scene_close(own);
  }
}

static void a_flood_keeps_no_stop_from_the_one_that_it_is_at(void **state) {
  (void)state;
  on_scenes(check_flooded_stops);
}

/* Two ask one another, from vat to vat, each time within a long time. */
static actl_status asking_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == GO) part_ask(ctx, self, self->other, ASKED, ACTL_FOREVER);
  return ACTL_OK;
}

static void asking_reply(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  self->wrong += answer->status != ACTL_OK;
  if (self->n_answers == 10 * LINKS) {
    scene_tick(self->scene);
  } else {
    part_ask(ctx, self, self->other, ASKED, ACTL_FOREVER);
  }
}

static void check_letters(struct scene *scene) {
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->receive = asking_receive;
  part->reply = asking_reply;
  part->other = scene_enter(scene, 1, 1);
  host_send(&scene->host, scene_enter(scene, 0, 0), ACTL_VALUES(actl_int(GO)));
  flood_enter(scene, 2, scene->vat, 1000);
  flood_enter(scene, 3, 1, 10);
  scene_run(scene);
  assert_int_equal(part->n_answers, 10 * LINKS);
  flood_check(scene, 2);
  flood_check(scene, 3);
}

static void floods_keep_no_message_from_other_vats(void **state) {
  (void)state;
  seeds_need_time(10);
  on_scenes(check_letters);
}

/* A flood between two vats, which are told by turns; the third has a chain of timers, and is asked. */
static void check_third(struct scene *scene) {
  if (scene->is_loud) return;
  for (uint32_t vat = 0; vat < 3; vat++) {
    actl_config config = {.vats = 3};
    struct scene *own = scene_open(scene->workers, scene->vat, false, &config);
    own->awaited = 2;
    own->parts[0].init = chain_init;
    own->parts[0].receive = chain_receive;
    actl_pid chain = scene_enter(own, 0, vat);
    floods_enter(own, 1, 0, 1, scene->vat == 0 ? 1 : 500);
    own->parts[3].receive = asking_receive;
    own->parts[3].reply = asking_reply;
    own->parts[3].other = chain;
    host_send(&own->host, scene_enter(own, 3, 2), ACTL_VALUES(actl_int(GO)));
    scene_run(own);
    assert_int_equal(part_count(&own->parts[0], TIMER), LINKS);
    assert_int_equal(own->parts[3].n_answers, 10 * LINKS);
    flood_check(own, 1);
    scene_close(own);
  }
}

static void two_vats_that_flood_each_other_do_not_starve_a_third(void **state) {
  (void)state;
  seeds_need_time(10);
  on_scenes(check_third);
}

/* ---- Floods from host threads ---- */

enum { FLOODERS = 2, AHEAD = 5000 };

struct flooder {
  pthread_t thread;
  struct scene *scene;
  actl_pid to;
  atomic_uint *handled; /* by the one flooded */
  unsigned sent, failed;
};

static void *flooder_run(void *ud) {
  struct flooder *flooder = ud;
  while (!scene_is_over(flooder->scene)) {
    if (flooder->sent > AHEAD + atomic_load(flooder->handled)) continue;
    actl_status status =
        actl_engine_send(flooder->scene->host.engine, flooder->to, ACTL_VALUES(actl_int(LETTER)));
    flooder->failed += status != ACTL_OK;
    flooder->sent++;
  }
  return NULL;
}

static actl_status flooded_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)ctx, (void)msg;
  tick(self->ud);
  return ACTL_OK;
}

static void check_host_flood(struct scene *scene) {
  atomic_uint handled = 0;
  struct flooder flooders[FLOODERS];
  scene->awaited = 3;
  for (int i = 0; i < 2; i++) {
    scene->parts[i].init = chain_init;
    scene->parts[i].receive = chain_receive;
    scene_enter(scene, i, i == 0 ? 0 : scene->vat);
  }
  scene->parts[2].ud = &handled;
  scene->parts[2].receive = flooded_receive;
  actl_pid to = scene_enter(scene, 2, scene->vat);
  struct part *victim = &scene->parts[3], *by = &scene->parts[4];
  victim->stop = victim_stop;
  by->receive = somebody_receive;
  by->other = scene_enter(scene, 3, scene->vat);
  host_send(&scene->host, scene_enter(scene, 4, 0), ACTL_VALUES(actl_int(GO)));
  scene_keep(scene);
  for (int i = 0; i < FLOODERS; i++) {
    flooders[i] = (struct flooder){.scene = scene, .to = to, .handled = &handled};
    assert_int_equal(pthread_create(&flooders[i].thread, NULL, flooder_run, &flooders[i]), 0);
  }
  scene_run(scene);
  unsigned sent = 0, failed = 0;
  for (int i = 0; i < FLOODERS; i++) {
    pthread_join(flooders[i].thread, NULL);
    sent += flooders[i].sent;
    failed += flooders[i].failed;
  }
  host_run(&scene->host); /* what came last */
  assert_int_equal(failed, 0);
  assert_int_equal(atomic_load(&handled), sent);
  assert_true(sent > 0);
  for (int i = 0; i < 2; i++) assert_int_equal(scene->parts[i].n_came, LINKS);
  assert_int_equal(victim->n_stops, 1);
}

static void a_flood_from_host_threads_keeps_no_timer_and_no_stop(void **state) {
  (void)state;
  seeds_need_threads();
  on_scenes(check_host_flood);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_flood_keeps_no_timer_from_coming),
      WATCHED(a_flood_keeps_no_timer_from_the_one_that_it_is_at),
      WATCHED(a_timer_comes_within_a_turn_of_its_vat),
      WATCHED(a_flood_keeps_no_other_actor_from_its_stop),
      WATCHED(a_flood_keeps_no_stop_from_the_one_that_it_is_at),
      WATCHED(floods_keep_no_message_from_other_vats),
      WATCHED(two_vats_that_flood_each_other_do_not_starve_a_third),
      WATCHED(a_flood_from_host_threads_keeps_no_timer_and_no_stop),
  };
  return seeds_main(tests);
}
