/*
 * test_sources.c - actors that a host makes of Lua source, and modules that it gives to every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"
#include "support/alloc.h"

#include <lauxlib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char seen[1024];

static int host_notes(lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++) {
    strncat(seen, luaL_tolstring(L, i, NULL), sizeof seen - strlen(seen) - 1);
    strncat(seen, " ", sizeof seen - strlen(seen) - 1);
    lua_pop(L, 1);
  }
  return 0;
}

static const char PEERS[] =
    "local actor = require 'actor'\n"
    "echo = function() return actor.spawn(function(...) return ... end) end\n"
    "Summing = actor.behavior('summing', {\n"
    "  init = function(self, a, b) self.sum = a + b host('init', self.sum) end,\n"
    "  receive = { add = function(self, n) self.sum = self.sum + n host(self.sum) end } })\n"
    "Plain = actor.behavior('plain', { receive = { add = function(_, n) host('plain', n) end } })\n";

static void open_fixture(struct fixture *f) {
  *f = (struct fixture){.script = PEERS, .host = host_notes, .vats = 2};
  assert_int_equal(fixture_open(f), ACTL_OK);
  seen[0] = '\0';
}

static actl_pid spawn(struct fixture *f, uint32_t vat, const char *source, const actl_value *values,
                      size_t n) {
  actl_pid pid = {0};
  assert_int_equal(
      actl_lua_spawn_string(f->engine, vat, "=given", source, strlen(source), values, n, &pid),
      ACTL_OK);
  assert_true(pid.bits != 0);
  return pid;
}

static void run(struct fixture *f) { assert_int_equal(actl_engine_run(f->engine), ACTL_OK); }

static void send(struct fixture *f, actl_pid to, const actl_value *values, size_t n) {
  assert_int_equal(actl_engine_send(f->engine, to, values, n), ACTL_OK);
}

/* Runs until quiet and frees the engine; so many actors were made, failed and are alive. */
static void close_with(struct fixture *f, uint64_t failed, uint64_t alive) {
  actl_stats stats;
  run(f);
  fixture_close(f, &stats);
  assert_int_equal(stats.failed, failed);
  assert_int_equal(stats.alive, alive);
}

static void a_source_is_given_its_values(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  spawn(&f, 1, "host(vat, select('#', ...), ...)",
        ACTL_VALUES(actl_int(1), actl_nil(), actl_text("a longer text"), actl_nil()));
  run(&f);
  assert_string_equal(seen, "1 4 1 nil a longer text nil ");
  close_with(&f, 0, 0);
}

static void a_function_that_is_returned_handles_the_messages(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid pid = spawn(&f, ACTL_VAT_ANY,
                       "local sum = ...\n"
                       "return function(n) sum = sum + n host(sum) end",
                       ACTL_VALUES(actl_int(10)));
  send(&f, pid, ACTL_VALUES(actl_int(1)));
  send(&f, pid, ACTL_VALUES(actl_int(2)));
  run(&f);
  assert_string_equal(seen, "11 13 ");
  close_with(&f, 0, 1);
}

static void a_behavior_that_is_returned_gets_the_values_too(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid pid = spawn(&f, 0, "local a, b = ... host('given', a, b) return Summing, 'not this'",
                       ACTL_VALUES(actl_int(1), actl_int(2)));
  send(&f, pid, ACTL_VALUES(actl_text("add"), actl_int(4)));
  run(&f);
  assert_string_equal(seen, "given 1 2 init 3 7 ");
  close_with(&f, 0, 1);
}

static void a_behavior_without_init_takes_the_values_in_its_source(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid pid = spawn(&f, 0, "host(...) return Plain", ACTL_VALUES(actl_int(1)));
  send(&f, pid, ACTL_VALUES(actl_text("add"), actl_int(4)));
  run(&f);
  assert_string_equal(seen, "1 plain 4 ");
  close_with(&f, 0, 1);
}

