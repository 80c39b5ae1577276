/*
 * test_timer_memory.c - timers by the million, and the memory of timers: it follows what is pending,
 * is given back, and may run out at any moment.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

#include <unistd.h>

#include "support/alloc.h"

enum tag { ROUND = 1000, FIRED, SET_MANY, CANCEL_MANY, LAST };

enum { HOUR_MS = 3600000 };

static char text[3000];

/* Times of every size, so that each level of a wheel is used. */
static uint64_t some_time(uint64_t *seed) {
  return random_next(seed) & ((UINT64_C(1) << (random_next(seed) % 44)) - 1);
}

/* An engine that counts its memory, and a part in vat 0. */
static void memory_open(struct host *host, struct test_alloc *alloc, struct part *part,
                        uint32_t workers) {
  actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = alloc};
  host_open_with(host, &config);
  host_spawn(host, 1, &part_behavior, ACTL_VALUES(pointer(part)));
  host_run(host);
}

static void memory_close(struct host *host, struct test_alloc *alloc, struct part *part) {
  host_close(host);
  assert_true(test_alloc_is_clean(alloc));
  assert_int_equal(part->wrong, 0);
  free(part);
}

/* ---- Rounds ---- */

enum { PER_ROUND = 2000, ROUNDS = 50, WARM = 10 };

/* (ROUND): sets some, cancels some before and some after others have been set, lets some fire. */
static actl_status round_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  if (actl_msg_int(msg, 0, 0) != ROUND) {
    self->number[1]++;
    return ACTL_OK;
  }
  static const uint32_t lengths[] = {0, 7, 40, 3000};
  uint64_t *seed = self->ud;
  actl_timer kept[100] = {{0}};
  for (size_t i = 0; i < PER_ROUND; i++) {
    uint64_t ms = some_time(seed);
    actl_value texts[] = {actl_int(FIRED), actl_bytes(text, lengths[i % 4]), actl_nil(),
                          actl_int(1), actl_int(2)};
    actl_timer timer = {0};
    actl_status status = i % 2 ? actl_every(ctx, ms + 1, (unsigned)i % 4, texts, 5, &timer)
                               : actl_after(ctx, ms, texts, 5, &timer);
    self->wrong += status != ACTL_OK;
    if (kept[i % 100].bits != 0) self->wrong += actl_cancel(ctx, kept[i % 100]) != ACTL_OK;
    kept[i % 100] = timer;
  }
  for (int i = 0; i < 100; i++) self->wrong += actl_cancel(ctx, kept[i]) != ACTL_OK;
  for (uint64_t i = 0; i < 20; i++) {
    self->wrong += actl_after(ctx, i % 3, ACTL_VALUES(actl_int(FIRED), actl_bytes(text, 100)),
                              NULL) != ACTL_OK;
  }
  return ACTL_OK;
}

static void rounds_of_timers_leave_no_memory_behind(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    uint64_t seed = 88172645463325252u;
    struct test_alloc alloc = {0};
    struct host host;
    struct part *part = calloc(1, sizeof *part);
    assert_non_null(part);
    part->receive = round_receive;
    part->ud = &seed;
    memory_open(&host, &alloc, part, workers);
    size_t warm = 0;
    for (int round = 0; round < (seeds_are_on() ? WARM + 3 : ROUNDS); round++) {
      host_send(&host, part->pid, ACTL_VALUES(actl_int(ROUND)));
      host_run(&host);
      assert_int_equal(host.stats.timers, 0);
      assert_int_equal(part->number[1], 20 * (round + 1));
      if (round == WARM) warm = atomic_load(&alloc.live_bytes);
    }
    assert_true(atomic_load(&alloc.live_bytes) <= warm + warm / 8 + 16384);
    memory_close(&host, &alloc, part);
  }
}

/* ---- A million ---- */

enum { MILLION = 1000000 };

enum fate { CANCELLED, ENDED, FREED, FATES };

/* Sets as many as `number[0]`, by hours and years, and keeps their names. */
static void set_many(actl_ctx *ctx, struct part *self) {
  actl_timer *timers = self->ud;
  uint64_t seed = 88172645463325252u;
  for (int64_t i = 0; i < self->number[0]; i++) {
    uint64_t ms = HOUR_MS + some_time(&seed);
    actl_value values[] = {actl_int(FIRED), actl_int(i)};
    bool is_quiet = self->number[2] == FREED;
    unsigned options = is_quiet ? ACTL_TIMER_BACKGROUND : 0;
    actl_status status = i % 8 && !is_quiet ? actl_after(ctx, ms, values, 2, &timers[i])
                                            : actl_every(ctx, ms, options, values, 2, &timers[i]);
    self->wrong += status != ACTL_OK;
  }
  actl_stats stats;
  actl_ctx_stats(ctx, &stats);
  self->number[1] = (int64_t)stats.timers;
  part_after(ctx, self, LAST, 1);
}

