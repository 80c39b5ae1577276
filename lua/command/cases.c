/*
 * cases.c - reads what processes say of cases.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/cases.h"

#include "command/again.h"
#include "command/memo.h"
#include "command/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char *copy(const char *text) { return actl__text_copy(text, strlen(text)); }

static void replace(char **at, char *text) {
  free(*at);
  *at = text;
}

/* ---- Ends of processes -------------------------------------------------------------------------- */

/* Why a process that did not say what came of its work has ended; to be freed. */
static char *describe_end(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return actl__text_format("has not ended after %d seconds", CASE_SECONDS);
  if (WIFSIGNALED(status))
    return actl__text_format("its process was ended by signal %d (%s)", WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
  return actl__text_format("its process ended, with status %d; was os.exit called?",
                           WEXITSTATUS(status));
}

static bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

static void end_free(struct job_end *end) {
  actl__text_free(&end->memo);
  actl__text_free(&end->printed);
}

/* ---- Files -------------------------------------------------------------------------------------- */

static struct test_case *add_case(struct test_file *file, const char *name) {
  size_t n = file->n_cases + 1;
  file->cases = actl__text_room(file->cases, n * sizeof *file->cases);
  struct test_case *test = &file->cases[file->n_cases++];
  *test = (struct test_case){.file = file, .name = copy(name)};
  return test;
}

void actl__cases_refuse(struct test_file *file, const char *message) {
  for (size_t i = 0; i < file->n_cases; i++) free(file->cases[i].name);
  file->n_cases = 0;
  struct test_case *test = add_case(file, file->run.path);
  test->is_file = true;
  actl__case_refuse(test, message);
}

void actl__cases_read(struct test_file *file, struct job_end *end) {
  struct memo memo;
  char *problem = NULL;
  bool has_ended = false;
  for (size_t at = 0; actl__memo_next(&end->memo, &at, &memo);) {
    struct test_case *last = file->n_cases == 0 ? NULL : &file->cases[file->n_cases - 1];
    if (strcmp(memo.key, ACTL_TRIAL_NAME) == 0) add_case(file, memo.bytes);
    if (strcmp(memo.key, ACTL_TRIAL_LINE) == 0 && last != NULL)
      last->line = actl__memo_value(&memo);
    if (strcmp(memo.key, ACTL_TRIAL_SKIP) == 0 && last != NULL) last->outcome = OUTCOME_SKIPPED;
    if (strcmp(memo.key, ACTL_TRIAL_MESSAGE) == 0) replace(&problem, copy(memo.bytes));
    if (strcmp(memo.key, ACTL_TRIAL_OUTCOME) == 0) has_ended = true;
  }
  if (problem == NULL && (!has_ended || !ended_well(end->status)))
    problem = describe_end(end->status);
  if (problem != NULL) {
    actl__cases_refuse(file, problem);
    file->cases[0].printed = copy(end->printed.bytes);
  }
  free(problem);
  end_free(end);
}

static void case_free(struct test_case *test) {
  free(test->name);
  free(test->message);
  free(test->fault_file);
  free(test->found);
  free(test->wanted);
  free(test->traceback);
  free(test->log);
  free(test->trace);
  free(test->printed);
}

void actl__cases_free(struct test_file *file) {
  for (size_t i = 0; i < file->n_cases; i++) case_free(&file->cases[i]);
  free(file->cases);
  actl__run_free(&file->run);
}

/* ---- Cases -------------------------------------------------------------------------------------- */

void actl__case_refuse(struct test_case *test, const char *message) {
  test->outcome = OUTCOME_ERROR;
  replace(&test->message, copy(message));
}

static enum outcome outcome_of(const char *word) {
  if (strcmp(word, ACTL_TRIAL_PASSED) == 0) return OUTCOME_PASSED;
  return strcmp(word, ACTL_TRIAL_FAILED) == 0 ? OUTCOME_FAILED : OUTCOME_ERROR;
}

static void take(struct test_case *test, const struct memo *memo) {
  const struct {
    const char *key;
    char **at;
  } texts[] = {
      {ACTL_TRIAL_MESSAGE, &test->message}, {ACTL_TRIAL_FILE, &test->fault_file},
      {ACTL_TRIAL_FOUND, &test->found},     {ACTL_TRIAL_WANTED, &test->wanted},
      {ACTL_TRIAL_LOG, &test->log},         {ACTL_TRIAL_TRACEBACK, &test->traceback},
      {ACTL_TRIAL_TRACE, &test->trace},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (strcmp(memo->key, texts[i].key) == 0) replace(texts[i].at, copy(memo->bytes));

  if (strcmp(memo->key, ACTL_TRIAL_LINE) == 0) test->fault_line = actl__memo_value(memo);
  if (strcmp(memo->key, ACTL_TRIAL_OUTCOME) == 0) test->outcome = outcome_of(memo->bytes);
  if (strcmp(memo->key, ACTL_TRIAL_SEED) != 0) return;
  test->seed = actl__memo_value(memo);
  test->n_seeds++;
}

void actl__case_read(struct test_case *test, struct job_end *end) {
  struct memo memo;
  for (size_t at = 0; actl__memo_next(&end->memo, &at, &memo);) take(test, &memo);
  if (test->outcome == OUTCOME_NONE ||
      (test->outcome == OUTCOME_PASSED && !ended_well(end->status))) {
    char *problem = describe_end(end->status);
    actl__case_refuse(test, problem);
    free(problem);
  }
  test->printed = copy(end->printed.bytes);
  end_free(end);
}

bool actl__case_is_bad(const struct test_case *test) {
  return test->outcome == OUTCOME_FAILED || test->outcome == OUTCOME_ERROR;
}

char *actl__case_command(const struct test_case *test) {
  const struct options *options = test->file->run.options;
  struct text text = {0};
  actl__text_print(&text, "actorlua test ");
  if (test->file->run.path[0] == '-') actl__text_print(&text, "./");
  actl__again_word(&text, test->file->run.path);
  if (!test->is_file) {
    actl__text_print(&text, " --only ");
    actl__again_word(&text, test->name);
  }
  if (options->is_threaded) actl__text_print(&text, " --threaded");
  if (!options->is_threaded && test->n_seeds > 0)
    actl__text_print(&text, " --seed %" PRIu64, test->seed);
  if (options->vats != 0) actl__text_print(&text, " --vats %" PRIu32, options->vats);
  if (options->workers > 1) actl__text_print(&text, " --workers %" PRIu32, options->workers);
  if (options->max_steps != 0) actl__text_print(&text, " --steps %" PRIu64, options->max_steps);
  if (options->scatters) actl__text_print(&text, " --scatter");
  if (options->is_strict) actl__text_print(&text, " --strict");
  return text.bytes;
}
