/*
 * test_explore.c - actorlua explore: each way to fail is found, and the command that it prints makes
 * the same failure again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"
#include "json_reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* One scenario that fails in the way that `how` says, always or where two actors' messages come in an
 * order that is not the plain one. */
static const char ways[] = LOG_AND_PUTTER
    "local Asker = actor.behavior('asker', { receive = {\n"
    "  ask = function(self, other) return (other:ask('ask', actor.self())) end } })\n"
    "local Broken = actor.behavior('broken', { receive = {\n"
    "  fall = function(self)\n"
    "    error('it fell') end } })\n"
    "local Loop = actor.behavior('loop', { receive = {\n"
    "  go = function(self) actor.self():send('go') end } })\n"
    "local function turned()\n"
    "  local log, a, b = actor.spawn(Log), actor.spawn(Putter), actor.spawn(Putter)\n"
    "  a:send('put', log, 'a') b:send('put', log, 'b')\n"
    "  a:ask('done') b:ask('done')\n"
    "  return log:ask('first') == 'b' end\n"
    "return { params = { how = 'none', always = false }, run = function(p, report)\n"
    "  local how = (p.always or turned()) and p.how or 'none'\n"
    "  report.check('all is well', how ~= 'check')\n"
    "  if how == 'late' then report.check('at the end', function() return false end) end\n"
    "  if how == 'actor' then actor.spawn(Broken):send('fall') end\n"
    "  if how == 'deadlock' then\n"
    "    local a, b = actor.spawn(Asker), actor.spawn(Asker)\n"
    "    actor.ask { a, 'ask', b, timeout = math.huge } end\n"
    "  if how == 'lost' then actor.spawn(Log):send('nobody') end\n"
    "  if how == 'steps' then actor.spawn(Loop):send('go') end\n"
    "  if how == 'spin' then while true do end end\n"
    "  if how == 'global' then oops = 1 end\n"
    "  if how == 'exit' then os.exit(3) end\n"
    "  if how == 'exit0' then os.exit(0) end\n"
    "  if how == 'abort' then os.execute('kill -ABRT $PPID') end\n"
    "  if how == 'print' then for i = 1, 1000 do print(i) io.stderr:write(i) end end\n"
    "  return { requested = 1, done = how == 'result' and 0 or 1, unit = 'case' } end }\n";

static const char *set_of(const char *how) {
  static char text[64];
  snprintf(text, sizeof text, "how=%s", how);
  return text;
}

