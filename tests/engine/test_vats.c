/*
 * test_vats.c - vats that are opened and closed while an engine lives: where actors are made, what
 * stops, what is answered, and that no pid of an earlier life reaches anybody.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "engine/puppet.h"
#include "support/alloc.h"

enum { VATS = 2, CLOSE = -1, LONG_TIMER = -2, SHORT_TIMER = -3, HOUR_MS = 3600000 };

/* What happened to one resident; written by its vat. */
struct seen {
  atomic_uint *clock; /* numbers the ends */
  atomic_uint inits, messages, stops;
  unsigned ended; /* the clock at its end */
  actl_status reason, second, third;
  uint32_t vat;
  actl_pid pid;
  struct seen *child; /* made in `child_vat` by its init; NULL: none */
  uint32_t child_vat;
};

static const actl_behavior resident;

static actl_status resident_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct seen *seen = *(void **)state = pointer_in(args, 0);
  tick(&seen->inits);
  seen->vat = actl_ctx_vat(ctx);
  seen->pid = actl_self(ctx);
  if (seen->child == NULL) return ACTL_OK;
  return actl_spawn_on(ctx, seen->child_vat, &resident, ACTL_VALUES(pointer(seen->child)),
                       &seen->child->pid);
}

static actl_status resident_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct seen *seen = *(void **)state;
  tick(&seen->messages);
  int64_t value = actl_msg_int(msg, 0, 0);
  if (value == CLOSE) {
    actl_pid pid = {77};
    seen->reason = actl_vat_close(actl_ctx_engine(ctx), seen->vat);
    seen->second = actl_spawn(ctx, &resident, ACTL_VALUES(pointer(seen)), &pid);
    seen->third = actl_spawn_on(ctx, seen->vat, &resident, ACTL_VALUES(pointer(seen)), &pid);
    actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(1)));
    return pid.bits == 77 ? ACTL_OK : ACTL_FAILED;
  }
  if (value == LONG_TIMER || value == SHORT_TIMER)
    return actl_after(ctx, value == LONG_TIMER ? HOUR_MS : 3, ACTL_VALUES(actl_int(1)), NULL);
  actl_reply(ctx, ACTL_VALUES(actl_int(2 * value)));
  return ACTL_OK;
}

static void resident_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  struct seen *seen = *(void **)state;
  if (seen->clock != NULL) seen->ended = tick(seen->clock) + 1;
  seen->reason = reason->status;
  tick(&seen->stops);
}

static const actl_behavior resident = {.name = "resident",
                                       .state_size = sizeof(void *),
                                       .init = resident_init,
                                       .receive = resident_receive,
                                       .stop = resident_stop};

static uint32_t open_vat(struct host *host) {
  uint32_t number = UINT32_MAX;
  assert_int_equal(actl_vat_open(host->engine, &number), ACTL_OK);
  assert_true(number >= VATS && number < 65535);
  return number;
}

static void close_vat(struct host *host, uint32_t number) {
  assert_int_equal(actl_vat_close(host->engine, number), ACTL_OK);
}

static actl_pid settle(struct host *host, uint32_t number, struct seen *seen) {
  return host_spawn(host, number, &resident, ACTL_VALUES(pointer(seen)));
}

/* ---- Opening ---- */

static void actors_are_made_in_opened_vats_from_inside_and_outside(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct seen seen[6];
    memset(seen, 0, sizeof seen);
    struct host host;
    host_open(&host, workers, VATS);
    uint32_t a = open_vat(&host), b = open_vat(&host);
    assert_true(a != b);
    assert_int_equal(actl_engine_vats(host.engine), VATS);
    /* From an old vat into a new one, from there into another, near, and back. */
    uint32_t path[6] = {0, a, b, b, a, 1};
    for (int i = 0; i < 5; i++) {
      seen[i].child = &seen[i + 1];
      seen[i].child_vat = path[i + 1];
    }
    settle(&host, path[0], &seen[0]);
    host_run(&host);
    for (int i = 0; i < 6; i++) {
      assert_int_equal(atomic_load(&seen[i].inits), 1);
      assert_int_equal(seen[i].vat, path[i]);
      for (int j = 0; j < 10; j++) host_send(&host, seen[i].pid, ACTL_VALUES(actl_int(j)));
    }
    host_run(&host);
    for (int i = 0; i < 6; i++) assert_int_equal(atomic_load(&seen[i].messages), 10);
    assert_accounted(&host, 60);
    assert_int_equal(host.stats.alive, 6);
    host_close(&host);
  }
}

