/*
 * test_shrink.c - actorlua shrink: each choice that is left is needed, and the result repeats.
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

#include "command/schedule.h"
#include "command/shorten.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two actors put a letter each; it fails in a way of choice where the second was first. */
static const char turned[] = LOG_AND_PUTTER
    "return { params = { how = 'check' }, run = function(p, report)\n"
    "  local log, a, b = actor.spawn(Log), actor.spawn(Putter), actor.spawn(Putter)\n"
    "  a:send('put', log, 'a')\n"
    "  b:send('put', log, 'b')\n"
    "  a:ask('done') b:ask('done')\n"
    "  local is_turned = log:ask('first') == 'a'\n"
    "  report.check('the first is first', not (is_turned and p.how == 'check'))\n"
    "  if is_turned and p.how == 'lost' then log:send('nobody') end\n"
    "  if is_turned and p.how == 'exit' then os.exit(7) end\n"
    "  if is_turned and p.how == 'abort' then os.execute('kill -ABRT $PPID') end\n"
    "  if p.how == 'always' then error('always') end\n"
    "  return { requested = 1, done = 1, unit = 'case' } end }\n";

/* The first seed that fails, after `from`. */
static const char *failing_seed(const char *set, const char *from) {
  static char seed[32];
  struct ran ran = actorlua("explore", "turned.lua", "--set", set, "--from", from, "--json", NULL);
  assert_ran(ran, ran.status == 1);
  snprintf(seed, sizeof seed, "%s", json_at(ran.out, "failure.seed"));
  return seed;
}

/* The first seed whose run has more than a few choices that differ. */
static const char *wild_seed(const char *set) {
  const char *seed = failing_seed(set, "1");
  for (int i = 0; i < 50; i++) {
    struct ran ran = actorlua("shrink", "turned.lua", "--set", set, "--seed", seed, "--json", NULL);
    assert_ran(ran, ran.status == 0 && json_is_valid(ran.out) && count_lines(ran.out) == 1);
    long differing = strtol(json_at(ran.out, "differing"), NULL, 10);
    if (differing >= 10) return seed;
    char from[32];
    snprintf(from, sizeof from, "%llu", strtoull(seed, NULL, 10) + 1);
    seed = failing_seed(set, from);
  }
  fail_msg("no seed has many choices");
  return seed;
}

/* ---- The result of the command, and what runs with a part of it do ---- */

struct replayed {
  struct attempt attempt;
  struct source source;
  struct options options;
  uint64_t seed;
};

static void replayed_open(struct replayed *out, const char *set, const char *seed) {
  char *argv[] = {(char *)(uintptr_t) "actorlua",
                  (char *)(uintptr_t) "shrink",
                  (char *)(uintptr_t) "turned.lua",
                  (char *)(uintptr_t) "--seed",
                  (char *)(uintptr_t)seed,
                  (char *)(uintptr_t) "--set",
                  (char *)(uintptr_t)set};
  assert_null(actl__options_parse(&out->options, 7, argv));
  bool is_there;
  assert_null(actl__source_read(&out->source, "turned.lua", &is_there));
  actl__attempt_init(&out->attempt, &out->options, &out->source);
  out->seed = strtoull(seed, NULL, 10);
}

static void replayed_close(struct replayed *replayed) {
  actl__source_free(&replayed->source);
  actl__options_free(&replayed->options);
}

static bool fails(const struct replayed *replayed, const struct schedule *schedule) {
  struct player player = {.schedule = schedule};
  const struct attempt_hooks hooks = {.choose = actl__player_choose, .choose_ud = &player};
  struct verdict verdict;
  actl__attempt_run(&replayed->attempt, replayed->seed, &hooks, &verdict);
  bool is_failure = verdict.kind != VERDICT_DONE;
  actl__verdict_free(&verdict);
  return is_failure;
}

static uint64_t number_at(const char *json, const char *key, size_t i) {
  char path[64];
  snprintf(path, sizeof path, "choices.%zu.%s", i, key);
  return strtoull(json_at(json, path), NULL, 10);
}

static struct schedule read_choices(const char *json) {
  size_t n = strtoul(json_at(json, "left"), NULL, 10);
  struct schedule schedule = {calloc(n + 1, sizeof(struct choice)), n};
  assert_non_null(schedule.choices);
  for (size_t i = 0; i < n; i++) {
    schedule.choices[i].at = number_at(json, "number", i);
    schedule.choices[i].value = (uint32_t)number_at(json, "value", i);
    assert_true(schedule.choices[i].value > 0);
    assert_true(schedule.choices[i].value < number_at(json, "of", i));
  }
  return schedule;
}