/* Each way, its kind, and what is said of it. */
static const char *const kinds[][3] = {
    {"check", "check", "ways.lua:23: the check 'all is well' failed"},
    {"late", "check", "ways.lua:24: the check 'at the end' failed"},
    {"actor", "actor", "failed: ways.lua:13: it fell"},
    {"deadlock", "deadlock", ", which cannot come"},
    {"lost", "lost", "ways.lua: 1 message was lost: 1 unhandled"},
    {"steps", "steps", "ways.lua: is not quiet after 2000 steps"},
    {"spin", "steps", "failed: ways.lua:31: the run's limit of steps is reached"},
    {"global", "actor", "ways.lua:32: assignment to the global 'oops' after loading"},
    {"exit", "process", "the process ended with status 3 (os.exit)"},
    {"abort", "process", "the process was killed by signal 6 (Aborted)"},
    {"result", "result", "ways.lua: 0 done of 1 requested"},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* The line after `before`, up to its end. */
static char *rest_of_line(const char *text, const char *before) {
  const char *at = strstr(text, before);
  if (at == NULL) return strdup("");
  at += strlen(before);
  size_t size = strcspn(at, "\n");
  char *line = malloc(size + 1);
  assert_non_null(line);
  memcpy(line, at, size);
  line[size] = '\0';
  return line;
}

/* Runs what a user would paste; `said` is a part of what must come. */
static int repeat(const char *command, const char *said) {
  char line[1024];
  assert_true(strncmp(command, "actorlua ", 9) == 0);
  snprintf(line, sizeof line, "%s %s >again.txt 2>&1", ACTORLUA_BINARY, command + 9);
  int status = system(line);
  snprintf(line, sizeof line, "grep -qF \"%s\" again.txt", said);
  if (said[0] != '\0' && system(line) != 0) fail_msg("%s: does not say: %s", command, said);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void each_way_to_fail_is_found_and_repeated(void **state) {
  (void)state;
  script("ways.lua", ways);
  for (size_t i = 0; i < N_KINDS; i++) {
    struct ran ran =
        actorlua("explore", "ways.lua", "--set", set_of(kinds[i][0]), "--steps", "2000", NULL);
    assert_ran(ran, ran.status == 1 && ran.err[0] == '\0');
    assert_ran(ran, strncmp(ran.out, "ways.lua: seed ", 15) == 0 && contains(ran.out, " fails, "));
    assert_ran(ran, contains(ran.out, kinds[i][2]));

    char *again = rest_of_line(ran.out, "to see it again:  ");
    bool is_process = strcmp(kinds[i][1], "process") == 0;
    int status = repeat(again, is_process ? "" : kinds[i][2]);
    if (strcmp(kinds[i][0], "abort") == 0) {
      assert_true(status > 1);
    } else {
      assert_int_equal(status, strcmp(kinds[i][0], "exit") == 0 ? 3 : 1);
    }
    free(again);
  }
}

static void the_first_seed_is_the_same_with_any_number_of_processes(void **state) {
  (void)state;
  script("ways.lua", ways);
  for (size_t i = 0; i < N_KINDS; i++) {
    char first[32] = "";
    static const char *const jobs[] = {"1", "4", "2"};
    for (size_t j = 0; j < 3; j++) {
      struct ran ran = actorlua("explore", "ways.lua", "--set", set_of(kinds[i][0]), "--json",
                                "--jobs", jobs[j], "--steps", "2000", NULL);
      assert_ran(ran, ran.status == 1 && count_lines(ran.out) == 1 && json_is_valid(ran.out));
      char kind[32];
      snprintf(kind, sizeof kind, "\"%s\"", kinds[i][1]);
      assert_ran(ran, strcmp(json_at(ran.out, "failure.kind"), kind) == 0);
      assert_ran(ran, strcmp(json_at(ran.out, "failed"), "1") == 0);
      const char *seed = json_at(ran.out, "failure.seed");
      /* Tried are all up to it, from the first. */
      assert_ran(ran, strcmp(json_at(ran.out, "tried"), seed) == 0);
      if (j == 0) snprintf(first, sizeof first, "%s", seed);
      assert_ran(ran, strcmp(seed, first) == 0);
    }
  }
}

static void nothing_found_is_said_to_be_no_proof(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--runs", "50", "--from", "1000", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, contains(ran.out, "ways.lua: 50 seeds, 1000 to 1049, and none failed\n"));
  assert_ran(ran, contains(ran.out, "no proof") && contains(ran.out, "50 runs in "));
  ran = actorlua("explore", "ways.lua", "--runs", "50", "--quiet", NULL);
  assert_ran(ran, ran.status == 0 && ran.out[0] == '\0' && ran.err[0] == '\0');
  ran = actorlua("explore", "ways.lua", "--runs", "50", "--json", NULL);
  assert_ran(ran, ran.status == 0 && json_is_valid(ran.out) && count_lines(ran.out) == 1);
  assert_ran(ran, strcmp(json_at(ran.out, "failure"), "null") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "tried"), "50") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "passed"), "50") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "interrupted"), "false") == 0);
}

static void seeds_end_where_numbers_do(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--from", "18446744073709551610", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, contains(ran.out, ": 6 seeds, 18446744073709551610 to 18446744073709551615, "));
}

static void all_counts_each_way_and_goes_on(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--set", "how=check", NULL);
  char *seed = rest_of_line(ran.out, "ways.lua: seed ");
  *strchr(seed, ' ') = '\0';
  ran = actorlua("explore", "ways.lua", "--set", "how=check", "--all", "--runs", "200", "--json",
                 NULL);
  assert_ran(ran, ran.status == 1 && json_is_valid(ran.out));
  assert_ran(ran, strcmp(json_at(ran.out, "tried"), "200") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "kinds.check.first"), seed) == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "failure.seed"), seed) == 0);
  long failed = strtol(json_at(ran.out, "failed"), NULL, 10);
  assert_ran(ran, failed > 1 && failed < 200);
  assert_ran(ran, strtol(json_at(ran.out, "kinds.check.seeds"), NULL, 10) == failed);
  assert_ran(ran, strtol(json_at(ran.out, "passed"), NULL, 10) == 200 - failed);
  free(seed);

  ran = actorlua("explore", "ways.lua", "--set", "how=abort", "--all", "--runs", "40", NULL);
  assert_ran(ran, ran.status == 1);
  assert_ran(ran, contains(ran.out, "ways.lua: 40 seeds, 1 to 40, of which "));
  assert_ran(ran, contains(ran.out, "  processes that ended in the middle of a run: "));
}

