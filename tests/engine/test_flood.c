/*
 * test_flood.c - vats that are opened and closed while host threads and other vats flood them with
 * messages, asks and spawns: each message is handled or a dead letter, each ask is answered or fails,
 * each parent hears of its children's end.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "support/alloc.h"
#include "support/race.h"

enum {
  VATS = 2,
  PLACES = 8,
  PIDS = 64,
  FLOODERS = 3,
  PARENTS = 6,
  BATCH = 6,
  ROUNDS = SCALED(4000)
};

enum op { PULSE, GO, ASKED, TOLD };

/* What all share. */
struct flood {
  _Atomic(uint32_t) places[PLACES]; /* numbers of vats that are open; 0: none yet */
  _Atomic(uint32_t) last_closed;    /* the number of one that was closed; 0: none yet */
  _Atomic(uint64_t) pids[PIDS];     /* of residents, living or dead */
  actl_engine *engine;
  atomic_uint running;                                       /* flooders that are not through */
  atomic_uint sent, asked, replies, opened, closed, spawned; /* all that succeeded */
  atomic_uint refused, unexpected;
  bool until_shutdown;
};

static void expect(struct flood *flood, bool is_fine) {
  if (!is_fine) tick(&flood->unexpected);
}

static uint32_t some_place(struct flood *flood, uint64_t *seed) {
  uint64_t i = random_next(seed) % (PLACES + 3);
  if (i > PLACES) return ACTL_VAT_NEW;
  return atomic_load_explicit(i == PLACES ? &flood->last_closed : &flood->places[i],
                              memory_order_relaxed);
}

static actl_pid some_pid(struct flood *flood, uint64_t *seed) {
  _Atomic(uint64_t) *place = &flood->pids[random_next(seed) % PIDS];
  return (actl_pid){atomic_load_explicit(place, memory_order_relaxed)};
}

static void note(struct flood *flood, uint64_t *seed, actl_pid pid) {
  tick(&flood->spawned);
  atomic_store_explicit(&flood->pids[random_next(seed) % PIDS], pid.bits, memory_order_relaxed);
}

/* Whether a spawn that failed may have. */
static bool may_fail(actl_status status, uint32_t number) {
  return status == ACTL_SHUTDOWN || status == ACTL_STOPPED ||
         (status == ACTL_NO_VAT && number != ACTL_VAT_NEW);
}

/* ---- Residents: actors that the flood makes, and that answer ---- */

struct one { /* the state of each actor of this test */
  struct flood *flood;
  uint64_t seed;
  int64_t open_asks;
};

static actl_status one_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct one *one = state;
  one->flood = pointer_in(args, 0);
  one->seed = actl_self(ctx).bits | 1;
  return ACTL_OK;
}

static actl_status resident_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct one *one = state;
  int64_t op = actl_msg_int(msg, 0, PULSE);
  expect(one->flood, op == ASKED || op == TOLD);
  uint64_t die = random_next(&one->seed) % 16;
  if (op == ASKED && die == 0) return ACTL_UNHANDLED;
  if (die == 1) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior resident = {.name = "resident",
                                       .state_size = sizeof(struct one),
                                       .init = one_init,
                                       .receive = resident_receive};

/* ---- Parents: they live in old vats, and have children, and ask, everywhere ---- */

static void parent_act(actl_ctx *ctx, struct one *one) {
  struct flood *flood = one->flood;
  uint32_t number = some_place(flood, &one->seed);
  actl_pid pid;
  actl_status status = actl_spawn_on(ctx, number, &resident, ACTL_VALUES(pointer(flood)), &pid);
  if (status == ACTL_OK) {
    note(flood, &one->seed, pid);
  } else {
    expect(flood, may_fail(status, number));
    tick(&flood->refused);
    pid = some_pid(flood, &one->seed);
  }
  actl_ask_id ask;
  if (actl_ask(ctx, pid, ACTL_VALUES(actl_int(ASKED)), &ask) == ACTL_OK) {
    tick(&flood->asked);
    one->open_asks++;
  }
  if (actl_send(ctx, some_pid(flood, &one->seed), ACTL_VALUES(actl_int(TOLD))) == ACTL_OK) {
    tick(&flood->sent);
  }
  /* An isolate ends when nobody is in it: most are told to. */
  if (random_next(&one->seed) % 4 != 0) actl_stop(ctx, pid);
}

