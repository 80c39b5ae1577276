/*
 * test_comings.c - vats come and go while an engine runs: what lives in them is like anywhere else,
 * and what happens to it and to what is sent there when they end.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

#include <sched.h>

#include "support/alloc.h"

enum tag { GO = 1000, COUNT, ANSWER, KEEP, TIMER, CLOSE, SPAWN };

enum { HOUR_MS = 3600000 };

static uint32_t open_vat(struct host *host) {
  uint32_t vat = 0;
  assert_int_equal(actl_vat_open(host->engine, &vat), ACTL_OK);
  assert_true(vat >= actl_engine_vats(host->engine));
  return vat;
}

/* An actor that knows no part: many of it live at once. Its last word is heard by nobody. */
static atomic_uint last_words;

static actl_status plain_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static void plain_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)state, (void)reason;
  if (actl_send(ctx, actl_self(ctx), NULL, 0) == ACTL_OK) tick(&last_words);
}

static const actl_behavior plain = {.name = "plain", .receive = plain_receive, .stop = plain_stop};

/* Counts, answers, keeps, and sets timers. */
static actl_status citizen_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  actl_request request;
  switch (actl_msg_int(msg, 0, 0)) {
  case ANSWER: return actl_reply(ctx, ACTL_VALUES(actl_int(42), actl_int(actl_ctx_vat(ctx))));
  case KEEP: return actl_later(ctx, &request);
  case GO: part_after(ctx, self, TIMER, 3); return ACTL_OK;
  default: return ACTL_OK;
  }
}

static void citizen_init(actl_ctx *ctx, struct part *self) { self->number[0] = actl_ctx_vat(ctx); }

static void citizen_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)ctx;
  self->status[0] = reason->status;
}

static struct part *citizen(struct scene *scene, int i) {
  struct part *part = &scene->parts[i];
  part->init = citizen_init;
  part->receive = citizen_receive;
  part->stop = citizen_stop;
  return part;
}

/* ---- Life in a vat that was opened ---- */

static actl_status asking_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  for (int i = 0; i < 10; i++) {
    part_tell(ctx, self, self->other, COUNT);
    part_ask(ctx, self, self->other, ANSWER, ACTL_FOREVER);
  }
  part_tell(ctx, self, self->other, GO);
  return ACTL_OK;
}

static void tick_at_last(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  (void)ctx, (void)answer;
  if (self->n_answers == 10) scene_tick(self->scene);
}

static void check_life(struct scene *scene) {
  uint32_t vats[3];
  for (int i = 0; i < 3; i++) vats[i] = open_vat(&scene->host);
  assert_true(vats[0] != vats[1] && vats[1] != vats[2] && vats[0] != vats[2]);
  scene->awaited = 3;
  for (int i = 0; i < 3; i++) {
    struct part *asker = &scene->parts[3 + i];
    citizen(scene, i);
    asker->other = scene_enter(scene, i, vats[i]);
    asker->receive = asking_receive;
    asker->reply = tick_at_last;
    uint32_t at = i < 2 ? scene->vat : vats[0]; /* the third asks from one to the other */
    host_send(&scene->host, scene_enter(scene, 3 + i, at), ACTL_VALUES(actl_int(GO)));
  }
  scene_run(scene);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(scene->parts[i].number[0], vats[i]);
    assert_int_equal(part_count(&scene->parts[i], COUNT), 10);
    assert_int_equal(part_count(&scene->parts[i], TIMER), 1);
    assert_int_equal(scene->parts[3 + i].by_status[0], 10);
    assert_int_equal(scene->parts[3 + i].answers[9].value, 42);
  }
  assert_int_equal(letters_of(&scene->host.stats), 0);
  assert_int_equal(actl_engine_vats(scene->host.engine), 2);
}

static void actors_live_in_an_opened_vat_as_anywhere(void **state) {
  (void)state;
  on_scenes(check_life);
}

