/*
 * trace_chrome.h - events in the Chrome trace format, which Perfetto and chrome://tracing open.
 *
 * A vat is a process, an actor a thread of it; what an actor does with a message is a slice, from where
 * it begins, or goes on, to where it waits, or is done; a message is an arrow from its sender's slice
 * to its receiver's, and so is an answer to who waits for it. Births, ends and dead letters are points.
 *
 * Times are microseconds since the first event. Each event is at least a nanosecond after the one
 * before: what the virtual clock has in one moment stays in order, and a slice can be seen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRACE_CHROME_H
#define ACTL_COMMAND_TRACE_CHROME_H

#include "command/trace_values.h"

struct trace_pair; /* messages on their way from one actor to another */

struct trace_chrome { /* all zeros: nothing is written yet */
  uint64_t begin_ns, last_ns;
  struct trace_pair *pairs; /* open addressing, at most half full */
  uint32_t capacity, n_pairs;
  uint32_t n_arrows;
  uint32_t *vats; /* that have been named: a bit each */
  uint32_t n_vats;
  bool has_event;
};

void actl__trace_chrome_free(struct trace_chrome *chrome);

/* What stands before and after the events. */
extern const char actl__trace_chrome_head[], actl__trace_chrome_foot[];

/* Adds what the event is; and the ends of slices that are open, when there are no more events. */
void actl__trace_chrome_print(struct trace_chrome *chrome, const struct trace_writer *to,
                              const actl_event *event);
void actl__trace_chrome_end(struct trace_chrome *chrome, const struct trace_writer *to);

#endif
