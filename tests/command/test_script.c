/*
 * test_script.c - plain scripts: run once, in vat 0, until their actors have nothing left to do.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"

#include <string.h>
#include <sys/stat.h>

static void a_script_prints_and_that_is_all(void **state) {
  (void)state;
  script("hello.lua", "#!/usr/bin/env actorlua\nprint('hello')\n");
  struct ran ran = actorlua("hello.lua", NULL);
  assert_ran(ran, ran.status == 0 && strcmp(ran.out, "hello\n") == 0 && ran.err[0] == '\0');
  ran = actorlua("run", "hello.lua", "--json", NULL);
  assert_ran(ran, ran.status == 0 && ran.out[0] == '\0' && strcmp(ran.err, "hello\n") == 0);
}

static void its_top_level_may_spawn_send_and_ask(void **state) {
  (void)state;
  script("ask.lua", "local actor = require 'actor'\n"
                    "local Count = actor.behavior('count', {\n"
                    "  init = function(self, n) self.n = n end,\n"
                    "  receive = { add = function(self, n) self.n = self.n + n end,\n"
                    "              get = function(self) return self.n end } })\n"
                    "local c = actor.spawn(Count, 5)\n"
                    "c:send('add', 3)\n"
                    "print(c:ask('get'))\n"
                    "local late = actor.spawn(function(text) print(text) end)\n"
                    "late:send('after the top level')\n"
                    "print('end of the top level')\n");
  struct ran ran = actorlua("ask.lua", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, strcmp(ran.out, "8\nend of the top level\nafter the top level\n") == 0);
}

static void it_gets_its_arguments_both_ways(void **state) {
  (void)state;
  script("args.lua", "print(arg[0], #arg, arg[1], arg[2], ...)");
  struct ran ran = actorlua("args.lua", "a", "--workers", "1", "--", "--json", "b c", NULL);
  assert_ran(ran,
             strcmp(ran.out, "args.lua\t3\ta\t--json\ta\t--json\tb c\n") == 0 && ran.status == 0);
}

static void it_requires_modules_from_beside_it(void **state) {
  (void)state;
  script("beside.lua", "return { word = 'found' }");
  script("needs.lua", "print(require('beside').word)");
  struct ran ran = actorlua("needs.lua", NULL);
  assert_ran(ran, ran.status == 0 && strcmp(ran.out, "found\n") == 0);
  mkdir("sub", 0700);
  script("sub/near.lua", "return { word = 'from sub' }");
  script("sub/needs.lua", "print(require('near').word)");
  ran = actorlua("sub/needs.lua", NULL);
  assert_ran(ran, ran.status == 0 && strcmp(ran.out, "from sub\n") == 0);
}

static void it_runs_once_in_one_vat(void **state) {
  (void)state;
  script("once.lua", "local actor = require 'actor'\n"
                     "print('top level')\n"
                     "local Far = actor.behavior('far', { receive = {} })\n"
                     "local far = actor.spawn_on(1, function(x) return x + 1 end)\n"
                     "print(actor.ask(far, 1))\n");
  struct ran ran = actorlua("once.lua", "--vats", "2", NULL);
  assert_ran(ran, strncmp(ran.out, "top level\n", 10) == 0 && !contains(ran.out + 10, "top level"));
}

static void an_error_at_the_top_level_is_shown_with_its_traceback(void **state) {
  (void)state;
  script("bad.lua", "local function f()\n  error('boom')\nend\nf()\n");
  struct ran ran = actorlua("bad.lua", NULL);
  assert_ran(ran, ran.status == 1 && ran.out[0] == '\0');
  assert_ran(ran, contains(ran.err, "bad.lua:2: boom") && contains(ran.err, "stack traceback:"));
  assert_ran(ran, contains(ran.err, "bad.lua:4: in main chunk"));
  script("gone.lua", "require 'no.such.module'");
  ran = actorlua("gone.lua", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "module 'no.such.module' not found"));
}

static void a_failing_actor_of_it_makes_the_status_1(void **state) {
  (void)state;
  script("actor.lua", "local actor = require 'actor'\n"
                      "actor.spawn(function() error('inside') end):send(1)\n"
                      "print('done')\n");
  struct ran ran = actorlua("actor.lua", NULL);
  assert_ran(ran, ran.status == 1 && strcmp(ran.out, "done\n") == 0);
  assert_ran(ran, contains(ran.err, "actor.lua:2: inside"));
}

static void a_deadlock_of_it_is_named(void **state) {
  (void)state;
  script("stuck.lua", "local actor = require 'actor'\n"
                      "local request\n"
                      "local a = actor.spawn(function() request = actor.later() end)\n"
                      "print(a:ask('x'))\n");
  struct ran ran = actorlua("stuck.lua", NULL);
  assert_ran(ran, ran.status == 1 && strcmp(ran.out, "nil\tdeadlock\n") == 0);
  assert_ran(ran, contains(ran.err, "stuck.lua:4"));
}

static void stop_hooks_run_at_the_end(void **state) {
  (void)state;
  script("stop.lua", "local actor = require 'actor'\n"
                     "local B = actor.behavior('b', { stop = function() print('stopped') end,\n"
                     "  receive = {} })\n"
                     "actor.spawn(B)\nprint('top')\n");
  struct ran ran = actorlua("stop.lua", NULL);
  assert_ran(ran, ran.status == 0 && strcmp(ran.out, "top\nstopped\n") == 0);
}

static void it_runs_until_its_timers_have_come(void **state) {
  (void)state;
  script("timers.lua", "local actor = require 'actor'\n"
                       "local function tell(ms) return function()\n"
                       "  actor.after(ms, ms)\n"
                       "  print(actor.receive()) end end\n"
                       "actor.process(tell(60))\n"
                       "actor.process_on(1, tell(30))\n"
                       "actor.sleep(1)\n"
                       "print('end of the top level')\n");
  struct ran ran = actorlua("timers.lua", "--vats", "2", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, strcmp(ran.out, "end of the top level\n30\n60\n") == 0);
}

static void a_timer_in_the_background_does_not_keep_it(void **state) {
  (void)state;
  script("background.lua", "local actor = require 'actor'\n"
                           "actor.process(function()\n"
                           "  actor.every({ 20, background = true }, 'tick')\n"
                           "  while true do actor.receive() end end)\n");
  struct ran ran = actorlua("background.lua", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
}

static void os_exit_ends_the_process_with_its_status(void **state) {
  (void)state;
  script("exit.lua", "io.write('bye') os.exit(7, true)");
  struct ran ran = actorlua("exit.lua", NULL);
  assert_ran(ran, ran.status == 7 && strcmp(ran.out, "bye") == 0);
  script("exit.lua", "os.exit(false)");
  assert_int_equal(actorlua("exit.lua", NULL).status, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_script_prints_and_that_is_all),
      cmocka_unit_test(its_top_level_may_spawn_send_and_ask),
      cmocka_unit_test(it_gets_its_arguments_both_ways),
      cmocka_unit_test(it_requires_modules_from_beside_it),
      cmocka_unit_test(it_runs_once_in_one_vat),
      cmocka_unit_test(an_error_at_the_top_level_is_shown_with_its_traceback),
      cmocka_unit_test(a_failing_actor_of_it_makes_the_status_1),
      cmocka_unit_test(a_deadlock_of_it_is_named),
      cmocka_unit_test(stop_hooks_run_at_the_end),
      cmocka_unit_test(it_runs_until_its_timers_have_come),
      cmocka_unit_test(a_timer_in_the_background_does_not_keep_it),
      cmocka_unit_test(os_exit_ends_the_process_with_its_status),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
