/*
 * test_choice.c - drawing choices: how often they are not plain, and a hook that decides.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/choice.h"

enum { SEEDS = 1000, DRAWS = 3000 };

static struct choices drawn_from(uint64_t seed) {
  const actl_config config = {.is_seeded = true, .seed = seed};
  struct choices choices;
  actl__choices_init(&choices, &config);
  return choices;
}

/* How many of DRAWS are not plain. */
static int count_other(struct choices *choices, actl_choice choice, uint32_t n) {
  int other = 0;
  for (int i = 0; i < DRAWS; i++) {
    uint32_t x = actl__choose(choices, choice, n);
    assert_true(x < n);
    other += x != 0;
  }
  return other;
}

/* Each kind is now rare, now common, always or never another order, and apart from the others. */
static void each_kind_has_a_rate_of_its_own_in_a_run(void **state) {
  (void)state;
  int n_never[ACTL_CHOICE_KINDS] = {0}, n_always[ACTL_CHOICE_KINDS] = {0}, n_unlike = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct choices choices = drawn_from(seed);
    assert_true(choices.is_on);
    for (int i = 0; i < ACTL_CHOICE_KINDS; i++) {
      n_never[i] += choices.rate[i] == 0;
      n_always[i] += choices.rate[i] == 65536;
    }
    n_unlike += choices.rate[ACTL_CHOICE_VAT] != choices.rate[ACTL_CHOICE_ACTOR];
  }
  for (int i = 0; i < ACTL_CHOICE_KINDS; i++) {
    assert_in_range(n_never[i], SEEDS / 12, SEEDS / 4);
    assert_in_range(n_always[i], SEEDS / 5, SEEDS * 3 / 4);
  }
  assert_in_range(n_unlike, SEEDS / 2, SEEDS - 1);
}

static void so_many_are_not_plain_as_the_rate_says(void **state) {
  (void)state;
  unsigned seen = 0; /* rates, by their highest bit */
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct choices choices = drawn_from(seed);
    for (int kind = 0; kind < ACTL_CHOICE_KINDS; kind++) {
      /* Of those that are drawn one in 50 is 0 all the same. */
      int other = count_other(&choices, (actl_choice)kind, 50);
      int64_t expected = (int64_t)choices.rate[kind] * DRAWS * 49 / 50 / 65536;
      assert_in_range(other + 40, expected * 9 / 10, expected * 11 / 10 + 80);
      if (choices.rate[kind] == 0) assert_int_equal(other, 0);
      seen |= 1u << (choices.rate[kind] == 0 ? 0 : 32 - __builtin_clz(choices.rate[kind]));
    }
  }
  assert_true(__builtin_popcount(seen) >= 4);
}

static void what_is_not_plain_is_spread_evenly(void **state) {
  (void)state;
  enum { CELLS = 8, N = 80000 };
  uint64_t seed = 0;
  struct choices choices = drawn_from(seed);
  while (choices.rate[ACTL_CHOICE_TIMER] != 65536) choices = drawn_from(++seed);
  int counts[CELLS] = {0};
  for (int i = 0; i < N; i++) counts[actl__choose(&choices, ACTL_CHOICE_TIMER, CELLS)]++;
  for (int i = 0; i < CELLS; i++)
    assert_in_range(counts[i], N / CELLS * 95 / 100, N / CELLS * 105 / 100);
}

static void one_seed_draws_the_same_and_its_neighbour_another(void **state) {
  (void)state;
  int n_alike = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct choices a = drawn_from(seed), b = drawn_from(seed), c = drawn_from(seed + 1);
    bool is_alike = true;
    for (int i = 0; i < DRAWS; i++) {
      actl_choice choice = (actl_choice)(i % ACTL_CHOICE_KINDS);
      uint32_t n = 2 + (uint32_t)i % 7, x = actl__choose(&a, choice, n);
      assert_int_equal(x, actl__choose(&b, choice, n));
      is_alike = actl__choose(&c, choice, n) == x && is_alike;
    }
    n_alike += is_alike;
  }
  assert_int_equal(n_alike, 0);
}

