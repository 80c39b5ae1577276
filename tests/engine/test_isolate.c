/*
 * test_isolate.c - actors with a vat of their own: it ends with the last of its actors, and nothing
 * is left of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "engine/puppet.h"
#include "support/alloc.h"

enum { VATS = 2, QUIT = -1, FAIL_NOW = -2 };

/* ---- What an isolate's actors do ---- */

struct guest { /* written by its vat */
  atomic_uint messages, stops;
  uint32_t vat;
  actl_pid pid;
  struct guest *near; /* a child in the same vat; NULL: none */
};

static const actl_behavior guest_behavior;

static actl_status guest_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct guest *guest = *(void **)state = pointer_in(args, 0);
  guest->vat = actl_ctx_vat(ctx);
  guest->pid = actl_self(ctx);
  actl_pid pid;
  return guest->near == NULL
             ? ACTL_OK
             : actl_spawn(ctx, &guest_behavior, ACTL_VALUES(pointer(guest->near)), &pid);
}

static actl_status guest_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct guest *guest = *(void **)state;
  tick(&guest->messages);
  int64_t value = actl_msg_int(msg, 0, 0);
  if (value == FAIL_NOW) return actl_fail(ctx, "as it was told");
  if (value == QUIT) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static void guest_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  tick(&(*(struct guest **)state)->stops);
}

static const actl_behavior guest_behavior = {.name = "guest",
                                             .state_size = sizeof(void *),
                                             .init = guest_init,
                                             .receive = guest_receive,
                                             .stop = guest_stop};

static actl_pid settle(struct host *host, uint32_t number, struct guest *guest) {
  return host_spawn(host, number, &guest_behavior, ACTL_VALUES(pointer(guest)));
}

/* Whether the vat has ended: there is nothing to close any more. */
static bool is_gone(const struct host *host, uint32_t number) {
  return actl_vat_close(host->engine, number) == ACTL_NO_VAT;
}

/* ---- Lives ---- */

static void an_isolate_ends_with_its_actor_however_that_ends(void **state) {
  (void)state;
  for (int how = 0; how < 4; how++) {
    struct guest guest = {0};
    struct host host;
    host_open(&host, 1 + (uint32_t)how % 2, VATS);
    actl_pid pid = settle(&host, ACTL_VAT_NEW, &guest);
    host_run(&host);
    assert_true(guest.vat >= VATS);
    assert_int_equal(host.stats.alive, 1);
    if (how < 2) host_send(&host, pid, ACTL_VALUES(actl_int(how == 0 ? QUIT : FAIL_NOW)));
    if (how == 2) assert_int_equal(actl_vat_close(host.engine, guest.vat), ACTL_OK);
    if (how == 3) actl_engine_shutdown(host.engine);
    host_send(&host, pid, ACTL_VALUES(actl_int(1)));
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(host.stats.failed, how == 1);
    assert_int_equal(atomic_load(&guest.stops), 1);
    assert_accounted(&host, how < 2 ? 2 : 1);
    assert_true(is_gone(&host, guest.vat));
    host_close(&host);
  }
}

static void an_isolate_ends_with_the_last_of_its_actors(void **state) {
  (void)state;
  struct guest first = {0}, child = {0}, second = {0}, third = {0};
  struct host host;
  host_open(&host, 2, VATS);
  first.near = &child;
  actl_pid pid = settle(&host, ACTL_VAT_NEW, &first);
  host_run(&host);
  settle(&host, first.vat, &second);
  host_run(&host);
  assert_int_equal(second.vat, first.vat);

  host_send(&host, pid, ACTL_VALUES(actl_int(QUIT)));
  host_run(&host);
  assert_int_equal(host.stats.alive, 1);
  assert_int_equal(atomic_load(&child.stops), 1);
  /* One ends and one is on its way: the vat stays. */
  host_send(&host, second.pid, ACTL_VALUES(actl_int(QUIT)));
  settle(&host, first.vat, &third);
  host_run(&host);
  assert_int_equal(third.vat, first.vat);
  assert_int_equal(host.stats.alive, 1);
  host_send(&host, third.pid, ACTL_VALUES(actl_int(QUIT)));
  host_run(&host);
  assert_int_equal(host.stats.alive, 0);
  assert_true(is_gone(&host, first.vat));
  host_close(&host);
}

