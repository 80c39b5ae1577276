/*
 * test.c - runs the cases in test files.
 *
 *   read all files --> list their cases --> run the cases, in several processes --> show them in order
 *
 * Each case has a process of its own, in which each seed has an engine of its own: what a case does to
 * its process is its own affair.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/test.h"

#include "command/cases.h"
#include "command/console.h"
#include "command/junit.h"
#include "command/memo.h"
#include "command/run.h"
#include "command/tap.h"
#include "command/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
  const struct options *options;
  FILE *out;
  struct test_file *files;
  size_t n_files;
  struct jobs jobs;

  struct test_case **cases; /* those to be run or skipped, in order */
  size_t n_cases;
  size_t n_started, n_shown;
};

/* ---- Listing ------------------------------------------------------------------------------------ */

static void list_file(void *ud, int memo) {
  struct test_file *file = ud;
  struct stage stage;
  alarm(CASE_SECONDS);
  actl__stage_open(&stage, &file->run);
  actl__trial_list(&stage, memo);
  actl__stage_close(&stage);
}

/* False: a signal came. */
static bool list_cases(struct session *s, struct test_file *file) {
  if (!actl__run_read(&file->run)) {
    actl__cases_refuse(file, file->run.error);
    return true;
  }
  if (!actl__jobs_start(&s->jobs, list_file, file)) {
    actl__cases_refuse(file, strerror(errno));
    return true;
  }
  struct job_end end;
  if (!actl__jobs_wait(&s->jobs, &end)) return false;
  actl__cases_read(file, &end);
  return true;
}

static bool is_wanted(const struct session *s, const struct test_case *test) {
  const char *only = s->options->only;
  return only == NULL || test->is_file || strstr(test->name, only) != NULL;
}

static void choose_cases(struct session *s) {
  for (size_t i = 0; i < s->n_files; i++) {
    struct test_file *file = &s->files[i];
    for (size_t j = 0; j < file->n_cases; j++) {
      if (!is_wanted(s, &file->cases[j])) continue;
      s->cases = actl__text_room(s->cases, (s->n_cases + 1) * sizeof *s->cases);
      s->cases[s->n_cases++] = &file->cases[j];
    }
  }
}

/* ---- Running ------------------------------------------------------------------------------------ */

static uint64_t last_seed(const struct options *options) {
  if (options->is_seeded) return options->seed;
  return options->is_threaded || options->seeds == 0 ? 1 : options->seeds;
}

static void run_case(void *ud, int memo) {
  struct test_case *test = ud;
  const struct options *options = test->file->run.options;
  struct stage stage;
  actl__stage_open(&stage, &test->file->run);
  uint64_t last = last_seed(options), seed = options->is_seeded ? last : 1;
  bool is_passed = true;
  for (bool is_last = false; is_passed && !is_last; seed++) {
    actl__jobs_reprint();
    actl__memo_number(memo, ACTL_TRIAL_SEED, seed);
    alarm(CASE_SECONDS);
    is_passed = actl__trial_run(&stage, test->name, seed, memo);
    is_last = seed == last;
  }
  if (is_passed) actl__memo_write(memo, ACTL_TRIAL_OUTCOME, ACTL_TRIAL_PASSED);
  actl__stage_close(&stage);
}

static void start_next(struct session *s) {
  struct test_case *test = s->cases[s->n_started++];
  if (test->outcome != OUTCOME_NONE) return; /* skipped, or of a file that cannot be loaded */
  test->began_ns = actl__span_now(NULL).wall_ns;
  if (!actl__jobs_start(&s->jobs, run_case, test)) actl__case_refuse(test, strerror(errno));
}

/* The cases that are next in the order and are done. */
static void show_done(struct session *s) {
  for (; s->n_shown < s->n_started; s->n_shown++) {
    const struct test_case *test = s->cases[s->n_shown];
    if (test->outcome == OUTCOME_NONE) break;
    bool is_first = s->n_shown == 0 || s->cases[s->n_shown - 1]->file != test->file;
    if (is_first && !s->options->is_quiet) actl__tap_comment(s->out, test->file->run.path);
    if (!s->options->is_quiet || actl__case_is_bad(test))
      actl__tap_case(s->out, test, s->n_shown + 1);
  }
  fflush(s->out);
}