static void what_scripts_print_does_not_appear(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--set", "how=print", "--set", "always=true",
                            "--runs", "100", NULL);
  assert_ran(ran, ran.status == 0 && count_lines(ran.out) == 3 && ran.err[0] == '\0');
}

static void an_exit_with_0_is_no_failure(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--set", "how=exit0", "--set", "always=true",
                            "--runs", "30", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.out, "30 seeds, 1 to 30, and none failed"));
}

static void a_loss_is_shown_with_who_should_have_had_it(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--set", "how=lost", NULL);
  assert_ran(ran, ran.status == 1);
  char *first = rest_of_line(ran.out, "  the first:        ");
  assert_true(contains(first, "  log <") && contains(first, "  letter   unhandled  nobody"));
  assert_true(contains(first, "from actorlua.run <0.1.1>"));
  ran = actorlua("explore", "ways.lua", "--set", "how=lost", "--json", NULL);
  assert_ran(ran, json_is_valid(ran.out));
  assert_ran(ran, contains(json_at(ran.out, "failure.where"), "letter   unhandled  nobody"));
  ran = actorlua("explore", "ways.lua", "--set", "how=check", NULL);
  assert_ran(ran, !contains(ran.out, "the first:"));
  free(first);
}

static void losses_may_be_allowed(void **state) {
  (void)state;
  script("ways.lua", ways);
  struct ran ran = actorlua("explore", "ways.lua", "--set", "how=lost", "--set", "always=true",
                            "--runs", "20", "--lossy", NULL);
  assert_ran(ran, ran.status == 0);
  ran = actorlua("explore", "ways.lua", "--set", "how=actor", "--set", "always=true", "--lossy",
                 NULL);
  char *again = rest_of_line(ran.out, "to see it again:  ");
  assert_string_equal(again,
                      "actorlua ways.lua --seed 1 --scatter --strict --lossy --set how=actor "
                      "--set always=true");
  free(again);
}

static void commands_are_quoted_for_a_shell(void **state) {
  (void)state;
  mkdir("it's here", 0700);
  script("it's here/a b.lua", "error(arg[1] .. arg[2])");
  struct ran ran =
      actorlua("explore", "it's here/a b.lua", "--vats", "2", "--", "$x `", "-q", NULL);
  assert_ran(ran, ran.status == 1);
  char *again = rest_of_line(ran.out, "to see it again:  ");
  assert_string_equal(again,
                      "actorlua 'it'\\''s here/a b.lua' --seed 1 --scatter --strict --vats 2 "
                      "-- '$x `' -q");
  assert_int_equal(repeat(again, "\\$x \\`-q"), 1);
  free(again);
  char *shrink = rest_of_line(ran.out, "to shorten it:    ");
  assert_string_equal(shrink, "actorlua shrink 'it'\\''s here/a b.lua' --seed 1 --vats 2 "
                              "-- '$x `' -q");
  free(shrink);
  script("list", "error 'list'");
  ran = actorlua("explore", "--", NULL);
  assert_ran(ran, ran.status == 2);
  ran = actorlua("explore", "list", NULL);
  again = rest_of_line(ran.out, "to see it again:  ");
  assert_string_equal(again, "actorlua run list --seed 1 --scatter --strict");
  free(again);
}

