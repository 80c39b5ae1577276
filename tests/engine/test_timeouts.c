/*
 * test_timeouts.c - an ask ends with an answer or with its time, once; what comes later is dropped and
 * counted, and what waits longer than its time is not handled.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

#include "support/alloc.h"

enum tag { GO = 1000, KEEP, ANSWER, BUSY, RELEASE, LEAVE, LAST, FLOOD };

enum { HOUR_MS = 3600000, DEFAULT_MS = 15, KEPT_MAX = 100000 };

static const actl_config short_config = {.ask_timeout_ms = DEFAULT_MS};

/* ---- A server ---- */

/* Written by the server. */
struct service {
  actl_request kept[KEPT_MAX];
  int64_t n_kept, n_answered, released[STATUSES];
};

static actl_status release_all(actl_ctx *ctx, struct service *service) {
  for (int64_t i = 0; i < service->n_kept; i++) {
    actl_status status = actl_request_reply(ctx, service->kept[i], ACTL_VALUES(actl_int(42)));
    service->released[-status]++;
  }
  service->n_kept = 0;
  return ACTL_OK;
}

static actl_status be_busy(actl_ctx *ctx) {
  burn_until(ctx, now_ns(ctx) + NS_OF_MS / 3);
  return ACTL_OK;
}

static actl_status serve(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  struct service *service = self->ud;
  switch (actl_msg_int(msg, 0, 0)) {
  case KEEP: return actl_later(ctx, &service->kept[service->n_kept++]);
  case ANSWER: service->n_answered++; return actl_reply(ctx, ACTL_VALUES(actl_int(42)));
  case BUSY: return be_busy(ctx);
  case RELEASE: return release_all(ctx, service);
  case LEAVE: actl_exit(ctx, NULL); return ACTL_OK;
  default: return ACTL_OK;
  }
}

/* The asker is part 0 in vat 0, the server part 1. */
static struct service *serve_scene(struct scene *scene) {
  struct service *service = calloc(1, sizeof *service);
  assert_non_null(service);
  scene->parts[1].ud = service;
  scene->parts[1].receive = serve;
  scene->parts[0].other = scene_enter(scene, 1, scene->vat);
  return service;
}

static void asker_enter(struct scene *scene,
                        actl_status (*receive)(actl_ctx *, struct part *, const actl_msg *)) {
  scene->parts[0].receive = receive;
  host_send(&scene->host, scene_enter(scene, 0, 0), ACTL_VALUES(actl_int(GO)));
}

static void tick_for_each(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  (void)ctx, (void)answer;
  scene_tick(self->scene);
}

/* ---- Times ---- */

static const uint64_t some_ms[] = {1, 2, 5, 10, 20, 40};
enum { SOME = sizeof some_ms / sizeof some_ms[0] };

/* One with the default, and one for each time, all kept by the server. */
static actl_status ask_times(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  actl_ask_id *asks = self->ud;
  self->at_ns[SOME] = now_ns(ctx) + DEFAULT_MS * NS_OF_MS;
  self->wrong += actl_ask(ctx, self->other, ACTL_VALUES(actl_int(KEEP)), &asks[SOME]) != ACTL_OK;
  for (int i = 0; i < SOME; i++) {
    self->at_ns[i] = now_ns(ctx) + some_ms[i] * NS_OF_MS;
    asks[i] = part_ask(ctx, self, self->other, KEEP, some_ms[i]);
  }
  return ACTL_OK;
}

static void check_times(struct scene *scene) {
  actl_ask_id asks[SOME + 1];
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  part->ud = asks;
  part->reply = tick_for_each;
  scene->awaited = SOME + 1;
  asker_enter(scene, ask_times);
  scene_keep(scene);
  scene_run(scene);
  assert_int_equal(part->n_answers, SOME + 1);
  assert_int_equal(part->by_status[-ACTL_TIMEOUT], SOME + 1);
  assert_int_equal(scene->host.stats.timeouts, SOME + 1);
  for (int i = 0; i <= SOME; i++) {
    int64_t found = 0;
    for (int j = 0; j <= SOME; j++) {
      if (part->answers[j].ask.bits != asks[i].bits) continue;
      found++;
      assert_true(part->answers[j].at_ns >= part->at_ns[i]);
    }
    assert_int_equal(found, 1);
  }
  /* What is answered now comes too late. */
  int64_t n_kept = service->n_kept;
  host_send(&scene->host, scene->parts[1].pid, ACTL_VALUES(actl_int(RELEASE)));
  host_run(&scene->host);
  assert_int_equal(part->n_answers, SOME + 1);
  assert_int_equal(service->released[0] + service->released[-ACTL_EXPIRED], n_kept);
  assert_int_equal(scene->host.stats.late_replies, n_kept);
  assert_int_equal(n_kept + (int64_t)letters_of(&scene->host.stats), SOME + 1);
  assert_int_equal(scene->host.stats.dead_letters[ACTL_LETTER_EXPIRED],
                   letters_of(&scene->host.stats));
  assert_int_equal(scene->host.stats.deadlocks, 0);
  free(service);
}

