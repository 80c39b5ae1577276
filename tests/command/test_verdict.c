/*
 * test_verdict.c - when two failures are the same one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/verdict.h"

#include <string.h>

static bool is_same(enum verdict_kind a_kind, const char *a, enum verdict_kind b_kind,
                    const char *b) {
  const struct verdict first = {.kind = a_kind, .text = (char *)(uintptr_t)a};
  const struct verdict second = {.kind = b_kind, .text = (char *)(uintptr_t)b};
  bool is = actl__verdict_is_same(&first, &second);
  assert_int_equal(actl__verdict_is_same(&second, &first), is);
  return is;
}

static bool is_same_actor(const char *a, const char *b) {
  return is_same(VERDICT_ACTOR, a, VERDICT_ACTOR, b);
}

static void numbers_make_no_difference_but_lines_do(void **state) {
  (void)state;
  assert_true(is_same_actor("a <0.1.2> failed: x.lua:3: no", "a <3.17.1> failed: x.lua:3: no"));
  assert_false(is_same_actor("a <0.1.2> failed: x.lua:3: no", "a <0.1.2> failed: x.lua:31: no"));
  assert_true(is_same_actor("x.lua:3: got 17, not 18", "x.lua:3: got 2, not 1000"));
  assert_true(is_same_actor("table: 0x55aF01", "table: 0x7f0012345"));
  assert_false(is_same_actor("vat1 failed", "vat2 failed"));
  assert_false(is_same_actor("x failed", "x failed 1"));
  assert_false(is_same_actor("balance -1", "balances -1"));
}

static void what_follows_the_first_line_makes_none(void **state) {
  (void)state;
  assert_true(is_same_actor("x.lua:3: no\nstack traceback:\n\tx.lua:3", "x.lua:3: no"));
  assert_false(is_same_actor("x.lua:3: no\n", "x.lua:3: no, no"));
}

static void kinds_are_not_the_same(void **state) {
  (void)state;
  assert_false(is_same(VERDICT_ACTOR, "x", VERDICT_DEADLOCK, "x"));
  assert_true(is_same(VERDICT_LOST, "1 no_actor", VERDICT_LOST, "2 unhandled"));
  assert_true(is_same(VERDICT_STEPS, "a", VERDICT_STEPS, "b"));
  assert_false(is_same(VERDICT_RESULT, "a", VERDICT_RESULT, "b"));
}

static void checks_are_known_by_their_names(void **state) {
  (void)state;
  struct verdict a = {.kind = VERDICT_CHECK, .text = (char *)(uintptr_t) "x.lua:3: failed"};
  struct verdict b = a;
  a.check = (char *)(uintptr_t) "in vat 1";
  b.check = (char *)(uintptr_t) "in vat 2";
  assert_false(actl__verdict_is_same(&a, &b));
  b.check = a.check;
  b.text = (char *)(uintptr_t) "y.lua:4: failed with an error: oh";
  assert_true(actl__verdict_is_same(&a, &b));
}

static void each_kind_has_a_name(void **state) {
  (void)state;
  for (int i = 0; i < VERDICTS; i++) {
    assert_true(strlen(actl__verdict_name((enum verdict_kind)i)) > 0);
    assert_true(strlen(actl__verdict_several((enum verdict_kind)i)) > 0);
  }
  assert_string_equal(actl__verdict_name(VERDICT_HUNG), "hung");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_make_no_difference_but_lines_do),
      cmocka_unit_test(what_follows_the_first_line_makes_none),
      cmocka_unit_test(kinds_are_not_the_same),
      cmocka_unit_test(checks_are_known_by_their_names),
      cmocka_unit_test(each_kind_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
