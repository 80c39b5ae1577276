/*
 * part.c - see part.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

enum { PATIENCE_MS = 30000, NOISY_VATS = 2 };

/* ---- A part ---- */

static actl_status part_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct part *self = *(struct part **)state = pointer_in(args, 0);
  self->pid = actl_self(ctx);
  if (self->init != NULL) self->init(ctx, self);
  return ACTL_OK;
}

/* (tag, clock before, ms) is a timer's. */
static void check_timer(actl_ctx *ctx, struct part *self, const actl_msg *msg, uint64_t now) {
  if (actl_msg_count(msg) != 3) return;
  int64_t before = actl_msg_int(msg, 1, 0), ms = actl_msg_int(msg, 2, 0);
  if (now < (uint64_t)before + (uint64_t)ms * NS_OF_MS) self->wrong++;
  if (!actl_pid_equal(actl_sender(ctx), actl_self(ctx))) self->wrong++;
}

static actl_status part_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct part *self = *(struct part **)state;
  uint64_t now = now_ns(ctx);
  if (self->n_came < CAME_MAX) {
    self->came[self->n_came] = (struct came){actl_msg_int(msg, 0, -1), now};
  }
  self->n_came++;
  check_timer(ctx, self, msg, now);
  return self->receive == NULL ? ACTL_OK : self->receive(ctx, self, msg);
}

static actl_status part_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                              const actl_msg *msg) {
  struct part *self = *(struct part **)state;
  struct answer answer = {ask, status, -1, now_ns(ctx)};
  if ((status == ACTL_OK) != (msg != NULL)) self->wrong++;
  if (msg != NULL) answer.value = actl_msg_int(msg, 0, -1);
  if (self->n_answers < CAME_MAX) self->answers[self->n_answers] = answer;
  self->n_answers++;
  self->by_status[-status]++;
  if (self->reply != NULL) self->reply(ctx, self, &answer);
  return ACTL_OK;
}

static void part_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  struct part *self = *(struct part **)state;
  self->n_stops++;
  if (self->stop != NULL) self->stop(ctx, self, reason);
}

const actl_behavior part_behavior = {.name = "part",
                                     .state_size = sizeof(struct part *),
                                     .init = part_init,
                                     .receive = part_receive,
                                     .reply = part_reply,
                                     .stop = part_stop};

actl_timer part_after(actl_ctx *ctx, struct part *self, int64_t tag, uint64_t ms) {
  actl_timer timer = {0};
  int64_t before = (int64_t)now_ns(ctx);
  actl_status status = actl_after(
      ctx, ms, ACTL_VALUES(actl_int(tag), actl_int(before), actl_int((int64_t)ms)), &timer);
  if (status != ACTL_OK || timer.bits == 0) self->wrong++;
  return timer;
}

actl_timer part_every(actl_ctx *ctx, struct part *self, int64_t tag, uint64_t ms,
                      unsigned options) {
  actl_timer timer = {0};
  int64_t before = (int64_t)now_ns(ctx);
  actl_status status =
      actl_every(ctx, ms, options,
                 ACTL_VALUES(actl_int(tag), actl_int(before), actl_int((int64_t)ms)), &timer);
  if (status != ACTL_OK || timer.bits == 0) self->wrong++;
  return timer;
}

void part_tell(actl_ctx *ctx, struct part *self, actl_pid to, int64_t tag) {
  if (actl_send(ctx, to, ACTL_VALUES(actl_int(tag))) != ACTL_OK) self->wrong++;
}

actl_ask_id part_ask(actl_ctx *ctx, struct part *self, actl_pid to, int64_t tag, uint64_t ms) {
  actl_ask_id ask = {0};
  if (actl_ask_within(ctx, to, ACTL_VALUES(actl_int(tag)), ms, &ask) != ACTL_OK) self->wrong++;
  return ask;
}

static int64_t part_noted(const struct part *part) {
  return part->n_came < CAME_MAX ? part->n_came : CAME_MAX;
}

int64_t part_count(const struct part *part, int64_t tag) {
  int64_t n = 0;
  for (int64_t i = 0; i < part_noted(part); i++) n += part->came[i].tag == tag;
  return n;
}

