/*
 * test_strict.c - --strict: globals cannot be assigned to once a file has been loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"

#include <stdio.h>
#include <string.h>

/* A scenario whose actor, in `vat`, has the handler `go` with this body, on line 6. */
static const char *handler(const char *body, int vat) {
  static char text[2048];
  snprintf(text, sizeof text,
           "local actor = require 'actor'\n"
           "count = 1\n"
           "function twice(n) return 2 * n end\n"
           "local Case = actor.behavior('case', { receive = {\n"
           "  go = function(self)\n"
           "    %s\n"
           "  end } })\n"
           "return { name = 'strict', run = function(p, report)\n"
           "  print(actor.spawn_on(%d, Case):ask('go'))\n"
           "  return { requested = 1, done = 1, unit = 'case' } end }\n",
           body, vat);
  return script("strict.lua", text);
}

static struct ran run_strict(void) {
  return actorlua("strict.lua", "--quiet", "--strict", "--vats", "2", NULL);
}

static void assert_answers(const char *body, const char *answer) {
  for (int vat = 0; vat < 2; vat++) {
    handler(body, vat);
    struct ran ran = run_strict();
    assert_ran(ran, ran.status == 0 && ran.err[0] == '\0' && strcmp(ran.out, answer) == 0);
  }
}

static void assert_refused(const char *body, const char *name) {
  char line[256];
  snprintf(
      line, sizeof line,
      "failed: strict.lua:6: assignment to the global '%s' after loading (--strict); keep it in "
      "self or make it local\n",
      name);
  for (int vat = 0; vat < 2; vat++) {
    handler(body, vat);
    struct ran ran = run_strict();
    assert_ran(ran, ran.status == 1 && contains(ran.err, line));
    ran = actorlua("strict.lua", "--quiet", "--strict", "--seed", "5", NULL);
    assert_ran(ran, ran.status == 1 && contains(ran.err, line));
    ran = actorlua("strict.lua", "--quiet", "--vats", "2", NULL);
    assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  }
}

static void an_assignment_to_a_global_is_an_error_with_file_and_line(void **state) {
  (void)state;
  assert_refused("other = 1", "other");
  assert_refused("count = count + 1", "count");
  assert_refused("count = nil", "count");
  assert_refused("print = function() end", "print");
  assert_refused("_G.other = 1", "other");
  assert_refused("_G[5] = 1", "5");
  assert_refused("function twice(n) return n end", "twice");
}

static void globals_can_be_read(void **state) {
  (void)state;
  assert_answers("return twice(count), nothing, _G.count, _G.nothing", "2\tnil\t1\tnil\n");
  assert_answers("local n, has = 0, false\n"
                 "for k, v in pairs(_G) do n = n + 1 has = has or k == 'count' and v == 1 end\n"
                 "return n > 20, has",
                 "true\ttrue\n");
}

static void rawset_passes(void **state) {
  (void)state;
  assert_answers("rawset(_G, 'count', 7) rawset(_G, 'other', 8)\n"
                 "local seen = 0\n"
                 "for k, v in pairs(_G) do\n"
                 "  if k == 'count' or k == 'other' then seen = seen + v end end\n"
                 "return count, other, seen",
                 "7\t8\t15\n");
}

static void locals_fields_and_environments_of_ones_own_are_no_globals(void **state) {
  (void)state;
  assert_answers("local x = 1 x = 2 self.x = x string.mine = 3\n"
                 "local _ENV = { z = 1 } z = 5 return z",
                 "5\n");
}

static void modules_that_assign_no_globals_can_be_required_later(void **state) {
  (void)state;
  script("clean.lua", "local M = { n = 4 } return M");
  script("dirty.lua", "local M = {}\nleak = 1\nreturn M");
  assert_answers("return require('clean').n, require 'clean' == package.loaded.clean", "4\ttrue\n");
  handler("return require 'dirty'", 0);
  struct ran ran = run_strict();
  assert_ran(ran, ran.status == 1);
  assert_ran(ran, contains(ran.err, "dirty.lua:2: assignment to the global 'leak' after loading"));
}

