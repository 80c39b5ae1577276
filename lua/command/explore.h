/*
 * explore.h - runs a file with many seeds, in several processes, until one fails.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_EXPLORE_H
#define ACTL_COMMAND_EXPLORE_H

#include "command/options.h"

#include <stdio.h>

/* Returns the exit status. */
int actl__explore(const struct options *options, FILE *out);

#endif