uint64_t part_first(const struct part *part, int64_t tag) {
  for (int64_t i = 0; i < part_noted(part); i++) {
    if (part->came[i].tag == tag) return part->came[i].at_ns;
  }
  return 0;
}

/* ---- Noise: one tells another far away, and one tells itself, until the scene is over ---- */

static actl_status noise_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct scene *scene = pointer_in(msg, 0);
  if (scene_is_over(scene)) return ACTL_OK;
  return actl_send(ctx, actl_msg_pid(msg, 1),
                   ACTL_VALUES(actl_msg_value(msg, 0), actl_who(actl_self(ctx))));
}

static const actl_behavior noise = {.name = "noise", .receive = noise_receive};

static void noise_start(struct scene *scene) {
  actl_pid players[NOISY_VATS];
  for (uint32_t i = 0; i < NOISY_VATS; i++) {
    players[i] = host_spawn(&scene->host, i, &noise, NULL, 0);
    actl_pid alone = host_spawn(&scene->host, i, &noise, NULL, 0);
    host_send(&scene->host, alone, ACTL_VALUES(pointer(scene), actl_who(alone)));
  }
  host_send(&scene->host, players[0], ACTL_VALUES(pointer(scene), actl_who(players[1])));
}

/* ---- One that keeps the run alive ---- */

static actl_status keeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct scene *scene = pointer_in(msg, 0);
  if (scene_is_over(scene)) return ACTL_OK;
  return actl_after(ctx, 2, ACTL_VALUES(pointer(scene)), NULL);
}

static const actl_behavior keeper = {.name = "keeper", .receive = keeper_receive};

void scene_keep(struct scene *scene) {
  host_send(&scene->host, host_spawn(&scene->host, 1, &keeper, NULL, 0),
            ACTL_VALUES(pointer(scene)));
}

/* ---- The scene ---- */

struct scene *scene_open(uint32_t workers, uint32_t vat, bool is_loud, const actl_config *config) {
  struct scene *scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  scene->workers = workers;
  scene->vat = vat;
  scene->is_loud = is_loud;
  actl_config own = config == NULL ? (actl_config){0} : *config;
  if (!seeds_are_on() && !own.is_seeded)
    scene->deadline_ns = now_ns(NULL) + (uint64_t)PATIENCE_MS * NS_OF_MS;
  own.workers = workers;
  if (own.vats == 0) own.vats = NOISY_VATS;
  host_open_with(&scene->host, &own);
  for (int i = 0; i < PARTS; i++) scene->parts[i].scene = scene;
  return scene;
}

actl_pid scene_enter(struct scene *scene, int i, uint32_t vat) {
  return host_spawn(&scene->host, vat, &part_behavior, ACTL_VALUES(pointer(&scene->parts[i])));
}

void scene_tick(struct scene *scene) {
  /* release: pairs with scene_is_over, for what is written before the last tick. */
  atomic_fetch_add_explicit(&scene->ticks, 1, memory_order_release);
}

bool scene_is_over(struct scene *scene) {
  /* acquire: pairs with scene_tick. */
  if (atomic_load_explicit(&scene->ticks, memory_order_acquire) >= scene->awaited) return true;
  if (scene->deadline_ns == 0 || now_ns(NULL) < scene->deadline_ns) return false;
  tick(&scene->gave_up);
  return true;
}

void scene_run(struct scene *scene) {
  if (scene->is_loud) noise_start(scene);
  host_run(&scene->host);
}

void scene_close(struct scene *scene) {
  host_close(&scene->host);
  assert_int_equal(atomic_load(&scene->gave_up), 0);
  for (int i = 0; i < PARTS; i++) assert_int_equal(scene->parts[i].wrong, 0);
  free(scene);
}

void on_scenes_with(scene_test *test, const actl_config *config) {
  for (uint32_t i = 0; i < 4 * seeds_workers(); i++) {
    /* Noise takes long with a clock that goes on with the work alone. */
    if (i % 2 != 0 && seeds_number() % 25 != 0) continue;
    struct scene *scene = scene_open(1 + i / 4, i / 2 % 2, i % 2 != 0, config);
    test(scene);
    scene_close(scene);
  }
}

void on_scenes(scene_test *test) { on_scenes_with(test, NULL); }
