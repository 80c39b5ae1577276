/*
 * test_quiet.c - a run ends when nothing is left to do and not before, and no vat keeps another from
 * its turn.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

enum { VATS_MAX = 100 };

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior idler = {.name = "idler", .receive = nothing};

/* ---- A ball that goes round ---- */

struct ring {
  actl_pid pids[VATS_MAX];
  int64_t n, ends;           /* the ends are written by who ends it */
  int64_t handled[VATS_MAX]; /* each by its player */
};

/* (ring, place, left): passes it on to the next place until `left` is 0. */
static actl_status player_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct ring *ring = pointer_in(msg, 0);
  int64_t place = actl_msg_int(msg, 1, 0), left = actl_msg_int(msg, 2, 0);
  ring->handled[place]++;
  if (left == 0) {
    ring->ends++;
    return ACTL_OK;
  }
  int64_t next = (place + 1) % ring->n;
  return actl_send(ctx, ring->pids[next],
                   ACTL_VALUES(pointer(ring), actl_int(next), actl_int(left - 1)));
}

static const actl_behavior player = {.name = "player", .receive = player_receive};

static void play(int64_t n, uint32_t workers, int64_t count) {
  struct ring ring = {.n = n};
  struct host host;
  host_open(&host, workers, (uint32_t)n);
  for (int64_t i = 0; i < n; i++) ring.pids[i] = host_spawn(&host, (uint32_t)i, &player, NULL, 0);
  host_send(&host, ring.pids[0], ACTL_VALUES(pointer(&ring), actl_int(0), actl_int(count)));
  host_run(&host);
  assert_int_equal(ring.ends, 1);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    assert_true(ring.handled[i] == count / n || ring.handled[i] == count / n + 1);
    sum += ring.handled[i];
  }
  assert_int_equal(sum, count + 1);
  assert_accounted(&host, (uint64_t)count + 1);
  assert_int_equal(host.stats.far_messages, host.stats.messages);
  assert_int_equal(host.stats.alive, n);
  host_close(&host);
}

static void a_ball_between_two_vats_is_played_to_its_end(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2 * seeds_workers(); workers++)
    play(2, workers, SIZED(200000, 400));
}

static void a_ball_round_a_hundred_vats_is_played_to_its_end(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2 * seeds_workers(); workers++)
    play(100, workers, SIZED(200000, 400));
}

static void many_short_runs_end_each(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2 * seeds_workers(); workers++) {
    struct ring ring = {.n = 3};
    struct host host;
    host_open(&host, workers, 3);
    for (uint32_t i = 0; i < 3; i++) ring.pids[i] = host_spawn(&host, i, &player, NULL, 0);
    for (int64_t run = 0; run < SIZED(2000, 20); run++) {
      host_send(&host, ring.pids[run % 3],
                ACTL_VALUES(pointer(&ring), actl_int(run % 3), actl_int(run % 10)));
      host_run(&host);
      assert_int_equal(ring.ends, run + 1);
    }
    host_close(&host);
  }
}

/* ---- A mesh ---- */

enum { MESH_VATS = 8, MESH_EACH = 4, MESH = MESH_VATS * MESH_EACH };

struct mesh {
  actl_pid pids[MESH];
  int64_t handled[MESH], forwarded[MESH];
};

/* (mesh, place, left, salt): sends to two others while `left` lasts. */
static actl_status mesh_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct mesh *mesh = pointer_in(msg, 0);
  int64_t place = actl_msg_int(msg, 1, 0), left = actl_msg_int(msg, 2, 0);
  uint64_t seed = (uint64_t)actl_msg_int(msg, 3, 1);
  mesh->handled[place]++;
  if (left == 0) return ACTL_OK;
  for (int i = 0; i < 2; i++) {
    int64_t to = (int64_t)(random_next(&seed) % MESH);
    mesh->forwarded[place]++;
    actl_send(
        ctx, mesh->pids[to],
        ACTL_VALUES(pointer(mesh), actl_int(to), actl_int(left - 1), actl_int((int64_t)seed)));
  }
  return ACTL_OK;
}

static const actl_behavior mesh_member = {.name = "mesh", .receive = mesh_receive};

