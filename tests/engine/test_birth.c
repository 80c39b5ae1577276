/*
 * test_birth.c - spawning: init comes first, a failed one is the actor's end, and the values given
 * arrive as they were.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <sched.h>

enum { EARLY = 100 };

#define NEAR (ACTL_VAT_ANY - 1) /* no vat: by actl_spawn */

/* What a child saw; written by the child only. */
struct child {
  int64_t inits, handled, misplaced, before_init, stops;
  uint32_t vat;
  actl_pid self, first_sender;
  bool fails;
};

static actl_status child_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct child *child = pointer_in(args, 0);
  *(struct child **)state = child;
  child->inits++;
  child->vat = actl_ctx_vat(ctx);
  child->self = actl_self(ctx);
  return child->fails ? actl_fail(ctx, "no luck today") : ACTL_OK;
}

static actl_status child_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct child *child = *(struct child **)state;
  if (child == NULL) child = pointer_in(msg, 1);
  if (child->inits != 1) child->before_init++;
  if (child->handled == 0) child->first_sender = actl_sender(ctx);
  if (actl_msg_int(msg, 0, -1) != child->handled++) child->misplaced++;
  return ACTL_OK;
}

static void child_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  (*(struct child **)state)->stops++;
}

static const actl_behavior child_behavior = {.name = "child",
                                             .state_size = sizeof(struct child *),
                                             .init = child_init,
                                             .receive = child_receive,
                                             .stop = child_stop};

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior idler = {.name = "idler", .receive = nothing};

/* ---- Init first ---- */

/* A parent that spawns a child in a vat and sends it messages at once, in the same handler. */
struct parent {
  struct child *child;
  uint32_t vat; /* NEAR: by actl_spawn */
  int64_t handled_after, stops;
  actl_pid self;
  actl_status spawned;
};

static actl_status parent_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct parent *parent = pointer_in(args, 0);
  *(struct parent **)state = parent;
  parent->self = actl_self(ctx);
  actl_pid pid = {0};
  parent->spawned = parent->vat == NEAR ? actl_spawn(ctx, &child_behavior,
                                                     ACTL_VALUES(pointer(parent->child)), &pid)
                                        : actl_spawn_on(ctx, parent->vat, &child_behavior,
                                                        ACTL_VALUES(pointer(parent->child)), &pid);
  for (int64_t i = 0; i < EARLY; i++) {
    actl_send(ctx, pid, ACTL_VALUES(actl_int(i), pointer(parent->child)));
  }
  return actl_send(ctx, actl_self(ctx), NULL, 0);
}

static actl_status parent_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct parent *parent = *(struct parent **)state;
  (void)msg;
  if (parent->handled_after++ == 0) return actl_send(ctx, actl_self(ctx), NULL, 0);
  return ACTL_OK;
}

static void parent_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  (*(struct parent **)state)->stops++;
}

static const actl_behavior parent_behavior = {.name = "parent",
                                              .state_size = sizeof(struct parent *),
                                              .init = parent_init,
                                              .receive = parent_receive,
                                              .stop = parent_stop};

static const uint32_t child_vats[] = {NEAR, 0, 1, ACTL_VAT_ANY};
enum { CHILD_VATS = 4 };

static void init_comes_before_messages_sent_at_once(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    for (int v = 0; v < CHILD_VATS; v++) {
      struct child child = {0};
      struct parent parent = {.child = &child, .vat = child_vats[v]};
      struct host host;
      host_open(&host, workers, 2);
      host_spawn(&host, 0, &parent_behavior, ACTL_VALUES(pointer(&parent)));
      host_run(&host);
      assert_int_equal(parent.spawned, ACTL_OK);
      assert_int_equal(child.inits, 1);
      assert_int_equal(child.before_init, 0);
      assert_int_equal(child.handled, EARLY);
      assert_int_equal(child.misplaced, 0);
      assert_true(actl_pid_equal(child.first_sender, parent.self));
      assert_false(actl_pid_equal(child.self, parent.self));
      if (child_vats[v] == NEAR) assert_int_equal(child.vat, 0);
      if (child_vats[v] < 2) assert_int_equal(child.vat, child_vats[v]);
      assert_int_equal(host.stats.alive, 2);
      assert_accounted(&host, EARLY + 2);
      host_close(&host);
    }
  }
}

