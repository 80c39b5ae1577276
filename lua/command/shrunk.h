/*
 * shrunk.h - what shrinking a run came to, for a reader and as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SHRUNK_H
#define ACTL_COMMAND_SHRUNK_H

#include "command/options.h"
#include "command/schedule.h"
#include "command/text.h"
#include "command/verdict.h"

#include <stdio.h>

struct shrunk {
  const struct options *options;
  const char *path;
  struct verdict target;        /* of the run of the seed */
  uint64_t n_made, n_differing; /* its choices; of these, not plain */
  struct schedule left;         /* what the shortest failing run has of these */
  struct text trace;            /* of that, as text; empty: there is none */
  uint64_t n_runs;
  bool is_minimal;      /* each of `left` is needed */
  bool was_interrupted; /* by a signal */
};

/* Reads the trace from the beginning of `file`. */
void actl__shrunk_read_trace(struct shrunk *shrunk, FILE *file);

/* Writes it: lines, or one JSON object. */
void actl__shrunk_show(const struct shrunk *shrunk, FILE *out);

/* One JSON object that says why there is nothing. */
void actl__shrunk_refuse(const struct shrunk *shrunk, const char *problem, FILE *out);

void actl__shrunk_free(struct shrunk *shrunk);

#endif
