/*
 * again.h - the command lines that make a run again, for a shell.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_AGAIN_H
#define ACTL_COMMAND_AGAIN_H

#include "command/options.h"
#include "command/text.h"

/* Adds `word`, quoted where a shell would read it otherwise. */
void actl__again_word(struct text *out, const char *word);

/* The run with this seed that `explore` or `shrink` with these options made, as a run by itself;
 * `max_steps` 0: without a limit. */
void actl__again_run(struct text *out, const struct options *options, uint64_t seed,
                     uint64_t max_steps);

/* What shrinks it. */
void actl__again_shrink(struct text *out, const struct options *options, uint64_t seed);

#endif
