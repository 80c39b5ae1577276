/*
 * test_seeds.c - engines with a seed: the same seed is the same run, another one another, and what is
 * promised holds with each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/saga.h"

#include <sched.h>

#include "support/alloc.h"

enum { SAME = 15, OTHERS = SCALED(200), MANY = SCALED(400), THINGS = 250 };

static actl_config seeded(uint64_t seed) {
  return (actl_config){.is_seeded = true, .seed = seed, .ask_timeout_ms = 500};
}

/* ---- Same and other ---- */

static void the_same_seed_gives_the_same_run(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= SAME; seed++) {
    struct saga *sagas[3];
    actl_config config = seeded(seed);
    config.scatters = seed % 2 != 0;
    for (int i = 0; i < 3; i++) {
      sagas[i] = saga_open(&config, THINGS);
      host_run(&sagas[i]->host);
    }
    assert_true(sagas[0]->n_entries > THINGS);
    for (int i = 1; i < 3; i++) {
      assert_true(saga_equals(sagas[0], sagas[i]));
      assert_memory_equal(&sagas[0]->host.stats, &sagas[i]->host.stats, sizeof(actl_stats));
    }
    for (int i = 0; i < 3; i++) saga_close(sagas[i]);
  }
}

/* Not each: some are nearly plain. */
static void another_seed_gives_another_run(void **state) {
  (void)state;
  struct saga *sagas[OTHERS];
  int n_alike = 0;
  for (int i = 0; i < OTHERS; i++) {
    actl_config config = seeded((uint64_t)i << (i % 50));
    sagas[i] = saga_open(&config, 100);
    host_run(&sagas[i]->host);
    bool is_alike = false;
    for (int j = 0; j < i && !is_alike; j++) is_alike = saga_equals(sagas[i], sagas[j]);
    n_alike += is_alike;
  }
  assert_true(n_alike <= OTHERS / 10);
  for (int i = 0; i < OTHERS; i++) saga_close(sagas[i]);
}

static void what_is_promised_holds_with_every_seed(void **state) {
  (void)state;
  actl_stats sum = {0};
  int n_cancelled = 0;
  for (uint64_t seed = 1; seed <= MANY; seed++) {
    actl_config config = seeded(seed);
    config.scatters = seed % 4 == 0;
    config.vats = 3 + (uint32_t)(seed % 4);
    struct saga *saga = saga_open(&config, THINGS);
    host_run(&saga->host);
    saga_check(saga);
    const actl_stats *stats = &saga->host.stats;
    sum.far_messages += stats->far_messages;
    sum.timeouts += stats->timeouts;
    sum.deadlocks += stats->deadlocks;
    sum.fired += stats->fired;
    sum.stopped += stats->stopped;
    sum.dead_letters[0] += letters_of(stats);
    for (int i = 0; i < saga->n_timers; i++) n_cancelled += saga->timers[i].is_cancelled;
    saga_close(saga);
  }
  assert_true(sum.far_messages > MANY && sum.timeouts > 0 && sum.deadlocks > MANY / 10);
  assert_true(sum.fired > MANY && sum.stopped > MANY && sum.dead_letters[0] > MANY);
  assert_true(n_cancelled > MANY / 10);
}

/* What another engine does, or did before, is no part of it. */
static void engines_with_seeds_do_not_know_of_each_other(void **state) {
  (void)state;
  const actl_config config = seeded(9), other = seeded(11);
  struct saga *alone = saga_open(&config, THINGS);
  host_run(&alone->host);
  struct saga *one = saga_open(&config, THINGS), *two = saga_open(&other, THINGS);
  actl_rest rest = ACTL_REST_MORE;
  while (rest == ACTL_REST_MORE)
    assert_int_equal(actl_engine_step(two->host.engine, 100, &rest), ACTL_OK);
  host_run(&one->host);
  host_run(&two->host);
  assert_true(saga_equals(alone, one));
  assert_false(saga_equals(alone, two));
  saga_check(two);
  saga_close(alone);
  saga_close(one);
  saga_close(two);
}

/* ---- Limits ---- */