static void any_is_one_of_the_vats_an_engine_began_with(void **state) {
  (void)state;
  enum { MANY = 60 };
  static struct seen seen[MANY];
  memset(seen, 0, sizeof seen);
  struct host host;
  host_open(&host, 1, VATS);
  for (int i = 0; i < 3; i++) open_vat(&host);
  for (int i = 0; i < MANY; i++) settle(&host, ACTL_VAT_ANY, &seen[i]);
  host_run(&host);
  unsigned in[VATS] = {0};
  for (int i = 0; i < MANY; i++) {
    assert_true(seen[i].vat < VATS);
    in[seen[i].vat]++;
  }
  assert_int_equal(in[0], MANY / VATS);
  host_close(&host);
}

/* ---- Closing ---- */

static void closing_stops_the_actors_children_first_and_lets_none_in(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    atomic_uint clock = 0;
    struct seen seen[4];
    memset(seen, 0, sizeof seen);
    struct host host;
    host_open(&host, workers, VATS);
    uint32_t number = open_vat(&host);
    for (int i = 0; i < 4; i++) seen[i].clock = &clock;
    for (int i = 0; i < 3; i++) {
      seen[i].child = &seen[i + 1];
      seen[i].child_vat = number;
    }
    settle(&host, number, &seen[0]);
    host_run(&host);

    close_vat(&host, number);
    host_send(&host, seen[3].pid, ACTL_VALUES(actl_int(1)));
    actl_pid pid = {77};
    assert_int_equal(
        actl_engine_spawn(host.engine, number, &resident, ACTL_VALUES(pointer(&seen[0])), &pid),
        ACTL_NO_VAT);
    assert_int_equal(pid.bits, 77);
    host_run(&host);
    for (unsigned i = 0; i < 4; i++) {
      assert_int_equal(atomic_load(&seen[i].stops), 1);
      assert_int_equal(seen[i].reason, ACTL_SHUTDOWN);
      assert_int_equal(seen[i].ended, 4 - i);
    }
    assert_int_equal(host.stats.alive, 0);
    assert_accounted(&host, 1);
    host_close(&host);
  }
}

static void what_is_not_open_cannot_be_closed(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, VATS);
  uint32_t number = open_vat(&host);
  const uint32_t wrong[] = {0, 1, number + 1, 300, 65000, 65534, 65535, ACTL_VAT_ANY, ACTL_VAT_NEW};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(actl_vat_close(host.engine, wrong[i]), ACTL_NO_VAT);
  close_vat(&host, number);
  assert_int_equal(actl_vat_close(host.engine, number), ACTL_NO_VAT);
  host_run(&host);
  assert_int_equal(actl_vat_close(host.engine, number), ACTL_NO_VAT);
  actl_pid pid = {77};
  assert_int_equal(actl_engine_spawn(host.engine, number, &resident, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(pid.bits, 77);
  host_close(&host);
}

static void a_vat_may_be_closed_from_inside(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct seen seen = {0}, other = {0};
    struct host host;
    host_open(&host, workers, VATS);
    uint32_t number = open_vat(&host);
    actl_pid pid = settle(&host, number, &seen);
    settle(&host, number, &other);
    host_run(&host);
    host_send(&host, pid, ACTL_VALUES(actl_int(CLOSE)));
    host_run(&host);
    assert_int_equal(seen.second, ACTL_SHUTDOWN);
    assert_int_equal(seen.third, ACTL_SHUTDOWN);
    assert_int_equal(atomic_load(&seen.messages), 1);
    assert_int_equal(atomic_load(&seen.stops), 1);
    assert_int_equal(seen.reason, ACTL_SHUTDOWN);
    assert_int_equal(atomic_load(&other.stops), 1);
    assert_int_equal(host.stats.failed, 0);
    assert_int_equal(host.stats.alive, 0);
    assert_accounted(&host, 2); /* what it sent to itself is a dead letter */
    assert_int_equal(open_vat(&host), number);
    host_close(&host);
  }
}

