/*
 * console.h - what the command says on stderr: lines, and one line of progress on a terminal.
 *
 * Any thread may call. Lines come out whole, and never behind a half-erased line of progress.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_CONSOLE_H
#define ACTL_COMMAND_CONSOLE_H

#include "actl.h"

#include <stdint.h>

/* "actorlua: TEXT" and a newline. */
void actl__console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* TEXT as it is and a newline. */
void actl__console_write(const char *text);

/* What is shown of a log entry, "warning: TEXT", to be freed. */
char *actl__console_entry(actl_log_level level, const char *text);

/* Shows how far the run called `name` has come: on a terminal, and ten times a second at most.
 * `total` 0: only `done` is known. */
void actl__console_progress(const char *name, double done, double total);

/* Takes the line of progress away, before something is written to stdout. */
void actl__console_clear(void);

#endif
