/*
 * test_memory.c - memory that runs out at any moment: nothing crashes, hangs, leaks or changes half.
 * And memory that is given back.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <unistd.h>

#include "support/alloc.h"

enum { BIG = 100000 };

static char big[BIG];

/* ---- The program of the sweep: it does a little of everything and minds no failure ---- */

/* Written by any thread. */
struct tally {
  atomic_uint changed; /* an `out` that was touched by a failure, or another broken promise */
  atomic_uint handled, replies;
};

static void check(struct tally *tally, actl_status status, bool untouched) {
  if (status == ACTL_OK) return;
  if (!untouched) tick(&tally->changed);
}

static actl_status leaf_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static actl_status leaf_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct tally *tally = *(struct tally **)state;
  tick(&tally->handled);
  actl_value text = actl_msg_value(msg, 1);
  if (text.type == ACTL_STRING && text.size == BIG && text.as.bytes[BIG - 1] != 'z') {
    tick(&tally->changed);
  }
  actl_request request = {77};
  actl_status status;
  switch (actl_msg_int(msg, 0, 0)) {
  case 1: actl_reply(ctx, ACTL_VALUES(actl_bytes(big, 3000))); return ACTL_OK;
  case 2:
    status = actl_later(ctx, &request);
    check(tally, status, request.bits == 77);
    if (status == ACTL_OK) actl_request_reply(ctx, request, ACTL_VALUES(actl_bytes(big, 300)));
    return ACTL_OK;
  case 3: actl_exit(ctx, "a text to copy"); return ACTL_OK;
  case 4: return actl_fail(ctx, "a failure to report");
  case 5: return ACTL_UNHANDLED;
  case 6: actl_later(ctx, &request); return ACTL_OK; /* never answered */
  default: return ACTL_OK;
  }
}

static void leaf_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  tick(&(*(struct tally **)state)->handled);
  actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_bytes(big, 200)));
}

static const actl_behavior leaf = {.name = "leaf",
                                   .state_size = 200,
                                   .init = leaf_init,
                                   .receive = leaf_receive,
                                   .stop = leaf_stop};

static actl_status root_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct tally *tally = *(void **)state = pointer_in(args, 0);
  static actl_value pack[ACTL_VALUES_MAX];
  for (uint32_t i = 0; i < 14; i++) {
    actl_pid pid = {77};
    actl_status status =
        i % 3 == 2 ? actl_spawn(ctx, &leaf, ACTL_VALUES(pointer(tally)), &pid)
                   : actl_spawn_on(ctx, i % 3, &leaf,
                                   ACTL_VALUES(pointer(tally), actl_bytes(big, i * 100)), &pid);
    check(tally, status, pid.bits == 77);
    if (status != ACTL_OK) continue;
    actl_value table = actl_bytes(big, 5000);
    table.type = ACTL_TABLE;
    actl_send(ctx, pid, ACTL_VALUES(actl_int(0), actl_bytes(big, BIG)));
    actl_send(ctx, pid, ACTL_VALUES(actl_int(0), table, actl_bytes(big, 20)));
    actl_send(ctx, pid, pack, ACTL_VALUES_MAX);
    actl_ask_id ask = {77};
    status = actl_ask(ctx, pid, ACTL_VALUES(actl_int(i % 7), actl_bytes(big, 2000)), &ask);
    check(tally, status, ask.bits == 77);
    if (i % 7 == 0) actl_stop(ctx, pid);
    if (i % 7 == 1) actl_stop_now(ctx, pid);
    if (i % 7 == 2) actl_kill(ctx, pid);
  }
  return ACTL_OK;
}

