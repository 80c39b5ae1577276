/*
 * test_circle.c - actors that ask each other in a circle: nobody can answer, the asks fail, and the run
 * goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

/* A ring: each, when first asked, keeps the request and asks the next. */
struct ring {
  actl_pid next[64];
  uint32_t n;
  atomic_uint deadlocked, answered, wrong, go_on;
};

struct link {
  struct ring *ring;
  int64_t at;
  actl_request kept;
  bool has_asked, has_kept;
};

static actl_status link_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct link *self = state;
  self->ring = pointer_in(args, 0);
  self->at = actl_msg_int(args, 1, 0);
  return ACTL_OK;
}

static actl_status link_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct link *self = state;
  (void)msg;
  if (actl_msg_count(msg) == 1) {
    tick(&self->ring->go_on);
    return ACTL_OK;
  }
  if (actl_later(ctx, &self->kept) == ACTL_OK) self->has_kept = true;
  if (self->has_asked) return ACTL_OK;
  self->has_asked = true;
  actl_ask_id id;
  return actl_ask(ctx, self->ring->next[self->at], NULL, 0, &id);
}

static actl_status link_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                              const actl_msg *msg) {
  (void)ask, (void)msg;
  struct link *self = state;
  if (status == ACTL_DEADLOCK) {
    tick(&self->ring->deadlocked);
  } else {
    tick(status == ACTL_OK ? &self->ring->answered : &self->ring->wrong);
  }
  if (self->has_kept) actl_request_reply(ctx, self->kept, NULL, 0);
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_nil())); /* the run goes on */
}

static const actl_behavior link_behavior = {.name = "link",
                                            .state_size = sizeof(struct link),
                                            .init = link_init,
                                            .receive = link_receive,
                                            .reply = link_reply};

static void circles_of_asks_end_as_deadlocks_and_the_run_goes_on(void **state) {
  (void)state;
  static const uint32_t lengths[] = {2, 3, 64};
  for (uint32_t i = 0; i < 4; i++) {
    for (int l = 0; l < 3; l++) {
      struct ring ring = {.n = lengths[l]};
      struct host host;
      host_open(&host, 1 + i / 2, 4);
      actl_pid pids[64];
      for (uint32_t at = 0; at < ring.n; at++) {
        pids[at] = host_spawn(&host, i % 2 ? at % 4 : 0, &link_behavior,
                              ACTL_VALUES(pointer(&ring), actl_int(at)));
      }
      for (uint32_t at = 0; at < ring.n; at++) ring.next[at] = pids[(at + 1) % ring.n];
      host_send(&host, pids[0], NULL, 0);
      host_run(&host);
      assert_int_equal(atomic_load(&ring.wrong), 0);
      assert_int_equal(atomic_load(&ring.deadlocked) + atomic_load(&ring.answered), ring.n);
      assert_true(atomic_load(&ring.deadlocked) >= 1);
      assert_int_equal(host.stats.deadlocks, atomic_load(&ring.deadlocked));
      assert_true(host.journal.entries[ACTL_LOG_STUCK] >= 1);
      assert_int_equal(atomic_load(&ring.go_on), ring.n);
      assert_int_equal(host.stats.alive, ring.n);
      host_close(&host);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(circles_of_asks_end_as_deadlocks_and_the_run_goes_on),
  };
  return seeds_main(tests);
}
