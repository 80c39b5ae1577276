/*
 * test_status.c - statuses, their names and texts, and the version.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "actl.h"

struct entry {
  actl_status code;
  int number;
  const char *name, *text;
};

static const struct entry entries[] = {
#define ENTRY(code, number, name, text) {code, number, name, text},
    ACTL_STATUSES(ENTRY)
#undef ENTRY
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

static void zero_is_success_and_failures_are_negative(void **state) {
  (void)state;
  assert_int_equal(ACTL_OK, 0);
  for (size_t i = 0; i < ENTRIES; i++) {
    assert_int_equal(entries[i].code, entries[i].number);
    assert_true((entries[i].number < 0) == (entries[i].code != ACTL_OK));
  }
}

static void each_status_has_a_name_and_a_text_of_its_own(void **state) {
  (void)state;
  for (size_t i = 0; i < ENTRIES; i++) {
    assert_string_equal(actl_status_name(entries[i].code), entries[i].name);
    assert_string_equal(actl_status_text(entries[i].code), entries[i].text);
    for (size_t k = 0; k < i; k++) {
      assert_true(entries[k].code != entries[i].code);
      assert_true(strcmp(entries[k].name, entries[i].name) != 0);
      assert_true(strcmp(entries[k].text, entries[i].text) != 0);
    }
  }
}

static void numbers_that_are_no_status_have_a_name_too(void **state) {
  (void)state;
  static const int numbers[] = {1, 1000, -ENTRIES, -10000};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    assert_string_equal(actl_status_name((actl_status)numbers[i]), "unknown");
    assert_non_null(actl_status_text((actl_status)numbers[i]));
  }
}

static void the_library_has_the_version_of_its_header(void **state) {
  (void)state;
  char version[64];
  snprintf(version, sizeof version, "%d.%d.%d", ACTL_VERSION_MAJOR, ACTL_VERSION_MINOR,
           ACTL_VERSION_PATCH);
  assert_string_equal(actl_version(), version);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zero_is_success_and_failures_are_negative),
      cmocka_unit_test(each_status_has_a_name_and_a_text_of_its_own),
      cmocka_unit_test(numbers_that_are_no_status_have_a_name_too),
      cmocka_unit_test(the_library_has_the_version_of_its_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
