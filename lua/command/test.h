/*
 * test.h - runs the cases in test files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TEST_H
#define ACTL_COMMAND_TEST_H

#include "command/options.h"

#include <stdio.h>

/* Returns the exit status. */
int actl__test(const struct options *options, FILE *out);

#endif
