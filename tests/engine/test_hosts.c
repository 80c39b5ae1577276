/*
 * test_hosts.c - what a host program is promised: started and stopped engines, holds, waits, and asks
 * from its own threads.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/desk.h"

static void take_stats(struct scene *scene) {
  actl_engine_stats(scene->host.engine, &scene->host.stats);
}

/* ---- Start and stop ---- */

static void check_states(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  actl_rest rest = (actl_rest)77;
  assert_status(actl_engine_stop(engine), ACTL_INVALID);
  assert_status(actl_engine_wait(engine, 0), ACTL_INVALID);
  for (int i = 0; i < 3; i++) {
    assert_status(actl_engine_start(engine), ACTL_OK);
    assert_status(actl_engine_start(engine), ACTL_BUSY);
    assert_status(actl_engine_run(engine), ACTL_BUSY);
    assert_status(actl_engine_step(engine, 10, &rest), ACTL_BUSY);
    assert_int_equal(rest, 77);
    host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
    assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
    assert_int_equal(atomic_load(&desk->counted), i + 1);
    assert_status(actl_engine_stop(engine), ACTL_OK);
    assert_status(actl_engine_stop(engine), ACTL_INVALID);
    assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_INVALID);
  }
  host_run(&scene->host);
  assert_status(actl_engine_step(engine, 10, &rest), ACTL_OK);
  assert_int_equal(rest, ACTL_REST_QUIET);
  assert_accounted(&scene->host, 3);
}

static void an_engine_is_run_in_one_way_at_a_time(void **state) {
  (void)state;
  on_desks(check_states);
}

static void check_stopped(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  assert_status(actl_engine_start(engine), ACTL_OK);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(30)));
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
  await_count(scene, &desk->counted, 1);
  assert_status(actl_engine_stop(engine), ACTL_OK);
  unsigned before = atomic_load(&desk->counted); /* 2 where the stop took so long */
  for (int i = 0; i < 100; i++) host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
  uint64_t until = now_ns(NULL) + 40 * NS_OF_MS;
  while (now_ns(NULL) < until) sched_yield();
  assert_int_equal(atomic_load(&desk->counted), before); /* nothing runs */
  assert_status(actl_engine_start(engine), ACTL_OK);
  await_count(scene, &desk->counted, 102);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  assert_status(actl_engine_stop(engine), ACTL_OK);
  assert_int_equal(atomic_load(&desk->counted), 102);
  take_stats(scene);
  assert_int_equal(scene->host.stats.alive, 1);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, 1);
  assert_accounted(&scene->host, 103);
}

static void a_stopped_engine_keeps_actors_queue_and_timers(void **state) {
  (void)state;
  on_desks(check_stopped);
}

/* Wherever a stop falls in a flood, the next start goes on, and nothing is lost. */
static void check_toggled(struct scene *scene, actl_pid pid, struct desk *desk) {
  struct crowd crowd[2];
  actl_engine *engine = scene->host.engine;
  for (int i = 0; i < 2; i++) {
    crowd[i] = (struct crowd){.scene = scene, .to = pid, .n = SCALED(20000)};
    assert_status(pthread_create(&crowd[i].thread, NULL, crowd_send, &crowd[i]), 0);
  }
  for (int i = 0; i < SCALED(300); i++) {
    assert_status(actl_engine_start(engine), ACTL_OK);
    actl_status status = i % 3 == 0 ? actl_engine_wait(engine, 1) : ACTL_OK;
    assert_true(status == ACTL_OK || status == ACTL_TIMEOUT);
    assert_status(actl_engine_stop(engine), ACTL_OK);
    actl_rest rest;
    if (i % 5 == 0) assert_status(actl_engine_step(engine, 50, &rest), ACTL_OK);
  }
  for (int i = 0; i < 2; i++) pthread_join(crowd[i].thread, NULL);
  host_run(&scene->host);
  assert_int_equal(crowd[0].failed + crowd[1].failed, 0);
  assert_int_equal(atomic_load(&desk->counted), 2 * SCALED(20000));
  assert_accounted(&scene->host, 2 * SCALED(20000));
}