/* From a handler: opened, used, and closed, its own too. */
static void opener_init(actl_ctx *ctx, struct part *self) {
  actl_engine *engine = actl_ctx_engine(ctx);
  uint32_t vat = 0;
  self->status[0] = actl_vat_open(engine, &vat);
  struct part *child = &self->scene->parts[1];
  self->status[1] =
      actl_spawn_on(ctx, vat, &part_behavior, ACTL_VALUES(pointer(child)), &self->other);
  part_ask(ctx, self, self->other, CLOSE, ACTL_FOREVER);
  part_ask(ctx, self, self->other, ANSWER, ACTL_FOREVER);
}

static actl_status closing_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != CLOSE) return citizen_receive(ctx, self, msg);
  self->status[1] = actl_vat_close(actl_ctx_engine(ctx), actl_ctx_vat(ctx));
  actl_pid pid;
  self->status[2] = actl_spawn(ctx, &plain, NULL, 0, &pid);
  return actl_reply(ctx, ACTL_VALUES(actl_int(1)));
}

static void tick_at_second(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  (void)ctx, (void)answer;
  if (self->n_answers == 2) scene_tick(self->scene);
}

static void check_own(struct scene *scene) {
  struct part *child = citizen(scene, 1), *part = &scene->parts[0];
  child->receive = closing_receive;
  part->init = opener_init;
  part->reply = tick_at_second;
  scene->awaited = 1;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  assert_int_equal(part->status[0], ACTL_OK);
  assert_int_equal(part->status[1], ACTL_OK);
  assert_int_equal(child->status[1], ACTL_OK);
  assert_true(child->status[2] != ACTL_OK);
  assert_int_equal(child->n_stops, 1);
  assert_int_equal(child->status[0], ACTL_SHUTDOWN);
  assert_int_equal(part->n_answers, 2);
  assert_in_range(part->by_status[0], 1, 2); /* the first was answered in any case */
  assert_int_equal(scene->host.stats.alive, 1 + (scene->is_loud ? 4 : 0));
}

static void a_handler_may_open_a_vat_and_close_its_own(void **state) {
  (void)state;
  on_scenes(check_own);
}

/* ---- Ends ---- */

/* A parent in a closed vat with children there and elsewhere: all end, children first. */
static void parent_init(actl_ctx *ctx, struct part *self) {
  for (int i = 1; i <= 3; i++) {
    struct part *child = &self->scene->parts[i];
    uint32_t vat = i == 1 ? actl_ctx_vat(ctx) : (uint32_t)i - 2;
    self->wrong += actl_spawn_on(ctx, vat, &part_behavior, ACTL_VALUES(pointer(child)),
                                 &child->pid) != ACTL_OK;
  }
  part_after(ctx, self, TIMER, HOUR_MS);
  part_every(ctx, self, TIMER, HOUR_MS, 0);
  tick(self->ud);
}

static void child_init(actl_ctx *ctx, struct part *self) {
  (void)ctx;
  tick(self->ud);
}

static void family_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)ctx;
  self->status[0] = reason->status;
  scene_tick(self->scene);
  self->number[0] = (int64_t)atomic_load(&self->scene->ticks);
}