static void an_ask_without_an_answer_ends_once_with_its_time_and_never_early(void **state) {
  (void)state;
  on_scenes_with(check_times, &short_config);
}

/* One without an end outlasts one that has one, and nothing is left that could answer it then. */
static actl_status ask_for_ever(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  part_ask(ctx, self, self->other, KEEP, ACTL_FOREVER);
  part_ask(ctx, self, self->other, KEEP, UINT64_MAX - 1); /* as good as for ever */
  part_ask(ctx, self, self->other, KEEP, 10);
  return ACTL_OK;
}

static void check_for_ever(struct scene *scene) {
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  part->reply = tick_for_each;
  scene->awaited = 1;
  asker_enter(scene, ask_for_ever);
  scene_keep(scene);
  scene_run(scene);
  assert_int_equal(part->n_answers, 3);
  assert_int_equal(part->answers[0].status, ACTL_TIMEOUT);
  assert_int_equal(part->by_status[-ACTL_DEADLOCK], 2);
  assert_int_equal(scene->host.stats.timeouts, 1);
  assert_int_equal(scene->host.stats.deadlocks, 2);
  free(service);
}

static void an_ask_for_ever_has_no_time(void **state) {
  (void)state;
  on_scenes(check_for_ever);
}

static actl_status ask_by_default(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  actl_ask_id ask;
  self->at_ns[0] = now_ns(ctx);
  return actl_ask(ctx, self->other, ACTL_VALUES(actl_int(KEEP)), &ask);
}

static void without_a_word_an_ask_waits_for_five_seconds(void **state) {
  (void)state;
  struct scene *scene = scene_open(2, 1, false, NULL);
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  part->reply = tick_for_each;
  scene->awaited = 1;
  asker_enter(scene, ask_by_default);
  scene_keep(scene);
  scene_run(scene);
  assert_int_equal(part->by_status[-ACTL_TIMEOUT], 1);
  uint64_t ns = part->answers[0].at_ns - part->at_ns[0];
  assert_true(ns >= ACTL_ASK_TIMEOUT_MS * (uint64_t)NS_OF_MS);
  free(service);
  scene_close(scene);
}

/* ---- Expired in the queue ---- */

enum { TOO_OLD = 20, BUSY_TELLS = 100 };

/* The server is kept busy until the asks behind are older than their time. A vat reads the clock now
 * and then, not for each message: there are more than it handles in between. */
static actl_status ask_the_busy(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  for (int i = 0; i < BUSY_TELLS; i++) part_tell(ctx, self, self->other, BUSY);
  for (uint64_t i = 0; i < TOO_OLD; i++) part_ask(ctx, self, self->other, ANSWER, 1 + i % 5);
  part_ask(ctx, self, self->other, ANSWER, HOUR_MS);
  return ACTL_OK;
}

static void check_expired(struct scene *scene) {
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  part->reply = tick_for_each;
  scene->awaited = TOO_OLD + 1;
  asker_enter(scene, ask_the_busy);
  scene_keep(scene);
  scene_run(scene);
  assert_int_equal(part->by_status[-ACTL_TIMEOUT], TOO_OLD);
  assert_int_equal(part->by_status[0], 1);
  assert_int_equal(part->n_answers, TOO_OLD + 1);
  assert_int_equal(service->n_answered, 1);
  assert_int_equal(part_count(&scene->parts[1], ANSWER), 1);
  assert_int_equal(scene->host.stats.dead_letters[ACTL_LETTER_EXPIRED], TOO_OLD);
  assert_int_equal(letters_of(&scene->host.stats), TOO_OLD);
  assert_int_equal(scene->host.stats.timeouts, TOO_OLD);
  assert_int_equal(scene->host.stats.late_replies, 0);
  free(service);
}

