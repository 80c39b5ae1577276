/*
 * test_choices.c - the hook that decides in place of a seed, and where spawns are placed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/saga.h"

enum { THINGS = 200, CHOICES_KEPT = 400000 };

/* ---- A hook ---- */

struct hook {
  uint32_t kept[CHOICES_KEPT]; /* what was decided, in its order */
  size_t n_kept, n_asked;
  uint64_t n_of[ACTL_CHOICE_KINDS],
      n_drawn; /* by kind; where the seed had other than the plain order */
  int64_t wrong;
  bool plays; /* decides as it was kept; false: as was drawn, and keeps it */
};

static void check(struct hook *hook, actl_choice choice, uint32_t n, uint32_t drawn) {
  bool is_right = (unsigned)choice < ACTL_CHOICE_KINDS && n >= 2 && drawn < n;
  hook->wrong += !is_right || hook->n_asked == CHOICES_KEPT;
  if (!is_right) return;
  hook->n_of[choice]++;
  hook->n_drawn += drawn != 0;
}

static uint32_t decide_drawn(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  struct hook *hook = ud;
  check(hook, choice, n, drawn);
  if (hook->n_asked == CHOICES_KEPT) return 0;
  size_t i = hook->n_asked++;
  if (hook->plays) {
    if (i >= hook->n_kept) hook->wrong++;
    return hook->kept[i];
  }
  hook->n_kept++;
  return hook->kept[i] = drawn;
}

static uint32_t decide_plain(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  check(ud, choice, n, drawn);
  return 0;
}

static uint32_t decide_last(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  check(ud, choice, n, drawn);
  return n - 1;
}

static struct saga *run(uint64_t seed, actl_choose_fn choose, struct hook *hook, bool scatters) {
  const actl_config config = {.is_seeded = true,
                              .seed = seed,
                              .choose = choose,
                              .choose_ud = hook,
                              .scatters = scatters,
                              .ask_timeout_ms = 500};
  struct saga *saga = saga_open(&config, THINGS);
  host_run(&saga->host);
  saga_check(saga);
  return saga;
}

static struct hook *hook_new(void) {
  struct hook *hook = calloc(1, sizeof *hook);
  assert_non_null(hook);
  return hook;
}

static void a_hook_sees_every_kind_of_choice_and_what_was_drawn(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  for (uint64_t seed = 1; seed <= 50; seed++) {
    hook->n_asked = hook->n_kept = 0;
    struct saga *saga = run(seed, decide_drawn, hook, seed % 2 != 0);
    hook->n_asked = 0;
    saga_close(saga);
  }
  assert_int_equal(hook->wrong, 0);
  assert_true(hook->n_drawn > 1000);
  for (int i = 0; i < ACTL_CHOICE_KINDS; i++) {
    /* A handler in C is not preempted. */
    if (i != ACTL_CHOICE_PREEMPT) assert_true(hook->n_of[i] > 20);
  }
  free(hook);
}

/* It changes nothing, where it decides as the seed would have. */
static void a_hook_that_agrees_is_not_noticed(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  for (uint64_t seed = 1; seed <= 20; seed++) {
    hook->n_asked = hook->n_kept = 0;
    struct saga *with = run(seed, decide_drawn, hook, false);
    struct saga *without = run(seed, NULL, NULL, false);
    assert_true(saga_equals(with, without));
    hook->n_asked = 0;
    saga_close(with);
    saga_close(without);
  }
  assert_int_equal(hook->wrong, 0);
  free(hook);
}

/* All that is free is what it decides: the choices of one seed make its run under another. */
static void what_was_decided_makes_the_same_run_with_another_seed(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  for (uint64_t seed = 1; seed <= 20; seed++) {
    hook->n_asked = hook->n_kept = 0;
    hook->plays = false;
    struct saga *first = run(seed, decide_drawn, hook, seed % 2 != 0);
    size_t n_asked = hook->n_asked;
    hook->n_asked = 0;
    hook->plays = true;
    struct saga *second = run(seed + 1000, decide_drawn, hook, seed % 2 != 0);
    assert_int_equal(hook->n_asked, n_asked);
    assert_int_equal(hook->wrong, 0);
    assert_true(saga_equals(first, second));
    hook->plays = false;
    hook->n_asked = hook->n_kept = 0;
    saga_close(first);
    saga_close(second);
  }
  free(hook);
}

static void the_plain_order_is_one_whatever_the_seed(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  struct saga *first = run(0, decide_plain, hook, false);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct saga *saga = run(seed, decide_plain, hook, seed % 2 != 0);
    assert_true(saga_equals(first, saga));
    saga_close(saga);
  }
  saga_close(first);
  assert_int_equal(hook->wrong, 0);
  free(hook);
}

/* However one-sided the choices are, nobody starves, and nothing is held back for ever. */
static void the_least_plain_order_ends_too(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  struct saga *saga = run(1, decide_last, hook, true);
  saga_close(saga);
  assert_int_equal(hook->wrong, 0);
  free(hook);
}

static uint32_t decide_too_much(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  check(ud, choice, n, drawn);
  return drawn % 2 == 0 ? n : UINT32_MAX;
}