static void init_comes_before_messages_a_host_sent_before_the_run(void **state) {
  (void)state;
  struct child child = {0};
  struct host host;
  host_open(&host, 2, 3);
  actl_pid pid = host_spawn(&host, 2, &child_behavior, ACTL_VALUES(pointer(&child)));
  for (int64_t i = 0; i < EARLY; i++) {
    host_send(&host, pid, ACTL_VALUES(actl_int(i), pointer(&child)));
  }
  assert_int_equal(child.inits, 0);
  host_run(&host);
  assert_int_equal(child.inits, 1);
  assert_int_equal(child.before_init, 0);
  assert_int_equal(child.handled, EARLY);
  assert_int_equal(child.misplaced, 0);
  assert_int_equal(child.first_sender.bits, 0);
  assert_true(actl_pid_equal(child.self, pid));
  assert_int_equal(child.vat, 2);
  assert_accounted(&host, EARLY);
  host_close(&host);
}

static actl_status check_zeros(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  atomic_uint *dirty = pointer_in(args, 0);
  const unsigned char *bytes = state;
  for (size_t i = 0; i < 1000; i++) {
    if (bytes[i] != 0) {
      tick(dirty);
      break;
    }
  }
  if ((uintptr_t)state % _Alignof(max_align_t) != 0) tick(dirty);
  memset(state, 0xAB, 1000);
  actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior dirty_behavior = {
    .name = "dirty", .state_size = 1000, .init = check_zeros, .receive = nothing};

static void a_state_begins_as_zeros_also_where_another_was(void **state) {
  (void)state;
  atomic_uint dirty = 0;
  struct host host;
  host_open(&host, 1, 1);
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 300; i++)
      host_spawn(&host, 0, &dirty_behavior, ACTL_VALUES(pointer(&dirty)));
    host_run(&host);
  }
  assert_int_equal(atomic_load(&dirty), 0);
  assert_int_equal(host.stats.stopped, 3000);
  host_close(&host);
}

static actl_status check_null(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(bool *)pointer_in(args, 0) = state == NULL;
  return ACTL_OK;
}

static const actl_behavior stateless = {.init = check_null, .receive = nothing};

static void no_state_is_a_null_pointer(void **state) {
  (void)state;
  bool is_null = false;
  struct host host;
  host_open(&host, 1, 1);
  host_spawn(&host, 0, &stateless, ACTL_VALUES(pointer(&is_null)));
  host_run(&host);
  assert_true(is_null);
  host_close(&host);
}

/* ---- A failed init ---- */

static void a_failed_init_ends_the_actor_and_is_logged_once(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    for (int v = 0; v < CHILD_VATS; v++) {
      struct child child = {.fails = true};
      struct parent parent = {.child = &child, .vat = child_vats[v]};
      struct host host;
      host_open(&host, workers, 2);
      host_spawn(&host, 0, &parent_behavior, ACTL_VALUES(pointer(&parent)));
      host_run(&host);
      assert_int_equal(child.inits, 1);
      assert_int_equal(child.handled, 0);
      assert_int_equal(child.stops, 0);
      assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
      assert_non_null(strstr(host.journal.text[ACTL_LOG_FAILURE], "no luck today"));
      assert_int_equal(host.journal.level[ACTL_LOG_FAILURE], ACTL_LOG_ERROR);
      assert_int_equal(host.stats.failed, 1);
      assert_int_equal(letters_of(&host.stats), EARLY);
      assert_int_equal(parent.handled_after, 2);
      assert_int_equal(host.stats.alive, 1);
      assert_accounted(&host, EARLY + 2);
      actl_engine_shutdown(host.engine);
      host_run(&host);
      assert_int_equal(parent.stops, 1);
      assert_int_equal(child.stops, 0);
      assert_int_equal(host.stats.alive, 0);
      assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
      host_close(&host);
    }
  }
}

/* An actor whose init makes children, near and far, and then fails. */
static actl_status bad_parent_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct child *children = pointer_in(args, 0);
  actl_pid pid;
  for (int i = 0; i < 6; i++) {
    actl_spawn_on(ctx, (uint32_t)i % 2, &child_behavior, ACTL_VALUES(pointer(&children[i])), &pid);
  }
  return ACTL_NO_MEMORY;
}

