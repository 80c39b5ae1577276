/*
 * test_scenario.c - the scenario contract: clocks, checks, refusals, and what is printed.
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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scenario with this body of `run`. */
static const char *scenario(const char *body) {
  static char text[4096];
  snprintf(text, sizeof text,
           "local actor = require 'actor'\n"
           "local Stuck = actor.behavior('stuck', { receive = { hold = function(self)\n"
           "  self.request = actor.later() end } })\n"
           "local Broken = actor.behavior('broken', { receive = { fall = function(self)\n"
           "  error('it fell') end } })\n"
           "return { name = 'case', params = { n = 3, far = false }, run = function(p, report)\n"
           "%s\n end }\n",
           body);
  return script("case.lua", text);
}

static const char fine[] = "return { requested = p.n, done = p.n, unit = 'thing' }";

static void a_run_prints_its_figures(void **state) {
  (void)state;
  scenario("report.check('it holds', true)\n"
           "report.check('later too', function(stats) return stats.alive == 0 end)\n"
           "return { requested = p.n, done = p.n, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", "--workers", "2", "--vats", "3", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, strncmp(ran.out, "case  3 things in ", 18) == 0);
  assert_ran(ran, contains(ran.out, " a thing, ") && contains(ran.out, " x the floor of "));
  assert_ran(ran, contains(ran.out, "lua, near, 2 workers, 3 vats; user "));
  assert_ran(ran, contains(ran.out, "  far=false n=3\n"));
  assert_ran(ran, contains(ran.out, "  ok      it holds\n  ok      later too\n"));
}

/* `run` returns before them; the checks are made when they have come. */
static void timers_keep_a_run_alive_until_its_checks(void **state) {
  (void)state;
  scenario("local done = actor.spawn(function() actor.sleep(30) end)\n"
           "done:send()\n"
           "actor.process(function()\n"
           "  local timer = actor.every(5, 'tick')\n"
           "  for i = 1, 4 do actor.receive() end\n"
           "  actor.cancel(timer) end)\n"
           "report.check('they came', function(s) return s.fired == 4 and s.timers == 0 end)\n"
           "report.check('it ended', function(s) return s.stopped >= 1 and s.alive == 1 end)\n"
           "return { requested = p.n, done = p.n, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, contains(ran.out, "  ok      they came\n  ok      it ended\n"));
}

static void quiet_prints_nothing_but_errors(void **state) {
  (void)state;
  scenario(fine);
  struct ran ran = actorlua("case.lua", "--quiet", NULL);
  assert_ran(ran, ran.status == 0 && ran.out[0] == '\0' && ran.err[0] == '\0');
  scenario("report.check('no', false) return { requested = 1, done = 1, unit = 'thing' }");
  ran = actorlua("case.lua", "--quiet", NULL);
  assert_ran(ran,
             ran.status == 1 && ran.out[0] == '\0' && contains(ran.err, "the check 'no' failed"));
}

static void json_is_one_valid_line_with_everything(void **state) {
  (void)state;
  scenario("for i = 1, 100 do report.sample(i) end\n"
           "report.check('a \"quoted\" name \\xff', true)\n"
           "print 'this must not get in between' io.write 'nor this\\n'\n"
           "report.clock(function()\n"
           "  local now, cpu = require('actor').now() + 20, os.clock() + 0.02\n"
           "  while require('actor').now() < now or os.clock() < cpu do end\n"
           "end)\n"
           "return { requested = p.n, done = p.n, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", "--json", "--vats", "2", "--set", "n=5", NULL);
  assert_ran(ran, ran.status == 0 && count_lines(ran.out) == 1 && json_is_valid(ran.out));
  assert_ran(ran, contains(ran.err, "this must not get in between\nnor this\n"));
  static const char *const expected[][2] = {
      {"scenario", "\"case\""},
      {"file", "\"case.lua\""},
      {"behavior", "\"lua\""},
      {"far", "false"},
      {"vats", "2"},
      {"params.n", "5"},
      {"params.far", "false"},
      {"requested", "5"},
      {"done", "5"},
      {"unit", "\"thing\""},
      {"checks.0.ok", "true"},
      {"engine.spawned", "0"},
      {"engine.stopped", "0"},
      {"engine.alive", "0"},
      {"engine.messages", "0"},
      {"engine.far_messages", "0"},
      {"engine.peak_alive", "0"},
      {"engine.dead_letters", "0"},
      {"engine.dead_letters_by_reason", "{}"},
      {"samples.p50_ns", "50"},
      {"samples.p99_ns", "99"},
      {"samples.p999_ns", "100"},
      {"samples.max_ns", "100"},
      {"samples.count", "100"},
      {"error", ""},
      {"checks.0.name", "\"a \\\"quoted\\\" name \\u00ff\""},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    const char *found = json_at(ran.out, expected[i][0]);
    if (strcmp(found, expected[i][1]) != 0) print_error("%s: %s\n", expected[i][0], found);
    assert_ran(ran, strcmp(found, expected[i][1]) == 0);
  }
  double seconds = atof(json_at(ran.out, "seconds")), each = atof(json_at(ran.out, "ns_per_op"));
  double floor = atof(json_at(ran.out, "floor_ns")),
         multiple = atof(json_at(ran.out, "floor_multiple"));
  assert_ran(ran, seconds >= 0.02 && seconds < 10);
  assert_ran(ran, each > seconds * 1e9 / 5 * 0.999 && each < seconds * 1e9 / 5 * 1.001);
  assert_ran(ran, floor > 1 && floor < 10000 && multiple > each / floor * 0.99);
  assert_ran(ran, atof(json_at(ran.out, "user_s")) + atof(json_at(ran.out, "system_s")) > 0.01);
  assert_ran(ran, atof(json_at(ran.out, "peak_rss_bytes")) > 1e6);
  assert_ran(ran, json_at(ran.out, "version")[0] == '"');
  assert_ran(ran, json_at(ran.out, "engine.steals")[0] != '\0' &&
                      json_at(ran.out, "engine.parks")[0] != '\0');
}

static void figures_stand_beside_the_rate(void **state) {
  (void)state;
  scenario("report.figure('teardown', 52.125, 'ns an actor')\n"
           "report.figure('resident', 1234567, 'bytes')\n"
           "return { requested = p.n, done = p.n, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, contains(ran.out, "  teardown  52.1 ns an actor\n  resident  1,234,567 bytes\n"));

  ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 0 && json_is_valid(ran.out));
  assert_ran(ran, strcmp(json_at(ran.out, "figures.teardown.value"), "52.125") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "figures.teardown.unit"), "\"ns an actor\"") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "figures.resident.value"), "1234567") == 0);

  scenario(fine);
  ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 0 && json_at(ran.out, "figures")[0] == '\0');
}