static void a_wrong_file_is_said_at_once_as_run_says_it(void **state) {
  (void)state;
  script("wrong.lua", "local x = = 1\n");
  struct ran ran = actorlua("explore", "wrong.lua", NULL);
  assert_ran(ran, ran.status == 1 && ran.out[0] == '\0');
  assert_ran(ran, strcmp(ran.err, "actorlua: wrong.lua:1: unexpected symbol near '='\n") == 0);
  ran = actorlua("explore", "wrong.lua", "--json", NULL);
  assert_ran(ran, ran.status == 1 && json_is_valid(ran.out));
  assert_ran(ran, contains(json_at(ran.out, "error"), "unexpected symbol"));
  ran = actorlua("explore", "not-there.lua", NULL);
  assert_ran(ran, ran.status == 2 && contains(ran.err, "cannot read not-there.lua"));
  script("five.lua", "return 5");
  ran = actorlua("explore", "five.lua", "--all", NULL);
  assert_ran(ran, ran.status == 1 && ran.out[0] == '\0' && contains(ran.err, "the integer 5"));
  script("ways.lua", ways);
  ran = actorlua("explore", "ways.lua", "--set", "hwo=x", NULL);
  assert_ran(ran, ran.status == 2 && ran.out[0] == '\0');
  assert_ran(ran, contains(ran.err, "did you mean 'how'?") && count_lines(ran.err) == 1);
}

/* A script has no checks: what fails in it is an actor, or its top level. */
static void scripts_are_explored_too(void **state) {
  (void)state;
  script("script.lua", "local actor = require 'actor'\n"
                       "local first\n"
                       "local a = actor.behavior('a', { receive = { go = function(self, to, x)\n"
                       "  to:send('put', x) return true end } })\n"
                       "local b = actor.behavior('b', { receive = {\n"
                       "  put = function(self, x) self.x = self.x or x end,\n"
                       "  get = function(self) return self.x end } })\n"
                       "local log, one, two = actor.spawn(b), actor.spawn(a), actor.spawn(a)\n"
                       "one:send('go', log, 1) two:send('go', log, 2)\n"
                       "actor.ask { one, 'go', log, 3 } actor.ask { two, 'go', log, 3 }\n"
                       "assert(log:ask('get') == 1, 'two was first')\n");
  struct ran ran = actorlua("explore", "script.lua", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.out, "script.lua:11: two was first"));
  char *again = rest_of_line(ran.out, "to see it again:  ");
  assert_int_equal(repeat(again, "script.lua:11: two was first"), 1);
  free(again);
}

static void ctrl_c_tells_what_is_known(void **state) {
  (void)state;
  script("tell.lua", "local f = io.open('begun', 'w') f:close()\n");
  unlink("begun");
  static const char *const arguments[] = {"explore", "tell.lua", "--runs", "1000000000", NULL};
  struct started started = start_actorlua(-1, arguments);
  while (access("begun", F_OK) != 0) usleep(1000);
  kill(started.pid, SIGINT);
  char out[4096];
  read_all(started.out, out, sizeof out);
  assert_int_equal(wait_for(started.pid), 130);
  assert_true(contains(out, "tell.lua: ") && contains(out, " and none failed\n"));
  assert_true(contains(read_stderr(), "stopped by a signal"));
}

static void progress_is_for_terminals(void **state) {
  (void)state;
  script("slow.lua", "local t = os.clock() + 0.2 while os.clock() < t do end\n");
  int terminal, reader = open_terminal(&terminal);
  static const char *const arguments[] = {"explore", "slow.lua", "--runs", "10", NULL};
  struct started started = start_actorlua(terminal, arguments);
  close(terminal);
  assert_true(read_until(reader, "slow.lua  "));
  assert_true(read_until(reader, " %"));
  assert_true(read_until(reader, "none failed"));
  assert_int_equal(wait_for(started.pid), 0);
  close(reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_way_to_fail_is_found_and_repeated),
      cmocka_unit_test(the_first_seed_is_the_same_with_any_number_of_processes),
      cmocka_unit_test(nothing_found_is_said_to_be_no_proof),
      cmocka_unit_test(seeds_end_where_numbers_do),
      cmocka_unit_test(all_counts_each_way_and_goes_on),
      cmocka_unit_test(what_scripts_print_does_not_appear),
      cmocka_unit_test(an_exit_with_0_is_no_failure),
      cmocka_unit_test(a_loss_is_shown_with_who_should_have_had_it),
      cmocka_unit_test(losses_may_be_allowed),
      cmocka_unit_test(commands_are_quoted_for_a_shell),
      cmocka_unit_test(a_wrong_file_is_said_at_once_as_run_says_it),
      cmocka_unit_test(scripts_are_explored_too),
      cmocka_unit_test(ctrl_c_tells_what_is_known),
      cmocka_unit_test(progress_is_for_terminals),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