static void a_tree_loses_the_branch_that_is_in_a_closed_vat(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    atomic_uint clock = 0;
    struct seen seen[3];
    memset(seen, 0, sizeof seen);
    struct host host;
    host_open(&host, workers, VATS);
    uint32_t middle = open_vat(&host), last = open_vat(&host);
    for (int i = 0; i < 3; i++) seen[i].clock = &clock;
    seen[0].child = &seen[1];
    seen[0].child_vat = middle;
    seen[1].child = &seen[2];
    seen[1].child_vat = last;
    settle(&host, 0, &seen[0]);
    host_run(&host);
    assert_int_equal(host.stats.alive, 3);

    close_vat(&host, middle);
    host_run(&host);
    assert_int_equal(seen[2].ended, 1);
    assert_int_equal(seen[1].ended, 2);
    assert_int_equal(seen[1].reason, ACTL_SHUTDOWN);
    assert_int_equal(seen[2].reason, ACTL_OK); /* its parent stopped it */
    assert_int_equal(atomic_load(&seen[0].stops), 0);
    assert_int_equal(host.stats.alive, 1);

    /* The others go on, and the root waits for no child that is gone. */
    host_send(&host, seen[0].pid, ACTL_VALUES(actl_int(1)));
    struct seen again = {0};
    settle(&host, last, &again);
    close_vat(&host, last);
    actl_engine_shutdown(host.engine);
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(atomic_load(&seen[0].stops), 1);
    assert_int_equal(atomic_load(&again.inits), atomic_load(&again.stops));
    host_close(&host);
  }
}

static void the_timers_of_a_vat_end_with_it_and_its_next_life_has_its_own(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct seen seen[2];
    memset(seen, 0, sizeof seen);
    struct host host;
    host_open(&host, workers, VATS);
    uint32_t number = open_vat(&host);
    for (int round = 0; round < 3; round++) {
      actl_pid first = settle(&host, number, &seen[0]), second = settle(&host, number, &seen[1]);
      unsigned before = atomic_load(&seen[0].messages);
      host_send(&host, first, ACTL_VALUES(actl_int(SHORT_TIMER)));
      host_run(&host);
      assert_int_equal(atomic_load(&seen[0].messages), before + 2);
      for (int i = 0; i < 100; i++) host_send(&host, second, ACTL_VALUES(actl_int(LONG_TIMER)));
      host_send(&host, second, ACTL_VALUES(actl_int(CLOSE)));
      host_run(&host); /* not for an hour */
      assert_int_equal(host.stats.alive, 0);
      assert_int_equal(host.stats.timers, 0);
      assert_int_equal(host.stats.fired, round + 1);
      assert_int_equal(open_vat(&host), number);
    }
    host_close(&host);
  }
}

/* ---- Asks ---- */