static void latencies_may_be_given_by_the_thousand(void **state) {
  (void)state;
  scenario("report.sample(100, 899) report.sample(5, 0)\n"
           "report.samples(string.pack('j', 7):rep(100) .. string.pack('j', 300))\n"
           "report.samples('')\n"
           "return { requested = p.n, done = p.n, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "samples.count"), "1000") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "samples.p50_ns"), "100") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "samples.max_ns"), "300") == 0);
  ran = actorlua("case.lua", NULL);
  assert_ran(ran,
             contains(ran.out, "  1,000 samples: p50 100 ns, p99 100 ns, p99.9 100 ns, max 300"));
}

static void the_memory_of_process_and_engine_is_told(void **state) {
  (void)state;
  scenario("local resident, held = report.memory()\n"
           "local t = {} for i = 1, 1 << 20 do t[i] = i end\n"
           "local resident_then, held_then = report.memory()\n"
           "report.check('resident grows', resident_then - resident >= 16 << 20)\n"
           "report.check('held grows', held_then - held >= 16 << 20)\n"
           "report.check('held by the process', held_then < resident_then + (64 << 20))\n"
           "t = nil collectgarbage() collectgarbage()\n"
           "report.check('held falls', select(2, report.memory()) <= held_then - (16 << 20))\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 0);
}

static void the_engine_counters_are_the_scenarios_own(void **state) {
  (void)state;
  scenario("local a = actor.spawn(function(x) return x end)\n"
           "for i = 1, 10 do actor.send(a, i) end\n"
           "assert(a:ask(5) == 5)\n"
           "actor.stop(a)\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", "--json", "--workers", "1", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.spawned"), "1") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.stopped"), "1") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.alive"), "0") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.peak_alive"), "1") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.far_messages"), "0") == 0);
  assert_ran(ran, atoi(json_at(ran.out, "engine.messages")) >= 11);
}

