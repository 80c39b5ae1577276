/*
 * test_random.c - the small generator.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

static void one_seed_gives_one_sequence(void **state) {
  (void)state;
  uint64_t a = 42, b = 42, c = 43;
  unsigned n_equal_to_c = 0;
  for (int i = 0; i < 1000; i++) {
    uint64_t x = actl__random_next(&a);
    assert_true(x == actl__random_next(&b));
    if (x == actl__random_next(&c)) n_equal_to_c++;
    assert_true(a != 0);
  }
  assert_int_equal(n_equal_to_c, 0);
}

static void numbers_are_below_their_bound_and_reach_all_of_it(void **state) {
  (void)state;
  uint64_t random = 1;
  for (uint32_t n = 1; n <= 64; n++) {
    uint64_t seen = 0;
    for (int i = 0; i < 4000; i++) {
      uint32_t x = actl__random_below(&random, n);
      assert_true(x < n);
      seen |= (uint64_t)1 << x;
    }
    assert_true(seen == (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1));
  }
  for (int i = 0; i < 1000; i++) assert_true(actl__random_below(&random, UINT32_MAX) < UINT32_MAX);
}

static void numbers_are_spread_evenly(void **state) {
  (void)state;
  enum { CELLS = 10, N = 100000 };
  uint64_t random = 7;
  unsigned counts[CELLS] = {0};
  for (int i = 0; i < N; i++) counts[actl__random_below(&random, CELLS)]++;
  for (int i = 0; i < CELLS; i++)
    assert_in_range(counts[i], N / CELLS * 95 / 100, N / CELLS * 105 / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_seed_gives_one_sequence),
      cmocka_unit_test(numbers_are_below_their_bound_and_reach_all_of_it),
      cmocka_unit_test(numbers_are_spread_evenly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
