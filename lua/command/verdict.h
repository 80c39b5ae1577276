/*
 * verdict.h - what came of one run of a file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_VERDICT_H
#define ACTL_COMMAND_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* Code, name in JSON, and what several of them are called. */
#define ACTL_VERDICTS(X)                                                                           \
  X(DONE, "done", "runs that found nothing")                                                       \
  X(USAGE, "usage", "wrong command lines")                                                         \
  X(FILE, "file", "wrong files")                                                                   \
  X(CHECK, "check", "failed checks")                                                               \
  X(ACTOR, "actor", "failed actors")                                                               \
  X(DEADLOCK, "deadlock", "deadlocks")                                                             \
  X(RESULT, "result", "runs that did not do their work")                                           \
  X(LOST, "lost", "runs that lost messages")                                                       \
  X(STEPS, "steps", "runs that did not become quiet")                                              \
  X(ENGINE, "engine", "runs that the engine could not make")                                       \
  X(PROCESS, "process", "processes that ended in the middle of a run")                             \
  X(HUNG, "hung", "processes that hung")

enum verdict_kind {
#define ACTL_VERDICT_CODE(code, name, several) VERDICT_##code,
  ACTL_VERDICTS(ACTL_VERDICT_CODE)
#undef ACTL_VERDICT_CODE
      VERDICTS
};

struct verdict {
  enum verdict_kind kind;
  char *text;         /* the first thing that went wrong, lines as `run` says them; NULL: nothing */
  char *check;        /* VERDICT_CHECK: its name; else NULL */
  uint64_t n_choices; /* how many were made; 0 also where that is not known */
};

/* Both are to be freed then; what `out` had is not. */
void actl__verdict_copy(struct verdict *out, const struct verdict *verdict);
void actl__verdict_free(struct verdict *verdict);

const char *actl__verdict_name(enum verdict_kind kind);
const char *actl__verdict_several(enum verdict_kind kind);

/* Whether the two are the same failure: of one kind, of the same check, or with the same first line but
 * for pids, addresses and other numbers (a line's number in a file counts). */
bool actl__verdict_is_same(const struct verdict *a, const struct verdict *b);

#endif
