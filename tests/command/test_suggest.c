/*
 * test_suggest.c - misspelt words are understood, and strange ones are not guessed at.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/suggest.c"

static void one_edit_is_one_whatever_it_is(void **state) {
  (void)state;
  assert_int_equal(actl__suggest_distance("far", "far"), 0);
  assert_int_equal(actl__suggest_distance("far", "fr"), 1);
  assert_int_equal(actl__suggest_distance("far", "fear"), 1);
  assert_int_equal(actl__suggest_distance("far", "fat"), 1);
  assert_int_equal(actl__suggest_distance("far", "fra"), 1);
  assert_int_equal(actl__suggest_distance("FAR", "far"), 0);
  assert_int_equal(actl__suggest_distance("", "far"), 3);
  assert_int_equal(actl__suggest_distance("kitten", "sitting"), 3);
}

static void very_long_words_are_like_nothing(void **state) {
  (void)state;
  char word[100];
  memset(word, 'a', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_true(actl__suggest_distance(word, word) == SIZE_MAX);
  const char *const names[] = {word};
  assert_null(actl__suggest_name("aaaa", names, 0));
}

static void of_names_that_go_on_the_shortest_is_meant(void **state) {
  (void)state;
  const char *const names[] = {"tell-1k", "tell", "tell-outside"};
  assert_string_equal(actl__suggest_name("tel", names, 3), "tell");
}

static void the_closest_name_is_found(void **state) {
  (void)state;
  const char *const names[] = {"behavior", "exchanges", "far", "named"};
  assert_string_equal(actl__suggest_name("exchages", names, 4), "exchanges");
  assert_string_equal(actl__suggest_name("behaviour", names, 4), "behavior");
  assert_string_equal(actl__suggest_name("fra", names, 4), "far");
  assert_string_equal(actl__suggest_name("exch", names, 4), "exchanges");
  assert_string_equal(actl__suggest_name("Named", names, 4), "named");
}

static void nothing_is_suggested_for_a_word_like_none(void **state) {
  (void)state;
  const char *const names[] = {"behavior", "exchanges", "far", "named"};
  assert_null(actl__suggest_name("leaves", names, 4));
  assert_null(actl__suggest_name("x", names, 4));
  assert_null(actl__suggest_name("", names, 4));
  assert_null(actl__suggest_name("foo", names, 4));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_edit_is_one_whatever_it_is),
      cmocka_unit_test(very_long_words_are_like_nothing),
      cmocka_unit_test(the_closest_name_is_found),
      cmocka_unit_test(of_names_that_go_on_the_shortest_is_meant),
      cmocka_unit_test(nothing_is_suggested_for_a_word_like_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