static void a_machine_ends_with_its_isolate(void **state) {
  (void)state;
  struct stage *stage = stage_open(2);
  for (int i = 0; i < 20; i++) {
    actl_pid pid = stage_enter(stage, i, ACTL_VAT_NEW);
    if (i % 2 == 0) stage_end(stage, pid, i % 3);
  }
  host_run(&stage->host);
  for (int i = 1; i < 20; i += 2) {
    assert_int_equal(stage->world.puppets[i].machine->vat < 3, 0);
    stage_end(stage, stage->world.puppets[i].self, i % 3);
  }
  host_run(&stage->host);
  assert_true(atomic_load(&stage->world.opened) >= 10);
  assert_int_equal(atomic_load(&stage->world.opened), atomic_load(&stage->world.closed));
  stage_close(stage);
}

/* ---- One after the other ---- */

struct relay { /* written by the looper's vat, after the run read by the test */
  struct test_alloc *alloc;
  int64_t rounds, warm_at;
  size_t warm_bytes, most_bytes;
  int64_t done, answered, failed;
  uint32_t highest;
};

static actl_status once_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  actl_reply(ctx, ACTL_VALUES(actl_int(actl_ctx_vat(ctx))));
  actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior once = {.name = "once", .receive = once_receive};

static actl_status looper_next(actl_ctx *ctx, struct relay *relay) {
  if (relay->done++ == relay->rounds) return ACTL_OK;
  size_t bytes = atomic_load_explicit(&relay->alloc->live_bytes, memory_order_relaxed);
  if (relay->done == relay->warm_at) relay->warm_bytes = bytes;
  if (bytes > relay->most_bytes) relay->most_bytes = bytes;
  actl_pid pid;
  actl_ask_id ask;
  actl_status status = actl_spawn_on(ctx, ACTL_VAT_NEW, &once, NULL, 0, &pid);
  return status == ACTL_OK ? actl_ask(ctx, pid, ACTL_VALUES(actl_int(1)), &ask) : status;
}

static actl_status looper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct relay *relay = *(void **)state = pointer_in(args, 0);
  return looper_next(ctx, relay);
}

static actl_status looper_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ask;
  struct relay *relay = *(void **)state;
  if (status == ACTL_OK) {
    relay->answered++;
    uint32_t number = (uint32_t)actl_msg_int(msg, 0, 0);
    if (number > relay->highest) relay->highest = number;
  } else {
    relay->failed++;
  }
  return looper_next(ctx, relay);
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior looper = {.name = "looper",
                                     .state_size = sizeof(void *),
                                     .init = looper_init,
                                     .receive = nothing,
                                     .reply = looper_reply};

static void twenty_thousand_isolates_one_after_the_other_take_the_room_of_a_few(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct test_alloc alloc = {0};
    struct relay relay = {
        .alloc = &alloc, .rounds = SIZED(20000, 300), .warm_at = SIZED(2000, 100)};
    struct host host;
    actl_config config = {
        .workers = workers, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
    host_open_with(&host, &config);
    host_spawn(&host, 0, &looper, ACTL_VALUES(pointer(&relay)));
    host_run(&host);
    assert_int_equal(relay.answered, relay.rounds);
    assert_int_equal(relay.failed, 0);
    assert_int_equal(host.stats.spawned, (uint64_t)relay.rounds + 1);
    assert_int_equal(host.stats.alive, 1);
    assert_true(relay.warm_bytes > 0 && relay.highest < 100);
    /* A worker that was held up may have had one more alive than before. */
    assert_true(relay.most_bytes <= relay.warm_bytes + 64 * 1024);
    host_close(&host);
    assert_true(test_alloc_is_clean(&alloc));
  }
}

/* ---- Many at once ---- */

static void a_thousand_isolates_at_once_all_end(void **state) {
  (void)state;
  seeds_need_time(4);
  enum { MANY = 1000 };
  static struct guest guests[MANY];
  memset(guests, 0, sizeof guests);
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = 2, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  host_open_with(&host, &config);
  size_t before = 0;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < MANY; i++) settle(&host, ACTL_VAT_NEW, &guests[i]);
    host_run(&host);
    assert_int_equal(host.stats.alive, MANY);
    for (int i = 0; i < MANY; i++) host_send(&host, guests[i].pid, ACTL_VALUES(actl_int(QUIT)));
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    for (int i = 0; i < MANY; i++) assert_true(is_gone(&host, guests[i].vat));
    if (round == 1) before = atomic_load(&alloc.live_bytes);
    if (round > 1) assert_true(atomic_load(&alloc.live_bytes) <= before);
  }
  assert_accounted(&host, 5 * MANY);
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(an_isolate_ends_with_its_actor_however_that_ends),
      WATCHED(an_isolate_ends_with_the_last_of_its_actors),
      WATCHED(a_machine_ends_with_its_isolate),
      WATCHED(twenty_thousand_isolates_one_after_the_other_take_the_room_of_a_few),
      WATCHED(a_thousand_isolates_at_once_all_end),
  };
  return seeds_main(tests);
}
