/*
 * test_histogram.c - quantiles against a sorted list of the same values.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/histogram.c"
#include "command/text.c"

enum { VALUES = 20000 };

static int compare_values(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void quantiles_are_within_a_thousandth_of_the_sorted_values(void **state) {
  (void)state;
  static uint64_t values[VALUES];
  struct histogram histogram = {0};
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < VALUES; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    values[i] = random >> (20 + random % 40); /* from a few to 2^44 */
    actl__histogram_add(&histogram, values[i], 1);
  }
  qsort(values, VALUES, sizeof values[0], compare_values);
  static const double shares[] = {0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    uint64_t exact = values[(size_t)ceil(shares[i] * VALUES) - 1];
    uint64_t told = actl__histogram_quantile(&histogram, shares[i]);
    assert_true(told >= exact);
    assert_true(told - exact <= exact / 1000);
  }
  assert_int_equal(histogram.count, VALUES);
  assert_true(histogram.max == values[VALUES - 1]);
  actl__histogram_free(&histogram);
}

static void small_values_are_exact_and_the_largest_fit(void **state) {
  (void)state;
  struct histogram histogram = {0};
  assert_int_equal(actl__histogram_quantile(&histogram, 0.5), 0);
  for (uint64_t i = 0; i < 2048; i++) actl__histogram_add(&histogram, i, 1);
  assert_int_equal(actl__histogram_quantile(&histogram, 0.5), 1023);
  assert_int_equal(actl__histogram_quantile(&histogram, 1), 2047);
  actl__histogram_add(&histogram, UINT64_MAX, 1);
  assert_true(actl__histogram_quantile(&histogram, 1) == UINT64_MAX);
  actl__histogram_free(&histogram);
}

static void buckets_follow_one_another_without_a_gap(void **state) {
  (void)state;
  for (size_t bucket = 0; bucket + 1 < BUCKETS; bucket++) {
    assert_true(bucket_of(value_of(bucket)) == bucket);
    assert_true(bucket_of(value_of(bucket) + 1) == bucket + 1);
  }
  assert_true(value_of(BUCKETS - 1) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_are_within_a_thousandth_of_the_sorted_values),
      cmocka_unit_test(small_values_are_exact_and_the_largest_fit),
      cmocka_unit_test(buckets_follow_one_another_without_a_gap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
