/*
 * test_vats.c - numbers of vats: used again and again, retired when their pids are used up, and
 * further ones kept for the next life.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "actor/vats.h"
#include "support/alloc.h"
#include "support/race.h"

struct fixture {
  struct test_alloc alloc;
  struct actl_engine *engine;
};

static void begin_with(struct fixture *f, uint32_t workers) {
  memset(f, 0, sizeof *f);
  actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = &f->alloc};
  assert_int_equal(actl_engine_new(&f->engine, &config), ACTL_OK);
}

static void begin(struct fixture *f) { begin_with(f, 1); }

static void end(struct fixture *f) {
  actl_engine_free(f->engine);
  assert_true(test_alloc_is_clean(&f->alloc));
}

static void run(struct fixture *f) { assert_int_equal(actl_engine_run(f->engine), ACTL_OK); }

static size_t count_vats(struct fixture *f) {
  size_t n = 0;
  for (struct vat *vat = NULL; (vat = actl__vats_next(f->engine, vat)) != NULL;) n++;
  return n;
}

static void the_walk_finds_each_vat_once_open_or_not(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  uint32_t numbers[10];
  for (int i = 0; i < 10; i++) assert_int_equal(actl_vat_open(f.engine, &numbers[i]), ACTL_OK);
  assert_int_equal(count_vats(&f), 12);
  for (int i = 0; i < 5; i++) assert_int_equal(actl_vat_close(f.engine, numbers[i]), ACTL_OK);
  run(&f);
  assert_int_equal(count_vats(&f), 12);
  unsigned found[12] = {0};
  for (struct vat *vat = NULL; (vat = actl__vats_next(f.engine, vat)) != NULL;) {
    assert_true(vat->number < 12);
    found[vat->number]++;
    assert_ptr_equal(actl__number(f.engine, vat->number).vat, vat);
  }
  for (int i = 0; i < 12; i++) assert_int_equal(found[i], 1);
  for (int i = 0; i < 5; i++) assert_int_equal(actl_vat_open(f.engine, &numbers[i]), ACTL_OK);
  assert_int_equal(count_vats(&f), 12);
  end(&f);
}

static void sixty_five_thousand_vats_may_be_open_at_a_time(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  f.engine->n_opened = VATS_OPENED - 2;
  uint32_t numbers[3] = {77, 77, 77};
  assert_int_equal(actl_vat_open(f.engine, &numbers[0]), ACTL_OK);
  assert_int_equal(actl_vat_open(f.engine, &numbers[1]), ACTL_OK);
  assert_int_equal(actl_vat_open(f.engine, &numbers[2]), ACTL_LIMIT);
  assert_int_equal(numbers[2], 77);
  assert_int_equal(actl_vat_close(f.engine, numbers[0]), ACTL_OK);
  run(&f);
  assert_int_equal(actl_vat_open(f.engine, &numbers[2]), ACTL_OK);
  assert_int_equal(numbers[2], numbers[0]);
  end(&f);
}

static void the_last_number_is_no_vats(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  f.engine->n_numbers = PID_VATS - 2;
  uint32_t number = 77;
  assert_int_equal(actl_vat_open(f.engine, &number), ACTL_OK);
  assert_int_equal(number, PID_VATS - 2);
  number = 77;
  assert_int_equal(actl_vat_open(f.engine, &number), ACTL_LIMIT);
  assert_int_equal(number, 77);
  assert_int_equal(f.engine->n_opened, 1);
  end(&f);
}

/* ---- All pids of a number ---- */

struct relay {
  int64_t left;
  uint64_t last[4]; /* of each number after the first two: the pid it had last */
  unsigned wrong, numbers;
};

static actl_status once_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior once = {.name = "once", .receive = once_receive};

static actl_status next(actl_ctx *ctx, struct relay *relay) {
  if (relay->left-- == 0) return ACTL_OK;
  actl_pid pid;
  actl_ask_id ask;
  actl_status status = actl_spawn_on(ctx, ACTL_VAT_NEW, &once, NULL, 0, &pid);
  if (status != ACTL_OK) return status;
  uint32_t place = actl__pid_vat(pid.bits) - 2;
  if (place > 3 || relay->last[place] >= pid.bits) { /* the generation is highest: they rise */
    relay->wrong++;
  } else {
    relay->numbers |= 1u << place;
    relay->last[place] = pid.bits;
  }
  return actl_ask(ctx, pid, NULL, 0, &ask);
}

