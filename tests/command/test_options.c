/*
 * test_options.c - command lines and what is made of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/options.c"
#include "command/suggest.c"
#include "command/text.c"

#include <stdio.h>

/* Splits a line at blanks: none of ours needs one inside a word. */
struct line {
  char bytes[256];
  char *argv[32];
  int argc;
};

static struct line *split(const char *text) {
  static struct line line;
  snprintf(line.bytes, sizeof line.bytes, "actorlua %s", text);
  line.argc = 0;
  for (char *word = strtok(line.bytes, " "); word != NULL; word = strtok(NULL, " ")) {
    line.argv[line.argc++] = word;
  }
  return &line;
}

static struct options parsed(const char *text) {
  struct options given;
  struct line *line = split(text);
  char *problem = actl__options_parse(&given, line->argc, line->argv);
  assert_null(problem);
  return given;
}

static void assert_problem(const char *text, const char *expected) {
  struct options given;
  struct line *line = split(text);
  char *problem = actl__options_parse(&given, line->argc, line->argv);
  assert_non_null(problem);
  assert_string_equal(problem, expected);
  free(problem);
}

static void the_first_word_is_the_file_and_the_others_are_its_arguments(void **state) {
  (void)state;
  struct options given = parsed("a.lua x --json y -- --quiet");
  assert_int_equal(given.command, COMMAND_RUN);
  assert_int_equal(given.n_files, 1);
  assert_string_equal(given.files[0], "a.lua");
  assert_int_equal(given.n_arguments, 3);
  assert_string_equal(given.arguments[0], "x");
  assert_string_equal(given.arguments[2], "--quiet");
  assert_true(given.is_json);
  assert_false(given.is_quiet);
  actl__options_free(&given);
}

static void run_takes_files_and_arguments_after_two_dashes(void **state) {
  (void)state;
  struct options given = parsed("run a.lua b.lua -- x");
  assert_int_equal(given.n_files, 2);
  assert_string_equal(given.files[1], "b.lua");
  assert_int_equal(given.n_arguments, 1);
  actl__options_free(&given);
}

static void options_may_stand_anywhere_and_in_both_forms(void **state) {
  (void)state;
  struct options given = parsed("--workers 3 run --vats=7 a.lua --set x=1 --set=y=a=b -q");
  assert_int_equal(given.workers, 3);
  assert_int_equal(given.vats, 7);
  assert_true(given.is_quiet);
  assert_int_equal(given.n_settings, 2);
  assert_string_equal(given.settings[0].name, "x");
  assert_string_equal(given.settings[1].name, "y");
  assert_string_equal(given.settings[1].value, "a=b");
  actl__options_free(&given);
}

static void help_and_version_need_no_file(void **state) {
  (void)state;
  assert_int_equal(parsed("--help").command, COMMAND_HELP);
  assert_int_equal(parsed("help").command, COMMAND_HELP);
  assert_int_equal(parsed("-v").command, COMMAND_VERSION);
  assert_int_equal(parsed("version").command, COMMAND_VERSION);
  assert_int_equal(parsed("run --help").command, COMMAND_HELP);
  assert_int_equal(parsed("list").command, COMMAND_LIST);
}

static void what_is_wrong_is_said_and_what_to_do_instead(void **state) {
  (void)state;
  assert_problem("", "give a FILE to run; 'actorlua --help' says more");
  assert_problem("run", "run needs a FILE: actorlua run FILE ...");
  assert_problem("a.lua --worker 2", "there is no option '--worker'; did you mean '--workers'?");
  assert_problem("a.lua --wokers=2", "there is no option '--wokers'; did you mean '--workers'?");
  assert_problem("a.lua --frobnicate",
                 "there is no option '--frobnicate'; 'actorlua --help' shows those there are");
  assert_problem("a.lua --workers", "--workers needs a value");
  assert_problem("a.lua --workers 0", "--workers takes a number from 1 to 256, not '0'");
  assert_problem("a.lua --workers 257", "--workers takes a number from 1 to 256, not '257'");
  assert_problem("a.lua --workers -1", "--workers takes a number from 1 to 256, not '-1'");
  assert_problem("a.lua --vats=2x", "--vats takes a number from 1 to 60000, not '2x'");
  assert_problem("a.lua --vats=99999999999999999999",
                 "--vats takes a number from 1 to 60000, not '99999999999999999999'");
  assert_problem("a.lua --set far", "--set takes NAME=VALUE, as in --set far=true, not 'far'");
  assert_problem("a.lua --set =1", "--set takes NAME=VALUE, as in --set far=true, not '=1'");
  assert_problem("a.lua --json=1", "--json takes no value");
  assert_problem("list a b", "list takes one DIR, not 2");
  assert_problem("list --set a=1", "list takes no --set: it shows the parameters");
}

static void the_help_names_every_option(void **state) {
  (void)state;
  for (size_t i = 0; i < N_OPTIONS; i++) {
    assert_non_null(strstr(actl__options_help, options[i].name));
  }
  for (size_t i = 0; i < 3; i++) assert_non_null(strstr(actl__options_help, commands[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_word_is_the_file_and_the_others_are_its_arguments),
      cmocka_unit_test(run_takes_files_and_arguments_after_two_dashes),
      cmocka_unit_test(options_may_stand_anywhere_and_in_both_forms),
      cmocka_unit_test(help_and_version_need_no_file),
      cmocka_unit_test(what_is_wrong_is_said_and_what_to_do_instead),
      cmocka_unit_test(the_help_names_every_option),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