/* False: a signal came. */
static bool run_cases(struct session *s) {
  while (s->n_shown < s->n_cases) {
    while (s->n_started < s->n_cases && s->jobs.n_running < s->jobs.n_places) start_next(s);
    if (s->jobs.n_running > 0) {
      struct job_end end;
      if (!actl__jobs_wait(&s->jobs, &end)) return false;
      struct test_case *test = end.ud;
      test->ns = actl__span_now(NULL).wall_ns - test->began_ns;
      actl__case_read(test, &end);
    }
    show_done(s);
  }
  return true;
}

/* ---- The results -------------------------------------------------------------------------------- */

static size_t count(const struct session *s, enum outcome outcome) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_cases; i++)
    if (s->cases[i]->outcome == outcome) n++;
  return n;
}

static void show_summary(const struct session *s, uint64_t ns) {
  if (s->options->is_quiet) return;
  size_t n_failed = count(s, OUTCOME_FAILED) + count(s, OUTCOME_ERROR);
  fprintf(s->out, "# %zu passed, %zu failed, %zu skipped; ", count(s, OUTCOME_PASSED), n_failed,
          count(s, OUTCOME_SKIPPED));
  if (s->options->is_threaded) {
    fprintf(s->out, "threaded; ");
  } else if (s->options->is_seeded) {
    fprintf(s->out, "seed %llu; ", (unsigned long long)s->options->seed);
  } else {
    fprintf(s->out, "seeds 1 to %llu; ", (unsigned long long)last_seed(s->options));
  }
  fprintf(s->out, "%.2f s\n", (double)ns / 1e9);
}

static int judge(const struct session *s) {
  int worst = STATUS_DONE;
  for (size_t i = 0; i < s->n_files; i++)
    if (s->files[i].run.status > worst) worst = s->files[i].run.status;
  if (worst == STATUS_DONE && count(s, OUTCOME_FAILED) + count(s, OUTCOME_ERROR) > 0)
    worst = STATUS_FAILED;
  if (s->n_cases > 0) return worst;

  if (s->options->only != NULL) {
    actl__console_say("test: no case has '%s' in its name", s->options->only);
  } else {
    actl__console_say("test: there are no cases: test.it makes one, see require \"actor.test\"");
  }
  return STATUS_FAILED;
}

static bool write_junit(const struct session *s, FILE *file) {
  actl__junit_write(file, s->files, s->n_files);
  bool is_written = ferror(file) == 0;
  if (fclose(file) == 0 && is_written) return true;
  actl__console_say("cannot write %s: %s", s->options->junit, strerror(errno));
  return false;
}

static int stop(const struct session *s) {
  fprintf(s->out, "Bail out! stopped by a signal\n");
  actl__console_say("stopped by a signal");
  return 128 + s->jobs.signal;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static int run_session(struct session *s) {
  uint64_t began_ns = actl__span_now(NULL).wall_ns;
  for (size_t i = 0; i < s->n_files; i++)
    if (!list_cases(s, &s->files[i])) return stop(s);
  choose_cases(s);
  if (!s->options->is_quiet) actl__tap_begin(s->out, s->n_cases);
  if (!run_cases(s)) return stop(s);
  show_summary(s, actl__span_now(NULL).wall_ns - began_ns);
  return judge(s);
}

static void session_open(struct session *out, const struct options *options, FILE *stream) {
  *out = (struct session){.options = options, .out = stream, .n_files = options->n_files};
  out->files = actl__text_room(NULL, out->n_files * sizeof *out->files);
  for (size_t i = 0; i < out->n_files; i++) {
    out->files[i] = (struct test_file){0};
    actl__run_new(&out->files[i].run, options, options->files[i], NULL);
  }
  actl__jobs_open(&out->jobs, options->jobs);
}

static void session_close(struct session *s) {
  actl__jobs_close(&s->jobs);
  for (size_t i = 0; i < s->n_files; i++) actl__cases_free(&s->files[i]);
  free(s->files);
  free(s->cases);
}

int actl__test(const struct options *options, FILE *out) {
  FILE *junit = NULL;
  if (options->junit != NULL) {
    junit = fopen(options->junit, "w");
    if (junit == NULL) {
      actl__console_say("cannot write %s: %s", options->junit, strerror(errno));
      return STATUS_USAGE;
    }
  }
  struct session session;
  session_open(&session, options, out);
  int status = run_session(&session);
  if (junit != NULL && !write_junit(&session, junit) && status == STATUS_DONE)
    status = STATUS_FAILED;
  session_close(&session);
  return status;
}
