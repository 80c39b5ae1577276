/*
 * trace.h - what happened in a run, written down: as text, in the Chrome trace format, or the last
 * lines of the text kept.
 *
 *   config.trace = actl__trace_tell;
 *   config.trace_ud = trace;
 *   actl_engine_new(&engine, &config);
 *   actl__trace_attach(trace, engine);          before anything runs
 *   ...
 *   actl_engine_free(engine);
 *   problem = actl__trace_close(trace);
 *
 * The text has a line for each event, of the same bytes in each run of the same seed:
 *
 *         0.001200 ms  vat 0  bank <0.3.1>        receive  deposit 5  from ada <0.2.1>
 *
 * Times are milliseconds since the first event, of the engine's clock. An actor is called by the name
 * that its SPAWN had; {0}, whoever is no actor, is "outside".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRACE_H
#define ACTL_COMMAND_TRACE_H

#include "actl.h"

#include <stddef.h>
#include <stdio.h>

struct trace;

/* Writes to the file at `path`: in the Chrome trace format where its name ends in .json, or else as
 * text; "-" is stdout, as text. NULL: done, and `out` is to be closed; otherwise what is wrong, in one
 * line, to be freed. */
char *actl__trace_open(struct trace **out, const char *path);

/* Writes text to `file`, which stays the caller's. */
struct trace *actl__trace_open_stream(FILE *file);

/* Keeps the last `n` lines, 1 or more, and writes nothing. */
struct trace *actl__trace_open_ring(size_t n);

/* The engine whose events come: it knows the names in messages. Before its first run. */
void actl__trace_attach(struct trace *trace, actl_engine *engine);

/* For actl_config.trace, with the trace as `trace_ud`. Any thread. */
void actl__trace_tell(void *trace, const actl_event *event);

/* Before the process ends at once, from any thread: what has come so far to the trace that was opened
 * last by a path, and is not closed, is written. */
void actl__trace_save(void);

/* Of a ring: how many lines it has, and line `i`, from 0, the oldest first, without a newline; valid
 * until the next event. Not while the engine runs. */
size_t actl__trace_n_lines(const struct trace *trace);
const char *actl__trace_line(const struct trace *trace, size_t i);

/* Finishes what it writes, and frees it. NULL: all of it is written; otherwise what is wrong, in one
 * line, to be freed. NULL for `trace` is ignored. */
char *actl__trace_close(struct trace *trace);

#endif