static void an_engine_with_a_seed_has_one_worker_and_is_not_started(void **state) {
  (void)state;
  actl_config config = seeded(1);
  config.workers = 7;
  struct host host;
  host_open_with(&host, &config);
  assert_int_equal(actl_engine_workers(host.engine), 1);
  assert_int_equal(actl_engine_vats(host.engine), 4);
  assert_int_equal(actl_engine_start(host.engine), ACTL_INVALID);
  assert_int_equal(actl_engine_stop(host.engine), ACTL_INVALID);
  assert_int_equal(actl_engine_wait(host.engine, 0), ACTL_INVALID);
  host_run(&host);
  host_close(&host);
}

/* The limit comes wherever it comes, also amid a turn, and nothing is lost by it. */
static void a_run_ends_with_its_steps_and_a_later_one_goes_on(void **state) {
  (void)state;
  static const uint64_t limits[] = {1, 2, 3, 7, 50};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    actl_config config = seeded(seed);
    config.max_steps = limits[seed % 5];
    struct saga *saga = saga_open(&config, 60);
    actl_status status;
    int n_runs = 0, n_none = 0;
    do {
      int before = saga->n_entries;
      int64_t stops = saga->n_stops;
      status = actl_engine_run(saga->host.engine);
      /* A delivery writes two entries at most; stops are none. */
      assert_true(saga->n_entries - before - (saga->n_stops - stops) <=
                  2 * (int64_t)config.max_steps);
      n_none += saga->n_entries == before;
      n_runs++;
    } while (status == ACTL_LIMIT);
    assert_int_equal(status, ACTL_OK);
    assert_true(n_runs > 3 && n_none < n_runs);
    host_run(&saga->host);
    saga_check(saga);
    host_close(&saga->host);
    free(saga);
  }
}

/* Tells itself the same for ever. */
static actl_status endless_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  tick(pointer_in(msg, 0));
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_msg_value(msg, 0)));
}

static const actl_behavior endless = {.name = "endless", .receive = endless_receive};

static void what_never_becomes_quiet_ends_with_its_steps(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    atomic_uint had = 0;
    struct host host;
    actl_config config = seeded(seed);
    config.max_steps = 1000;
    host_open_with(&host, &config);
    host_send(&host, host_spawn(&host, 0, &endless, NULL, 0), ACTL_VALUES(pointer(&had)));
    for (unsigned i = 1; i <= 3; i++) {
      unsigned before = atomic_load(&had);
      assert_int_equal(actl_engine_run(host.engine), ACTL_LIMIT);
      assert_in_range(atomic_load(&had) - before, 200, 1000);
    }
    host_close(&host);
  }
}

/* ---- Threads of the host ---- */

struct sender {
  pthread_t thread;
  struct host *host;
  actl_pid to;
  atomic_uint *had;
  unsigned failed;
};

/* Sends a hundred, and drops the engine when the last has come. */
static void *send_and_drop(void *ud) {
  struct sender *sender = ud;
  actl_engine *engine = sender->host->engine;
  for (int i = 0; i < 100; i++)
    sender->failed += actl_engine_send(engine, sender->to, ACTL_VALUES(pointer(sender->had))) != 0;
  actl_msg *msg = NULL;
  sender->failed += actl_engine_ask(engine, sender->to, ACTL_VALUES(pointer(sender->had)),
                                    ACTL_FOREVER, &msg) != ACTL_OK;
  actl_msg_free(engine, msg);
  actl_drop(engine);
  return NULL;
}

/* A while after each message, it has been had. */
static actl_status lagging_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  if (actl_msg_count(msg) == 2) {
    tick(pointer_in(msg, 0));
    return ACTL_OK;
  }
  return actl_after(ctx, 1000, ACTL_VALUES(actl_msg_value(msg, 0), actl_nil()), NULL);
}

static const actl_behavior lagging = {.name = "lagging", .receive = lagging_receive};

static void a_held_run_waits_for_what_the_host_sends_and_time_goes_on(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    atomic_uint had = 0;
    struct host host;
    actl_config config = seeded(seed);
    host_open_with(&host, &config);
    struct sender senders[2];
    for (int i = 0; i < 2; i++) {
      actl_pid to = host_spawn(&host, (uint32_t)i, &lagging, NULL, 0);
      senders[i] = (struct sender){.host = &host, .to = to, .had = &had};
      actl_hold(host.engine);
      assert_int_equal(pthread_create(&senders[i].thread, NULL, send_and_drop, &senders[i]), 0);
    }
    host_run(&host);
    assert_int_equal(atomic_load(&had), 202);
    for (int i = 0; i < 2; i++) {
      pthread_join(senders[i].thread, NULL);
      assert_int_equal(senders[i].failed, 0);
    }
    host_close(&host);
  }
}

