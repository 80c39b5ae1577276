/*
 * test_pid.c - the layout of a pid.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actor/pid.h"
#include "base/random.h"

static void what_goes_into_a_pid_comes_out_again(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 100000; i++) {
    uint32_t vat = actl__random_below(&random, PID_VATS);
    uint32_t slot = actl__random_below(&random, PID_SLOTS);
    uint32_t generation = actl__random_below(&random, PID_GENERATIONS);
    uint64_t pid = actl__pid_make(actl__pid_home(vat), slot, generation);
    assert_int_equal(actl__pid_vat(pid), vat);
    assert_int_equal(actl__pid_slot(pid), slot);
    assert_int_equal(actl__pid_generation(pid), generation);
    assert_true((pid & PID_TOP) != 0);
    assert_true((pid & PID_GATE) == 0);

    /* The gate bit is no part of any of them. */
    assert_int_equal(actl__pid_vat(pid | PID_GATE), vat);
    assert_int_equal(actl__pid_slot(pid | PID_GATE), slot);
    assert_int_equal(actl__pid_generation(pid | PID_GATE), generation);
  }
}

static void fields_reach_their_ends_and_do_not_overlap(void **state) {
  (void)state;
  uint64_t slots = actl__pid_make(0, PID_SLOTS - 1, 0);
  uint64_t generations = actl__pid_make(0, 0, PID_GENERATIONS - 1);
  uint64_t vats = actl__pid_home(PID_VATS - 1) & ~PID_TOP;
  uint64_t nodes = (uint64_t)255 << PID_NODE_SHIFT;
  assert_true((slots ^ generations ^ vats ^ nodes ^ PID_TOP ^ PID_GATE) == UINT64_MAX);
  assert_true((slots | generations | vats | nodes | PID_TOP | PID_GATE) == UINT64_MAX);
  assert_true(PID_HOME_MASK == (vats | nodes));
  assert_int_equal(slots, (1 << 22) - 1); /* lowest: Lua hashes the low 32 bits */
}

static void pids_of_one_home_are_told_by_its_mask(void **state) {
  (void)state;
  uint64_t random = 2;
  for (int i = 0; i < 10000; i++) {
    uint32_t vat = actl__random_below(&random, PID_VATS);
    uint64_t home = actl__pid_home(vat);
    uint64_t pid = actl__pid_make(home, actl__random_below(&random, PID_SLOTS),
                                  actl__random_below(&random, PID_GENERATIONS));
    assert_true((pid & PID_HOME_MASK) == (home & PID_HOME_MASK));
    assert_true((actl__pid_home((vat + 1) % PID_VATS) & PID_HOME_MASK) != (home & PID_HOME_MASK));
  }
}

static void no_pid_is_zero_or_a_pointer_of_user_space(void **state) {
  (void)state;
  int here;
  assert_true(((uint64_t)(uintptr_t)&here & PID_TOP) == 0);
  assert_true(((uint64_t)(uintptr_t)&no_pid_is_zero_or_a_pointer_of_user_space & PID_TOP) == 0);
  assert_true(actl__pid_make(actl__pid_home(0), 0, 0) != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_goes_into_a_pid_comes_out_again),
      cmocka_unit_test(fields_reach_their_ends_and_do_not_overlap),
      cmocka_unit_test(pids_of_one_home_are_told_by_its_mask),
      cmocka_unit_test(no_pid_is_zero_or_a_pointer_of_user_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
