/*
 * test_steps.c - an engine inside the host's own loop: steps, and the descriptor to wait on.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/desk.h"

#include <poll.h>

/* ---- Steps ---- */

static void check_steps(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  actl_rest rest = ACTL_REST_MORE;
  while (rest == ACTL_REST_MORE) assert_status(actl_engine_step(engine, 100, &rest), ACTL_OK);
  assert_int_equal(rest, ACTL_REST_QUIET);
  for (int i = 0; i < 1000; i++) host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
  do {
    assert_status(actl_engine_step(engine, 0, &rest), ACTL_OK);
  } while (rest == ACTL_REST_MORE && !scene_is_over(scene));
  assert_int_equal(atomic_load(&desk->counted), 1000);
  assert_int_equal(rest, ACTL_REST_QUIET);
  /* A timer: not waited for, and handled by a step when it is due. */
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(10)));
  bool has_rested = false;
  while (atomic_load(&desk->counted) == 1000 && !scene_is_over(scene)) {
    assert_status(actl_engine_step(engine, 1000, &rest), ACTL_OK);
    if (rest == ACTL_REST_TIMER) has_rested = true;
    if (rest == ACTL_REST_QUIET) assert_int_equal(atomic_load(&desk->counted), 1001);
  }
  assert_true(has_rested || rest == ACTL_REST_QUIET);
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(HOUR_MS)));
  do {
    assert_status(actl_engine_step(engine, 1000, &rest), ACTL_OK);
  } while (rest == ACTL_REST_MORE && !scene_is_over(scene));
  assert_int_equal(rest, ACTL_REST_TIMER); /* at once: it would take an hour otherwise */
  actl_engine_stats(scene->host.engine, &scene->host.stats);
  assert_int_equal(scene->host.stats.timers, 1);
}

static void steps_do_what_there_is_to_do_and_never_wait(void **state) {
  (void)state;
  on_desks(check_steps);
}

/* One that tells itself for ever: a step ends all the same. */
static actl_status endless_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  (void)msg;
  part_tell(ctx, self, self->pid, OTHER);
  return ACTL_OK;
}

static void check_endless(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  scene->parts[1].receive = endless_receive;
  host_send(&scene->host, scene_enter(scene, 1, 0), ACTL_VALUES(actl_int(OTHER)));
  for (unsigned i = 0; i < 20; i++) {
    actl_rest rest = ACTL_REST_QUIET;
    int64_t before = scene->parts[1].n_came;
    host_send(&scene->host, pid, ACTL_VALUES(actl_int(COUNT)));
    do {
      assert_status(actl_engine_step(engine, i * 20, &rest), ACTL_OK);
      assert_int_equal(rest, ACTL_REST_MORE);
    } while ((scene->parts[1].n_came == before || atomic_load(&desk->counted) <= i) &&
             !scene_is_over(scene));
    assert_int_equal(atomic_load(&desk->counted), i + 1);
  }
}

static void a_step_ends_amid_an_endless_task_and_serves_the_others(void **state) {
  (void)state;
  on_desks(check_endless);
}

/* While one thread is inside a step, the others are refused. */
static void *step_once(void *ud) {
  struct crowd *crowd = ud;
  actl_rest rest = ACTL_REST_MORE;
  while (rest == ACTL_REST_MORE && !scene_is_over(crowd->scene)) {
    actl_status status = actl_engine_step(crowd->scene->host.engine, 100, &rest);
    crowd->failed += status != ACTL_OK;
  }
  return NULL;
}

static void check_step_busy(struct scene *scene, actl_pid pid, struct desk *desk) {
  actl_engine *engine = scene->host.engine;
  struct crowd crowd = {.scene = scene, .to = pid};
  host_send(&scene->host, pid, ACTL_VALUES(actl_int(BLOCK)));
  assert_status(pthread_create(&crowd.thread, NULL, step_once, &crowd), 0);
  await_count(scene, &desk->is_blocked, 1);
  actl_rest rest = (actl_rest)77;
  assert_status(actl_engine_step(engine, 100, &rest), ACTL_BUSY);
  assert_status(actl_engine_run(engine), ACTL_BUSY);
  assert_status(actl_engine_start(engine), ACTL_BUSY);
  assert_int_equal(rest, 77);
  atomic_store(&desk->may_go_on, 1);
  pthread_join(crowd.thread, NULL);
  assert_int_equal(crowd.failed, 0);
  assert_status(actl_engine_step(engine, 100, &rest), ACTL_OK);
}