static void check_close(struct scene *scene) {
  uint32_t vat = open_vat(&scene->host);
  actl_engine *engine = scene->host.engine;
  atomic_uint born = 0;
  for (int i = 0; i < 4; i++) {
    scene->parts[i].ud = &born;
    scene->parts[i].init = i == 0 ? parent_init : child_init;
    scene->parts[i].stop = family_stop;
  }
  scene->awaited = 5; /* one tick more than there are stops: the noise ends with the last word */
  actl_pid pid = scene_enter(scene, 0, vat), late = {77};
  struct part *asker = &scene->parts[4];
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
  assert_int_equal(actl_engine_start(engine), ACTL_OK);
  assert_int_equal(actl_engine_wait(engine, 20), ACTL_TIMEOUT); /* its timers */
  while (atomic_load(&born) < 4 && !scene_is_over(scene)) sched_yield();
  assert_int_equal(actl_vat_close(engine, vat), ACTL_OK);
  assert_int_equal(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(actl_engine_stop(engine), ACTL_OK);
  assert_int_equal(atomic_load(&scene->ticks), 4);
  assert_int_equal(scene->parts[0].number[0], 4); /* the parent after its children */
  for (int i = 0; i < 4; i++) assert_int_equal(scene->parts[i].n_stops, 1);
  assert_int_equal(scene->parts[0].status[0], ACTL_SHUTDOWN);
  /* What is sent now is a dead letter, asks fail, and nobody is born there. */
  assert_int_equal(actl_vat_close(engine, vat), ACTL_NO_VAT);
  assert_int_equal(
      actl_engine_spawn(engine, vat, &part_behavior, ACTL_VALUES(pointer(asker)), &late),
      ACTL_NO_VAT);
  assert_int_equal(late.bits, 77);
  for (int i = 0; i < 5; i++) host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
  asker->other = pid;
  asker->receive = asking_receive;
  asker->reply = tick_at_last;
  host_send(&scene->host, scene_enter(scene, 4, 0), ACTL_VALUES(actl_int(GO)));
  scene_run(scene);
  assert_int_equal(asker->n_answers, 10);
  assert_int_equal(asker->by_status[-ACTL_NO_ACTOR] + asker->by_status[-ACTL_STOPPED] +
                       asker->by_status[-ACTL_SHUTDOWN],
                   10);
  assert_int_equal(letters_of(&scene->host.stats), 5 + 10 + 10 + 1);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.alive, 1 + (scene->is_loud ? 4 : 0));
}

static void a_closed_vat_ends_its_actors_and_what_comes_after_is_a_dead_letter(void **state) {
  (void)state;
  seeds_need_threads();
  on_scenes(check_close);
}

static void only_opened_vats_are_closed(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 2, 3);
  uint32_t vat = open_vat(&host);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(actl_vat_close(host.engine, i), ACTL_NO_VAT);
  }
  assert_int_equal(actl_vat_close(host.engine, vat + 1), ACTL_NO_VAT);
  assert_int_equal(actl_vat_close(host.engine, ACTL_VAT_ANY), ACTL_NO_VAT);
  assert_int_equal(actl_vat_close(host.engine, UINT32_MAX - 1), ACTL_NO_VAT);
  assert_int_equal(actl_vat_close(host.engine, vat), ACTL_OK); /* empty, and nothing runs */
  assert_int_equal(actl_vat_close(host.engine, vat), ACTL_NO_VAT);
  host_run(&host);
  uint32_t untouched = 77;
  open_vat(&host);
  actl_engine_shutdown(host.engine);
  assert_int_equal(actl_vat_open(host.engine, &untouched), ACTL_SHUTDOWN);
  assert_int_equal(untouched, 77);
  host_run(&host);
  host_close(&host);
}

/* An opened vat gets nobody who was to go anywhere. */
static void anywhere_is_not_in_an_opened_vat(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct scene *scene = scene_open(workers, 0, false, NULL);
    for (int i = 0; i < 5; i++) open_vat(&scene->host);
    for (int i = 0; i < PARTS; i++) {
      citizen(scene, i);
      scene_enter(scene, i, ACTL_VAT_ANY);
    }
    scene_run(scene);
    for (int i = 0; i < PARTS; i++) assert_in_range(scene->parts[i].number[0], 0, 1);
    scene_close(scene);
  }
}

/* ---- Again and again ---- */