static void starts_and_stops_amid_a_flood_lose_nothing(void **state) {
  (void)state;
  on_desks(check_toggled);
}

/* ---- Waiting ---- */

static void check_wait(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  assert_status(actl_engine_start(engine), ACTL_OK);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  /* A hold, and two. */
  actl_hold(engine);
  actl_hold(engine);
  uint64_t before = now_ns(NULL);
  assert_status(actl_engine_wait(engine, 20), ACTL_TIMEOUT);
  assert_true(now_ns(NULL) >= before + 20 * NS_OF_MS);
  actl_drop(engine);
  assert_status(actl_engine_wait(engine, 5), ACTL_TIMEOUT);
  assert_status(actl_engine_wait(engine, 0), ACTL_TIMEOUT);
  actl_drop(engine);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  /* A timer. */
  before = now_ns(NULL);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(20)));
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  assert_true(now_ns(NULL) >= before + 20 * NS_OF_MS);
  assert_int_equal(atomic_load(&desk->counted), 1);
  /* A handler. */
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(BLOCK)));
  assert_status(actl_engine_wait(engine, 10), ACTL_TIMEOUT);
  atomic_store(&desk->may_go_on, 1);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(atomic_load(&desk->is_blocked), 1);
  /* A timer that lasts. */
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(HOUR_MS)));
  assert_status(actl_engine_wait(engine, 20), ACTL_TIMEOUT);
  assert_status(actl_engine_stop(engine), ACTL_OK);
}

static void a_wait_ends_when_nothing_is_left_to_do_or_with_its_time(void **state) {
  (void)state;
  on_desks(check_wait);
}

/* What was sent before a wait has been handled after it, also with several who wait. */
struct waiter {
  pthread_t thread;
  struct scene *scene;
  struct desk *desk;
  actl_pid to;
  unsigned wrong;
};

static void *wait_often(void *ud) {
  struct waiter *waiter = ud;
  actl_engine *engine = waiter->scene->host.engine;
  for (int i = 0; i < SCALED(2000); i++) {
    unsigned before = atomic_load(&waiter->desk->counted);
    actl_status status = actl_engine_send(engine, waiter->to, ACTL_VALUES(actl_int(COUNT)));
    waiter->wrong += status != ACTL_OK;
    waiter->wrong += actl_engine_wait(engine, ACTL_FOREVER) != ACTL_OK;
    waiter->wrong += atomic_load(&waiter->desk->counted) <= before;
  }
  return NULL;
}

static void check_waiters(struct scene *scene, actl_pid pid, struct desk *desk) {
  struct waiter waiters[3];
  assert_status(actl_engine_start(scene->host.engine), ACTL_OK);
  for (int i = 0; i < 3; i++) {
    waiters[i] = (struct waiter){.scene = scene, .desk = desk, .to = pid};
    assert_status(pthread_create(&waiters[i].thread, NULL, wait_often, &waiters[i]), 0);
  }
  unsigned wrong = 0;
  for (int i = 0; i < 3; i++) {
    pthread_join(waiters[i].thread, NULL);
    wrong += waiters[i].wrong;
  }
  assert_status(actl_engine_stop(scene->host.engine), ACTL_OK);
  assert_int_equal(wrong, 0);
  assert_int_equal(atomic_load(&desk->counted), 3 * SCALED(2000));
}

static void what_was_sent_before_a_wait_has_been_handled_after_it(void **state) {
  (void)state;
  on_desks(check_waiters);
}

/* ---- Holds ---- */

static void *hold_and_send(void *ud) {
  struct crowd *crowd = ud;
  uint64_t until = now_ns(NULL) + 20 * NS_OF_MS; /* the run has nothing to do meanwhile */
  while (now_ns(NULL) < until) sched_yield();
  crowd_send(crowd);
  actl_drop(crowd->scene->host.engine);
  return NULL;
}