static void a_mesh_over_eight_vats_loses_nothing(void **state) {
  (void)state;
  const int64_t depth = seeds_are_on() ? 6 : IS_SANITIZED || IS_STRESSED ? 11 : 15;
  for (uint32_t workers = 1; workers <= 2 * seeds_workers(); workers++) {
    struct mesh mesh = {0};
    struct host host;
    host_open(&host, workers, MESH_VATS);
    for (uint32_t i = 0; i < MESH; i++) {
      mesh.pids[i] = host_spawn(&host, i % MESH_VATS, &mesh_member, NULL, 0);
    }
    for (int64_t i = 0; i < 10; i++) {
      host_send(&host, mesh.pids[i],
                ACTL_VALUES(pointer(&mesh), actl_int(i), actl_int(depth), actl_int(i * 977 + 1)));
    }
    host_run(&host);
    int64_t handled = 0, forwarded = 0;
    for (int i = 0; i < MESH; i++) handled += mesh.handled[i], forwarded += mesh.forwarded[i];
    assert_int_equal(handled, 10 * ((2 << depth) - 1));
    assert_int_equal(handled, forwarded + 10);
    assert_int_equal(letters_of(&host.stats), 0);
    assert_accounted(&host, (uint64_t)handled);
    host_close(&host);
  }
}

/* ---- Quiet is quiet ---- */

static actl_status counter_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  tick(pointer_in(msg, 0));
  return ACTL_OK;
}

static const actl_behavior counter = {.name = "counter", .receive = counter_receive};

static void nothing_runs_after_a_run(void **state) {
  (void)state;
  seeds_need_threads();
  atomic_uint handled = 0;
  struct host host;
  host_open(&host, 4, 4);
  actl_pid pids[4];
  for (uint32_t i = 0; i < 4; i++) pids[i] = host_spawn(&host, i, &counter, NULL, 0);
  host_run(&host);
  for (int i = 0; i < 100; i++) host_send(&host, pids[i % 4], ACTL_VALUES(pointer(&handled)));
  double end = seconds_now() + 0.05;
  while (seconds_now() < end) sched_yield();
  assert_int_equal(atomic_load(&handled), 0);
  actl_stats stats;
  actl_engine_stats(host.engine, &stats);
  assert_int_equal(stats.messages, 0);
  host_run(&host);
  assert_int_equal(atomic_load(&handled), 100);
  host_close(&host);
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Holds up its own vat, without using the processor, while others have nothing to do. */
static actl_status sleeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  struct timespec pause = {.tv_nsec = 500 * 1000000l};
  double *used = pointer_in(msg, 0);
  double before = processor_seconds();
  nanosleep(&pause, NULL);
  *used = processor_seconds() - before;
  return ACTL_OK;
}

static const actl_behavior sleeper = {.name = "sleeper", .receive = sleeper_receive};

static void workers_with_nothing_to_do_sleep(void **state) {
  (void)state;
  seeds_need_threads();
  double used = 1;
  struct host host;
  host_open(&host, 4, 4);
  host_send(&host, host_spawn(&host, 0, &sleeper, NULL, 0), ACTL_VALUES(pointer(&used)));
  host_run(&host);
  assert_true(used < 0.1); /* three workers that spin would take a second */
  host_close(&host);
}

/* ---- Fairness ---- */

/* Two vats play until a third has handled its messages, one after the other. */
struct contest {
  atomic_uint third_is_done;
  atomic_uint given_up;
  double deadline;
};

static actl_status rival_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct contest *contest = pointer_in(msg, 0);
  if (atomic_load_explicit(&contest->third_is_done, memory_order_relaxed)) return ACTL_OK;
  if (actl_msg_int(msg, 2, 0) % 1024 == 0 && seconds_now() > contest->deadline) {
    tick(&contest->given_up);
    return ACTL_OK;
  }
  return actl_send(ctx, actl_msg_pid(msg, 1),
                   ACTL_VALUES(pointer(contest), actl_who(actl_self(ctx)),
                               actl_int(actl_msg_int(msg, 2, 0) + 1)));
}

static const actl_behavior rival = {.name = "rival", .receive = rival_receive};

/* Sends itself one message after another, by way of a friend in its vat. */
static actl_status third_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct contest *contest = pointer_in(msg, 0);
  int64_t left = actl_msg_int(msg, 1, 0);
  if (left == 0) {
    atomic_store_explicit(&contest->third_is_done, 1, memory_order_relaxed);
    return ACTL_OK;
  }
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(contest), actl_int(left - 1)));
}