static void streams_of_one_seed_are_apart(void **state) {
  (void)state;
  enum { SIDE = 60 };
  static uint64_t starts[SIDE * SIDE];
  for (uint64_t seed = 0; seed < SIDE; seed++)
    for (uint64_t stream = 0; stream < SIDE; stream++)
      starts[seed * SIDE + stream] = actl__choices_stream(seed, stream);
  for (int i = 0; i < SIDE * SIDE; i++) {
    assert_true(starts[i] != 0);
    for (int j = 0; j < i; j++) assert_true(starts[i] != starts[j]);
  }
  assert_true(actl__choices_stream(7, 3) == actl__choices_stream(7, 3));
}

/* ---- A hook ---- */

struct hook {
  uint32_t answer, n, drawn, n_asked;
  actl_choice choice;
};

static uint32_t decide(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  struct hook *hook = ud;
  hook->choice = choice;
  hook->n = n;
  hook->drawn = drawn;
  hook->n_asked++;
  return hook->answer;
}

/* It leaves what the seed draws later as it was. */
static void a_hook_decides_and_the_seed_draws_on(void **state) {
  (void)state;
  struct hook hook = {.answer = 3};
  const actl_config config = {.is_seeded = true, .seed = 5, .choose = decide, .choose_ud = &hook};
  struct choices with, without = drawn_from(5);
  actl__choices_init(&with, &config);
  assert_memory_equal(with.rate, without.rate, sizeof with.rate);
  for (int i = 0; i < DRAWS; i++) {
    actl_choice choice = (actl_choice)(i % ACTL_CHOICE_KINDS);
    uint32_t n = 4 + (uint32_t)i % 9;
    uint32_t taken = actl__choose(&with, choice, n);
    assert_int_equal(taken, 3);
    assert_int_equal(hook.drawn, actl__choose(&without, choice, n));
    assert_int_equal(hook.choice, choice);
    assert_int_equal(hook.n, n);
  }
  assert_int_equal(hook.n_asked, DRAWS);
  assert_true(with.random == without.random);
}

static void what_a_hook_returns_too_large_is_not_taken(void **state) {
  (void)state;
  struct hook hook = {.answer = UINT32_MAX};
  const actl_config config = {.is_seeded = true, .seed = 6, .choose = decide, .choose_ud = &hook};
  struct choices choices;
  actl__choices_init(&choices, &config);
  for (int i = 0; i < 100; i++) {
    uint32_t taken = actl__choose(&choices, ACTL_CHOICE_VAT, 2);
    assert_int_equal(taken, hook.drawn);
  }
}

/* ---- Without a seed, or a choice ---- */

static void where_nothing_is_free_nothing_is_drawn(void **state) {
  (void)state;
  struct hook hook = {.answer = 1};
  const actl_config without = {.seed = 5, .choose = decide, .choose_ud = &hook};
  struct choices choices;
  actl__choices_init(&choices, &without);
  assert_false(choices.is_on);
  assert_int_equal(actl__choose_if_on(&choices, ACTL_CHOICE_VAT, 9), 0);
  assert_int_equal(hook.n_asked, 0);

  const actl_config with = {.is_seeded = true, .seed = 5, .choose = decide, .choose_ud = &hook};
  actl__choices_init(&choices, &with);
  uint64_t before = choices.random;
  for (uint32_t n = 0; n < 2; n++)
    assert_int_equal(actl__choose_if_on(&choices, ACTL_CHOICE_VAT, n), 0);
  assert_int_equal(hook.n_asked, 0);
  assert_true(choices.random == before);
  assert_int_equal(actl__choose_if_on(&choices, ACTL_CHOICE_VAT, 2), 1);
  assert_int_equal(hook.n_asked, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_has_a_rate_of_its_own_in_a_run),
      cmocka_unit_test(so_many_are_not_plain_as_the_rate_says),
      cmocka_unit_test(what_is_not_plain_is_spread_evenly),
      cmocka_unit_test(one_seed_draws_the_same_and_its_neighbour_another),
      cmocka_unit_test(streams_of_one_seed_are_apart),
      cmocka_unit_test(a_hook_decides_and_the_seed_draws_on),
      cmocka_unit_test(what_a_hook_returns_too_large_is_not_taken),
      cmocka_unit_test(where_nothing_is_free_nothing_is_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