static void an_ask_to_a_closed_vat_fails_for_native_and_driven_actors(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct stage *stage = stage_open(workers);
    struct host *host = &stage->host;
    struct seen seen = {0};
    uint32_t number = UINT32_MAX;
    assert_int_equal(actl_vat_open(host->engine, &number), ACTL_OK);
    actl_pid gone = host_spawn(host, number, &resident, ACTL_VALUES(pointer(&seen)));
    /* A pid of a number that no vat has had. */
    actl_pid forged = {gone.bits + ((uint64_t)500 << 22)};
    actl_pid puppet = stage_enter(stage, 0, 1), other = stage_enter(stage, 1, number);
    stage_ask(stage, gone, actl_int(21));
    host_run(host);
    assert_int_equal(stage->answers.ok, 1);

    close_vat(host, number);
    host_run(host);
    assert_string_equal(stage_events(stage, 1), "BSD");
    /* And one of another node, with the number of the vat of who asks. */
    actl_pid elsewhere = {puppet.bits | (uint64_t)1 << 38};
    actl_pid pids[] = {gone, forged, other, elsewhere};
    for (int i = 0; i < 4; i++) {
      int64_t replies = stage->answers.replies, ok = stage->answers.ok;
      stage_ask(stage, pids[i], actl_int(ECHO), actl_int(1));
      host_run(host);
      assert_int_equal(stage->answers.replies, replies + 1);
      assert_int_equal(stage->answers.ok, ok);
      assert_int_equal(stage->answers.status, ACTL_NO_ACTOR);
      /* A handler that waits: its ask fails, and it goes on. */
      stage_ask(stage, puppet, actl_int(WAIT_OP), actl_who(pids[i]), actl_int(ECHO));
      host_run(host);
      assert_int_equal(stage->answers.replies, replies + 2);
      assert_int_equal(stage->answers.ok, ok + 1);
      assert_int_equal(stage->world.puppets[0].last, ACTL_NO_ACTOR);
    }
    assert_int_equal(host->stats.deadlocks, 0);
    stage_close(stage);
  }
}

/* A chain that is full goes out, and comes back, in the midst of a send. */
static void an_ask_that_comes_back_while_it_is_being_sent_ends_the_wait(void **state) {
  (void)state;
  struct stage *stage = stage_open(1);
  struct host *host = &stage->host;
  struct seen seen = {0};
  uint32_t number = UINT32_MAX;
  assert_int_equal(actl_vat_open(host->engine, &number), ACTL_OK);
  actl_pid gone = host_spawn(host, number, &resident, ACTL_VALUES(pointer(&seen)));
  actl_pid puppet = stage_enter(stage, 0, 1);
  host_run(host);
  close_vat(host, number);
  host_run(host);
  for (int64_t n = 0; n < 140; n++) {
    int64_t ok = stage->answers.ok;
    stage->world.puppets[0].last = ACTL_OK;
    stage_ask(stage, puppet, actl_int(FLOOD), actl_who(gone), actl_int(n));
    stage_ask(stage, puppet, actl_int(WAIT_OP), actl_who(gone), actl_int(ECHO));
    host_run(host);
    assert_int_equal(stage->answers.ok, ok + 2);
    assert_int_equal(stage->world.puppets[0].last, ACTL_NO_ACTOR);
  }
  assert_int_equal(host->stats.deadlocks, 0);
  stage_close(stage);
}

static void a_machine_ends_with_its_vat(void **state) {
  (void)state;
  struct stage *stage = stage_open(1);
  for (int round = 1; round <= 5; round++) {
    uint32_t number = UINT32_MAX;
    assert_int_equal(actl_vat_open(stage->host.engine, &number), ACTL_OK);
    stage_enter(stage, round, number);
    host_run(&stage->host);
    assert_int_equal(atomic_load(&stage->world.opened), round);
    close_vat(&stage->host, number);
    host_run(&stage->host);
    assert_int_equal(atomic_load(&stage->world.closed), round);
    assert_string_equal(stage_events(stage, round), "BSD");
  }
  stage_close(stage);
}

/* ---- Numbers and pids ---- */

