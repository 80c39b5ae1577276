/*
 * run.h - one file being run: what is known of it, from its bytes to its figures.
 *
 *   new --> load --> [scenario] --> play --> finish --> free
 *             |                                ^
 *             +-----> [script, or nothing] ----+
 *
 * load reads and compiles the file, makes an engine and runs the file's top level, in an actor of
 * vat 0 that runner.lua defines ("the run actor"). A script is then done. play calls a scenario's
 * `run` in the same actor, and makes the deferred checks once the engine is quiet. finish stops the
 * actors and frees the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_RUN_H
#define ACTL_COMMAND_RUN_H

#include "command/footprint.h"
#include "command/histogram.h"
#include "command/options.h"
#include "command/source.h"
#include "command/verdict.h"

#include "actl.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

enum param_kind { PARAM_INTEGER, PARAM_FLOAT, PARAM_BOOLEAN, PARAM_STRING, PARAM_OTHER };

/* A parameter of the scenario with its value in this run. */
struct param {
  char *name;
  enum param_kind kind;
  int64_t integer; /* PARAM_INTEGER, and 0 or 1 for PARAM_BOOLEAN */
  double number;
  char *bytes; /* PARAM_STRING */
  size_t size;
};

struct check {
  char *name;
  bool is_ok;
  char *error; /* what making it came to; NULL: it was made */
  char *place; /* the file and line that gave it */
};

/* What a scenario measured beside its rate. */
struct figure {
  char *name, *unit;
  double value;
};

/* A point in time, or the distance between two. */
struct span {
  uint64_t wall_ns;
  double user_s, system_s; /* of the whole process */
  uint64_t engine_ns;      /* by the engine's clock */
};

struct trace;

struct run {
  /* Set by new, then only read. */
  const struct options *options;
  const char *path; /* the file, as messages name it */

  /* Set between new and load, if at all. */
  actl_choose_fn choose; /* decides in place of the seed */
  void *choose_ud;
  bool is_silent; /* what goes wrong is noted and not said */

  /* Main thread only. */
  const struct source *source;
  struct source own_source; /* `source`, where load has read it */
  struct trace *trace;      /* NULL: none, or not open */
  actl_engine *engine;
  actl_pid actor;
  bool was_played;
  uint32_t workers, vats;
  double floor_ns;         /* of the kind of behavior that was run; 0: not measured */
  actl_stats stats;        /* of the scenario alone: without the run actor and its messages */
  uint64_t peak_rss_bytes; /* of the process */

  /* Written by the run actor, read by the main thread while the engine does not run. */
  bool is_loaded; /* the top level has returned */
  char *name;     /* the scenario's; while it is not known, or has none, the file's without .lua */
  char *about;    /* NULL: it says nothing */
  bool is_lossy;  /* dead letters are no failure */
  struct param *params; /* sorted by name */
  size_t n_params;
  struct check *checks;
  size_t n_checks;
  struct histogram samples; /* nanoseconds */
  struct figure *figures;
  size_t n_figures;
  struct span start, clock;
  bool has_deferred, has_checked; /* checks wait for the end; they have been made */
  bool has_returned;
  int64_t requested, done;
  char *unit;

  /* Any thread. */
  struct footprint footprint; /* of the engine */

  /* Written by the run actor before any other vat's machine is made. */
  atomic_bool is_scenario;

  /* Any thread, under `lock`. */
  pthread_mutex_t lock;
  int status;
  enum verdict_kind verdict; /* what kind of thing went wrong first */
  char *trouble;             /* that thing, lines as they were said; NULL: nothing went wrong */
  char *error;               /* its first line */
  const char *failed_check;  /* its name, where it is a check: one of `checks` */
  uint64_t n_failures;
};

/* `path` and `options` must outlive the run, and so must `source`; NULL: load reads it. */
void actl__run_new(struct run *out, const struct options *options, const char *path,
                   const struct source *source);
bool actl__run_read(struct run *run); /* the first part of load; false: there is a problem */
void actl__run_load(struct run *run);
void actl__run_play(struct run *run);
void actl__run_finish(struct run *run);
void actl__run_free(struct run *run);

/* Notes that something went wrong, and says it on stderr: the first one is the run's verdict. Any
 * thread. */
void actl__run_problem(struct run *run, enum verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What came of it, after finish; to be freed. */
void actl__run_verdict(const struct run *run, struct verdict *out);

/* The parameter of that name; NULL: the scenario has none. */
const struct param *actl__run_param(const struct run *run, const char *name);

/* Whether the file returned a scenario; not while the engine runs. */
bool actl__run_is_scenario(const struct run *run);

/* Whether the behaviors that were run are C functions (its parameter `behavior`). */
bool actl__run_is_native(const struct run *run);

/* Nanoseconds of one operation; 0: the run gives no rate, since something went wrong, or the clock was
 * a virtual one. */
double actl__run_ns_per_op(const struct run *run);

/* `ctx`: of the running handler; NULL: none runs, and there is no engine's time in it. */
struct span actl__span_now(actl_ctx *ctx);
struct span actl__span_between(struct span from, struct span to);

#endif