static actl_status root_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                              const actl_msg *msg) {
  (void)ctx, (void)ask, (void)status, (void)msg;
  tick(&(*(struct tally **)state)->replies);
  return ACTL_OK;
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior root = {.name = "root",
                                   .state_size = sizeof(void *),
                                   .init = root_init,
                                   .receive = nothing,
                                   .reply = root_reply};

static void drop_entry(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  (void)level, (void)kind;
  if (text == NULL || text[0] == '\0') tick(ud);
}

/* What the host does. Whether it came to its end. */
static bool program(struct test_alloc *alloc, uint32_t workers, struct tally *tally,
                    bool *was_balanced) {
  actl_config config = {.workers = workers,
                        .vats = 2,
                        .alloc = test_alloc,
                        .alloc_ud = alloc,
                        .log = drop_entry,
                        .log_ud = &tally->changed};
  actl_engine *engine = (actl_engine *)tally;
  seeds_put(&config);
  actl_status status = actl_engine_new(&engine, &config);
  if (status != ACTL_OK) {
    check(tally, status, engine == (actl_engine *)tally);
    return false;
  }
  actl_engine_register(engine, &leaf);
  actl_name name = {77};
  check(tally, actl_name_intern(engine, "a name", 6, &name), name.id == 77);
  for (uint32_t i = 0; i < 2; i++) {
    actl_pid pid = {77};
    status = actl_engine_spawn(engine, i, &root, ACTL_VALUES(pointer(tally), actl_bytes(big, 1000)),
                               &pid);
    check(tally, status, pid.bits == 77);
    if (status != ACTL_OK) continue;
    actl_engine_send(engine, pid, ACTL_VALUES(actl_bytes(big, BIG)));
  }
  actl_engine_run(engine); /* may fail: without a thread, for example */
  actl_engine_shutdown(engine);
  actl_stats stats;
  actl_engine_stats(engine, &stats);
  *was_balanced = stats.spawned == stats.stopped + stats.alive;
  if (actl_engine_run(engine) == ACTL_OK) {
    actl_engine_stats(engine, &stats);
    *was_balanced = *was_balanced && stats.alive == 0 && stats.spawned == stats.stopped;
  }
  actl_engine_free(engine);
  return true;
}

static void sweep(uint32_t workers) {
  memset(big, 'z', sizeof big);
  struct test_alloc alloc = {0};
  size_t failed = 0;
  for (size_t n = 1;; n++) {
    struct tally tally = {0};
    bool was_balanced = true;
    alarm(20);
    test_alloc_fail_from(&alloc, n);
    bool came_through = program(&alloc, workers, &tally, &was_balanced);
    bool did_fail = test_alloc_heal(&alloc);
    if (atomic_load(&tally.changed) != 0 || !was_balanced || !test_alloc_is_clean(&alloc)) {
      print_error("allocation %zu failed, workers %u: changed %u, balanced %d, live bytes %zu\n", n,
                  (unsigned)workers, atomic_load(&tally.changed), was_balanced,
                  atomic_load(&alloc.live_bytes));
      failed++;
      if (failed == 5) break;
      atomic_store(&alloc.live_bytes, 0);
      atomic_store(&alloc.live_blocks, 0);
      atomic_store(&alloc.n_wrong, 0);
    }
    if (did_fail) continue;
    assert_true(came_through);
    assert_true(atomic_load(&tally.handled) > 0);
    assert_true(n > 20); /* there was something to sweep */
    break;
  }
  assert_int_equal(failed, 0);
}

static void every_allocation_may_fail_with_one_worker(void **state) {
  (void)state;
  seeds_need_time(50);
  sweep(1);
}

static void every_allocation_may_fail_with_two_workers(void **state) {
  (void)state;
  seeds_need_threads();
  sweep(2);
}

/* The same while it runs: the engine stands, and memory ends for a while. */
static void an_engine_recovers_when_memory_comes_back(void **state) {
  (void)state;
  memset(big, 'z', sizeof big);
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    struct tally tally = {0};
    struct host host;
    actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    actl_pid near = host_spawn(&host, 0, &leaf, ACTL_VALUES(pointer(&tally)));
    host_run(&host);
    for (size_t n = 1; n < 60; n++) {
      test_alloc_fail_from(&alloc, n);
      actl_pid pid = {77};
      actl_status status =
          actl_engine_spawn(host.engine, n % 2, &root, ACTL_VALUES(pointer(&tally)), &pid);
      if (status != ACTL_OK) {
        assert_int_equal(status, ACTL_NO_MEMORY);
        assert_int_equal(pid.bits, 77);
      }
      status = actl_engine_send(host.engine, near, ACTL_VALUES(actl_int(0), actl_bytes(big, BIG)));
      assert_true(status == ACTL_OK || status == ACTL_NO_MEMORY);
      status = actl_engine_run(host.engine);
      assert_true(status == ACTL_OK || status == ACTL_NO_MEMORY || status == ACTL_SYSTEM);
      test_alloc_heal(&alloc);
      unsigned before = atomic_load(&tally.handled);
      host_send(&host, near, ACTL_VALUES(actl_int(0), actl_bytes(big, BIG)));
      host_run(&host);
      assert_true(atomic_load(&tally.handled) > before);
    }
    assert_int_equal(atomic_load(&tally.changed), 0);
    actl_engine_shutdown(host.engine);
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

/* ---- Memory follows what is alive ---- */

/* Spawns `count` children that end at once, sends them strings and asks them. */
static actl_status churner_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct tally *tally = pointer_in(msg, 0);
  for (uint32_t i = 0; i < 200; i++) {
    actl_pid pid;
    if (actl_spawn_on(ctx, i % 2, &leaf, ACTL_VALUES(pointer(tally)), &pid) != ACTL_OK) {
      tick(&tally->changed);
    }
    actl_send(ctx, pid, ACTL_VALUES(actl_int(0), actl_bytes(big, 1000)));
    actl_ask_id ask;
    actl_ask(ctx, pid, ACTL_VALUES(actl_int(1 + i % 2)), &ask);
    if (i % 4 != 3) {
      actl_stop(ctx, pid);
    } else {
      actl_kill(ctx, pid);
    }
  }
  return ACTL_OK;
}

static const actl_behavior churner = {.name = "churner", .receive = churner_receive};

static void what_has_ended_leaves_no_memory_behind(void **state) {
  (void)state;
  seeds_need_time(50);
  memset(big, 'z', sizeof big);
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    struct tally tally = {0};
    struct host host;
    actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    actl_pid pid = host_spawn(&host, 0, &churner, NULL, 0);
    size_t warm = 0;
    for (int round = 0; round < 300; round++) {
      host_send(&host, pid, ACTL_VALUES(pointer(&tally)));
      host_run(&host);
      assert_int_equal(host.stats.alive, 1);
      if (round == 100) warm = atomic_load(&alloc.live_bytes);
    }
    assert_int_equal(atomic_load(&tally.changed), 0);
    /* Places for the dead, nodes and ids are kept to be used again; 40,000 lives add little. */
    assert_true(atomic_load(&alloc.live_bytes) <= warm + warm / 4 + 65536);
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

static void a_freed_engine_gives_everything_back_whatever_is_in_flight(void **state) {
  (void)state;
  seeds_need_time(50);
  memset(big, 'z', sizeof big);
  struct test_alloc alloc = {0};
  for (int ran = 0; ran < 3; ran++) {
    struct tally tally = {0};
    struct host host;
    actl_config config = {.workers = 2, .vats = 2, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    for (uint32_t i = 0; i < 20; i++) {
      actl_pid pid =
          host_spawn(&host, i % 2, i % 4 < 2 ? &root : &leaf, ACTL_VALUES(pointer(&tally)));
      if (ran > 0) host_run(&host);
      for (int j = 0; j < 10; j++) {
        host_send(&host, pid, ACTL_VALUES(actl_int(0), actl_bytes(big, BIG)));
      }
    }
    if (ran == 2) actl_engine_shutdown(host.engine);
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

static void an_empty_vat_costs_at_most_four_kilobytes(void **state) {
  (void)state;
  seeds_need_threads();
  struct test_alloc alloc = {0};
  size_t few = 0;
  for (int i = 0; i < 2; i++) {
    actl_engine *engine = NULL;
    actl_config config = {
        .workers = 1, .vats = i == 0 ? 1000 : 5000, .alloc = test_alloc, .alloc_ud = &alloc};
    seeds_put(&config);
    assert_int_equal(actl_engine_new(&engine, &config), ACTL_OK);
    if (i == 0) {
      few = atomic_load(&alloc.live_bytes);
    } else {
      assert_true((atomic_load(&alloc.live_bytes) - few) / 4000 <= 4096);
    }
    actl_engine_free(engine);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(every_allocation_may_fail_with_one_worker),
      WATCHED(every_allocation_may_fail_with_two_workers),
      WATCHED(an_engine_recovers_when_memory_comes_back),
      WATCHED(what_has_ended_leaves_no_memory_behind),
      WATCHED(a_freed_engine_gives_everything_back_whatever_is_in_flight),
      WATCHED(an_empty_vat_costs_at_most_four_kilobytes),
  };
  return seeds_main(tests);
}