static void *drop_when_all_came(void *ud) {
  struct sender *sender = ud;
  while (atomic_load(sender->had) < 1) sched_yield();
  actl_drop(sender->host->engine);
  return NULL;
}

/* The host waits for a timer, and does nothing meanwhile. */
static void a_timer_comes_while_the_host_holds_the_run(void **state) {
  (void)state;
  atomic_uint had = 0;
  struct host host;
  actl_config config = seeded(3);
  host_open_with(&host, &config);
  struct sender sender = {.host = &host, .had = &had};
  host_send(&host, host_spawn(&host, 1, &lagging, NULL, 0), ACTL_VALUES(pointer(&had)));
  actl_hold(host.engine);
  assert_int_equal(pthread_create(&sender.thread, NULL, drop_when_all_came, &sender), 0);
  host_run(&host);
  pthread_join(sender.thread, NULL);
  assert_int_equal(atomic_load(&had), 1);
  host_close(&host);
}

/* ---- Memory that runs out ---- */

/* Like a saga, and takes what it gets. */
static actl_status careless_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *n = state, left = actl_msg_int(msg, 0, 0);
  actl_ask_id id;
  actl_pid pid = actl_self(ctx);
  if (++*n > 40) actl_exit(ctx, NULL);
  if (left <= 0) return ACTL_OK;
  const actl_behavior *behavior = pointer_in(msg, 1);
  const actl_value values[] = {actl_int(left - 1), actl_msg_value(msg, 1), actl_bytes("text", 4)};
  actl_spawn_on(ctx, left % 2 ? ACTL_VAT_ANY : ACTL_VAT_NEW, behavior, NULL, 0, &pid);
  actl_send(ctx, pid, values, 3);
  if (actl_spawn(ctx, behavior, NULL, 0, &pid) == ACTL_OK) actl_send(ctx, pid, values, 3);
  actl_ask_within(ctx, pid, values, 2, 20, &id);
  actl_after(ctx, (uint64_t)left, values, 2, NULL);
  return ACTL_OK;
}

static const actl_behavior careless = {
    .name = "careless", .state_size = sizeof(int64_t), .receive = careless_receive};

static void sweep_once(struct test_alloc *alloc, uint64_t seed) {
  actl_config config = seeded(seed);
  config.alloc = test_alloc;
  config.alloc_ud = alloc;
  config.scatters = seed % 2 != 0;
  actl_engine *engine = NULL;
  if (actl_engine_new(&engine, &config) != ACTL_OK) return;
  actl_pid pid;
  if (actl_engine_spawn(engine, 0, &careless, NULL, 0, &pid) == ACTL_OK)
    actl_engine_send(engine, pid, ACTL_VALUES(actl_int(4), pointer(&careless)));
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  actl_engine_shutdown(engine);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  actl_stats stats;
  actl_engine_stats(engine, &stats);
  assert_int_equal(stats.alive, 0);
  assert_int_equal(stats.spawned, stats.stopped);
  actl_engine_free(engine);
}

static void every_allocation_may_fail_with_a_seed(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    struct test_alloc alloc = {0};
    bool did_fail = true;
    size_t n = 1;
    for (; did_fail; n++) {
      test_alloc_fail_from(&alloc, n);
      sweep_once(&alloc, seed);
      did_fail = test_alloc_heal(&alloc);
      assert_true(test_alloc_is_clean(&alloc));
    }
    assert_true(n > 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(the_same_seed_gives_the_same_run),
      WATCHED(another_seed_gives_another_run),
      WATCHED(what_is_promised_holds_with_every_seed),
      WATCHED(engines_with_seeds_do_not_know_of_each_other),
      WATCHED(an_engine_with_a_seed_has_one_worker_and_is_not_started),
      WATCHED(a_run_ends_with_its_steps_and_a_later_one_goes_on),
      WATCHED(what_never_becomes_quiet_ends_with_its_steps),
      WATCHED(a_held_run_waits_for_what_the_host_sends_and_time_goes_on),
      WATCHED(a_timer_comes_while_the_host_holds_the_run),
      WATCHED(every_allocation_may_fail_with_a_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