static void an_ask_that_expired_in_the_queue_is_not_handled(void **state) {
  (void)state;
  on_scenes(check_expired);
}

/* ---- At the last moment ---- */

enum { CLOSE_ASKS = 3000, BURST = 20 };

/* Asks with short times, some of which the answer makes and some not. */
static void ask_close(actl_ctx *ctx, struct part *self) {
  int64_t left = SIZED(CLOSE_ASKS, 200) - self->number[0];
  for (int i = 0; i < BURST && left > 0; i++, left--) {
    part_ask(ctx, self, self->other, ANSWER, 1 + (uint64_t)(self->number[0]++ % 3));
  }
}

static actl_status close_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  ask_close(ctx, self);
  return ACTL_OK;
}

static void close_reply(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  (void)answer;
  scene_tick(self->scene);
  if (self->n_answers % BURST == 0) ask_close(ctx, self);
}

static void check_close(struct scene *scene) {
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  const actl_stats *stats = &scene->host.stats;
  int64_t n = SIZED(CLOSE_ASKS, 200);
  part->reply = close_reply;
  scene->awaited = (unsigned)n;
  asker_enter(scene, close_receive);
  scene_keep(scene);
  scene_run(scene);
  assert_int_equal(part->n_answers, n);
  assert_int_equal(part->by_status[0] + part->by_status[-ACTL_TIMEOUT], n);
  assert_int_equal(service->n_answered + (int64_t)stats->dead_letters[ACTL_LETTER_EXPIRED], n);
  assert_int_equal(part->by_status[0] + (int64_t)stats->late_replies, service->n_answered);
  assert_int_equal(stats->timeouts, part->by_status[-ACTL_TIMEOUT]);
  assert_int_equal(letters_of(stats), stats->dead_letters[ACTL_LETTER_EXPIRED]);
  assert_true(part->by_status[0] > 0);
  free(service);
}

static void an_ask_whose_answer_and_time_meet_ends_once(void **state) {
  (void)state;
  on_scenes(check_close);
}

/* Answered at once, and told to wait until after the times of all. */
static actl_status ask_in_time(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == LAST) {
    scene_tick(self->scene);
    return ACTL_OK;
  }
  for (uint64_t i = 0; i < 200; i++) part_ask(ctx, self, self->other, ANSWER, 60000 + i);
  part_ask(ctx, self, self->other, ANSWER, ACTL_FOREVER);
  for (int i = 0; i < 5; i++) part_ask(ctx, self, self->other, ANSWER, 20);
  part_after(ctx, self, LAST, 40);
  return ACTL_OK;
}

static void check_in_time(struct scene *scene) {
  struct part *part = &scene->parts[0];
  struct service *service = serve_scene(scene);
  scene->awaited = 1;
  asker_enter(scene, ask_in_time);
  scene_run(scene);
  assert_int_equal(part->n_answers, 206);
  assert_in_range(part->by_status[0], 201, 206);
  assert_int_equal(scene->host.stats.timeouts, 206 - part->by_status[0]);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(part_count(part, LAST), 1);
  free(service);
}

static void what_is_answered_in_time_is_not_timed_out(void **state) {
  (void)state;
  on_scenes(check_in_time);
}

/* ---- Ends ---- */

/* The asker ends with its asks open: they have no time any more. Some were kept, and are answered too
 * late; some are still queued, and not handled. */
static actl_status ask_and_leave(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  for (int i = 0; i < 10 && tag == GO; i++) {
    part_ask(ctx, self, self->other, KEEP, i % 2 ? 5 : HOUR_MS);
  }
  if (tag != LEAVE) return ACTL_OK;
  for (int i = 0; i < 10; i++) part_ask(ctx, self, self->other, KEEP, i % 2 ? 5 : HOUR_MS);
  switch (self->number[0]) {
  case 0: actl_exit(ctx, NULL); return ACTL_OK;
  case 1: return actl_kill(ctx, self->pid);
  default: return actl_fail(ctx, "no patience");
  }
}