static actl_status looper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct relay *relay = *(void **)state = (void *)(intptr_t)actl_msg_int(args, 0, 0);
  return next(ctx, relay);
}

static actl_status looper_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ask, (void)msg;
  struct relay *relay = *(void **)state;
  if (status != ACTL_OK) relay->wrong++;
  return next(ctx, relay);
}

static const actl_behavior looper = {.name = "looper",
                                     .state_size = sizeof(void *),
                                     .init = looper_init,
                                     .receive = once_receive,
                                     .reply = looper_reply};

static void a_number_whose_pids_are_used_up_is_retired(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  struct relay relay = {.left = PID_GENERATIONS + 2000};
  actl_pid pid;
  assert_int_equal(actl_engine_spawn(f.engine, 0, &looper,
                                     ACTL_VALUES(actl_int((int64_t)(intptr_t)&relay)), &pid),
                   ACTL_OK);
  run(&f);
  assert_int_equal(relay.left, -1);
  assert_int_equal(relay.wrong, 0);
  assert_true(relay.numbers >= 3); /* more than one bit: the first number did not last */
  assert_true(count_vats(&f) <= 2 + 4);
  assert_int_equal(f.engine->n_opened, 0);
  end(&f);
}

/* ---- No wake-up is lost ---- */

enum { PASSES = 20000, STALE = 16 };

struct bustle {
  struct actl_engine *engine;
  atomic_uint running; /* threads that are not through */
  unsigned wrong;      /* of the one that opens */
  actl_status ran;
};

/* Keeps the engine from being quiet. */
static actl_status pulse_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct bustle *bustle = (void *)(intptr_t)actl_msg_int(msg, 0, 0);
  actl_value again = actl_msg_value(msg, 0);
  return atomic_load(&bustle->running) == 0 ? ACTL_OK : actl_send(ctx, actl_self(ctx), &again, 1);
}

static const actl_behavior pulse = {.name = "pulse", .receive = pulse_receive};

static void run_engine(void *arg) {
  struct bustle *bustle = arg;
  bustle->ran = actl_engine_run(bustle->engine);
}

static actl_status slow_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx, (void)state, (void)args;
  for (int spins = 100; spins > 0; spins--) actl__thread_relax();
  return ACTL_OK;
}

static const actl_behavior slow = {.init = slow_init, .receive = once_receive};

/* The vat is told to end while its first turn is under way, and hears of nothing else. */
static void open_and_close(void *arg) {
  struct bustle *bustle = arg;
  for (int i = 0; i < PASSES; i++) {
    uint32_t number;
    actl_pid pid;
    if (actl_vat_open(bustle->engine, &number) != ACTL_OK) bustle->wrong++;
    if (actl_engine_spawn(bustle->engine, number, &slow, NULL, 0, &pid) != ACTL_OK) bustle->wrong++;
    for (int spins = i % 300; spins > 0; spins--) actl__thread_relax();
    if (actl_vat_close(bustle->engine, number) != ACTL_OK) bustle->wrong++;
  }
  atomic_fetch_sub(&bustle->running, 1);
}

/* A vat for an actor that then cannot be made: it has to end all the same. */
static void spawn_nothing(void *arg) {
  struct bustle *bustle = arg;
  static const actl_value many[ACTL_VALUES_MAX + 1];
  static const actl_behavior with_init = {.receive = once_receive, .init = looper_init};
  for (int i = 0; i < PASSES; i++) {
    actl_pid pid;
    if (actl_engine_spawn(bustle->engine, ACTL_VAT_NEW, &with_init, many, ACTL_VALUES_MAX + 1,
                          &pid) != ACTL_INVALID)
      bustle->wrong++;
  }
  atomic_fetch_sub(&bustle->running, 1);
}

/* What is sent to the dead gives their vats turns at any time. */
static void disturb(void *arg) {
  struct bustle *bustle = arg;
  for (uint32_t i = 0; atomic_load(&bustle->running) > 1; i++) {
    uint64_t pid = actl__pid_make(actl__pid_home(2 + i % STALE), 1, 1);
    actl_engine_send(bustle->engine, (actl_pid){pid}, NULL, 0);
  }
  atomic_fetch_sub(&bustle->running, 1);
}

