/*
 * letters.h - dead letters: how many there were of each reason, and the first that was lost.
 *
 * A message is lost when nobody had it: what its actor failed of, and what a shutdown leaves, is
 * accounted for otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_LETTERS_H
#define ACTL_COMMAND_LETTERS_H

#include "command/text.h"

#include "actl.h"

/* The reason as actl_status_name has it: "no_actor". */
const char *actl__letters_name(actl_letter reason);

/* All of them; and those that were lost. */
uint64_t actl__letters_total(const actl_stats *stats);
uint64_t actl__letters_lost(const actl_stats *stats);

/* "2 no_actor, 1 unhandled": all of them, or those that were lost. */
void actl__letters_print(struct text *out, const actl_stats *stats, bool only_lost);

/* The first line of a trace, as text, that tells of a lost message, without the blanks before it; its
 * size, 0: there is none. */
size_t actl__letters_find(const char *trace, const char **line);

#endif
