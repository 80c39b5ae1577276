/*
 * test_usage.c - command lines and files that are wrong: one clear line, and the right status.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line on stderr with `text` in it, nothing on stdout. */
static void assert_refused(struct ran ran, int status, const char *text) {
  assert_ran(ran, ran.status == status);
  assert_ran(ran, count_lines(ran.err) == 1);
  assert_ran(ran, strncmp(ran.err, "actorlua: ", 10) == 0);
  assert_ran(ran, ran.out[0] == '\0');
  if (!contains(ran.err, text)) print_error("expected: %s\n", text);
  assert_ran(ran, contains(ran.err, text));
}

static const char good[] =
    "return { params = { exchanges = 10, far = false, rate = 1.5, form = 'a' },\n"
    "  run = function(p) return { requested = 1, done = 1, unit = 'thing' } end }\n";

static void wrong_options_are_refused(void **state) {
  (void)state;
  assert_refused(actorlua(NULL), 2, "give a FILE to run");
  assert_refused(actorlua("run", NULL), 2, "run needs a FILE");
  assert_refused(actorlua("x.lua", "--wokers", "2", NULL), 2, "did you mean '--workers'?");
  assert_refused(actorlua("x.lua", "--workers", "0", NULL), 2, "a number from 1 to 256");
  assert_refused(actorlua("x.lua", "--vats", NULL), 2, "--vats needs a value");
  assert_refused(actorlua("x.lua", "--set", "far", NULL), 2, "NAME=VALUE");
}

static void help_and_version_go_to_stdout(void **state) {
  (void)state;
  struct ran ran = actorlua("--help", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, contains(ran.out, "actorlua run FILE") && contains(ran.out, "--set NAME=VALUE"));
  ran = actorlua("help", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.out, "actorlua run FILE"));
  ran = actorlua("--version", NULL);
  assert_ran(ran, ran.status == 0 && strncmp(ran.out, "actorlua ", 9) == 0);
  assert_ran(ran, contains(ran.out, "(Lua 5.4.") && count_lines(ran.out) == 1);
}

static void files_that_cannot_be_read_are_refused(void **state) {
  (void)state;
  script("count.lua", good);
  mkdir("folder", 0700);
  assert_refused(actorlua("nothing-like-it.lua", NULL), 2,
                 "cannot read nothing-like-it.lua: No such");
  assert_refused(actorlua("cuont.lua", NULL), 2, "did you mean 'count.lua'?");
  assert_refused(actorlua("lst", NULL), 2, "did you mean 'list'?");
  assert_refused(actorlua("explroe", NULL), 2, "did you mean 'explore'?");
  assert_refused(actorlua("folder", NULL), 2, "folder is a folder: give a file in it");
  assert_refused(actorlua("folder/x.lua", NULL), 2, "cannot read folder/x.lua");
  if (geteuid() != 0) {
    chmod(script("closed.lua", good), 0);
    assert_refused(actorlua("closed.lua", NULL), 2, "cannot read closed.lua: Permission denied");
  }
}

static void a_syntax_error_is_named_with_file_and_line(void **state) {
  (void)state;
  script("wrong.lua", "#!/usr/bin/env actorlua\nlocal x = 1\nlocal y = = 2\n");
  assert_refused(actorlua("wrong.lua", NULL), 1, "wrong.lua:3: unexpected symbol near '='");
  script("binary.lua", "\033Lua\x54garbage");
  assert_refused(actorlua("binary.lua", NULL), 1, "is compiled Lua");
  script("open.lua", "print('a'");
  assert_refused(actorlua("open.lua", NULL), 1, "open.lua:1: ')' expected near <eof>");
}

static void misspelt_parameters_get_a_suggestion(void **state) {
  (void)state;
  script("count.lua", good);
  assert_refused(actorlua("count.lua", "--set", "exchages=5", NULL), 2,
                 "count.lua has no parameter 'exchages'; did you mean 'exchanges'?");
  assert_refused(actorlua("count.lua", "--set", "leaves=5", NULL), 2,
                 "count.lua has no parameter 'leaves'; it has exchanges, far, form, rate");
  script("none.lua", "return { run = function() end }");
  assert_refused(actorlua("none.lua", "--set", "far=true", NULL), 2,
                 "none.lua has no parameter 'far'; it has none");
}

static void values_of_the_wrong_type_are_refused(void **state) {
  (void)state;
  script("count.lua", good);
  assert_refused(actorlua("count.lua", "--set", "exchanges=many", NULL), 2,
                 "count.lua takes an integer as 'exchanges', like 10, not 'many'");
  assert_refused(actorlua("count.lua", "--set", "exchanges=1.5", NULL), 2, "takes an integer");
  assert_refused(actorlua("count.lua", "--set", "exchanges=", NULL), 2, "takes an integer");
  assert_refused(actorlua("count.lua", "--set", "far=1", NULL), 2,
                 "count.lua takes true or false as 'far', like false, not '1'");
  assert_refused(actorlua("count.lua", "--set", "rate=fast", NULL), 2,
                 "count.lua takes a number as 'rate', like 1.5, not 'fast'");
}

static void behavior_and_far_mean_the_same_in_every_scenario(void **state) {
  (void)state;
  script("both.lua", "return { params = { behavior = 'lua', far = false },\n"
                     "  run = function() return { requested = 1, done = 1, unit = 'x' } end }");
  assert_refused(actorlua("both.lua", "--set", "behavior=rust", NULL), 2,
                 "both.lua takes lua or native as 'behavior', not 'rust'");
  assert_refused(actorlua("both.lua", "--set", "far=true", "--vats", "1", NULL), 2,
                 "both.lua needs two vats for far=true; give it --vats 2");
}

