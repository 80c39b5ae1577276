/*
 * test_seed.c - runs with a seed: what is printed, and what else is judged of them.
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

/* Three messages each; those of `lost` reach nobody. */
static const char letters[] =
    "local actor = require 'actor'\n"
    "local Deaf = actor.behavior('deaf', { receive = { stop = function() actor.exit() end } })\n"
    "local late = { receive = { go = function() actor.sleep(10) end } }\n"
    "local Late = actor.behavior('late', late)\n"
    "return { name = 'letters', params = { lost = 'none' }, run = function(p, report)\n"
    "  local deaf = actor.spawn(Deaf)\n"
    "  if p.lost == 'unhandled' then deaf:send('boo') end\n"
    "  if p.lost == 'stopped' then deaf:send('stop') deaf:send('boo') deaf:send('boo') end\n"
    "  if p.lost == 'expired' then\n"
    "    local slow = actor.spawn(Late)\n"
    "    slow:send('go')\n"
    "    actor.ask { slow, 'go', timeout = 1 }\n"
    "  end\n"
    "  return { requested = 1, done = 1, unit = 'thing' } end }\n";

static const char *with_loss(const char *reason) {
  static char text[64];
  snprintf(text, sizeof text, "lost=%s", reason);
  return text;
}

static void what_is_printed_is_the_same_each_time(void **state) {
  (void)state;
  script("letters.lua", letters);
  struct ran ran = actorlua("letters.lua", "--seed", "7", "--set", with_loss("expired"), NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, strncmp(ran.out, "letters  1 thing in ", 20) == 0);
  assert_ran(ran, contains(ran.out, " of virtual time, seed 7\n  lua, near, 1 worker, 4 vats\n"));
  assert_ran(ran, contains(ran.out, "; 1 dead letter (1 expired)"));
  char *first = strdup(ran.out);
  ran = actorlua("letters.lua", "--seed", "7", "--set", with_loss("expired"), NULL);
  assert_ran(ran, strcmp(ran.out, first) == 0);
  free(first);
}

static void json_has_the_seed_and_virtual_seconds(void **state) {
  (void)state;
  script("letters.lua", letters);
  struct ran ran = actorlua("letters.lua", "--seed", "18446744073709551615", "--json", "--set",
                            with_loss("expired"), NULL);
  assert_ran(ran, ran.status == 0 && count_lines(ran.out) == 1 && json_is_valid(ran.out));
  assert_ran(ran, strcmp(json_at(ran.out, "seed"), "18446744073709551615") == 0);
  assert_ran(ran, strtod(json_at(ran.out, "virtual_seconds"), NULL) > 0);
  static const char *const absent[] = {"seconds",  "user_s",         "system_s",      "ns_per_op",
                                       "floor_ns", "floor_multiple", "peak_rss_bytes"};
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
    assert_ran(ran, json_at(ran.out, absent[i])[0] == '\0');
  ran = actorlua("letters.lua", "--json", NULL);
  assert_ran(ran, json_at(ran.out, "seed")[0] == '\0' && json_at(ran.out, "seconds")[0] != '\0');
  assert_ran(ran, json_at(ran.out, "virtual_seconds")[0] == '\0');
}

static void a_lost_message_is_an_error_of_a_strict_run(void **state) {
  (void)state;
  script("letters.lua", letters);
  struct ran ran = actorlua("letters.lua", "-q", "--strict", "--seed", "1", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');

  static const char *const reasons[][2] = {{"unhandled", "1 message was lost: 1 unhandled"},
                                           {"stopped", "2 messages were lost: 2 stopped"},
                                           {"expired", "1 message was lost: 1 expired"}};
  for (size_t i = 0; i < 3; i++) {
    const char *set = with_loss(reasons[i][0]);
    ran = actorlua("letters.lua", "-q", "--strict", "--seed", "1", "--set", set, NULL);
    assert_ran(ran, ran.status == 1 && ran.out[0] == '\0' && contains(ran.err, reasons[i][1]));
    ran = actorlua("letters.lua", "-q", "--strict", "--set", set, NULL);
    assert_ran(ran, ran.status == 1 && contains(ran.err, reasons[i][1]));
    ran = actorlua("letters.lua", "-q", "--strict", "--lossy", "--set", set, NULL);
    assert_ran(ran, ran.status == 0 && !contains(ran.err, "lost"));
    ran = actorlua("letters.lua", "-q", "--seed", "1", "--set", set, NULL);
    assert_ran(ran, ran.status == 0 && !contains(ran.err, "lost"));
  }
}

static void a_scenario_may_say_that_it_loses_messages(void **state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text, "%s", letters);
  char *at = strstr(text, "name = 'letters'");
  assert_non_null(at);
  memcpy(at, "lossy =  true   ", strlen("name = 'letters'"));
  script("lossy.lua", text);
  struct ran ran = actorlua("lossy.lua", "-q", "--strict", "--set", with_loss("stopped"), NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
}

static void what_an_actor_failed_of_is_not_lost(void **state) {
  (void)state;
  script("fails.lua", "local actor = require 'actor'\n"
                      "local a = actor.spawn(function() error('oh') end)\n"
                      "a:send(1) a:send(2)\n"
                      "local b = actor.spawn(function() error('oh') end)\n"
                      "b:send(1)\n");
  struct ran ran = actorlua("fails.lua", "--strict", "--seed", "1", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, ": oh") && !contains(ran.err, "lost"));
}

static void steps_end_a_run_that_does_not_become_quiet(void **state) {
  (void)state;
  script("loop.lua", "local actor = require 'actor'\n"
                     "local a = actor.spawn(function() actor.send(actor.self()) end)\n"
                     "a:send()\n");
  struct ran ran = actorlua("loop.lua", "--seed", "1", "--steps", "1000", NULL);
  assert_ran(ran, ran.status == 1);
  assert_ran(ran, contains(ran.err, "loop.lua: is not quiet after 1000 steps\n"));
  assert_ran(ran, count_lines(ran.err) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_printed_is_the_same_each_time),
      cmocka_unit_test(json_has_the_seed_and_virtual_seconds),
      cmocka_unit_test(a_lost_message_is_an_error_of_a_strict_run),
      cmocka_unit_test(a_scenario_may_say_that_it_loses_messages),
      cmocka_unit_test(what_an_actor_failed_of_is_not_lost),
      cmocka_unit_test(steps_end_a_run_that_does_not_become_quiet),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
