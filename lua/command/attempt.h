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
#include "command/verdict.h"

#include "actl.h"

enum { ATTEMPT_STEPS = 1000000 }; /* after which a run counts as one that does not become quiet */

struct attempt {
  struct options options; /* its pointers are those of the options it was made of */
  const struct source *source;
};

/* Both must outlive it. */
void actl__attempt_init(struct attempt *out, const struct options *options,
                        const struct source *source);

/* Makes one run. `choose` decides in place of the seed; NULL: the seed does. `out` is to be freed. */
void actl__attempt_run(const struct attempt *attempt, uint64_t seed, actl_choose_fn choose,
                       void *choose_ud, struct verdict *out);

#endif