static void each_choice_that_is_left_is_needed(void **state) {
  (void)state;
  script("turned.lua", turned);
  const char *seed = wild_seed("how=check");
  struct ran ran = actorlua("shrink", "turned.lua", "--seed", seed, "--json", NULL);
  assert_ran(ran, strcmp(json_at(ran.out, "minimal"), "true") == 0);
  assert_ran(ran, strcmp(json_at(ran.out, "kind"), "\"check\"") == 0);
  struct schedule all = read_choices(ran.out);
  long differing = strtol(json_at(ran.out, "differing"), NULL, 10);
  assert_true(all.n >= 1 && (long)all.n < differing);

  struct replayed replayed;
  replayed_open(&replayed, "how=check", seed);
  assert_true(fails(&replayed, &all));
  assert_true(fails(&replayed, &all));
  for (size_t without = 0; without < all.n; without++) {
    struct schedule part;
    actl__schedule_copy(&part, &all);
    for (size_t i = without; i + 1 < part.n; i++) part.choices[i] = part.choices[i + 1];
    part.n--;
    assert_false(fails(&replayed, &part));
    actl__schedule_free(&part);
  }
  actl__schedule_free(&all);
  replayed_close(&replayed);
}

static void what_is_printed_repeats(void **state) {
  (void)state;
  script("turned.lua", turned);
  const char *seed = wild_seed("how=check");
  struct ran ran = actorlua("shrink", "turned.lua", "--seed", seed, NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  char first[128];
  snprintf(first, sizeof first,
           "turned.lua, seed %s: turned.lua:15: the check 'the first is first' failed\n", seed);
  assert_ran(ran, strncmp(ran.out, first, strlen(first)) == 0);
  assert_ran(ran, contains(ran.out, " choices, of which ") && contains(ran.out, " needed ("));
  assert_ran(ran, contains(ran.out, "\n  choice ") && contains(ran.out, "\n>>> choice "));
  assert_ran(ran, contains(ran.out, "  receive  put"));
  char *said = strdup(ran.out);
  ran = actorlua("shrink", "turned.lua", "--seed", seed, NULL);
  assert_ran(ran, strcmp(ran.out, said) == 0);
  free(said);
}

static void the_trace_goes_where_it_is_wanted(void **state) {
  (void)state;
  script("turned.lua", turned);
  const char *seed = failing_seed("how=check", "1");
  struct ran ran = actorlua("shrink", "turned.lua", "--seed", seed, "--trace", "t.txt", NULL);
  assert_ran(ran, ran.status == 0 && contains(ran.out, "  its trace is in t.txt\n"));
  assert_ran(ran, !contains(ran.out, "receive"));
  assert_int_equal(system("grep -q 'receive  put' t.txt"), 0);
  ran = actorlua("shrink", "turned.lua", "--seed", seed, "--trace", "t.json", "--json", NULL);
  assert_ran(ran, ran.status == 0 && json_at(ran.out, "trace")[0] == '\0');
  assert_int_equal(system("grep -q traceEvents t.json"), 0);
  ran = actorlua("shrink", "turned.lua", "--seed", seed, "--json", NULL);
  assert_ran(ran, contains(json_at(ran.out, "trace.0"), "spawn"));
  ran = actorlua("shrink", "turned.lua", "--seed", seed, "--trace", "no/such/t.txt", NULL);
  assert_ran(ran, ran.status == 2 && ran.out[0] == '\0');
  assert_ran(ran, contains(ran.err, "cannot write the trace to no/such/t.txt: No such"));
}

static void other_ways_to_fail_are_shrunk_too(void **state) {
  (void)state;
  script("turned.lua", turned);
  static const char *const ways[][3] = {
      {"how=lost", "\"lost\"", "1 message was lost"},
      {"how=exit", "\"process\"", "the process ended with status 7"},
      {"how=abort", "\"process\"", "killed by signal 6"},
  };
  for (size_t i = 0; i < 3; i++) {
    const char *seed = failing_seed(ways[i][0], "1");
    struct ran ran =
        actorlua("shrink", "turned.lua", "--set", ways[i][0], "--seed", seed, "--json", NULL);
    assert_ran(ran, ran.status == 0 && json_is_valid(ran.out));
    assert_ran(ran, strcmp(json_at(ran.out, "kind"), ways[i][1]) == 0);
    assert_ran(ran, contains(json_at(ran.out, "text"), ways[i][2]));
    assert_ran(ran, strcmp(json_at(ran.out, "minimal"), "true") == 0);
    assert_ran(ran, strtol(json_at(ran.out, "left"), NULL, 10) >= 1);
    assert_ran(ran, contains(json_at(ran.out, "trace.0"), "spawn"));
  }
}

static void what_fails_in_any_order_needs_no_choice(void **state) {
  (void)state;
  script("turned.lua", turned);
  struct ran ran = actorlua("shrink", "turned.lua", "--set", "how=always", "--seed", "3", NULL);
  assert_ran(ran, ran.status == 0);
  assert_ran(ran, contains(ran.out, ": none is needed, it fails in the plain order too ("));
  assert_ran(ran, !contains(ran.out, "choice ") && contains(ran.out, "exit"));
}

static void where_there_is_nothing_to_shrink_it_says_so(void **state) {
  (void)state;
  script("turned.lua", turned);
  struct ran ran = actorlua("shrink", "turned.lua", "--set", "how=none", "--seed", "3", NULL);
  assert_ran(ran, ran.status == 1 && ran.out[0] == '\0' && count_lines(ran.err) == 1);
  assert_ran(ran, contains(ran.err, "turned.lua does not fail with seed 3"));
  ran = actorlua("shrink", "turned.lua", "--set", "hwo=x", "--seed", "3", "--json", NULL);
  assert_ran(ran, ran.status == 2 && json_is_valid(ran.out));
  assert_ran(ran, contains(json_at(ran.out, "error"), "did you mean 'how'?"));
  ran = actorlua("shrink", "not-there.lua", "--seed", "3", NULL);
  assert_ran(ran, ran.status == 2 && contains(ran.err, "cannot read not-there.lua"));
  script("wrong.lua", "local x = = 1\n");
  ran = actorlua("shrink", "wrong.lua", "--seed", "3", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "wrong.lua:1: unexpected symbol"));
}

