/*
 * crew.h - processes that work off numbered jobs, each of which comes to a verdict.
 *
 * Jobs are begun in the order of their numbers, each process taking the next one when it is done with
 * the last: many are done by one process, so a job costs no fork. What a job prints goes nowhere, and a
 * process that dies or hangs in the middle of one has thereby come to that job's verdict, and is
 * replaced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_CREW_H
#define ACTL_COMMAND_CREW_H

#include "command/verdict.h"

#include <stdbool.h>
#include <stdint.h>

enum { CREW_PATIENCE_MS = 60000 };

struct crew {
  uint64_t n_jobs;
  uint32_t processes;   /* 0: one for each processor */
  uint64_t patience_ms; /* real time that a job may take; 0: CREW_PATIENCE_MS */
  void *ud;

  /* Does a job, in a process of the crew. `out` is free. */
  void (*work)(void *ud, uint64_t job, struct verdict *out);

  /* Hears of each job that did not come to VERDICT_DONE, in no order, in the process that called.
   * true: this job is what was looked for, and those after it are not needed. */
  bool (*hear)(void *ud, uint64_t job, const struct verdict *verdict);

  /* Several times a second, with how many jobs are done. NULL: nobody wants to know. */
  void (*tell)(void *ud, uint64_t n_done);
};

struct crew_result {
  uint64_t n_done;        /* jobs that came to a verdict */
  bool was_found;         /* a job was what was looked for: */
  uint64_t found;         /* the first of them by number, which depends neither on how many */
  struct verdict verdict; /* processes there are nor on how fast they were; to be freed */
};

/* Works off the jobs. The caller must have no thread but its own. Ends early when a signal has come
 * (actl__interrupt_signal). NULL: done; otherwise what is wrong, in one line, to be freed. */
char *actl__crew_run(const struct crew *crew, struct crew_result *out);

/* One for each processor. */
uint32_t actl__crew_processors(void);

#endif