/* It tells the asker to leave when the first ask has come. Its own timer keeps the run alive. */
static actl_status serve_a_while(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  struct service *service = self->ud;
  if (tag == KEEP && service->n_kept == 0) {
    part_tell(ctx, self, actl_sender(ctx), LEAVE);
    part_after(ctx, self, LAST, 20);
  }
  if (tag == LAST) {
    scene_tick(self->scene);
    return release_all(ctx, service);
  }
  return serve(ctx, self, msg);
}

static void check_asker_ends(struct scene *scene) {
  for (int64_t how = 0; how < 3; how++) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    struct service *service = serve_scene(own);
    own->parts[1].receive = serve_a_while;
    own->parts[0].number[0] = how;
    own->awaited = 1;
    asker_enter(own, ask_and_leave);
    scene_run(own);
    const actl_stats *stats = &own->host.stats;
    /* Of the time before it left; it need not have been told of each any more. */
    assert_in_range(own->parts[0].n_answers, 0, stats->timeouts);
    assert_in_range(stats->timeouts, 0, 5);
    assert_int_equal(stats->deadlocks, 0);
    assert_int_equal(stats->late_replies + stats->dead_letters[ACTL_LETTER_EXPIRED], 20);
    assert_int_equal(letters_of(stats),
                     stats->dead_letters[ACTL_LETTER_EXPIRED] + (how == 2 /* LEAVE */));
    assert_true(stats->late_replies > 0);
    free(service);
    scene_close(own);
  }
}

static void the_asks_of_one_that_ended_have_no_time_any_more(void **state) {
  (void)state;
  on_scenes(check_asker_ends);
}

/* The target ends: its asks fail then and not with their time. */
static actl_status ask_one_that_ends(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  static const uint64_t times[] = {HOUR_MS, ACTL_FOREVER, 60000};
  for (int i = 0; i < 9; i++) part_ask(ctx, self, self->other, KEEP, times[i % 3]);
  if (self->number[0] == 0) part_tell(ctx, self, self->other, LEAVE);
  if (self->number[0] == 1) return actl_stop(ctx, self->other);
  if (self->number[0] == 2) return actl_kill(ctx, self->other);
  return ACTL_OK;
}

static void check_target_ends(struct scene *scene) {
  for (int64_t how = 0; how < 3; how++) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    struct part *part = &own->parts[0];
    struct service *service = serve_scene(own);
    part->number[0] = how;
    part->reply = tick_for_each;
    own->awaited = 9;
    asker_enter(own, ask_one_that_ends);
    scene_run(own);
    assert_int_equal(part->n_answers, 9);
    assert_int_equal(part->by_status[-ACTL_STOPPED] + part->by_status[-ACTL_NO_ACTOR] +
                         part->by_status[-ACTL_KILLED],
                     9);
    assert_int_equal(own->host.stats.timeouts, 0);
    free(service);
    scene_close(own);
  }
}

static void the_asks_to_one_that_ends_fail_before_their_time(void **state) {
  (void)state;
  on_scenes(check_target_ends);
}

/* ---- Floods ---- */

/* A part that tells itself without an end, until the scene is over. */
static actl_status drown(actl_ctx *ctx, struct part *self) {
  if (!scene_is_over(self->scene)) part_tell(ctx, self, self->pid, FLOOD);
  return ACTL_OK;
}

static actl_status ask_for_three(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  for (uint64_t i = 1; i <= 3; i++) part_ask(ctx, self, self->other, KEEP, 5 * i);
  return ACTL_OK;
}

static actl_status ask_and_drown(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) == GO) {
    ask_for_three(ctx, self, msg);
    for (int i = 0; i < 3; i++) drown(ctx, self);
  }
  return drown(ctx, self);
}

static actl_status serve_and_drown(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag == GO) {
    for (int i = 0; i < 3; i++) drown(ctx, self);
  }
  return tag == FLOOD || tag == GO ? drown(ctx, self) : serve(ctx, self, msg);
}