static actl_status parent_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct one *one = state;
  (void)msg;
  for (int i = 0; i < BATCH; i++) parent_act(ctx, one);
  return ACTL_OK;
}

static actl_status parent_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ctx, (void)ask;
  struct one *one = state;
  tick(&one->flood->replies);
  expect(one->flood, --one->open_asks >= 0 && (status == ACTL_OK) == (msg != NULL));
  return ACTL_OK;
}

static const actl_behavior parent = {.name = "parent",
                                     .state_size = sizeof(struct one),
                                     .init = one_init,
                                     .receive = parent_receive,
                                     .reply = parent_reply};

/* ---- The pulse keeps the engine from being quiet while host threads send ---- */

static actl_status pulse_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)msg;
  struct one *one = state;
  if (atomic_load(&one->flood->running) == 0) return ACTL_OK;
  tick(&one->flood->sent);
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(PULSE)));
}

static const actl_behavior pulse = {
    .name = "pulse", .state_size = sizeof(struct one), .init = one_init, .receive = pulse_receive};

/* ---- Host threads ---- */

struct flooder {
  struct flood *flood;
  uint64_t seed;
  actl_pid parents[PARENTS];
};

static bool change_vats(struct flood *flood, uint64_t *seed) {
  uint32_t number = 0;
  actl_status status = actl_vat_open(flood->engine, &number);
  if (status == ACTL_OK) tick(&flood->opened);
  expect(flood, status == ACTL_OK || (flood->until_shutdown && status == ACTL_SHUTDOWN));
  bool goes_on = status == ACTL_OK;

  number = atomic_exchange_explicit(&flood->places[random_next(seed) % PLACES], number,
                                    memory_order_relaxed);
  if (number == 0) return goes_on;
  status = actl_vat_close(flood->engine, number);
  if (status == ACTL_OK) tick(&flood->closed);
  expect(flood, status == ACTL_OK);
  atomic_store_explicit(&flood->last_closed, number, memory_order_relaxed);
  return goes_on;
}

static void flood_once(struct flooder *flooder) {
  struct flood *flood = flooder->flood;
  uint64_t *seed = &flooder->seed;
  actl_pid pid;
  uint32_t number = some_place(flood, seed);
  actl_status status =
      actl_engine_spawn(flood->engine, number, &resident, ACTL_VALUES(pointer(flood)), &pid);
  if (status == ACTL_OK) {
    note(flood, seed, pid);
  } else {
    expect(flood, may_fail(status, number));
    tick(&flood->refused);
  }
  for (int i = 0; i < BATCH; i++) {
    pid = some_pid(flood, seed);
    if (pid.bits == 0) continue;
    expect(flood, actl_engine_send(flood->engine, pid, ACTL_VALUES(actl_int(TOLD))) == ACTL_OK);
    tick(&flood->sent);
  }
  pid = flooder->parents[random_next(seed) % PARENTS];
  expect(flood, actl_engine_send(flood->engine, pid, ACTL_VALUES(actl_int(GO))) == ACTL_OK);
  tick(&flood->sent);
}

static void flood_all(void *arg) {
  struct flooder *flooder = arg;
  struct flood *flood = flooder->flood;
  bool goes_on = true;
  for (int round = 0; goes_on && (round < ROUNDS || flood->until_shutdown); round++) {
    if (round % 4 == 0) goes_on = change_vats(flood, &flooder->seed);
    flood_once(flooder);
  }
  atomic_fetch_sub(&flood->running, 1);
}

struct runner {
  struct flood *flood;
  actl_status status;
};

static void run(void *arg) {
  struct runner *runner = arg;
  runner->status = actl_engine_run(runner->flood->engine);
}

static void shut_down(void *arg) {
  struct flood *flood = arg;
  unsigned spins = 0;
  while (atomic_load(&flood->closed) < 300) test_race_wait(&spins);
  actl_engine_shutdown(flood->engine);
}

/* ---- The tests ---- */

struct scene {
  struct test_alloc alloc;
  struct host host;
  struct flood flood;
  struct flooder flooders[FLOODERS];
  actl_pid parents[PARENTS];
};