static void pids_of_a_closed_vat_reach_nobody_in_the_next_of_its_number(void **state) {
  (void)state;
  seeds_need_time(5);
  enum { ROUNDS = IS_SANITIZED ? 120 : 400, ACTORS = 5 };
  static struct seen seen[ROUNDS][ACTORS];
  static struct seen extra;
  memset(seen, 0, sizeof seen);
  struct host host;
  host_open(&host, 2, VATS);
  uint32_t number = 0;
  uint64_t sent = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t now = open_vat(&host);
    if (round > 0) assert_int_equal(now, number);
    number = now;
    /* Two from outside, one far from inside, two near. */
    seen[round][1].child = &seen[round][2];
    seen[round][1].child_vat = number;
    seen[round][3].child = &seen[round][4];
    seen[round][3].child_vat = number;
    settle(&host, number, &seen[round][0]);
    settle(&host, number, &seen[round][1]);
    settle(&host, 0, &seen[round][3]);
    for (int k = round % 3; k < 3 && round > 0; k++) /* more and less than in the one before */
      settle(&host, number, &extra);
    host_run(&host);
    for (int old = 0; old < round; old++) {
      for (int i = 0; i < ACTORS; i++) {
        if (i == 3) continue;
        assert_true(seen[old][i].pid.bits != seen[round][i].pid.bits);
        host_send(&host, seen[old][i].pid, ACTL_VALUES(actl_int(1)));
        sent++;
      }
    }
    host_run(&host);
    for (int i = 0; i < ACTORS; i++) assert_int_equal(atomic_load(&seen[round][i].messages), 0);
    close_vat(&host, number);
    host_run(&host);
  }
  assert_int_equal(atomic_load(&seen[0][0].messages), 0);
  assert_int_equal(host.stats.messages, 0);
  assert_accounted(&host, sent);
  assert_int_equal(host.stats.alive, ROUNDS); /* those in vat 0 */
  host_close(&host);
}

static void what_a_vat_has_done_stays_in_the_statistics(void **state) {
  (void)state;
  struct seen seen = {0};
  struct host host;
  host_open(&host, 1, VATS);
  for (unsigned round = 1; round <= 3; round++) {
    uint32_t number = open_vat(&host);
    actl_pid pid = settle(&host, number, &seen);
    for (int i = 0; i < 7; i++) host_send(&host, pid, ACTL_VALUES(actl_int(i)));
    host_run(&host);
    assert_int_equal(host.stats.alive, 1);
    close_vat(&host, number);
    host_run(&host);
    assert_int_equal(host.stats.spawned, round);
    assert_int_equal(host.stats.stopped, round);
    assert_int_equal(host.stats.messages, 7 * round);
    assert_int_equal(host.stats.alive, 0);
  }
  host_close(&host);
}

static void no_vat_is_opened_during_a_shutdown(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, VATS);
  uint32_t number = open_vat(&host), out = 77;
  actl_pid pid = {77};
  actl_engine_shutdown(host.engine);
  assert_int_equal(actl_vat_open(host.engine, &out), ACTL_SHUTDOWN);
  assert_int_equal(
      actl_engine_spawn(host.engine, ACTL_VAT_NEW, &resident, ACTL_VALUES(pointer(&out)), &pid),
      ACTL_SHUTDOWN);
  assert_true(out == 77 && pid.bits == 77);
  host_run(&host);
  close_vat(&host, number); /* closing goes on */
  host_run(&host);
  assert_int_equal(actl_vat_close(host.engine, number), ACTL_NO_VAT);
  host_close(&host);
}

/* ---- Memory ---- */

static void five_thousand_empty_vats_cost_at_most_four_kilobytes_each(void **state) {
  (void)state;
  seeds_need_threads();
  enum { MANY = 5000 };
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = 1, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  host_open_with(&host, &config);
  host_run(&host);
  size_t before = atomic_load(&alloc.live_bytes), blocks = atomic_load(&alloc.live_blocks);
  for (int i = 0; i < MANY; i++) open_vat(&host);
  host_run(&host);
  blocks = atomic_load(&alloc.live_blocks) - blocks;
  size_t each = (atomic_load(&alloc.live_bytes) - before + blocks * 16) / MANY;
  assert_in_range(each, 1, 4096);
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
}

