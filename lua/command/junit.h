/*
 * junit.h - results as JUnit XML, as build servers read it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_JUNIT_H
#define ACTL_COMMAND_JUNIT_H

#include "command/cases.h"

#include <stdio.h>

void actl__junit_write(FILE *out, const struct test_file *files, size_t n);

#endif
