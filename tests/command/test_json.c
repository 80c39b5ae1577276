/*
 * test_json.c - whatever goes in, what comes out is JSON and says the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/json.c"
#include "command/text.c"

#include "json_reader.h"

#include <locale.h>

static void objects_and_arrays_nest_with_commas_in_place(void **state) {
  (void)state;
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_open(&json, NULL, '{');
  actl__json_open(&json, "empty", '[');
  actl__json_close(&json, ']');
  actl__json_integer(&json, "least", INT64_MIN);
  actl__json_count(&json, "most", UINT64_MAX);
  actl__json_open(&json, "list", '[');
  actl__json_bool(&json, NULL, true);
  actl__json_null(&json, NULL);
  actl__json_open(&json, NULL, '{');
  actl__json_string(&json, "a", "b");
  actl__json_close(&json, '}');
  actl__json_close(&json, ']');
  actl__json_string(&json, "none", NULL);
  actl__json_close(&json, '}');
  assert_string_equal(text.bytes,
                      "{\"empty\":[],\"least\":-9223372036854775808,\"most\":18446744073709551615,"
                      "\"list\":[true,null,{\"a\":\"b\"}],\"none\":null}");
  assert_true(json_is_valid(text.bytes));
  actl__text_free(&text);
}

static void assert_written(const char *bytes, size_t size, const char *expected) {
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_bytes(&json, NULL, bytes, size);
  assert_string_equal(text.bytes, expected);
  assert_true(json_is_valid(text.bytes));
  actl__text_free(&text);
}

static void strings_are_escaped_and_stay_what_they_were(void **state) {
  (void)state;
  assert_written("", 0, "\"\"");
  assert_written("a\"b\\c\n\t\0d", 9, "\"a\\\"b\\\\c\\n\\u0009\\u0000d\"");
  assert_written("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 12,
                 "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

static void bytes_that_are_not_utf8_are_escaped_one_by_one(void **state) {
  (void)state;
  assert_written("\xff"
                 "a",
                 2, "\"\\u00ffa\"");
  assert_written("\xc3", 1, "\"\\u00c3\"");
  assert_written("\xc0\xaf", 2, "\"\\u00c0\\u00af\"");                       /* overlong */
  assert_written("\xed\xa0\x80", 3, "\"\\u00ed\\u00a0\\u0080\"");            /* a surrogate */
  assert_written("\xf4\x90\x80\x80", 4, "\"\\u00f4\\u0090\\u0080\\u0080\""); /* too high */
  assert_written("\xe2\x82", 2, "\"\\u00e2\\u0082\"");                       /* cut off */
}

static void every_pair_of_bytes_gives_valid_json(void **state) {
  (void)state;
  struct text text = {0};
  for (unsigned i = 0; i < 65536; i++) {
    char bytes[] = {(char)(i >> 8), (char)i, 'x'};
    struct json json = {.out = &text};
    text.size = 0;
    actl__json_bytes(&json, NULL, bytes, sizeof bytes);
    assert_true(json_is_valid(text.bytes));
  }
  actl__text_free(&text);
}

static void assert_number(double value, int digits, const char *expected) {
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_number(&json, NULL, value, digits);
  assert_string_equal(text.bytes, expected);
  assert_true(json_is_valid(text.bytes));
  actl__text_free(&text);
}

static void numbers_are_short_and_exact_and_never_infinite(void **state) {
  (void)state;
  assert_number(0.1, 0, "0.1");
  assert_number(1.0 / 3, 0, "0.3333333333333333");
  assert_number(1.0 / 3, 4, "0.3333");
  assert_number(1e300, 0, "1e+300");
  assert_number(-2, 0, "-2");
  assert_number((double)NAN, 0, "null");
  assert_number((double)INFINITY, 3, "null");
}

static void another_locale_changes_no_number(void **state) {
  (void)state;
  struct text text = {0};
  write_with_point(&text, "-1,5e-07");
  assert_string_equal(text.bytes, "-1.5e-07");
  text.size = 0;
  write_with_point(&text, "1\xd9\xab"
                          "5");
  assert_string_equal(text.bytes, "1.5");
  actl__text_free(&text);
}

static void the_reader_of_these_tests_is_strict(void **state) {
  (void)state;
  static const char *const bad[] = {"",      "{",         "{\"a\":1,}", "[1 2]",    "01",
                                    "1.",    "nan",       "[1],",       "\"\xff\"", "\"\\x\"",
                                    "{a:1}", "{} {}",     "\"\n\"",     "+1",       "truee",
                                    "[,1]",  "\"\\u12\"", "{\"a\"}",    "1e"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(json_is_valid(bad[i]));
  static const char *const good[] = {" {} ", "[1, -2.5e+3, \"\\u00ff\"]",
                                     "{\"a\": {\"b\": [null]}}"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_true(json_is_valid(good[i]));
  assert_string_equal(json_at("{\"a\":{\"b\":[1, {\"c\":\"x\"}]}}", "a.b.1.c"), "\"x\"");
  assert_string_equal(json_at("{\"a\":1}", "b"), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_and_arrays_nest_with_commas_in_place),
      cmocka_unit_test(strings_are_escaped_and_stay_what_they_were),
      cmocka_unit_test(bytes_that_are_not_utf8_are_escaped_one_by_one),
      cmocka_unit_test(every_pair_of_bytes_gives_valid_json),
      cmocka_unit_test(numbers_are_short_and_exact_and_never_infinite),
      cmocka_unit_test(another_locale_changes_no_number),
      cmocka_unit_test(the_reader_of_these_tests_is_strict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
