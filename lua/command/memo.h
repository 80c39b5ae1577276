/*
 * memo.h - a file of named texts, from a process to the one that made it.
 *
 * Each text is written as a whole, so that what a process wrote before it ended, however it ended, can
 * be read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_MEMO_H
#define ACTL_COMMAND_MEMO_H

#include "command/text.h"

#include <stdbool.h>
#include <stdint.h>

/* A file without a name, to be closed; -1: there is none (errno). */
int actl__memo_open(void);

/* Writes a text, a number; `bytes` NULL: nothing. */
void actl__memo_write(int fd, const char *key, const char *bytes);
void actl__memo_number(int fd, const char *key, uint64_t number);

/* All that was written to a file, from its beginning; to be freed. */
struct text actl__memo_read(int fd);

/* One of the texts. `bytes` ends in a zero byte and lives as long as the text that it is read from. */
struct memo {
  const char *key, *bytes;
};

/* The next one in `text`, from `*at` on, 0 at first; false: there is none. */
bool actl__memo_next(struct text *text, size_t *at, struct memo *out);

/* The number that it is. */
uint64_t actl__memo_value(const struct memo *memo);

#endif