static void check_flood(struct scene *scene) {
  for (int who = 0; who < 2; who++) {
    struct scene *own = scene_open(scene->workers, scene->vat, scene->is_loud, NULL);
    struct part *part = &own->parts[0];
    struct service *service = serve_scene(own);
    part->reply = tick_for_each;
    own->awaited = 3;
    own->parts[1].receive = who == 0 ? serve : serve_and_drown;
    host_send(&own->host, own->parts[0].other, ACTL_VALUES(actl_int(GO)));
    asker_enter(own, who == 0 ? ask_and_drown : ask_for_three);
    scene_run(own);
    assert_int_equal(part->n_answers, 3);
    assert_int_equal(part->by_status[-ACTL_TIMEOUT], 3);
    assert_int_equal(own->host.stats.timeouts, 3);
    assert_true(own->parts[who].n_came > 10); /* there was a flood */
    free(service);
    scene_close(own);
  }
}

static void a_flood_keeps_no_ask_from_ending(void **state) {
  (void)state;
  on_scenes(check_flood);
}

/* ---- Quiet ---- */

static actl_status ask_hopelessly(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  part_ask(ctx, self, self->other, KEEP, HOUR_MS);
  part_ask(ctx, self, self->other, KEEP, ACTL_FOREVER);
  if (self->number[0] > 0) part_after(ctx, self, LAST, (uint64_t)self->number[0]);
  if (self->number[1] != 0) part_every(ctx, self, LAST, HOUR_MS, ACTL_TIMER_BACKGROUND);
  return ACTL_OK;
}

static void check_hopeless(struct scene *scene) {
  if (scene->is_loud) return;
  for (int i = 0; i < 3; i++) {
    struct scene *own = scene_open(scene->workers, scene->vat, false, NULL);
    struct part *part = &own->parts[0];
    struct service *service = serve_scene(own);
    part->number[0] = i == 1 ? 20 : 0; /* a plain timer: they wait for it, and fail then */
    part->number[1] = i == 2;          /* one in the background: they do not */
    asker_enter(own, ask_hopelessly);
    scene_run(own); /* it would last an hour */
    assert_int_equal(part->n_answers, 2);
    assert_int_equal(part->by_status[-ACTL_DEADLOCK], 2);
    assert_int_equal(own->host.stats.deadlocks, 2);
    assert_int_equal(own->host.stats.timeouts, 0);
    assert_true(own->host.journal.entries[ACTL_LOG_STUCK] >= 1);
    if (i == 1) assert_true(part->answers[0].at_ns >= part_first(part, LAST));
    free(service);
    scene_close(own);
  }
}

static void where_only_the_times_of_asks_are_left_they_fail_at_once(void **state) {
  (void)state;
  on_scenes(check_hopeless);
}

/* ---- Many ---- */

enum { MANY = 20000, STEADY = 8, MANY_ROUNDS = 60 };

/* Asks so many, and is told of each: numbers are kept by the ask's own time. */
static actl_status ask_many(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != GO) return ACTL_OK;
  for (int64_t i = 0; i < SIZED(MANY, 500); i++) {
    part_ask(ctx, self, self->other, i % 2 ? KEEP : ANSWER, 1 + (uint64_t)i % 30);
  }
  return ACTL_OK;
}

static void many_asks_time_out_and_leave_no_memory_behind(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct test_alloc alloc = {0};
    actl_config config = {.alloc = test_alloc, .alloc_ud = &alloc};
    struct scene *scene = scene_open(1 + i / 2, i % 2, false, &config);
    struct part *part = &scene->parts[0];
    struct service *service = serve_scene(scene);
    part->receive = ask_many;
    part->reply = tick_for_each;
    actl_pid pid = scene_enter(scene, 0, 0);
    /* How much is under way at a time depends on the machine: the memory grows to what that takes,
     * slab by slab, and then no more. What leaked would need another slab each few rounds. */
    size_t most = 0;
    unsigned round = 0, steady = 0;
    int64_t n = SIZED(MANY, 500);
    while (steady < STEADY && round < MANY_ROUNDS) {
      round++;
      scene->awaited = round * (unsigned)n;
      scene_keep(scene);
      host_send(&scene->host, pid, ACTL_VALUES(actl_int(GO)));
      host_run(&scene->host);
      host_send(&scene->host, part->other, ACTL_VALUES(actl_int(RELEASE)));
      host_run(&scene->host);
      assert_int_equal(part->n_answers, n * round);
      size_t live = atomic_load(&alloc.live_bytes);
      steady = live <= most ? steady + 1 : 0;
      if (live > most) most = live;
    }
    assert_int_equal(steady, STEADY);
    assert_int_equal(part->by_status[0] + part->by_status[-ACTL_TIMEOUT], n * round);
    assert_true(part->by_status[-ACTL_TIMEOUT] >= n / 2 * round);
    assert_int_equal(scene->host.stats.timeouts, part->by_status[-ACTL_TIMEOUT]);
    free(service);
    scene_close(scene);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

/* ---- Memory that runs out ---- */

struct sweep {
  actl_pid server;
  atomic_uint changed, asked, told;
};

static actl_status sweeper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct sweep *sweep = *(void **)state = pointer_in(args, 0);
  for (int i = 0; i < 40; i++) {
    actl_ask_id ask = {77};
    actl_status status = actl_ask_within(ctx, sweep->server, ACTL_VALUES(actl_int(i)),
                                         i % 3 == 0 ? HOUR_MS : (uint64_t)i % 3, &ask);
    if (status == ACTL_OK) {
      tick(&sweep->asked);
    } else if (ask.bits != 77 || (status != ACTL_NO_MEMORY && status != ACTL_INVALID)) {
      tick(&sweep->changed);
    }
  }
  return ACTL_OK;
}