static void check_hold(struct scene *scene, actl_pid pid, struct desk *desk) {
  struct crowd crowd = {.scene = scene, .to = pid, .n = 100};
  actl_hold(scene->host.engine);
  assert_status(pthread_create(&crowd.thread, NULL, hold_and_send, &crowd), 0);
  host_run(&scene->host);
  assert_int_equal(atomic_load(&desk->counted), 100);
  pthread_join(crowd.thread, NULL);
  assert_int_equal(crowd.failed, 0);
  host_run(&scene->host); /* nothing holds it now */
}

static void a_held_run_goes_on_until_what_the_host_sends_before_its_drop(void **state) {
  (void)state;
  on_desks(check_hold);
}

/* ---- No deadlocks where the host may send ---- */

static void ask_init(actl_ctx *ctx, struct part *self) {
  part_ask(ctx, self, self->other, KEEP, (uint64_t)self->number[0]);
}

static void ask_reply(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  (void)ctx, (void)answer;
  tick(self->ud);
}

/* Part `i` asks the desk to keep its ask, and waits so long. */
static void asker_enter(struct scene *scene, int i, uint64_t ms, actl_pid desk,
                        atomic_uint *replies) {
  struct part *part = &scene->parts[i];
  part->ud = replies;
  part->other = desk;
  part->init = ask_init;
  part->reply = ask_reply;
  part->number[0] = (int64_t)ms;
  scene_enter(scene, i, 0);
}

static void check_no_deadlock(struct scene *scene, actl_pid pid, struct desk *desk) {
  atomic_uint replies = 0;
  assert_status(actl_engine_start(scene->host.engine), ACTL_OK);
  asker_enter(scene, 1, 30, pid, &replies);
  await_count(scene, &replies, 1); /* nothing but the ask's time is left to wait for */
  unsigned kept = atomic_load(&desk->kept);
  asker_enter(scene, 2, HOUR_MS, pid, &replies);
  await_count(scene, &desk->kept, kept + 1);
  assert_status(actl_engine_wait(scene->host.engine, ACTL_FOREVER), ACTL_OK);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(RELEASE)));
  await_count(scene, &replies, 2);
  assert_status(actl_engine_stop(scene->host.engine), ACTL_OK);
  take_stats(scene);
  assert_int_equal(scene->parts[1].by_status[-ACTL_TIMEOUT], 1);
  assert_int_equal(scene->parts[2].by_status[0], 1);
  assert_int_equal(scene->host.stats.deadlocks, 0);
  assert_int_equal(scene->host.stats.timeouts, 1);
}

static void in_a_started_engine_an_ask_waits_for_its_time(void **state) {
  (void)state;
  on_desks(check_no_deadlock);
}

/* In a held run neither: what the host sends later answers it. */
static void *release_and_drop(void *ud) {
  struct crowd *crowd = ud;
  struct desk *desk = crowd->scene->parts[0].ud;
  while (atomic_load(&desk->kept) == 0 && !scene_is_over(crowd->scene)) sched_yield();
  uint64_t until = now_ns(NULL) + 10 * NS_OF_MS;
  while (now_ns(NULL) < until) sched_yield();
  crowd->failed += actl_engine_send(crowd->scene->host.engine, crowd->to,
                                    ACTL_VALUES(actl_int(RELEASE))) != ACTL_OK;
  actl_drop(crowd->scene->host.engine);
  return NULL;
}

static void check_held_ask(struct scene *scene, actl_pid pid, struct desk *desk) {
  atomic_uint replies = 0;
  struct crowd crowd = {.scene = scene, .to = pid};
  asker_enter(scene, 1, HOUR_MS, pid, &replies);
  actl_hold(scene->host.engine);
  assert_status(pthread_create(&crowd.thread, NULL, release_and_drop, &crowd), 0);
  host_run(&scene->host);
  pthread_join(crowd.thread, NULL);
  assert_int_equal(crowd.failed, 0);
  assert_int_equal(atomic_load(&desk->kept), 1);
  assert_int_equal(scene->parts[1].by_status[0], 1);
  assert_int_equal(scene->host.stats.deadlocks, 0);
  asker_enter(scene, 2, HOUR_MS, pid, &replies);
  host_run(&scene->host); /* nothing holds it now */
  assert_int_equal(scene->parts[2].by_status[-ACTL_DEADLOCK], 1);
}