static void a_closed_vat_gives_its_memory_back(void **state) {
  (void)state;
  seeds_need_time(8);
  enum { ROUNDS = 40, ACTORS = SCALED(5000) };
  static char text[3000];
  static struct seen seen;
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = 1, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  host_open_with(&host, &config);
  size_t warm = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t number = open_vat(&host);
    for (int i = 0; i < ACTORS; i++) settle(&host, number, &seen);
    host_run(&host);
    for (int i = 0; i < 50; i++)
      host_send(&host, seen.pid, ACTL_VALUES(actl_int(1), actl_bytes(text, sizeof text)));
    if (round % 2 == 0) host_run(&host);
    close_vat(&host, number);
    host_run(&host);
    if (round == 4) warm = atomic_load(&alloc.live_bytes);
    if (round > 4) assert_true(atomic_load(&alloc.live_bytes) <= warm);
  }
  assert_int_equal(host.stats.alive, 0);
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
}

static void opening_and_spawning_survive_every_failed_allocation(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = 1, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  static struct seen seen;
  host_open_with(&host, &config);
  bool did_fail = true;
  size_t n = 1;
  int refused = 0;
  for (; did_fail; n++) {
    uint32_t number = 77;
    actl_pid pid = {77}, own = {77};
    test_alloc_fail_from(&alloc, n);
    actl_status opened = actl_vat_open(host.engine, &number);
    actl_status made =
        actl_engine_spawn(host.engine, number, &resident, ACTL_VALUES(pointer(&seen)), &pid);
    actl_status made_own =
        actl_engine_spawn(host.engine, ACTL_VAT_NEW, &resident, ACTL_VALUES(pointer(&seen)), &own);
    actl_status ran = actl_engine_run(host.engine);
    did_fail = test_alloc_heal(&alloc);
    assert_int_equal(ran, ACTL_OK);
    if (opened != ACTL_OK) {
      assert_int_equal(opened, ACTL_NO_MEMORY);
      assert_int_equal(number, 77);
      assert_int_equal(made, ACTL_NO_VAT);
    }
    if (opened == ACTL_OK && made != ACTL_OK) assert_int_equal(made, ACTL_NO_MEMORY);
    if (made_own != ACTL_OK) assert_int_equal(made_own, ACTL_NO_MEMORY);
    assert_true((pid.bits == 77) == (made != ACTL_OK) && (own.bits == 77) == (made_own != ACTL_OK));
    refused += (opened != ACTL_OK) + (made != ACTL_OK) + (made_own != ACTL_OK);
    host_run(&host);
  }
  assert_true(n > 3 && refused > 3);
  actl_engine_shutdown(host.engine);
  host_run(&host);
  assert_int_equal(host.stats.alive, 0);
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(actors_are_made_in_opened_vats_from_inside_and_outside),
      WATCHED(any_is_one_of_the_vats_an_engine_began_with),
      WATCHED(closing_stops_the_actors_children_first_and_lets_none_in),
      WATCHED(what_is_not_open_cannot_be_closed),
      WATCHED(a_vat_may_be_closed_from_inside),
      WATCHED(a_tree_loses_the_branch_that_is_in_a_closed_vat),
      WATCHED(the_timers_of_a_vat_end_with_it_and_its_next_life_has_its_own),
      WATCHED(an_ask_to_a_closed_vat_fails_for_native_and_driven_actors),
      WATCHED(an_ask_that_comes_back_while_it_is_being_sent_ends_the_wait),
      WATCHED(a_machine_ends_with_its_vat),
      WATCHED(pids_of_a_closed_vat_reach_nobody_in_the_next_of_its_number),
      WATCHED(what_a_vat_has_done_stays_in_the_statistics),
      WATCHED(no_vat_is_opened_during_a_shutdown),
      WATCHED(five_thousand_empty_vats_cost_at_most_four_kilobytes_each),
      WATCHED(a_closed_vat_gives_its_memory_back),
      WATCHED(opening_and_spawning_survive_every_failed_allocation),
  };
  return seeds_main(tests);
}