static void all_end(void (*body)(void *arg), bool is_disturbed) {
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct fixture f;
    begin_with(&f, workers);
    struct bustle bustle = {.engine = f.engine, .running = is_disturbed ? 2 : 1};
    actl_pid pid;
    actl_value value = actl_int((int64_t)(intptr_t)&bustle);
    assert_int_equal(actl_engine_spawn(f.engine, 0, &pulse, NULL, 0, &pid), ACTL_OK);
    assert_int_equal(actl_engine_send(f.engine, pid, &value, 1), ACTL_OK);
    struct test_racer racers[] = {{run_engine, &bustle}, {body, &bustle}, {disturb, &bustle}};
    test_race(racers, is_disturbed ? 3 : 2);
    run(&f);
    assert_int_equal(bustle.ran, ACTL_OK);
    assert_int_equal(bustle.wrong, 0);
    assert_int_equal(f.engine->n_opened, 0);
    actl_stats stats;
    actl_engine_stats(f.engine, &stats);
    assert_int_equal(stats.alive, 1);
    end(&f);
  }
}

static void each_vat_that_is_closed_ends_whenever_that_was(void **state) {
  (void)state;
  all_end(open_and_close, false);
}

static void each_vat_without_the_actor_it_was_made_for_ends(void **state) {
  (void)state;
  all_end(spawn_nothing, false);
  all_end(spawn_nothing, true);
}

#if defined(ACTL_STRESS)
/* ---- Further numbers: here a table has few slots ---- */

enum { ACTORS = 3 * RECORDS_SLOTS, LIVES = 5 };

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void further_numbers_stay_with_their_vat_and_serve_its_next_life(void **state) {
  (void)state;
  static uint64_t pids[LIVES * ACTORS];
  struct fixture f;
  begin(&f);
  uint32_t n_numbers = 0, number = 0;
  for (uint32_t life = 0; life < LIVES; life++) {
    assert_int_equal(actl_vat_open(f.engine, &number), ACTL_OK);
    for (uint32_t i = 0; i < ACTORS; i++) {
      actl_pid pid;
      assert_int_equal(actl_engine_spawn(f.engine, number, &once, NULL, 0, &pid), ACTL_OK);
      pids[life * ACTORS + i] = pid.bits;
    }
    run(&f);
    if (life == 0) n_numbers = f.engine->n_numbers;
    assert_true(n_numbers > 4);
    assert_int_equal(f.engine->n_numbers, n_numbers);
    for (uint32_t i = 0; i < (life + 1) * ACTORS; i += 101)
      assert_int_equal(actl_engine_send(f.engine, (actl_pid){pids[i]}, NULL, 0), ACTL_OK);
    actl_stats before, after;
    actl_engine_stats(f.engine, &before);
    run(&f);
    actl_engine_stats(f.engine, &after);
    uint64_t handled = after.messages - before.messages;
    assert_in_range(handled, ACTORS / 101, ACTORS / 101 + 1);
    /* A further number is none to spawn on, or to close. */
    assert_int_equal(actl_vat_close(f.engine, n_numbers - 1), ACTL_NO_VAT);
    assert_int_equal(actl_vat_close(f.engine, number), ACTL_OK);
    run(&f);
  }
  qsort(pids, LIVES * ACTORS, sizeof pids[0], compare);
  for (uint32_t i = 1; i < LIVES * ACTORS; i++) assert_true(pids[i] != pids[i - 1]);
  end(&f);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_walk_finds_each_vat_once_open_or_not),
    cmocka_unit_test(sixty_five_thousand_vats_may_be_open_at_a_time),
    cmocka_unit_test(the_last_number_is_no_vats),
    cmocka_unit_test(a_number_whose_pids_are_used_up_is_retired),
    cmocka_unit_test(each_vat_that_is_closed_ends_whenever_that_was),
    cmocka_unit_test(each_vat_without_the_actor_it_was_made_for_ends),
#if defined(ACTL_STRESS)
    cmocka_unit_test(further_numbers_stay_with_their_vat_and_serve_its_next_life),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
