/*
 * cases.h - test files, their cases, and what came of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_CASES_H
#define ACTL_COMMAND_CASES_H

#include "command/jobs.h"
#include "command/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
  OUTCOME_NONE, /* not known yet */
  OUTCOME_PASSED,
  OUTCOME_SKIPPED,
  OUTCOME_FAILED, /* an assertion */
  OUTCOME_ERROR   /* anything else */
};

/* Texts are NULL where nothing is known. */
struct test_case {
  struct test_file *file;
  char *name;    /* for a file that cannot be loaded its path, and then it is the only one */
  bool is_file;  /* it stands for a file that could not be loaded */
  uint64_t line; /* where it is made; 0: not known */

  enum outcome outcome;
  uint32_t n_seeds; /* that it was run with */
  uint64_t seed;    /* the last of them */
  uint64_t began_ns, ns;
  char *message;       /* what went wrong, in one line */
  char *fault_file;    /* where, */
  uint64_t fault_line; /* and the line */
  char *found, *wanted, *traceback, *log, *trace;
  char *printed;
};

struct test_file {
  struct run run; /* its path and its source */
  struct test_case *cases;
  size_t n_cases;
};

/* What a process that lists the file's cases left behind (actl__trial_list). Takes the texts. */
void actl__cases_read(struct test_file *file, struct job_end *end);

/* A file that is not there. */
void actl__cases_refuse(struct test_file *file, const char *message);

/* What a process that ran the case left behind (actl__trial_run, for each seed). Takes the texts. */
void actl__case_read(struct test_case *test, struct job_end *end);

/* The same where no process could be made. */
void actl__case_refuse(struct test_case *test, const char *message);

void actl__cases_free(struct test_file *file);

bool actl__case_is_bad(const struct test_case *test);

/* The command that repeats it, to be freed. */
char *actl__case_command(const struct test_case *test);

enum { CASE_SECONDS = 120 }; /* that a run of a case may take, of real time */

#endif