static void what_is_no_choice_is_not_taken(void **state) {
  (void)state;
  struct hook *hook = hook_new();
  struct saga *saga = run(5, decide_too_much, hook, false), *drawn = run(5, NULL, NULL, false);
  assert_true(saga_equals(saga, drawn));
  saga_close(saga);
  saga_close(drawn);
  free(hook);
}

/* ---- Where actors are ---- */

enum { VATS = 4, BORN = 200 };

struct places {
  int64_t by_vat[VATS], n_children;
  uint32_t where; /* the parent's */
};

static actl_status child_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct places *places = pointer_in(args, 0);
  places->by_vat[actl_ctx_vat(ctx)]++;
  return ACTL_OK;
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior child = {.name = "child", .init = child_init, .receive = nothing};

/* (places, vat): makes its children by actl_spawn, or there. */
static actl_status parent_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct places *places = pointer_in(msg, 0);
  places->where = actl_ctx_vat(ctx);
  for (int i = 0; i < BORN; i++) {
    actl_pid pid;
    const actl_value value = actl_msg_value(msg, 0);
    actl_status status =
        actl_msg_count(msg) == 1
            ? actl_spawn(ctx, &child, &value, 1, &pid)
            : actl_spawn_on(ctx, (uint32_t)actl_msg_int(msg, 1, 0), &child, &value, 1, &pid);
    places->n_children += status == ACTL_OK;
  }
  return ACTL_OK;
}

static const actl_behavior parent = {.name = "parent", .receive = parent_receive};

/* How many vats have children, at last. `vat` is where they are made; -1: by actl_spawn. */
static int64_t place(uint64_t seed, bool scatters, int64_t vat, struct places *places) {
  struct host host;
  const actl_config config = {.is_seeded = true, .seed = seed, .scatters = scatters, .vats = VATS};
  host_open_with(&host, &config);
  actl_pid pid = host_spawn(&host, (uint32_t)(seed % VATS), &parent, NULL, 0);
  host_send(&host, pid, (const actl_value[]){pointer(places), actl_int(vat)}, vat < 0 ? 1 : 2);
  host_run(&host);
  assert_int_equal(places->n_children, BORN);
  assert_int_equal(host.stats.spawned, BORN + 1);
  int64_t n = 0;
  for (int i = 0; i < VATS; i++) n += places->by_vat[i] != 0;
  actl_engine_shutdown(host.engine);
  host_run(&host);
  assert_int_equal(host.stats.alive, 0);
  host_close(&host);
  return n;
}

static void with_scatters_near_spawns_are_anywhere_and_else_near(void **state) {
  (void)state;
  int n_anywhere = 0;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    struct places near = {0}, anywhere = {0};
    assert_int_equal(place(seed, false, -1, &near), 1);
    assert_int_equal(near.by_vat[near.where], BORN);
    n_anywhere += place(seed, true, -1, &anywhere) == VATS;
  }
  assert_in_range(n_anywhere, 50, 99); /* some seeds leave most spawns where they are */
}

/* A place that is said is kept; "any" is one of those the engine began with. */
static void a_place_that_is_said_is_kept(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    struct places there = {0}, any = {0};
    int64_t vat = (int64_t)seed / 4 % VATS;
    assert_int_equal(place(seed, seed % 2 != 0, vat, &there), 1);
    assert_int_equal(there.by_vat[vat], BORN);
    assert_int_equal(place(seed, seed % 2 != 0, ACTL_VAT_ANY, &any), VATS);
  }
}

/* ---- Names ---- */

static void choices_and_events_have_names(void **state) {
  (void)state;
  assert_string_equal(actl_choice_name(ACTL_CHOICE_VAT), "vat");
  assert_string_equal(actl_choice_name(ACTL_CHOICE_CLOCK), "clock");
  assert_string_equal(actl_choice_name(ACTL_CHOICE_KINDS), "unknown");
  assert_string_equal(actl_choice_name((actl_choice)-1), "unknown");
  assert_string_equal(actl_choice_text(ACTL_CHOICE_CLOCK),
                      "how much time passes beside the work; 0: none");
  assert_string_equal(actl_choice_text(ACTL_CHOICE_KINDS), "unknown choice");
  assert_string_equal(actl_choice_text((actl_choice)-1), "unknown choice");
  assert_string_equal(actl_event_name(ACTL_EVENT_SPAWN), "spawn");
  assert_string_equal(actl_event_name(ACTL_EVENT_KINDS), "unknown");
  assert_string_equal(actl_event_name((actl_event_kind)-1), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_hook_sees_every_kind_of_choice_and_what_was_drawn),
      WATCHED(a_hook_that_agrees_is_not_noticed),
      WATCHED(what_was_decided_makes_the_same_run_with_another_seed),
      WATCHED(the_plain_order_is_one_whatever_the_seed),
      WATCHED(the_least_plain_order_ends_too),
      WATCHED(what_is_no_choice_is_not_taken),
      WATCHED(with_scatters_near_spawns_are_anywhere_and_else_near),
      WATCHED(a_place_that_is_said_is_kept),
      WATCHED(choices_and_events_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