static actl_status many_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  const actl_timer *timers = self->ud;
  int64_t n = self->number[0];
  switch (actl_msg_int(msg, 0, 0)) {
  case SET_MANY: set_many(ctx, self); break;
  case LAST: /* one fired among so many */
    if (self->number[2] == ENDED) actl_exit(ctx, NULL);
    if (self->number[2] == CANCELLED) {
      /* The odd ones from the front, the even ones from the back. */
      for (int64_t i = 1; i < n; i += 2) self->wrong += actl_cancel(ctx, timers[i]) != ACTL_OK;
      for (int64_t i = n - 1; i >= 0; i--) {
        actl_status status = actl_cancel(ctx, timers[i]);
        self->wrong += status != (i % 2 ? ACTL_EXPIRED : ACTL_OK);
      }
    }
    break;
  default: self->wrong++;
  }
  return ACTL_OK;
}

static void a_million_pending_timers_are_cancelled_or_end_with_actor_or_engine(void **state) {
  (void)state;
  int64_t n = SIZED(MILLION, 2000);
  actl_timer *timers = calloc((size_t)n, sizeof *timers);
  assert_non_null(timers);
  for (int fate = CANCELLED; fate < FATES; fate++) {
    struct test_alloc alloc = {0};
    struct host host;
    struct part *part = calloc(1, sizeof *part);
    assert_non_null(part);
    part->receive = many_receive;
    part->ud = timers;
    part->number[0] = n;
    part->number[2] = fate;
    memory_open(&host, &alloc, part, 1);
    size_t before = atomic_load(&alloc.live_bytes);
    host_send(&host, part->pid, ACTL_VALUES(actl_int(SET_MANY)));
    host_run(&host);
    assert_int_equal(part->number[1], n);
    assert_int_equal(part_count(part, LAST), 1);
    assert_int_equal(host.stats.timers, fate == FREED ? n : 0);
    assert_int_equal(host.stats.fired, 1);
    assert_int_equal(host.stats.alive, fate != ENDED);
    assert_true(atomic_load(&alloc.live_bytes) >= before);
    memory_close(&host, &alloc, part);
  }
  free(timers);
}

/* Background timers that are pending when the engine is freed, in a run of no others. */
static actl_status pending_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  uint64_t seed = 88172645463325252u;
  for (int i = 0; i < 3000; i++) {
    uint64_t ms = 5000 + some_time(&seed);
    actl_every(ctx, ms, ACTL_TIMER_BACKGROUND, ACTL_VALUES(actl_int(i), actl_bytes(text, 300)),
               NULL);
  }
  return ACTL_OK;
}

static actl_status pending_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior pending = {
    .name = "pending", .init = pending_init, .receive = pending_receive};

static void an_engine_is_freed_with_its_timers_pending(void **state) {
  (void)state;
  seeds_need_time(4);
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    struct host host;
    actl_config config = {.workers = workers, .vats = 3, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    for (uint32_t i = 0; i < 6; i++) host_spawn(&host, i % 3, &pending, NULL, 0);
    host_run(&host);
    assert_int_equal(host.stats.timers, 6 * 3000);
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

/* ---- Memory that runs out ---- */

/* Written by its actor; `changed`: broken promises. */
struct sweep {
  atomic_uint changed, came, set;
};

static void sweep_set(actl_ctx *ctx, struct sweep *sweep, bool repeats, uint32_t size) {
  for (uint64_t i = 0; i < 12; i++) {
    uint64_t ms = i % 4 == 0 ? UINT64_C(1) << (3 * i) : i % 3;
    actl_timer timer = {77}, before = timer;
    actl_value values[] = {
        pointer(sweep), actl_bytes(text, size), actl_int(1), actl_int(2), actl_int(3), actl_int(4)};
    actl_status status = repeats ? actl_every(ctx, ms + 1, 1 + (unsigned)i % 3, values, 6, &timer)
                                 : actl_after(ctx, ms, values, 6, &timer);
    if (status != ACTL_OK && (status != ACTL_NO_MEMORY || timer.bits != before.bits)) {
      tick(&sweep->changed);
    }
    if (status != ACTL_OK) continue;
    tick(&sweep->set);
    /* Of the far ones and the plain repeating ones none may be left, or the run would not end. */
    bool must_end = ms > 2 || (repeats && (1 + i % 3) == ACTL_TIMER_DELAY);
    if (must_end && actl_cancel(ctx, timer) != ACTL_OK) tick(&sweep->changed);
    if (must_end && actl_cancel(ctx, timer) != ACTL_EXPIRED) tick(&sweep->changed);
  }
}

static actl_status sweeper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct sweep *sweep = pointer_in(args, 0);
  static const uint32_t lengths[] = {0, 7, 50, 3000};
  for (int i = 0; i < 8; i++) sweep_set(ctx, sweep, i % 2 != 0, lengths[i / 2]);
  return ACTL_OK;
}

static actl_status sweeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  if (actl_msg_count(msg) == 0) {
    actl_exit(ctx, NULL);
    return ACTL_OK;
  }
  struct sweep *sweep = pointer_in(msg, 0);
  if (actl_msg_count(msg) != 6 || actl_msg_int(msg, 5, 0) != 4) tick(&sweep->changed);
  tick(&sweep->came);
  return ACTL_OK;
}