/* Messages queue meanwhile, and the init that follows may wait as well. */
static void a_source_may_wait(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid first = spawn(&f, 0,
                         "local e, a, b = echo(), ...\n"
                         "host(e:ask('asked'), pcall(e.ask, e, 'again'))\n"
                         "return Summing",
                         ACTL_VALUES(actl_int(1), actl_int(2)));
  actl_pid second = spawn(&f, 0,
                          "local actor, e = require 'actor', echo()\n"
                          "e:ask()\n"
                          "return actor.behavior('waits', {\n"
                          "  init = function(self, x) self.x = e:ask(x) end,\n"
                          "  receive = { get = function(self) host('x', self.x) end } })",
                          ACTL_VALUES(actl_int(5)));
  actl_pid third = spawn(&f, 1, "echo():ask() return function(x) host('third', x) end", NULL, 0);
  send(&f, first, ACTL_VALUES(actl_text("add"), actl_int(4)));
  run(&f);
  assert_string_equal(seen, "asked true again init 3 7 ");
  seen[0] = '\0';
  send(&f, second, ACTL_VALUES(actl_text("get")));
  run(&f);
  send(&f, third, ACTL_VALUES(actl_int(3)));
  run(&f);
  assert_string_equal(seen, "x 5 third 3 ");
  close_with(&f, 0, 6);
}

static void a_source_that_returns_nothing_ends_its_actor(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid pid = spawn(&f, 0, "host('done')", NULL, 0);
  spawn(&f, 0, "echo():ask() host('waited') return nil", NULL, 0);
  spawn(&f, 1, "", NULL, 0);
  send(&f, pid, ACTL_VALUES(actl_int(1)));
  run(&f);
  /* The two have nothing to do with each other. */
  assert_true(strcmp(seen, "done waited ") == 0 || strcmp(seen, "waited done ") == 0);
  actl_stats stats;
  actl_engine_stats(f.engine, &stats);
  /* Which of the two tells whether it came before the end. */
  assert_int_equal(
      stats.dead_letters[ACTL_LETTER_STOPPED] + stats.dead_letters[ACTL_LETTER_NO_ACTOR], 1);
  close_with(&f, 0, 0);
}

static void a_process_may_come_of_a_source(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  spawn(&f, 1,
        "local actor = require 'actor'\n"
        "local p = actor.process(function(to) host(actor.receive()) end)\n"
        "p:send('received', ...)\n"
        "return function() end",
        ACTL_VALUES(actl_int(1)));
  run(&f);
  assert_string_equal(seen, "received 1 ");
  close_with(&f, 0, 1);
}

/* Each source, and what the log says of it. */
static void a_source_that_fails_is_an_init_that_fails(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"return +", "given:1: unexpected symbol near '+'"},
      {"\n\nerror('on line three')", "given:3: on line three"},
      {"echo():ask() error('after a wait', 0)", "after a wait"},
      {"return 5", "the source of an actor returned a number; a behavior, a function or nothing"},
      {"return {}", "the source of an actor returned a table"},
      {"return Summing", "attempt to perform arithmetic on a nil value (local 'a')"},
      {"\x1bLua", "attempt to load a binary chunk"},
  };
  struct fixture f;
  open_fixture(&f);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    actl_pid pid = spawn(&f, (uint32_t)i % 2, bad[i][0], NULL, 0);
    run(&f);
    if (!fixture_logged(&f, bad[i][1]))
      print_error("no \"%s\" in the log:\n%s\n", bad[i][1], f.log);
    assert_true(fixture_logged(&f, bad[i][1]));
    send(&f, pid, NULL, 0);
  }
  assert_true(fixture_logged(&f, "failed in init"));
  assert_true(fixture_logged(&f, "stack traceback"));
  close_with(&f, sizeof bad / sizeof bad[0], 0);
}

static void what_cannot_be_sent_is_refused_at_once(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_value values[ACTL_VALUES_MAX];
  for (size_t i = 0; i < ACTL_VALUES_MAX; i++) values[i] = actl_int((int64_t)i);
  actl_pid pid = {7};
  assert_int_equal(
      actl_lua_spawn_string(f.engine, 0, "=x", "", 0, values, ACTL_VALUES_MAX - 2, &pid),
      ACTL_INVALID);
  assert_int_equal(actl_lua_spawn_string(f.engine, 99, "=x", "", 0, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(pid.bits, 7);

  /* As many as there may be. */
  spawn(&f, 0, "host(select('#', ...), (select(-1, ...)))", values, ACTL_VALUES_MAX - 3);
  run(&f);
  assert_string_equal(seen, "252 251 ");
  close_with(&f, 0, 0);

  actl_engine *engine;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  assert_int_equal(actl_lua_spawn_string(engine, 0, "=x", "", 0, NULL, 0, &pid), ACTL_INVALID);
  actl_engine_free(engine);
}

/* The source and its name are the caller's again when the call has returned. */
static void source_and_name_are_copied(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  char name[] = "=copied", source[] = "host('copied') local x = nil; x()";
  actl_pid pid;
  assert_int_equal(actl_lua_spawn_string(f.engine, 1, name, source, strlen(source), NULL, 0, &pid),
                   ACTL_OK);
  memset(name, 'x', sizeof name - 1);
  memset(source, 'x', sizeof source - 1);
  run(&f);
  assert_string_equal(seen, "copied ");
  assert_true(fixture_logged(&f, "copied:1: attempt to call a nil value"));
  close_with(&f, 1, 0);
}

/* ---- Files ---- */

static char path[64];

static void write_file(const char *bytes, size_t size) {
  strcpy(path, "/tmp/test_sources_XXXXXX");
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, bytes, size), size);
  close(file);
}