/* The run fails with this line, and gives no rate in either form. */
static void assert_no_rate(const char *body, const char *text) {
  scenario(body);
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 1);
  if (!contains(ran.err, text)) print_error("expected: %s\n", text);
  assert_ran(ran, contains(ran.err, text));
  assert_ran(ran, !contains(ran.out, "the floor"));

  ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 1 && count_lines(ran.out) == 1 && json_is_valid(ran.out));
  assert_ran(ran, json_at(ran.out, "ns_per_op")[0] == '\0');
  assert_ran(ran, json_at(ran.out, "floor_multiple")[0] == '\0');
  assert_ran(ran, strlen(json_at(ran.out, "error")) > 2);
  assert_ran(ran, strcmp(json_at(ran.out, "scenario"), "\"case\"") == 0);
}

/* Also where the run actor, which does not count, has ended with what it made. */
static void no_more_actors_have_stopped_than_were_made(void **state) {
  (void)state;
  scenario("for _ = 1, 3 do actor.spawn(print) end error 'no'");
  struct ran ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 1 && json_is_valid(ran.out));
  assert_ran(ran, strcmp(json_at(ran.out, "engine.spawned"), "3") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.stopped"), "3") == 0);
}

static void a_rate_is_refused_when_done_is_not_what_was_requested(void **state) {
  (void)state;
  assert_no_rate("return { requested = 10, done = 9, unit = 'thing' }",
                 "case.lua: 9 done of 10 requested, so it gives no rate");
  assert_no_rate("return { requested = 10, done = 11, unit = 'thing' }", "11 done of 10 requested");
}

static void a_rate_is_refused_when_a_check_fails(void **state) {
  (void)state;
  assert_no_rate("report.check('one', true) report.check('two', nil)\n"
                 "return { requested = 1, done = 1, unit = 'thing' }",
                 "case.lua:7: the check 'two' failed");
  assert_no_rate("report.check('late', function(stats) return stats.alive == 7 end)\n"
                 "return { requested = 1, done = 1, unit = 'thing' }",
                 "case.lua:7: the check 'late' failed");
  assert_no_rate("report.check('odd', function() error('oh no') end)\n"
                 "return { requested = 1, done = 1, unit = 'thing' }",
                 "case.lua:7: the check 'odd' failed with an error: case.lua:7: oh no");
}

static void checks_that_cannot_be_made_are_a_failure(void **state) {
  (void)state;
  script("skipped.lua", "return { run = function(_, report)\n"
                        "  report.check('must be made', function() return true end)\n"
                        "  require('actor').exit()\n"
                        "  return { requested = 1, done = 1, unit = 'thing' }\n"
                        "end }\n");
  struct ran ran = actorlua("skipped.lua", NULL);
  assert_int_equal(ran.status, 1);
  assert_true(contains(ran.err, "checks that wait for the end were not made"));
}

static void failed_checks_are_told_apart_from_those_that_hold(void **state) {
  (void)state;
  scenario("report.check('one', true) report.check('two', false)\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, contains(ran.out, "  ok      one\n  FAILED  two\n"));
  assert_ran(ran, contains(ran.out, "FAILED, so no rate is given"));
  ran = actorlua("case.lua", "--json", NULL);
  assert_ran(ran, strcmp(json_at(ran.out, "checks.0.ok"), "true") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "checks.1.ok"), "false") == 0);
}

static void a_wrong_result_is_named_with_file_and_line(void **state) {
  (void)state;
  assert_no_rate("", "case.lua:6: 'run' returned nothing; it returns { requested =");
  assert_no_rate("return 5", "case.lua:6: 'run' returned the integer 5; it returns");
  assert_no_rate("return { done = 1, unit = 'x' }", "returned a table without 'requested'");
  assert_no_rate("return { requested = 1, unit = 'x' }", "returned a table without 'done'");
  assert_no_rate("return { requested = 1, done = 1 }", "returned a table without 'unit'");
  assert_no_rate("return { requested = 1.5, done = 1, unit = 'x' }",
                 "the float 1.5 as 'requested'");
  assert_no_rate("return { requested = 1, done = '1', unit = 'x' }", "the string \"1\" as 'done'");
  assert_no_rate("return { requested = 1, done = -1, unit = 'x' }", "which is negative");
  assert_no_rate("return { requested = 1, done = 1, unit = '' }", "the string \"\" as 'unit'");
}

