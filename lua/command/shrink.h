/*
 * shrink.h - makes a failing run as plain as it can be, and shows it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SHRINK_H
#define ACTL_COMMAND_SHRINK_H

#include "command/options.h"

#include <stdio.h>

/* Returns the exit status. */
int actl__shrink(const struct options *options, FILE *out);

#endif