static void in_a_held_run_an_ask_may_still_be_answered(void **state) {
  (void)state;
  on_desks(check_held_ask);
}

/* ---- Asks from the host ---- */

static actl_status ask(struct scene *scene, actl_pid pid, int64_t tag, uint64_t ms) {
  actl_msg *msg = (actl_msg *)(void *)scene;
  actl_status status =
      actl_engine_ask(scene->host.engine, pid, ACTL_VALUES(actl_int(tag), actl_int(21)), ms, &msg);
  if (status != ACTL_OK) {
    assert_ptr_equal(msg, scene);
    return status;
  }
  if (tag == ANSWER) {
    assert_int_equal(actl_msg_count(msg), 1);
    assert_int_equal(actl_msg_int(msg, 0, 0), 42);
  } else if (tag == LONG) {
    assert_int_equal(actl_msg_value(msg, 1).size, LONG_BYTES);
  } else {
    assert_int_equal(actl_msg_count(msg), 0);
  }
  actl_msg_free(scene->host.engine, msg);
  return ACTL_OK;
}

static void check_asks(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  assert_status(actl_engine_start(engine), ACTL_OK);
  actl_msg_free(engine, NULL);
  for (int i = 0; i < 100; i++) assert_status(ask(scene, pid, ANSWER, ACTL_FOREVER), ACTL_OK);
  assert_status(ask(scene, pid, OTHER, ACTL_FOREVER), ACTL_OK);
  assert_status(ask(scene, pid, LONG, HOUR_MS), ACTL_OK);
  assert_status(ask(scene, pid, UNHANDLED, ACTL_FOREVER), ACTL_UNHANDLED);
  assert_status(actl_engine_ask(engine, pid, ACTL_VALUES(actl_int(LONG)), ACTL_FOREVER, NULL),
                ACTL_OK);
  uint64_t before = now_ns(NULL);
  assert_status(ask(scene, pid, KEEP, 20), ACTL_TIMEOUT);
  assert_true(now_ns(NULL) >= before + 20 * NS_OF_MS);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(RELEASE)));
  assert_status(ask(scene, pid, ANSWER, ACTL_FOREVER), ACTL_OK); /* not the late one */
  actl_msg *msg = NULL;
  static const actl_value many[ACTL_VALUES_MAX + 1];
  assert_status(actl_engine_ask(engine, (actl_pid){0}, NULL, 0, 1000, &msg), ACTL_INVALID);
  assert_status(actl_engine_ask(engine, pid, many, ACTL_VALUES_MAX + 1, 1000, &msg), ACTL_INVALID);
  assert_null(msg);
  assert_status(ask(scene, pid, FAIL, ACTL_FOREVER), ACTL_FAILED);
  assert_status(ask(scene, pid, ANSWER, ACTL_FOREVER), ACTL_NO_ACTOR);
  assert_status(actl_engine_stop(engine), ACTL_OK);
  take_stats(scene);
  assert_int_equal(scene->host.stats.late_replies, atomic_load(&desk->kept));
  assert_int_equal(scene->host.stats.deadlocks, 0);
  assert_int_equal(scene->host.stats.alive, 0);
}

static void a_hosts_ask_is_answered_or_fails_with_its_reason(void **state) {
  (void)state;
  on_desks(check_asks);
}