static void the_clock_runs_once_and_not_inside_itself(void **state) {
  (void)state;
  assert_no_rate("report.clock(function() end) report.clock(function() end)",
                 "case.lua:7: report.clock may be called once in a run");
  assert_no_rate("report.clock(function() report.clock(function() end) end)",
                 "case.lua:7: report.clock may be called once in a run");
  assert_no_rate("report.clock(5)", "case.lua:7: report.clock takes a function, not the integer 5");
  assert_no_rate("pcall(report.clock, function() error 'x' end)\n"
                 "return { requested = 1, done = 1, unit = 'x' }",
                 "'run' returned before the function given to report.clock did");

  scenario("local a, b = report.clock(function() return 1, nil, 3 end)\n"
           "local n = select('#', report.progress(1, 2))\n"
           "return { requested = 1, done = a, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 0);
}

static void wrong_uses_of_report_are_errors_at_their_line(void **state) {
  (void)state;
  assert_no_rate("report.check(5)", "case.lua:7: report.check takes a name first");
  assert_no_rate("report.progress('x')", "case.lua:7: report.progress takes two numbers");
  assert_no_rate("report.sample(-1)", "nanoseconds, from 0 to 1e18");
  assert_no_rate("report.sample(1, -1)", "a count is not negative");
  assert_no_rate("report.samples('abc')", "packed integers");
  assert_no_rate("report.samples(string.pack('j', -1))", "packed nanoseconds, none negative");
  assert_no_rate("report.figure('a', '1', 'b')",
                 "case.lua:7: report.figure takes a name, a number and a unit");
  assert_no_rate("report.figure('a', 1)", "report.figure takes a name, a number and a unit");
  assert_no_rate("report.figure('a', 1, 'b') report.figure('a', 2, 'b')",
                 "case.lua:7: report.figure was given 'a' before");
}

static void an_error_in_run_is_shown_with_its_traceback(void **state) {
  (void)state;
  assert_no_rate("local function deep() error('too deep') end deep()", "case.lua:7: too deep");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, contains(ran.err, "stack traceback:") && contains(ran.err, "'deep'"));
  assert_ran(ran, strncmp(ran.out, "case  did not finish\n", 21) == 0);
}

static void a_failing_actor_fails_the_run(void **state) {
  (void)state;
  assert_no_rate("local a = actor.spawn(Broken) a:send('fall')\n"
                 "return { requested = 1, done = 1, unit = 'thing' }",
                 "case.lua:5: it fell");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, contains(ran.err, "broken") && contains(ran.err, "stack traceback:"));
}

static void failures_by_the_thousand_are_counted_after_the_first_hundred(void **state) {
  (void)state;
  scenario("for i = 1, 1000 do actor.spawn(Broken):send('fall') end\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "case.lua: 900 failures more"));
}

static void a_deadlock_names_who_waits_for_whom_and_where(void **state) {
  (void)state;
  assert_no_rate("local a = actor.spawn(Stuck)\n"
                 "local ok, why = a:ask('hold', nil)\n"
                 "return { requested = 1, done = 1, unit = tostring(why) }",
                 "case.lua:8");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, contains(ran.err, "stuck") && contains(ran.err, "actorlua.run"));
}

static void a_run_that_ends_itself_never_returned(void **state) {
  (void)state;
  scenario("actor.stop(actor.self()) actor.ask(actor.spawn(Stuck), 'hold')\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 1);
  assert_ran(ran, contains(ran.err, "'run' never returned") || contains(ran.err, "case.lua:7"));
}

static void what_a_script_logs_goes_to_stderr_with_its_level(void **state) {
  (void)state;
  scenario("actor.log('warn', 'mind the gap')\n"
           "return { requested = 1, done = 1, unit = 'thing' }");
  struct ran ran = actorlua("case.lua", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.err, "warning: mind the gap\n"));
}

