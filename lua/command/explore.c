/*
 * explore.c - runs a file with many seeds, in several processes, until one fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/explore.h"

#include "command/console.h"
#include "command/run.h"

int actl__explore(const struct options *options, FILE *out) {
  (void)options;
  (void)out;
  actl__console_say("explore: is not there yet");
  return STATUS_FAILED;
}