static const actl_behavior bad_parent = {
    .name = "bad parent", .init = bad_parent_init, .receive = nothing};

static void the_children_of_a_failed_init_stop(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct child children[6];
    memset(children, 0, sizeof children);
    struct host host;
    host_open(&host, workers, 2);
    host_spawn(&host, 0, &bad_parent, ACTL_VALUES(pointer(children)));
    host_run(&host);
    assert_int_equal(host.stats.spawned, 7);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
    for (int i = 0; i < 6; i++) assert_true(children[i].stops <= 1);
    for (int i = 0; i < 6; i++) assert_true(children[i].stops == children[i].inits);
    host_close(&host);
  }
}

/* ---- Errors of spawn ---- */

struct errors {
  actl_status no_vat, no_init, too_many, far_no_init, far_too_many, most;
  bool untouched;
};

static actl_value many[ACTL_VALUES_MAX + 1]; /* all nil */

static actl_status errors_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct errors *errors = pointer_in(args, 0);
  actl_pid pid = {77};
  errors->no_vat = actl_spawn_on(ctx, 2, &idler, NULL, 0, &pid);
  errors->no_init = actl_spawn(ctx, &idler, many, 1, &pid);
  errors->far_no_init = actl_spawn_on(ctx, 1, &idler, many, 1, &pid);
  errors->too_many = actl_spawn(ctx, &stateless, many, ACTL_VALUES_MAX + 1, &pid);
  errors->far_too_many = actl_spawn_on(ctx, 1, &stateless, many, ACTL_VALUES_MAX + 1, &pid);
  errors->untouched = pid.bits == 77;
  return ACTL_OK;
}

static const actl_behavior errors_behavior = {
    .name = "errors", .init = errors_init, .receive = nothing};

