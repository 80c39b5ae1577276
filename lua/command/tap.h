/*
 * tap.h - results as TAP, version 14.
 *
 *   TAP version 14
 *   1..2
 *   # bank.lua
 *   ok 1 - account > takes deposits # time=2.1ms
 *   not ok 2 - account > pays # time=1.0ms
 *     ---
 *     message: "found 6, wanted 5"
 *     ...
 *
 * What a case printed stands before it, as comments.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TAP_H
#define ACTL_COMMAND_TAP_H

#include "command/cases.h"

#include <stdio.h>

void actl__tap_begin(FILE *out, size_t n);

/* `number` from 1 on. */
void actl__tap_case(FILE *out, const struct test_case *test, size_t number);

/* A line of a comment. */
void actl__tap_comment(FILE *out, const char *text);

#endif