/* The pids of those who lived in a vat of that number before reach nobody who lives there now. */
static void an_old_pid_reaches_nobody_in_a_later_vat(void **state) {
  (void)state;
  enum { LIVES = 300 };
  actl_pid old[LIVES];
  bool is_reused = false;
  struct scene *scene = scene_open(2, 0, false, NULL);
  uint32_t first = 0;
  for (int life = 0; life < LIVES; life++) {
    uint32_t vat = open_vat(&scene->host);
    if (life == 0) first = vat;
    is_reused = is_reused || (life > 0 && vat == first);
    memset(&scene->parts[0], 0, sizeof scene->parts[0]);
    scene->parts[0].scene = scene;
    citizen(scene, 0);
    old[life] = scene_enter(scene, 0, vat);
    for (int i = life > 10 ? life - 10 : 0; i < life; i++) {
      assert_true(old[i].bits != old[life].bits);
      host_send(&scene->host, old[i], ACTL_VALUES(actl_int(COUNT)));
    }
    host_send(&scene->host, old[life], ACTL_VALUES(actl_int(ANSWER)));
    host_run(&scene->host);
    assert_int_equal(part_count(&scene->parts[0], COUNT), 0);
    assert_int_equal(scene->parts[0].n_came, 1);
    assert_int_equal(actl_vat_close(scene->host.engine, vat), ACTL_OK);
    host_run(&scene->host);
    assert_int_equal(scene->host.stats.alive, 0);
  }
  assert_true(is_reused); /* numbers are used again */
  scene_close(scene);
}

static void vats_that_ended_leave_no_memory_behind(void **state) {
  (void)state;
  enum { ROUNDS = 60, AT_ONCE = 20 };
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    actl_config config = {.alloc = test_alloc, .alloc_ud = &alloc};
    struct scene *scene = scene_open(workers, 0, false, &config);
    size_t warm = 0;
    for (int round = 0; round < ROUNDS; round++) {
      uint32_t vats[AT_ONCE];
      for (int i = 0; i < AT_ONCE; i++) {
        vats[i] = open_vat(&scene->host);
        if (i >= PARTS) continue;
        citizen(scene, i);
        host_send(&scene->host, scene_enter(scene, i, vats[i]), ACTL_VALUES(actl_int(GO)));
      }
      host_run(&scene->host);
      for (int i = 0; i < AT_ONCE; i++) {
        assert_int_equal(actl_vat_close(scene->host.engine, vats[i]), ACTL_OK);
      }
      host_run(&scene->host);
      assert_int_equal(scene->host.stats.alive, 0);
      if (round == ROUNDS / 3) warm = atomic_load(&alloc.live_bytes);
    }
    assert_true(atomic_load(&alloc.live_bytes) <= warm + warm / 8 + 16384);
    assert_int_equal(scene->host.stats.fired, ROUNDS * PARTS);
    scene_close(scene);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

static void an_opened_vat_costs_less_than_four_kilobytes(void **state) {
  (void)state;
  enum { FEW = 1000, MANY = 5000 };
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = 2, .vats = 2, .alloc = test_alloc, .alloc_ud = &alloc};
  host_open_with(&host, &config);
  size_t few = 0;
  for (int i = 0; i < MANY; i++) {
    if (i == FEW) few = atomic_load(&alloc.live_bytes);
    open_vat(&host);
  }
  assert_true((atomic_load(&alloc.live_bytes) - few) / (MANY - FEW) < 4096);
  host_run(&host);
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
}

/* ---- Amid a flood ---- */

enum { SENDERS = 2, CLOSES = 200 };

/* Sends and asks to whoever lives in the vats that come and go; written by its thread. */
struct flooder {
  pthread_t thread;
  struct scene *scene;
  _Atomic(uint64_t) *pid; /* of the latest */
  atomic_uint *is_over, *rounds;
  unsigned sent, wrong;
};