static void one_thread_steps_at_a_time(void **state) {
  (void)state;
  on_desks(check_step_busy);
}

/* ---- The descriptor ---- */

static bool is_readable(int fd, int ms) {
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  return poll(&poll_fd, 1, ms) == 1 && (poll_fd.revents & POLLIN) != 0;
}

/* Steps until nothing is left to do now. */
static actl_rest step_all(struct scene *scene) {
  actl_rest rest = ACTL_REST_MORE;
  while (rest == ACTL_REST_MORE && !scene_is_over(scene)) {
    assert_status(actl_engine_step(scene->host.engine, 100, &rest), ACTL_OK);
  }
  return rest;
}

static void *send_soon(void *ud) {
  uint64_t until = now_ns(NULL) + 5 * NS_OF_MS;
  while (now_ns(NULL) < until) sched_yield();
  return crowd_send(ud);
}

/* It does not stay readable. Once it may be for nothing: an alarm that rings for what a step has seen
 * by itself meanwhile. */
static void assert_calm(struct scene *scene, int fd) {
  enum { FOR_NOTHING = 2 };
  assert_int_equal(step_all(scene), ACTL_REST_QUIET);
  for (int i = 0; i < FOR_NOTHING && is_readable(fd, 0); i++) step_all(scene);
  assert_false(is_readable(fd, 0));
}

static void check_fd(struct scene *scene, actl_pid pid, struct desk *desk) {
  int fd = -1, again = -2;
  assert_status(actl_engine_fd(scene->host.engine, &fd), ACTL_OK);
  assert_status(actl_engine_fd(scene->host.engine, &again), ACTL_OK);
  assert_true(fd >= 0 && fd == again);
  assert_true(is_readable(fd, 20000)); /* an actor waits to be born */
  assert_calm(scene, fd);
  for (unsigned i = 0; i < 50; i++) {
    struct crowd crowd = {.scene = scene, .to = pid, .n = 1 + i % 3};
    unsigned before = atomic_load(&desk->counted);
    assert_status(pthread_create(&crowd.thread, NULL, i % 2 ? send_soon : crowd_send, &crowd), 0);
    while (atomic_load(&desk->counted) < before + crowd.n && !scene_is_over(scene)) {
      assert_true(is_readable(fd, 20000));
      step_all(scene);
    }
    pthread_join(crowd.thread, NULL);
    assert_calm(scene, fd);
  }
  /* It becomes readable when a timer is due: before that for the message that sets it, and not again
   * and again. */
  for (int i = 0; i < 5; i++) {
    unsigned before = atomic_load(&desk->counted), wakes = 0;
    uint64_t set_ns = now_ns(NULL);
    host_send(&scene->host, pid, ACTL_VALUES(actl_int(TIMER), actl_int(5 * i)));
    while (atomic_load(&desk->counted) == before && !scene_is_over(scene)) {
      assert_true(is_readable(fd, 20000));
      step_all(scene);
      wakes++;
    }
    assert_true(now_ns(NULL) >= set_ns + 5 * (uint64_t)i * NS_OF_MS);
    assert_in_range(wakes, 1, 5);
    assert_calm(scene, fd);
  }
}

static void the_descriptor_is_readable_when_a_step_would_find_something(void **state) {
  (void)state;
  on_desks(check_fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(steps_do_what_there_is_to_do_and_never_wait),
      WATCHED(a_step_ends_amid_an_endless_task_and_serves_the_others),
      WATCHED(one_thread_steps_at_a_time),
      WATCHED(the_descriptor_is_readable_when_a_step_would_find_something),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