static void a_file_is_read_by_the_caller(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  static const char source[] = "\xEF\xBB\xBF#!/usr/bin/env actorlua\nhost(...) error('line two')";
  write_file(source, sizeof source - 1);
  actl_pid pid;
  assert_int_equal(
      actl_lua_spawn_file(f.engine, 1, path, ACTL_VALUES(actl_text("from a file")), &pid), ACTL_OK);
  unlink(path);
  run(&f);
  char where[96];
  snprintf(where, sizeof where, "%s:2: line two", path);
  assert_string_equal(seen, "from a file ");
  assert_true(fixture_logged(&f, where));
  close_with(&f, 1, 0);
}

static void a_large_file_is_read_whole(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  enum { SIZE = 300000 };
  char *source = malloc(SIZE);
  assert_non_null(source);
  memset(source, ' ', SIZE);
  memcpy(source + SIZE - 13, "host('whole')", 13);
  write_file(source, SIZE);
  free(source);
  actl_pid pid;
  assert_int_equal(actl_lua_spawn_file(f.engine, 0, path, NULL, 0, &pid), ACTL_OK);
  unlink(path);
  run(&f);
  assert_string_equal(seen, "whole ");
  close_with(&f, 0, 0);
}

static void a_file_that_cannot_be_read_is_refused(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  actl_pid pid = {7};
  assert_int_equal(actl_lua_spawn_file(f.engine, 0, "/nowhere/at/all.lua", NULL, 0, &pid),
                   ACTL_SYSTEM);
  assert_int_equal(actl_lua_spawn_file(f.engine, 0, "/tmp", NULL, 0, &pid), ACTL_SYSTEM);
  assert_int_equal(pid.bits, 7);
  close_with(&f, 0, 0);
}

/* ---- Modules ---- */

static int n_opened; /* touched by the one worker */

static int module_double(lua_State *L) {
  lua_pushinteger(L, 2 * luaL_checkinteger(L, 1));
  return 1;
}

static int open_twice(lua_State *L) {
  n_opened++;
  assert_true(lua_gettop(L) >= 1);
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  lua_pushcfunction(L, module_double);
  lua_setfield(L, -2, "double");
  return 1;
}

static int open_other(lua_State *L) {
  lua_pushliteral(L, "another module");
  return 1;
}

static void a_module_is_known_to_every_machine(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  n_opened = 0;
  char name[] = "host.twice";
  assert_int_equal(actl_lua_module(f.engine, name, open_twice), ACTL_OK);
  assert_int_equal(actl_lua_module(f.engine, "other", open_other), ACTL_OK);
  memset(name, 'x', sizeof name - 1);
  for (uint32_t vat = 0; vat < 2; vat++) {
    spawn(&f, vat,
          "local t = require 'host.twice'\n"
          "host(t.name, t.double(vat + 1), t == require 'host.twice', (require 'other'))",
          NULL, 0);
    run(&f);
  }
  assert_string_equal(seen, "host.twice 2 true another module host.twice 4 true another module ");
  assert_int_equal(n_opened, 2);
  close_with(&f, 0, 0);
}

/* The machine's own opening function, and what it loads, find it too. */
static void a_module_is_there_when_a_machine_is_opened(void **state) {
  (void)state;
  struct fixture f = {.script = "host(require('host.twice').double(21))", .host = host_notes};
  assert_int_equal(fixture_open(&f), ACTL_OK);
  assert_int_equal(actl_lua_module(f.engine, "host.twice", open_twice), ACTL_OK);
  seen[0] = '\0';
  spawn(&f, 0, "", NULL, 0);
  run(&f);
  assert_string_equal(seen, "42 ");
  close_with(&f, 0, 0);
}