static void *flooder_run(void *ud) {
  struct flooder *flooder = ud;
  actl_engine *engine = flooder->scene->host.engine;
  while (!atomic_load(flooder->is_over)) {
    actl_pid to = {atomic_load(flooder->pid)};
    if (to.bits == 0) continue;
    for (int i = 0; i < 50; i++) {
      flooder->wrong += actl_engine_send(engine, to, ACTL_VALUES(actl_int(COUNT))) != ACTL_OK;
      flooder->sent++;
    }
    actl_status status =
        actl_engine_ask(engine, to, ACTL_VALUES(actl_int(ANSWER)), ACTL_FOREVER, NULL);
    flooder->sent++;
    flooder->wrong += status != ACTL_OK && status != ACTL_NO_ACTOR && status != ACTL_STOPPED &&
                      status != ACTL_SHUTDOWN;
    tick(flooder->rounds);
  }
  return NULL;
}

/* Now and then it waits until the flood has gone on. */
static void come_and_go(struct scene *scene, _Atomic(uint64_t) *latest, atomic_uint *rounds) {
  actl_engine *engine = scene->host.engine;
  for (int i = 0; i < SCALED(CLOSES); i++) {
    uint32_t vat = open_vat(&scene->host);
    for (int j = 0; j < 3; j++) {
      actl_pid pid = host_spawn(&scene->host, vat, &plain, NULL, 0);
      atomic_store(latest, pid.bits);
    }
    unsigned before = atomic_load(rounds);
    while (i % 4 == 0 && atomic_load(rounds) == before && !scene_is_over(scene)) sched_yield();
    assert_int_equal(actl_vat_close(engine, vat), ACTL_OK);
  }
}

static void vats_come_and_go_amid_a_flood_and_nothing_vanishes(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t workers = 1; workers <= 2; workers++) {
    _Atomic(uint64_t) latest = 0;
    atomic_uint is_over = 0, rounds = 0;
    atomic_store(&last_words, 0);
    struct flooder flooders[SENDERS];
    struct scene *scene = scene_open(workers, 0, false, NULL);
    assert_int_equal(actl_engine_start(scene->host.engine), ACTL_OK);
    for (int i = 0; i < SENDERS; i++) {
      flooders[i] =
          (struct flooder){.scene = scene, .pid = &latest, .is_over = &is_over, .rounds = &rounds};
      assert_int_equal(pthread_create(&flooders[i].thread, NULL, flooder_run, &flooders[i]), 0);
    }
    scene->awaited = 1; /* it is over only when it has waited too long */
    come_and_go(scene, &latest, &rounds);
    atomic_store(&is_over, 1);
    unsigned sent = 0, wrong = 0;
    for (int i = 0; i < SENDERS; i++) {
      pthread_join(flooders[i].thread, NULL);
      sent += flooders[i].sent;
      wrong += flooders[i].wrong;
    }
    assert_int_equal(actl_engine_wait(scene->host.engine, ACTL_FOREVER), ACTL_OK);
    assert_int_equal(actl_engine_stop(scene->host.engine), ACTL_OK);
    host_run(&scene->host);
    const actl_stats *stats = &scene->host.stats;
    assert_int_equal(wrong, 0);
    assert_int_equal(stats->alive, 0);
    assert_int_equal(stats->spawned, 3 * SCALED(CLOSES));
    assert_true(atomic_load(&rounds) >= SCALED(CLOSES) / 4);
    assert_accounted(&scene->host, sent + atomic_load(&last_words));
    scene_close(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(actors_live_in_an_opened_vat_as_anywhere),
      WATCHED(a_handler_may_open_a_vat_and_close_its_own),
      WATCHED(a_closed_vat_ends_its_actors_and_what_comes_after_is_a_dead_letter),
      WATCHED(only_opened_vats_are_closed),
      WATCHED(anywhere_is_not_in_an_opened_vat),
      WATCHED(an_old_pid_reaches_nobody_in_a_later_vat),
      WATCHED(vats_that_ended_leave_no_memory_behind),
      WATCHED(an_opened_vat_costs_less_than_four_kilobytes),
      WATCHED(vats_come_and_go_amid_a_flood_and_nothing_vanishes),
  };
  return seeds_main(tests);
}
