/*
 * test.c - runs the cases in test files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/test.h"

#include "command/console.h"
#include "command/run.h"

int actl__test(const struct options *options, FILE *out) {
  (void)options;
  (void)out;
  actl__console_say("test: is not there yet");
  return STATUS_FAILED;
}
