/*
 * trial.h - a test file in an engine of its own: what cases it has, or one run of one of them.
 *
 * For a process that does nothing else: what is printed meanwhile goes to its stdout, and what comes of
 * it to a memo. A run fails for
 *
 *   an assertion or an error in the case      the first one counts
 *   a failure or a deadlock in the log        that no test.expect_failure announced
 *   one that was announced and did not come
 *   a case that never returns                 or is not quiet within the steps it has
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRIAL_H
#define ACTL_COMMAND_TRIAL_H

#include "command/run.h"

#include <stdbool.h>
#include <stdint.h>

/* What the memo has. Of a list: NAME, LINE and, where it is left out, SKIP, for each case; or MESSAGE
 * alone. Of a run: SEED when it begins; then OUTCOME, and, unless it passed, what is known of why. */
#define ACTL_TRIAL_NAME "name"
#define ACTL_TRIAL_LINE "line"
#define ACTL_TRIAL_SKIP "skip"
#define ACTL_TRIAL_SEED "seed"
#define ACTL_TRIAL_OUTCOME "outcome"
#define ACTL_TRIAL_MESSAGE "message"
#define ACTL_TRIAL_FILE "file"
#define ACTL_TRIAL_FOUND "found"
#define ACTL_TRIAL_WANTED "wanted"
#define ACTL_TRIAL_TRACEBACK "traceback"
#define ACTL_TRIAL_LOG "log"
#define ACTL_TRIAL_TRACE "trace"

/* What OUTCOME says. */
#define ACTL_TRIAL_PASSED "passed"
#define ACTL_TRIAL_FAILED "failed" /* an assertion */
#define ACTL_TRIAL_ERROR "error"   /* anything else */

/* What all runs in a process share. */
struct stage {
  struct run *run;       /* whose file has been read (actl__run_read) */
  struct text kit, same; /* compiled: a run loads them several times */
};

void actl__stage_open(struct stage *out, struct run *run);
void actl__stage_close(struct stage *stage);

void actl__trial_list(const struct stage *stage, int memo);

/* Runs the case of that name once; `seed` is not used with --threaded. Returns whether it passed. */
bool actl__trial_run(const struct stage *stage, const char *name, uint64_t seed, int memo);

#endif
