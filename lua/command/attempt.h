/*
 * attempt.h - one run of a file in this process, for its verdict alone.
 *
 * Each has an engine of its own, with a seed, scattered and strict, and says nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_ATTEMPT_H
#define ACTL_COMMAND_ATTEMPT_H

#include "command/options.h"
#include "command/source.h"
#include "command/trace.h"
#include "command/verdict.h"

#include "actl.h"

enum { ATTEMPT_STEPS = 1000000 }; /* after which a run counts as one that does not become quiet */

struct attempt {
  struct options options; /* its pointers are those of the options it was made of */
  const struct source *source;
};

/* NULL, and all that is 0: nothing of that. */
struct attempt_hooks {
  actl_choose_fn choose; /* decides in place of the seed */
  void *choose_ud;
  struct trace *trace; /* is told, and closed */
};

/* Both must outlive the attempt. */
void actl__attempt_init(struct attempt *out, const struct options *options,
                        const struct source *source);

/* Makes one run; `hooks` may be NULL. `out` is to be freed. */
void actl__attempt_run(const struct attempt *attempt, uint64_t seed,
                       const struct attempt_hooks *hooks, struct verdict *out);

#endif