static void what_cannot_be_spawned_is_refused_and_changes_nothing(void **state) {
  (void)state;
  struct errors errors = {0};
  struct host host;
  host_open(&host, 2, 2);
  host_spawn(&host, 0, &errors_behavior, ACTL_VALUES(pointer(&errors)));
  actl_pid pid = {77};
  actl_engine *engine = host.engine;
  assert_int_equal(actl_engine_spawn(engine, 2, &idler, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(actl_engine_spawn(engine, 70000, &idler, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(actl_engine_spawn(engine, ACTL_VAT_NEW - 1, &idler, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(actl_engine_spawn(engine, 0, &idler, many, 1, &pid), ACTL_INVALID);
  assert_int_equal(actl_engine_spawn(engine, 0, &stateless, many, ACTL_VALUES_MAX + 1, &pid),
                   ACTL_INVALID);
  assert_int_equal(pid.bits, 77);
  host_run(&host);
  assert_int_equal(errors.no_vat, ACTL_NO_VAT);
  assert_int_equal(errors.no_init, ACTL_INVALID);
  assert_int_equal(errors.far_no_init, ACTL_INVALID);
  assert_int_equal(errors.too_many, ACTL_INVALID);
  assert_int_equal(errors.far_too_many, ACTL_INVALID);
  assert_true(errors.untouched);
  assert_int_equal(host.stats.spawned, 1);
  assert_int_equal(host.stats.alive, 1);
  host_close(&host);
}

/* ---- "any" ---- */

enum { SPREAD_VATS = 4, SPREAD = 400 };

static actl_status counted_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  atomic_uint *counts = pointer_in(args, 0);
  tick(&counts[actl_ctx_vat(ctx)]);
  return ACTL_OK;
}

static const actl_behavior counted = {.name = "counted", .init = counted_init, .receive = nothing};

static actl_status spreader_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  actl_pid pid;
  for (int i = 0; i < SPREAD; i++) {
    actl_spawn_on(ctx, ACTL_VAT_ANY, &counted, ACTL_VALUES(actl_msg_value(args, 0)), &pid);
  }
  return ACTL_OK;
}

static const actl_behavior spreader = {
    .name = "spreader", .init = spreader_init, .receive = nothing};

static void assert_spread(const atomic_uint *counts) {
  unsigned sum = 0;
  for (int i = 0; i < SPREAD_VATS; i++) {
    unsigned count = atomic_load(&counts[i]);
    assert_in_range(count, SPREAD / SPREAD_VATS / 2, SPREAD / SPREAD_VATS * 2);
    sum += count;
  }
  assert_int_equal(sum, SPREAD);
}

static void any_vat_means_that_with_the_fewest_actors(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    atomic_uint counts[SPREAD_VATS] = {0};
    struct host host;
    host_open(&host, workers, SPREAD_VATS);
    for (int i = 0; i < SPREAD; i++) {
      host_spawn(&host, ACTL_VAT_ANY, &counted, ACTL_VALUES(pointer(counts)));
    }
    host_run(&host);
    assert_spread(counts);
    host_close(&host);

    memset(counts, 0, sizeof counts);
    host_open(&host, workers, SPREAD_VATS);
    host_spawn(&host, 0, &spreader, ACTL_VALUES(pointer(counts)));
    host_run(&host);
    assert_spread(counts);
    host_close(&host);
  }
}

/* ---- A pid that others have at once ---- */

/* The vat of the child is kept busy, so that what goes there goes in chains, and the spawner too, until
 * somebody outside has sent to the child. */
struct handed {
  _Atomic(uint64_t) pid;
  atomic_bool is_sent;
  struct child child;
  actl_pid busy;
};

static void wait_until_sent(struct handed *handed) {
  double patience = seconds_now() + 20;
  while (!atomic_load(&handed->is_sent) && seconds_now() < patience) sched_yield();
}

static actl_status be_busy(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  wait_until_sent(pointer_in(msg, 0));
  return ACTL_OK;
}

static const actl_behavior busy = {.name = "busy", .receive = be_busy};

static actl_status hand_over(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct handed *handed = pointer_in(msg, 0);
  actl_pid pid = {0};
  actl_send(ctx, handed->busy, ACTL_VALUES(pointer(handed)));
  for (int i = 0; i < 3; i++) actl_send(ctx, handed->busy, ACTL_VALUES(pointer(handed)));
  actl_status status =
      actl_spawn_on(ctx, 1, &child_behavior, ACTL_VALUES(pointer(&handed->child)), &pid);
  atomic_store(&handed->pid, pid.bits);
  wait_until_sent(handed);
  return status;
}

static const actl_behavior hander = {.name = "hander", .receive = hand_over};

static void *send_from_outside(void *arg) {
  struct host *host = ((void **)arg)[0];
  struct handed *handed = ((void **)arg)[1];
  double patience = seconds_now() + 20;
  while (atomic_load(&handed->pid) == 0 && seconds_now() < patience) sched_yield();
  actl_pid pid = {atomic_load(&handed->pid)};
  actl_engine_send(host->engine, pid, ACTL_VALUES(actl_int(0), pointer(&handed->child)));
  atomic_store(&handed->is_sent, true);
  return NULL;
}

static void a_pid_can_be_used_by_others_as_soon_as_it_is_known(void **state) {
  (void)state;
  struct host host;
  struct handed handed = {.pid = 0};
  host_open(&host, 2, 2);
  handed.busy = host_spawn(&host, 1, &busy, NULL, 0);
  host_send(&host, host_spawn(&host, 0, &hander, NULL, 0), ACTL_VALUES(pointer(&handed)));

  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, send_from_outside, (void *[]){&host, &handed}), 0);
  host_run(&host);
  assert_int_equal(pthread_join(thread, NULL), 0);
  host_run(&host); /* what was sent when the run was over */
  assert_int_equal(handed.child.handled, 1);
  assert_int_equal(handed.child.before_init, 0);
  assert_int_equal(letters_of(&host.stats), 0);
  host_close(&host);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(init_comes_before_messages_sent_at_once),
      WATCHED(init_comes_before_messages_a_host_sent_before_the_run),
      WATCHED(a_state_begins_as_zeros_also_where_another_was),
      WATCHED(no_state_is_a_null_pointer),
      WATCHED(a_failed_init_ends_the_actor_and_is_logged_once),
      WATCHED(the_children_of_a_failed_init_stop),
      WATCHED(what_cannot_be_spawned_is_refused_and_changes_nothing),
      WATCHED(any_vat_means_that_with_the_fewest_actors),
      WATCHED(a_pid_can_be_used_by_others_as_soon_as_it_is_known),
  };
  return seeds_main(tests);
}