/* One that ends while the host waits for it. */
static void *end_soon(void *ud) {
  struct crowd *crowd = ud;
  struct desk *desk = crowd->scene->parts[0].ud;
  while (atomic_load(&desk->kept) == 0 && !scene_is_over(crowd->scene)) sched_yield();
  crowd->failed += actl_engine_send(crowd->scene->host.engine, crowd->to,
                                    ACTL_VALUES(actl_int(LEAVE))) != ACTL_OK;
  return NULL;
}

static void check_ending(struct scene *scene, actl_pid pid, struct desk *desk) {
  struct crowd crowd = {.scene = scene, .to = pid};
  assert_status(actl_engine_start(scene->host.engine), ACTL_OK);
  assert_status(pthread_create(&crowd.thread, NULL, end_soon, &crowd), 0);
  assert_status(ask(scene, pid, KEEP, ACTL_FOREVER), ACTL_STOPPED);
  pthread_join(crowd.thread, NULL);
  assert_int_equal(atomic_load(&desk->kept), 1);
  assert_status(actl_engine_stop(scene->host.engine), ACTL_OK);
}

static void a_hosts_ask_fails_when_its_target_ends(void **state) {
  (void)state;
  on_desks(check_ending);
}

static void check_default(struct scene *scene, actl_pid pid, struct desk *desk) {
  (void)desk;
  assert_status(actl_engine_start(scene->host.engine), ACTL_OK);
  uint64_t before = now_ns(NULL);
  assert_status(ask(scene, pid, KEEP, 0), ACTL_TIMEOUT);
  assert_true(now_ns(NULL) >= before + 15 * NS_OF_MS);
  assert_status(actl_engine_stop(scene->host.engine), ACTL_OK);
}

static void a_hosts_ask_without_a_time_has_the_engines(void **state) {
  (void)state;
  actl_config config = {.ask_timeout_ms = 15};
  on_desks_with(check_default, &config);
}

/* Many threads ask at once, in an engine that is started, run, or run by steps. */
enum { ASKERS = 4, ASKS = 2000 };

struct asker {
  pthread_t thread;
  struct scene *scene;
  actl_pid to;
  atomic_uint *left;
  int64_t seed;
  unsigned wrong, timeouts;
};

static void *ask_often(void *ud) {
  struct asker *asker = ud;
  actl_engine *engine = asker->scene->host.engine;
  for (int64_t i = 0; i < SCALED(ASKS); i++) {
    actl_msg *msg = NULL;
    int64_t value = asker->seed + i;
    uint64_t ms = i % 50 == 0 ? 1 : ACTL_FOREVER; /* some may be late */
    actl_status status = actl_engine_ask(engine, asker->to,
                                         ACTL_VALUES(actl_int(ANSWER), actl_int(value)), ms, &msg);
    asker->timeouts += status == ACTL_TIMEOUT;
    if (status == ACTL_OK) {
      asker->wrong += actl_msg_int(msg, 0, -1) != 2 * value;
    } else if (status != ACTL_TIMEOUT || ms != 1) {
      asker->wrong++;
    }
    actl_msg_free(engine, msg);
  }
  actl_drop(engine);
  atomic_fetch_sub(asker->left, 1);
  return NULL;
}

static void run_for_askers(struct scene *scene, int how, atomic_uint *left) {
  actl_engine *engine = scene->host.engine;
  if (how == 0) {
    assert_status(actl_engine_start(engine), ACTL_OK);
    assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
    assert_status(actl_engine_stop(engine), ACTL_OK);
  } else if (how == 1) {
    host_run(&scene->host);
  } else {
    while (atomic_load(left) > 0) assert_status(actl_engine_step(engine, 100, NULL), ACTL_OK);
  }
}

