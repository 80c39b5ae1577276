/*
 * list.h - the `list` command.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_LIST_H
#define ACTL_COMMAND_LIST_H

#include "command/options.h"

#include <stdio.h>

/* Shows the scenarios of the folder that the options name, or of the usual one. Returns the exit
 * status. */
int actl__list(const struct options *options, FILE *out);

#endif