static void scene_open(struct scene *scene, uint32_t workers) {
  memset(scene, 0, sizeof *scene);
  actl_config config = {
      .workers = workers, .vats = VATS, .alloc = test_alloc, .alloc_ud = &scene->alloc};
  host_open_with(&scene->host, &config);
  struct flood *flood = &scene->flood;
  flood->engine = scene->host.engine;
  atomic_store(&flood->running, FLOODERS);
  for (uint32_t i = 0; i < PARENTS; i++)
    scene->parents[i] = host_spawn(&scene->host, i % VATS, &parent, ACTL_VALUES(pointer(flood)));
  actl_pid beat = host_spawn(&scene->host, 0, &pulse, ACTL_VALUES(pointer(flood)));
  host_send(&scene->host, beat, ACTL_VALUES(actl_int(PULSE)));
  tick(&flood->sent);
  for (uint64_t i = 0; i < FLOODERS; i++) {
    scene->flooders[i] = (struct flooder){.flood = flood, .seed = i * 7919 + 1};
    memcpy(scene->flooders[i].parents, scene->parents, sizeof scene->parents);
  }
}

static void scene_play(struct scene *scene) {
  struct runner runner = {.flood = &scene->flood};
  struct test_racer racers[FLOODERS + 2] = {{run, &runner}};
  for (int i = 0; i < FLOODERS; i++)
    racers[i + 1] = (struct test_racer){flood_all, &scene->flooders[i]};
  racers[FLOODERS + 1] = (struct test_racer){shut_down, &scene->flood};
  test_race(racers, FLOODERS + (scene->flood.until_shutdown ? 2 : 1));
  assert_int_equal(runner.status, ACTL_OK);
  host_run(&scene->host);
}

static void scene_check(struct scene *scene) {
  struct flood *flood = &scene->flood;
  assert_int_equal(atomic_load(&flood->unexpected), 0);
  assert_int_equal(atomic_load(&flood->replies), atomic_load(&flood->asked));
  assert_accounted(&scene->host, (uint64_t)atomic_load(&flood->sent) + atomic_load(&flood->asked));
  assert_int_equal(scene->host.stats.spawned, atomic_load(&flood->spawned) + PARENTS + 1);
  assert_true(atomic_load(&flood->refused) > 0);
  assert_true(letters_of(&scene->host.stats) > 0);
}

static void scene_close(struct scene *scene) {
  host_close(&scene->host);
  assert_true(test_alloc_is_clean(&scene->alloc));
}

static actl_status stopper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  return actl_stop(ctx, actl_msg_pid(msg, 0));
}

static const actl_behavior stopper = {.name = "stopper", .receive = stopper_receive};

static void closing_under_a_flood_loses_no_message_no_ask_and_no_child(void **state) {
  (void)state;
  static struct scene scene;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    scene_open(&scene, workers);
    scene_play(&scene);
    scene_check(&scene);
    assert_true(atomic_load(&scene.flood.closed) > ROUNDS / 4);

    /* The vats that are left are closed; then only what an isolate keeps is alive, and the parents. */
    for (int i = 0; i < PLACES; i++)
      if (scene.flood.places[i] != 0)
        assert_int_equal(actl_vat_close(scene.host.engine, scene.flood.places[i]), ACTL_OK);
    actl_pid pid = host_spawn(&scene.host, 0, &stopper, NULL, 0);
    for (int i = 0; i < PARENTS; i++)
      host_send(&scene.host, pid, ACTL_VALUES(actl_who(scene.parents[i])));
    host_run(&scene.host);
    for (int i = 0; i < PARENTS; i++) { /* they have stopped: no child is waited for */
      uint64_t letters = letters_of(&scene.host.stats);
      host_send(&scene.host, scene.parents[i], ACTL_VALUES(actl_int(GO)));
      host_run(&scene.host);
      assert_int_equal(letters_of(&scene.host.stats), letters + 1);
    }
    actl_engine_shutdown(scene.host.engine);
    host_run(&scene.host);
    assert_int_equal(scene.host.stats.alive, 0);
    scene_close(&scene);
  }
}

static void a_shutdown_while_vats_come_and_go_ends_everybody(void **state) {
  (void)state;
  static struct scene scene;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    scene_open(&scene, workers);
    scene.flood.until_shutdown = true;
    scene_play(&scene);
    assert_int_equal(scene.host.stats.alive, 0);
    assert_int_equal(atomic_load(&scene.flood.unexpected), 0);
    assert_accounted(&scene.host,
                     (uint64_t)atomic_load(&scene.flood.sent) + atomic_load(&scene.flood.asked));
    scene_close(&scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(closing_under_a_flood_loses_no_message_no_ask_and_no_child),
      WATCHED(a_shutdown_while_vats_come_and_go_ends_everybody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