/* A function that travels finds the module again on the other side. */
static void a_function_that_travels_takes_the_module_by_name(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  assert_int_equal(actl_lua_module(f.engine, "host.twice", open_twice), ACTL_OK);
  spawn(&f, 0,
        "local actor, twice = require 'actor', require 'host.twice'\n"
        "host(actor.spawn_on(1, function(x) return twice.double(x), vat end):ask(4))",
        NULL, 0);
  run(&f);
  assert_string_equal(seen, "8 1 ");
  close_with(&f, 0, 0);
}

static void a_name_that_is_taken_is_refused(void **state) {
  (void)state;
  struct fixture f;
  open_fixture(&f);
  assert_int_equal(actl_lua_module(f.engine, "twice", open_twice), ACTL_OK);
  assert_int_equal(actl_lua_module(f.engine, "twice", open_other), ACTL_INVALID);
  static const char *const taken[] = {"actor", "string", "_G", "package", "coroutine", "debug"};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    assert_int_equal(actl_lua_module(f.engine, taken[i], open_other), ACTL_INVALID);
  assert_int_equal(actl_lua_module(f.engine, "nothing", NULL), ACTL_INVALID);
  close_with(&f, 0, 0);

  actl_engine *engine;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  assert_int_equal(actl_lua_module(engine, "twice", open_twice), ACTL_INVALID);
  actl_engine_free(engine);
}

/* ---- Memory ---- */

/* One run in which the n-th request and all later ones fail; true: none did. */
static bool run_failing_from(size_t n) {
  struct test_alloc alloc = {0};
  struct fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->script = PEERS;
  f->host = host_notes;
  f->alloc = test_alloc;
  f->alloc_ud = &alloc;
  seen[0] = '\0';

  test_alloc_fail_from(&alloc, n);
  static const char source[] = "local e = echo()\n"
                               "for i = 1, 20 do e:ask(('x'):rep(i), { i }) end\n"
                               "host(...) return Summing";
  if (fixture_open(f) == ACTL_OK) {
    actl_pid pid = {7};
    actl_status status = actl_lua_spawn_string(f->engine, 0, "=given", source, sizeof source - 1,
                                               ACTL_VALUES(actl_int(1), actl_int(2)), &pid);
    assert_true(status == ACTL_OK || pid.bits == 7);
    if (status == ACTL_OK) actl_engine_run(f->engine);
    fixture_close(f, NULL);
  }
  free(f);
  assert_true(test_alloc_is_clean(&alloc));
  bool has_failed = test_alloc_heal(&alloc);
  assert_true(has_failed || strcmp(seen, "1 2 init 3 ") == 0);
  return !has_failed;
}

static void each_failing_request_leaves_nothing_behind(void **state) {
  (void)state;
  seeds_need_time(100);
  size_t n = 1;
  while (!run_failing_from(n)) n++;
  assert_true(n > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_is_given_its_values),
      cmocka_unit_test(a_function_that_is_returned_handles_the_messages),
      cmocka_unit_test(a_behavior_that_is_returned_gets_the_values_too),
      cmocka_unit_test(a_behavior_without_init_takes_the_values_in_its_source),
      cmocka_unit_test(a_source_may_wait),
      cmocka_unit_test(a_source_that_returns_nothing_ends_its_actor),
      cmocka_unit_test(a_process_may_come_of_a_source),
      cmocka_unit_test(a_source_that_fails_is_an_init_that_fails),
      cmocka_unit_test(what_cannot_be_sent_is_refused_at_once),
      cmocka_unit_test(source_and_name_are_copied),
      cmocka_unit_test(a_file_is_read_by_the_caller),
      cmocka_unit_test(a_large_file_is_read_whole),
      cmocka_unit_test(a_file_that_cannot_be_read_is_refused),
      cmocka_unit_test(a_module_is_known_to_every_machine),
      cmocka_unit_test(a_module_is_there_when_a_machine_is_opened),
      cmocka_unit_test(a_function_that_travels_takes_the_module_by_name),
      cmocka_unit_test(a_name_that_is_taken_is_refused),
      cmocka_unit_test(each_failing_request_leaves_nothing_behind),
  };
  return seeds_main(tests);
}