static actl_status sweeper_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                 const actl_msg *msg) {
  (void)ctx, (void)ask, (void)status, (void)msg;
  tick(&(*(struct sweep **)state)->told);
  return ACTL_OK;
}

static actl_status keeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_request request;
  if (actl_msg_int(msg, 0, 0) % 2) actl_later(ctx, &request);
  return ACTL_OK;
}

static const actl_behavior sweeper = {.name = "sweeper",
                                      .state_size = sizeof(void *),
                                      .init = sweeper_init,
                                      .receive = keeper_receive,
                                      .reply = sweeper_reply};
static const actl_behavior keeper = {.name = "keeper", .receive = keeper_receive};

static void sweep_once(struct test_alloc *alloc, struct sweep *sweep, uint32_t vat) {
  actl_config config = {.workers = 2, .vats = 2, .alloc = test_alloc, .alloc_ud = alloc};
  actl_engine *engine = NULL;
  seeds_put(&config);
  if (actl_engine_new(&engine, &config) != ACTL_OK) return;
  actl_pid pid;
  actl_engine_spawn(engine, vat, &keeper, NULL, 0, &sweep->server);
  actl_engine_spawn(engine, 0, &sweeper, ACTL_VALUES(pointer(sweep)), &pid);
  actl_engine_run(engine);
  actl_engine_free(engine);
}

static void every_allocation_may_fail_where_asks_have_times(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct test_alloc alloc = {0};
    for (size_t n = 1;; n++) {
      struct sweep sweep = {0};
      test_alloc_fail_from(&alloc, n);
      sweep_once(&alloc, &sweep, vat);
      bool did_fail = test_alloc_heal(&alloc);
      unsigned asked = atomic_load(&sweep.asked), told = atomic_load(&sweep.told);
      if (atomic_load(&sweep.changed) != 0 || told > asked) print_error("allocation %zu\n", n);
      assert_int_equal(atomic_load(&sweep.changed), 0);
      assert_true(told <= asked); /* each at most once */
      assert_true(test_alloc_is_clean(&alloc));
      if (did_fail) continue;
      assert_int_equal(asked, 40);
      assert_int_equal(told, 40);
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(an_ask_without_an_answer_ends_once_with_its_time_and_never_early),
      WATCHED(an_ask_for_ever_has_no_time),
      WATCHED(without_a_word_an_ask_waits_for_five_seconds),
      WATCHED(an_ask_that_expired_in_the_queue_is_not_handled),
      WATCHED(an_ask_whose_answer_and_time_meet_ends_once),
      WATCHED(what_is_answered_in_time_is_not_timed_out),
      WATCHED(the_asks_of_one_that_ended_have_no_time_any_more),
      WATCHED(the_asks_to_one_that_ends_fail_before_their_time),
      WATCHED(a_flood_keeps_no_ask_from_ending),
      WATCHED(where_only_the_times_of_asks_are_left_they_fail_at_once),
      WATCHED(many_asks_time_out_and_leave_no_memory_behind),
      WATCHED(every_allocation_may_fail_where_asks_have_times),
  };
  return seeds_main(tests);
}
