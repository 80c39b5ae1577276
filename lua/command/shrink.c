/*
 * shrink.c - makes a failing run as plain as it can be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/shrink.h"

#include "command/console.h"
#include "command/run.h"

int actl__shrink(const struct options *options, FILE *out) {
  (void)options;
  (void)out;
  actl__console_say("shrink: is not there yet");
  return STATUS_FAILED;
}