static void while_it_loads_a_file_assigns_but_its_actors_do_not(void **state) {
  (void)state;
  script("loads.lua", "local actor = require 'actor'\n"
                      "require 'sets'\n"
                      "local early = actor.spawn(function() return set end)\n"
                      "print(early:ask())\n"
                      "set = set + 1\n"
                      "print(set)\n"
                      "local late = actor.spawn(function()\n"
                      "  set = 9 end)\n"
                      "print(late:ask())\n");
  script("sets.lua", "set = 1");
  struct ran ran = actorlua("loads.lua", "--strict", NULL);
  assert_ran(ran, ran.status == 1 && strcmp(ran.out, "1\n2\nnil\tfailed\n") == 0);
  assert_ran(ran, contains(ran.err, "loads.lua:8: assignment to the global 'set' after loading"));
}

static void functions_that_travel_find_their_globals(void **state) {
  (void)state;
  script("travel.lua", "local actor = require 'actor'\n"
                       "local print, format = print, string.format\n"
                       "local far = actor.spawn_on(1, function(n)\n"
                       "  print(format('%d', n), math.type(n))\n"
                       "  return rawget(_G, 'n') end)\n"
                       "print(far:ask(3))\n"
                       "actor.spawn_on(1, function()\n"
                       "  n = 1 end):ask()\n");
  struct ran ran = actorlua("travel.lua", "--strict", "--vats", "2", NULL);
  assert_ran(ran, ran.status == 1 && strcmp(ran.out, "3\tinteger\nnil\n") == 0);
  assert_ran(ran, contains(ran.err, "travel.lua:8: assignment to the global 'n' after loading"));
}

static bool starts_well(const char *out) {
  static const char start[] = "no nothing\t1\t1\tone\t1\nnil\tfalse\town.lua:10: ";
  return strncmp(out, start, strlen(start)) == 0;
}

/* Files of the kind that watches its own globals. */
static void a_metatable_of_ones_own_goes_on_working(void **state) {
  (void)state;
  script("own.lua", "local actor = require 'actor'\n"
                    "local names = {}\n"
                    "local mt = { __index = function(_, k) return 'no ' .. k end,\n"
                    "  __newindex = function(t, k, v) names[#names + 1] = k rawset(t, k, v) end }\n"
                    "assert(setmetatable(_G, mt) == _G and getmetatable(_G) == mt)\n"
                    "one = 1\n"
                    "return { run = function()\n"
                    "  print(nothing, one, #names, names[1], select('#', setmetatable({}, nil)))\n"
                    "  setmetatable(_G, { __newindex = rawset })\n"
                    "  print(nothing, pcall(function() two = 2 end))\n"
                    "  return { requested = 1, done = 1, unit = 'case' } end }\n");
  struct ran ran = actorlua("own.lua", "--strict", "-q", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, starts_well(ran.out));
  ran = actorlua("own.lua", "--strict", "-q", "--seed", "1", NULL);
  assert_ran(ran, ran.status == 0 && starts_well(ran.out));
}

static void setmetatable_and_getmetatable_do_what_they_did(void **state) {
  (void)state;
  assert_answers("local t = setmetatable({}, { __metatable = 5, __index = { x = 1 } })\n"
                 "return t.x, getmetatable(t), pcall(setmetatable, t, {})",
                 "1\t5\tfalse\tcannot change a protected metatable\n");
  assert_answers("return getmetatable(5), getmetatable('').__index == string, pcall(getmetatable)",
                 "nil\ttrue\tfalse\tbad argument #1 to 'getmetatable' (value expected)\n");
  assert_answers(
      "return pcall(function() setmetatable({}, 5) end)",
      "false\tstrict.lua:6: bad argument #2 to 'setmetatable' (nil or table expected, got number)\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_assignment_to_a_global_is_an_error_with_file_and_line),
      cmocka_unit_test(globals_can_be_read),
      cmocka_unit_test(rawset_passes),
      cmocka_unit_test(locals_fields_and_environments_of_ones_own_are_no_globals),
      cmocka_unit_test(modules_that_assign_no_globals_can_be_required_later),
      cmocka_unit_test(while_it_loads_a_file_assigns_but_its_actors_do_not),
      cmocka_unit_test(functions_that_travel_find_their_globals),
      cmocka_unit_test(a_metatable_of_ones_own_goes_on_working),
      cmocka_unit_test(setmetatable_and_getmetatable_do_what_they_did),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