static void check_askers(struct scene *scene, actl_pid pid, struct desk *desk) {
  (void)desk;
  for (int how = 0; how < 3; how++) {
    atomic_uint left = ASKERS;
    struct asker askers[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
      actl_hold(scene->host.engine);
      askers[i] =
          (struct asker){.scene = scene, .to = pid, .left = &left, .seed = (int64_t)i * 1000000};
      assert_status(pthread_create(&askers[i].thread, NULL, ask_often, &askers[i]), 0);
    }
    run_for_askers(scene, how, &left);
    unsigned wrong = 0;
    for (int i = 0; i < ASKERS; i++) {
      pthread_join(askers[i].thread, NULL);
      wrong += askers[i].wrong;
    }
    assert_int_equal(wrong, 0);
  }
  host_run(&scene->host); /* asks that were given up may still be queued */
  assert_accounted(&scene->host, 3 * ASKERS * SCALED(ASKS));
}

static void many_threads_ask_at_once(void **state) {
  (void)state;
  on_desks(check_askers);
}

/* ---- The end ---- */

static void count_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)ctx, (void)reason;
  scene_tick(self->scene);
}

static void check_graceful(struct scene *scene, actl_pid pid, struct desk *desk) {
  (void)desk;
  actl_engine *engine = scene->host.engine;
  scene->awaited = 1000; /* ticks are counted, no more */
  for (int i = 0; i < 4; i++) scene->parts[i].stop = count_stop;
  for (int i = 1; i < 4; i++) scene_enter(scene, i, (uint32_t)i % 2);
  assert_status(actl_engine_start(engine), ACTL_OK);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(HOUR_MS)));
  actl_engine_shutdown(engine);
  assert_status(actl_engine_wait(engine, ACTL_FOREVER), ACTL_OK);
  assert_status(actl_engine_stop(engine), ACTL_OK);
  take_stats(scene);
  assert_int_equal(scene->host.stats.alive, 0);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(atomic_load(&scene->ticks), 4);
}

static void a_shutdown_and_a_wait_are_a_graceful_end(void **state) {
  (void)state;
  on_desks(check_graceful);
}

/* Two engines do not know of each other. */
static void two_engines_run_beside_each_other(void **state) {
  (void)state;
  struct desk desks[2] = {{0}, {0}};
  struct scene *scenes[2];
  actl_pid pids[2];
  for (int i = 0; i < 2; i++) {
    scenes[i] = scene_open(2, 1, false, NULL);
    pids[i] = desk_enter(scenes[i], &desks[i], 1);
    assert_status(actl_engine_start(scenes[i]->host.engine), ACTL_OK);
  }
  for (int i = 0; i < SCALED(2000); i++) {
    host_send(&scenes[i % 2]->host, pids[i % 2], ACTL_VALUES(actl_int(COUNT)));
    if (i % 10 == 0) assert_status(ask(scenes[1], pids[1], ANSWER, ACTL_FOREVER), ACTL_OK);
  }
  for (int i = 0; i < 2; i++) {
    assert_status(actl_engine_wait(scenes[i]->host.engine, ACTL_FOREVER), ACTL_OK);
    assert_int_equal(atomic_load(&desks[i].counted), SCALED(2000) / 2);
    assert_status(actl_engine_stop(scenes[i]->host.engine), ACTL_OK);
    scene_close(scenes[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(an_engine_is_run_in_one_way_at_a_time),
      WATCHED(a_stopped_engine_keeps_actors_queue_and_timers),
      WATCHED(starts_and_stops_amid_a_flood_lose_nothing),
      WATCHED(a_wait_ends_when_nothing_is_left_to_do_or_with_its_time),
      WATCHED(what_was_sent_before_a_wait_has_been_handled_after_it),
      WATCHED(a_held_run_goes_on_until_what_the_host_sends_before_its_drop),
      WATCHED(in_a_started_engine_an_ask_waits_for_its_time),
      WATCHED(in_a_held_run_an_ask_may_still_be_answered),
      WATCHED(a_hosts_ask_is_answered_or_fails_with_its_reason),
      WATCHED(a_hosts_ask_fails_when_its_target_ends),
      WATCHED(a_hosts_ask_without_a_time_has_the_engines),
      WATCHED(many_threads_ask_at_once),
      WATCHED(a_shutdown_and_a_wait_are_a_graceful_end),
      WATCHED(two_engines_run_beside_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