static const actl_behavior sweeper = {
    .name = "sweeper", .init = sweeper_init, .receive = sweeper_receive};

static void sweep_once(struct test_alloc *alloc, struct sweep *sweep, uint32_t workers) {
  actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = alloc};
  actl_engine *engine = NULL;
  seeds_put(&config);
  if (actl_engine_new(&engine, &config) != ACTL_OK) return;
  for (uint32_t i = 0; i < 4; i++) {
    actl_pid pid;
    actl_engine_spawn(engine, i % 2, &sweeper, ACTL_VALUES(pointer(sweep)), &pid);
  }
  actl_engine_run(engine);
  actl_engine_shutdown(engine);
  actl_stats stats;
  if (actl_engine_run(engine) == ACTL_OK) {
    actl_engine_stats(engine, &stats);
    if (stats.timers != 0 || stats.alive != 0) tick(&sweep->changed);
  }
  actl_engine_free(engine);
}

static void every_allocation_may_fail_where_timers_are_set(void **state) {
  (void)state;
  seeds_need_threads(); /* what wants memory tries again each millisecond, for all the time there is */
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    for (size_t n = 1;; n++) {
      struct sweep sweep = {0};
      alarm(20);
      test_alloc_fail_from(&alloc, n);
      sweep_once(&alloc, &sweep, workers);
      bool did_fail = test_alloc_heal(&alloc);
      if (atomic_load(&sweep.changed) != 0 || !test_alloc_is_clean(&alloc)) {
        print_error("allocation %zu failed, workers %u\n", n, (unsigned)workers);
      }
      assert_int_equal(atomic_load(&sweep.changed), 0);
      assert_true(test_alloc_is_clean(&alloc));
      if (did_fail) continue;
      assert_int_equal(atomic_load(&sweep.set), 4 * 8 * 12);
      assert_true(atomic_load(&sweep.came) >= 4 * 4 * 9);
      assert_true(n > 10);
      break;
    }
  }
}

/* Memory ends for a while in an engine that stands. Timers that could be set come, then and later. */
static void timers_go_on_when_memory_comes_back(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    struct host host;
    actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    for (size_t n = 1; n < 80; n++) {
      struct sweep sweep = {0};
      actl_pid pid = {0};
      test_alloc_fail_from(&alloc, n);
      actl_status status =
          actl_engine_spawn(host.engine, n % 2, &sweeper, ACTL_VALUES(pointer(&sweep)), &pid);
      assert_true(status == ACTL_OK || status == ACTL_NO_MEMORY);
      status = actl_engine_run(host.engine);
      assert_true(status == ACTL_OK || status == ACTL_NO_MEMORY || status == ACTL_SYSTEM);
      test_alloc_heal(&alloc);
      host_run(&host);
      struct sweep healed = {0};
      actl_pid other = host_spawn(&host, 1 - n % 2, &sweeper, ACTL_VALUES(pointer(&healed)));
      host_run(&host);
      assert_int_equal(atomic_load(&healed.set), 8 * 12);
      assert_true(atomic_load(&healed.came) >= 4 * 9);
      assert_int_equal(atomic_load(&healed.changed) + atomic_load(&sweep.changed), 0);
      host_send(&host, other, NULL, 0);
      if (pid.bits != 0) host_send(&host, pid, NULL, 0);
      host_run(&host);
      assert_int_equal(host.stats.timers, 0);
      assert_int_equal(host.stats.alive, 0);
    }
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(rounds_of_timers_leave_no_memory_behind),
      WATCHED(a_million_pending_timers_are_cancelled_or_end_with_actor_or_engine),
      WATCHED(an_engine_is_freed_with_its_timers_pending),
      WATCHED(every_allocation_may_fail_where_timers_are_set),
      WATCHED(timers_go_on_when_memory_comes_back),
  };
  return seeds_main(tests);
}
