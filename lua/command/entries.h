/*
 * entries.h - what an engine logs during a run of a case, and what the case has announced of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_ENTRIES_H
#define ACTL_COMMAND_ENTRIES_H

#include "actl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct entry {
  char *text;
  bool is_failure; /* of an actor, or a deadlock */
  bool is_announced;
};

struct announced {
  char *pattern;   /* a part of the text, or a Lua pattern */
  bool is_failure; /* else any entry will do */
  bool has_come;
};

/* While the engine runs any thread adds and announces; then one thread reads. */
struct entries {
  pthread_mutex_t lock;
  struct entry *list;
  size_t n;
  struct announced *announced;
  size_t n_announced;
};

void actl__entries_init(struct entries *out);
void actl__entries_fini(struct entries *entries);

/* What an actl_log_fn is told. Returns its number, from 0 on. */
size_t actl__entries_add(struct entries *entries, actl_log_level level, actl_log_kind kind,
                         const char *text);
void actl__entries_announce(struct entries *entries, bool is_failure, const char *pattern);

/* Finds out what was announced and has come. */
void actl__entries_compare(struct entries *entries);

/* The number of the first failure that nobody announced; `n`: there is none. */
size_t actl__entries_failure(const struct entries *entries);

/* The first that was announced and has not come; NULL: there is none. */
const struct announced *actl__entries_missing(const struct entries *entries);

/* The failures that nobody announced, with their tracebacks, to be freed; NULL: none. */
char *actl__entries_failures(const struct entries *entries);

/* Prints the others that were not announced to stdout. */
void actl__entries_print(const struct entries *entries);

#endif
