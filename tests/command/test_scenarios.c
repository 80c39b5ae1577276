/*
 * test_scenarios.c - every scenario of scenarios/ runs small, near and far, in Lua and in C, with
 * one worker and two, and in each of its other forms.
 *
 * A new file there is tested from its first day: what it takes is read from what `list` says of it.
 *
 * ctest: timeout 600
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

/* Sizes that make a run short; a scenario is given those of them that it has. */
static const char *const sizes[] = {"leaves=1000", "exchanges=500", "messages=1000", "actors=100",
                                    "hops=50",     "requests=20",   "rounds=3",      "pairs=2",
                                    "asks=100",    "callers=20",    "batches=3",     "warm_up=2",
                                    "rate=20000",  "seconds=0.05",  "wait=500"};
enum { N_SIZES = sizeof sizes / sizeof sizes[0], WORDS = 40 };

/* What a scenario of that parameter can be set to beside its default. */
static const struct form {
  const char *setting;
  bool is_lua; /* it has no native behaviors */
} forms[] = {{"caller=outside", false}, {"form=process", true}};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

struct setup {
  bool is_native, is_far, is_named;
  const char *workers;
  const char *form; /* NULL: the default */
};

/* The parameter, or the one that a setting sets. */
static bool has_param(const char *listed, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "params.%.*s", (int)strcspn(name, "="), name);
  return json_at(listed, path)[0] != '\0';
}

static void set(const char **words, size_t *n, const char *setting) {
  words[(*n)++] = "--set";
  words[(*n)++] = setting;
}

/* Runs the file of a listed scenario and asserts that it gives a rate. */
static void run_one(const char *listed, const char *file, struct setup setup) {
  const char *words[WORDS] = {file, "--json", "--vats", "2", "--workers", setup.workers};
  size_t n = 6;
  if (setup.is_native) set(words, &n, "behavior=native");
  if (setup.is_far) set(words, &n, "far=true");
  if (setup.is_named) set(words, &n, "named=true");
  if (setup.form != NULL) set(words, &n, setup.form);
  for (size_t i = 0; i < N_SIZES; i++) {
    if (has_param(listed, sizes[i])) set(words, &n, sizes[i]);
  }

  struct started started = start_actorlua(-1, words);
  static char out[65536];
  size_t size = read_all(started.out, out, sizeof out);
  int status = wait_for(started.pid);
  const char *err = read_stderr();
  bool is_good = status == 0 && size > 0 && json_is_valid(out) && count_lines(out) == 1 &&
                 !contains(err, "actorlua:") && atof(json_at(out, "ns_per_op")) > 0;
  if (!is_good) {
    print_error("%s:%s%s%s %s with %s workers: status %d\n%s%s\n", file,
                setup.is_native ? " native" : " lua", setup.is_far ? " far" : " near",
                setup.is_named ? " named" : "", setup.form != NULL ? setup.form : "", setup.workers,
                status, out, err);
  }
  assert_true(is_good);
  if (setup.is_far) assert_true(atof(json_at(out, "engine.far_messages")) > 0);
  assert_string_equal(json_at(out, "behavior"), setup.is_native ? "\"native\"" : "\"lua\"");
}

static void run_each_way(const char *listed, const char *file, const struct form *form) {
  static const char *const workers[] = {"1", "2"};
  bool can_native = has_param(listed, "behavior"), can_far = has_param(listed, "far"),
       can_name = has_param(listed, "named");
  for (unsigned way = 0; way < 16; way++) {
    struct setup setup = {(way & 1) != 0, (way & 2) != 0, (way & 4) != 0, workers[way >> 3],
                          form != NULL ? form->setting : NULL};
    bool is_possible = (can_native || !setup.is_native) && (can_far || !setup.is_far) &&
                       (can_name || !setup.is_named) && !(setup.is_native && setup.is_named) &&
                       !(setup.is_native && form != NULL && form->is_lua);
    if (is_possible) run_one(listed, file, setup);
  }
}

static void every_scenario_gives_a_rate_each_way(void **state) {
  (void)state;
  struct ran ran = actorlua("list", SOURCE_DIR "/scenarios", "--json", NULL);
  assert_ran(ran, ran.status == 0 && count_lines(ran.out) >= 6);

  char *list = strdup(ran.out), *rest = NULL;
  assert_non_null(list);
  for (char *line = strtok_r(list, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    assert_true(json_is_valid(line));
    char file[1024];
    snprintf(file, sizeof file, "%s", json_at(line, "file") + 1);
    file[strlen(file) - 1] = '\0';
    run_each_way(line, file, NULL);
    for (size_t i = 0; i < N_FORMS; i++) {
      if (has_param(line, forms[i].setting)) run_each_way(line, file, &forms[i]);
    }
  }
  free(list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scenario_gives_a_rate_each_way),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