static const actl_behavior third = {.name = "third", .receive = third_receive};

static void two_vats_that_play_do_not_starve_a_third(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    for (uint32_t vat = 0; vat < 3; vat++) { /* the third may also live with one of the two */
      struct contest contest = {.deadline = seconds_now() + 15};
      struct host host;
      host_open(&host, workers, 3);
      actl_pid a = host_spawn(&host, 0, &rival, NULL, 0), b = host_spawn(&host, 1, &rival, NULL, 0);
      actl_pid c = host_spawn(&host, vat, &third, NULL, 0);
      host_send(&host, a, ACTL_VALUES(pointer(&contest), actl_who(b), actl_int(1)));
      host_send(&host, c, ACTL_VALUES(pointer(&contest), actl_int(1000)));
      host_run(&host);
      assert_int_equal(atomic_load(&contest.given_up), 0);
      assert_int_equal(atomic_load(&contest.third_is_done), 1);
      host_close(&host);
    }
  }
}

/* One that floods another near it, without an end, until a far message stops it. */
struct flood {
  atomic_uint is_over, given_up;
  double deadline;
};

static actl_status flooder_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct flood *flood = pointer_in(msg, 0);
  if (atomic_load_explicit(&flood->is_over, memory_order_relaxed)) return ACTL_OK;
  if (seconds_now() > flood->deadline) {
    tick(&flood->given_up);
    return ACTL_OK;
  }
  for (int i = 0; i < 50; i++) actl_send(ctx, actl_msg_pid(msg, 1), ACTL_VALUES(actl_nil()));
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(flood), actl_msg_value(msg, 1)));
}

static const actl_behavior flooder = {.name = "flooder", .receive = flooder_receive};

static actl_status last_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  struct flood *flood = pointer_in(msg, 0);
  atomic_store_explicit(&flood->is_over, 1, memory_order_relaxed);
  return ACTL_OK;
}

static const actl_behavior last = {.name = "last", .receive = last_receive};

/* Passes the end of the flood on, far to far, 100 times. */
static actl_status courier_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  int64_t left = actl_msg_int(msg, 3, 0);
  if (left == 0) return actl_send(ctx, actl_msg_pid(msg, 2), ACTL_VALUES(actl_msg_value(msg, 0)));
  return actl_send(ctx, actl_msg_pid(msg, 1),
                   ACTL_VALUES(actl_msg_value(msg, 0), actl_who(actl_self(ctx)),
                               actl_msg_value(msg, 2), actl_int(left - 1)));
}

static const actl_behavior courier = {.name = "courier", .receive = courier_receive};

static void a_flood_near_keeps_out_no_message_from_afar(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct flood flood = {.deadline = seconds_now() + 15};
    struct host host;
    host_open(&host, workers, 2);
    actl_pid sink = host_spawn(&host, 0, &idler, NULL, 0);
    actl_pid source = host_spawn(&host, 0, &flooder, NULL, 0);
    actl_pid end = host_spawn(&host, 0, &last, NULL, 0);
    actl_pid a = host_spawn(&host, 0, &courier, NULL, 0),
             b = host_spawn(&host, 1, &courier, NULL, 0);
    host_send(&host, source, ACTL_VALUES(pointer(&flood), actl_who(sink)));
    host_send(&host, a, ACTL_VALUES(pointer(&flood), actl_who(b), actl_who(end), actl_int(100)));
    host_run(&host);
    assert_int_equal(atomic_load(&flood.given_up), 0);
    assert_int_equal(atomic_load(&flood.is_over), 1);
    assert_int_equal(letters_of(&host.stats), 0);
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_ball_between_two_vats_is_played_to_its_end),
      WATCHED(a_ball_round_a_hundred_vats_is_played_to_its_end),
      WATCHED(many_short_runs_end_each),
      WATCHED(a_mesh_over_eight_vats_loses_nothing),
      WATCHED(nothing_runs_after_a_run),
      WATCHED(workers_with_nothing_to_do_sleep),
      WATCHED(two_vats_that_play_do_not_starve_a_third),
      WATCHED(a_flood_near_keeps_out_no_message_from_afar),
  };
  return seeds_main(tests);
}