static void several_files_run_on_after_a_failure_and_the_worst_counts(void **state) {
  (void)state;
  scenario(fine);
  script("fail.lua", "error 'top level'");
  script("hello.lua", "print 'hello'");
  struct ran ran = actorlua("run", "case.lua", "fail.lua", "hello.lua", "case.lua", "--json", NULL);
  assert_ran(ran, ran.status == 1 && count_lines(ran.out) == 3 && contains(ran.err, "hello\n"));
  ran = actorlua("run", "fail.lua", "missing.lua", "case.lua", NULL);
  assert_ran(ran, ran.status == 2 && strncmp(ran.out, "case  3 things", 14) == 0);
  assert_ran(ran, contains(ran.err, "fail.lua:1: top level"));
  ran = actorlua("run", "case.lua", "hello.lua", "case.lua", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.out, "hello\n"));
}

static void every_vat_has_the_behaviors_of_the_top_level(void **state) {
  (void)state;
  script("helper.lua", "return { double = function(n) return 2 * n end }");
  script(
      "far.lua",
      "local actor, helper = require 'actor', require 'helper'\n"
      "local Twice = actor.behavior('twice', { receive = {\n"
      "  twice = function(self, n) return helper.double(n) end } })\n"
      "return { params = { far = true }, run = function(p, report)\n"
      "  local sum, vats = 0, actor.stats().vats\n"
      "  for vat = 0, vats - 1 do sum = sum + actor.ask(actor.spawn_on(vat, Twice), 'twice', 1) end\n"
      "  return { requested = 2 * vats, done = sum, unit = 'thing' } end }");
  struct ran ran = actorlua("far.lua", "--vats", "5", "--workers", "2", "--json", NULL);
  assert_ran(ran, ran.status == 0 && strcmp(json_at(ran.out, "done"), "10") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "far"), "true") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "engine.spawned"), "5") == 0);
}

static void an_error_that_only_another_vat_meets_fails_the_run(void **state) {
  (void)state;
  script("far.lua",
         "local actor = require 'actor'\n"
         "local Far = actor.behavior('far', { receive = { go = function() return 1 end } })\n"
         "local f = io.open('mark') if f then error('not again') end\n"
         "return { run = function(p, report)\n"
         "  io.open('mark', 'w'):close()\n"
         "  return { requested = 1, done = actor.ask(actor.spawn_on(1, Far), 'go') or 0,\n"
         "           unit = 'thing' } end }\n");
  struct ran ran = actorlua("far.lua", "--vats", "2", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "far.lua:3: not again"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_prints_its_figures),
      cmocka_unit_test(timers_keep_a_run_alive_until_its_checks),
      cmocka_unit_test(quiet_prints_nothing_but_errors),
      cmocka_unit_test(json_is_one_valid_line_with_everything),
      cmocka_unit_test(figures_stand_beside_the_rate),
      cmocka_unit_test(latencies_may_be_given_by_the_thousand),
      cmocka_unit_test(the_memory_of_process_and_engine_is_told),
      cmocka_unit_test(the_engine_counters_are_the_scenarios_own),
      cmocka_unit_test(no_more_actors_have_stopped_than_were_made),
      cmocka_unit_test(a_rate_is_refused_when_done_is_not_what_was_requested),
      cmocka_unit_test(a_rate_is_refused_when_a_check_fails),
      cmocka_unit_test(checks_that_cannot_be_made_are_a_failure),
      cmocka_unit_test(failed_checks_are_told_apart_from_those_that_hold),
      cmocka_unit_test(a_wrong_result_is_named_with_file_and_line),
      cmocka_unit_test(the_clock_runs_once_and_not_inside_itself),
      cmocka_unit_test(wrong_uses_of_report_are_errors_at_their_line),
      cmocka_unit_test(an_error_in_run_is_shown_with_its_traceback),
      cmocka_unit_test(a_failing_actor_fails_the_run),
      cmocka_unit_test(failures_by_the_thousand_are_counted_after_the_first_hundred),
      cmocka_unit_test(a_deadlock_names_who_waits_for_whom_and_where),
      cmocka_unit_test(a_run_that_ends_itself_never_returned),
      cmocka_unit_test(what_a_script_logs_goes_to_stderr_with_its_level),
      cmocka_unit_test(several_files_run_on_after_a_failure_and_the_worst_counts),
      cmocka_unit_test(every_vat_has_the_behaviors_of_the_top_level),
      cmocka_unit_test(an_error_that_only_another_vat_meets_fails_the_run),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