/* Every third run fails, whatever the seed. */
static void a_run_that_depends_on_more_than_the_seed_is_told_of(void **state) {
  (void)state;
  script("moods.lua", "local f = io.open('mood') or io.open('/dev/null')\n"
                      "local n = tonumber(f:read('a')) or 0\n"
                      "f:close()\n"
                      "f = io.open('mood', 'w') f:write(n + 1) f:close()\n"
                      "if n % 3 == 0 then error('mood') end\n");
  unlink("mood");
  struct ran ran = actorlua("shrink", "moods.lua", "--seed", "3", NULL);
  assert_ran(ran, ran.status == 1 && ran.out[0] == '\0' && count_lines(ran.err) == 1);
  assert_ran(ran, contains(ran.err, "does not fail again with seed 3 and the same choices"));
}

static void ctrl_c_tells_how_far_it_came(void **state) {
  (void)state;
  script("slow.lua", "local actor = require 'actor'\n"
                     "local f = io.open('runs', 'a') f:write('x') f:close()\n"
                     "local a = {}\n"
                     "for i = 1, 100 do a[i] = actor.spawn(function() actor.sleep(i) end) end\n"
                     "for i = 1, 100 do a[i]:send() end\n"
                     "local f = io.open('runs') local n = #f:read('a') f:close()\n"
                     "while n > 2 and os.execute('sleep 0.01') do end\n"
                     "error('always')\n");
  unlink("runs");
  static const char *const arguments[] = {"shrink", "slow.lua", "--seed", "1", NULL};
  struct started started = start_actorlua(-1, arguments);
  while (system("test -e runs && test $(wc -c <runs) -gt 2") != 0) usleep(10000);
  kill(started.pid, SIGINT);
  static char out[65536];
  read_all(started.out, out, sizeof out);
  assert_int_equal(wait_for(started.pid), 130);
  assert_true(contains(out, "slow.lua, seed 1: ") && contains(out, ", then interrupted)"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_choice_that_is_left_is_needed),
      cmocka_unit_test(what_is_printed_repeats),
      cmocka_unit_test(the_trace_goes_where_it_is_wanted),
      cmocka_unit_test(other_ways_to_fail_are_shrunk_too),
      cmocka_unit_test(what_fails_in_any_order_needs_no_choice),
      cmocka_unit_test(where_there_is_nothing_to_shrink_it_says_so),
      cmocka_unit_test(a_run_that_depends_on_more_than_the_seed_is_told_of),
      cmocka_unit_test(ctrl_c_tells_how_far_it_came),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
