/*
 * shorten.h - finds a part of a failing run's choices with which it still fails in the same way.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SHORTEN_H
#define ACTL_COMMAND_SHORTEN_H

#include "command/attempt.h"
#include "command/schedule.h"

enum { SHORTEN_RUNS = 100000 }; /* after which it ends with what it has */

struct shorten {
  /* Set by the caller. */
  const struct attempt *attempt;
  uint64_t seed;
  const struct verdict *target;
  struct schedule best; /* a run with these fails as `target` does; the last such one in the end */
  void (*tell)(void *ud, const struct shorten *shorten); /* of how far it has come; NULL: nobody */
  void *tell_ud;

  /* Begins as 0. */
  uint64_t n_runs;
  bool is_minimal; /* without any one of `best` the run does not fail in that way */
};

/* NULL: done, or ended by a signal; otherwise what is wrong, in one line, to be freed. */
char *actl__shorten(struct shorten *shorten);

#endif