static void a_scenario_may_refuse_its_parameters(void **state) {
  (void)state;
  script("picky.lua",
         "return { params = { n = 2 },\n"
         "  refuse = function(p) if p.n % 2 ~= 0 then return 'n must be even' end end,\n"
         "  run = function() return { requested = 1, done = 1, unit = 'x' } end }");
  assert_refused(actorlua("picky.lua", "--set", "n=3", NULL), 2, "picky.lua: n must be even");
  assert_int_equal(actorlua("picky.lua", "--set", "n=4", NULL).status, 0);
}

static void values_take_the_type_of_the_default(void **state) {
  (void)state;
  script("types.lua", "return { params = { i = 1, f = 1.0, b = false, s = '' }, run = function(p)\n"
                      "  print(math.type(p.i), p.i, math.type(p.f), p.f, p.b, p.s)\n"
                      "  return { requested = 1, done = 1, unit = 'thing' } end }");
  struct ran ran = actorlua("types.lua", "-q", "--set", "i=1e3", "--set", "f=2", "--set", "b=true",
                            "--set", "s=5=x y", "--set", "i=0x10", NULL);
  assert_ran(ran,
             ran.status == 0 && strcmp(ran.out, "integer\t16\tfloat\t2.0\ttrue\t5=x y\n") == 0);
}

static void a_file_that_returns_no_scenario_is_refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"return 5", "returned the integer 5; a scenario returns a table with 'run'"},
      {"return {}", "returned a table without 'run'; a scenario has run = function(p, report)"},
      {"return { rnu = function() end }", "without 'run', but with 'rnu'; did you mean 'run'?"},
      {"return { run = 5 }", "has the integer 5 as 'run'; it must be a function"},
      {"return { run = print, name = 7 }", "has the integer 7 as 'name'; it must be a string"},
      {"return { run = print, lossy = 1 }",
       "has the integer 1 as 'lossy'; it must be true or false"},
      {"return { run = print, abuot = '' }", "has a field 'abuot'; did you mean 'about'?"},
      {"return { run = print, params = 5 }", "has the integer 5 as 'params'; it must be a table"},
      {"return { run = print, params = { 5 } }",
       "has the integer 1 in 'params' in place of a name"},
      {"return { run = print, params = { a = {} } }",
       "has a table as the default of the parameter 'a'; it must be a number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    script("case.lua", cases[i][0]);
    assert_refused(actorlua("case.lua", NULL), 1, cases[i][1]);
  }
}

static void arguments_are_for_scripts_and_settings_for_scenarios(void **state) {
  (void)state;
  script("count.lua", good);
  script("script.lua", "local x = 1");
  assert_refused(actorlua("count.lua", "x", NULL), 2,
                 "count.lua is a scenario, which takes no arg");
  assert_refused(actorlua("script.lua", "--set", "a=1", NULL), 2,
                 "script.lua is a script, which has no parameters");
}

static void the_scenarios_of_a_folder_are_listed(void **state) {
  (void)state;
  mkdir("list", 0700);
  script("list/count.lua", "return { name = 'count', about = 'It counts.',\n"
                           "  params = { n = 5, far = false }, run = function() end }");
  script("list/script.lua", "print 'a script must not be run by list'");
  struct ran ran = actorlua("list", "list", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, strcmp(ran.out, "count  It counts.\n  far=false n=5\n") == 0);

  script("list/wrong.lua", "return { run = function() , }");
  ran = actorlua("list", "list/", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "list/wrong.lua:1:"));
  assert_ran(ran, contains(ran.out, "It counts."));

  assert_refused(actorlua("list", NULL), 2, "there is no folder scenarios/ here");
  assert_refused(actorlua("list", "nowhere", NULL), 2, "cannot read nowhere");
  mkdir("empty", 0700);
  assert_refused(actorlua("list", "empty", NULL), 2, "there is no scenario in empty");
}

static void a_full_disk_is_a_failure(void **state) {
  (void)state;
  script("count.lua", good);
  const char *const ways[][3] = {{"count.lua"}, {"count.lua", "--json"}, {"list", "."}, {"--help"}};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    int full = open("/dev/full", O_WRONLY);
    if (full < 0) return; /* only Linux has one */
    struct started started = start_actorlua(full, ways[i]);
    close(full);
    assert_int_equal(wait_for(started.pid), 1);
  }
}

static void a_scenario_is_found_by_its_name(void **state) {
  (void)state;
  mkdir("scenarios", 0700);
  script("scenarios/tiny.lua", good);
  struct ran ran = actorlua("run", "tiny", NULL);
  assert_ran(ran, ran.status == 0 && strncmp(ran.out, "tiny  1 thing in", 16) == 0);
  assert_refused(actorlua("tniy", NULL), 2, "did you mean 'tiny'?");
  ran = actorlua("list", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.out, "tiny\n  exchanges=10"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(help_and_version_go_to_stdout),
      cmocka_unit_test(files_that_cannot_be_read_are_refused),
      cmocka_unit_test(a_syntax_error_is_named_with_file_and_line),
      cmocka_unit_test(misspelt_parameters_get_a_suggestion),
      cmocka_unit_test(values_of_the_wrong_type_are_refused),
      cmocka_unit_test(behavior_and_far_mean_the_same_in_every_scenario),
      cmocka_unit_test(a_scenario_may_refuse_its_parameters),
      cmocka_unit_test(values_take_the_type_of_the_default),
      cmocka_unit_test(a_file_that_returns_no_scenario_is_refused),
      cmocka_unit_test(arguments_are_for_scripts_and_settings_for_scenarios),
      cmocka_unit_test(the_scenarios_of_a_folder_are_listed),
      cmocka_unit_test(a_full_disk_is_a_failure),
      cmocka_unit_test(a_scenario_is_found_by_its_name),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
