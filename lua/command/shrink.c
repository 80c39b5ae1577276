/*
 * shrink.c - makes a failing run as plain as it can be, and shows it.
 *
 *   take down   the run of the seed, with all its choices
 *   repeat      it with these choices: what does not fail again depends on more than the seed
 *   shorten     see shorten.h
 *   show        the last run that failed, with its trace
 *
 * All runs are made in processes of a crew, so that a run may kill its process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/shrink.h"

#include "command/console.h"
#include "command/crew.h"
#include "command/find.h"
#include "command/interrupt.h"
#include "command/run.h"
#include "command/shorten.h"
#include "command/shrunk.h"
#include "command/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shrink {
  const struct options *options;
  struct attempt attempt;
  struct tape *tape;
  FILE *trace; /* as text, of the last run */
  struct shorten shorten;
  struct shrunk shrunk;
  bool has_failed; /* the run that was made last */
};

/* ---- Single runs ------------------------------------------------------------------------------------- */

/* Has a crew of one make the run `work`. What is wrong, to be freed, or NULL. */
static char *run_one(struct shrink *shrink, void (*work)(void *, uint64_t, struct verdict *),
                     bool (*hear)(void *, uint64_t, const struct verdict *)) {
  const struct crew crew = {.n_jobs = 1, .processes = 1, .ud = shrink, .work = work, .hear = hear};
  struct crew_result result;
  shrink->has_failed = false;
  char *problem = actl__crew_run(&crew, &result);
  actl__verdict_free(&result.verdict);
  return problem;
}

static void play(const struct shrink *shrink, struct player *player, struct trace *trace,
                 struct verdict *out) {
  const struct attempt_hooks hooks = {
      .choose = actl__player_choose, .choose_ud = player, .trace = trace};
  actl__attempt_run(&shrink->attempt, shrink->options->seed, &hooks, out);
}

static void take_down(void *ud, uint64_t job, struct verdict *out) {
  (void)job;
  const struct shrink *shrink = ud;
  struct player player = {.tape = shrink->tape};
  play(shrink, &player, NULL, out);
}

static bool hear_target(void *ud, uint64_t job, const struct verdict *verdict) {
  (void)job;
  struct shrink *shrink = ud;
  shrink->has_failed = true;
  actl__verdict_copy(&shrink->shrunk.target, verdict);
  return true;
}

static void repeat(void *ud, uint64_t job, struct verdict *out) {
  (void)job;
  const struct shrink *shrink = ud;
  struct player player = {.schedule = &shrink->shorten.best};
  play(shrink, &player, NULL, out);
}

static bool hear_same(void *ud, uint64_t job, const struct verdict *verdict) {
  (void)job;
  struct shrink *shrink = ud;
  shrink->has_failed = actl__verdict_is_same(&shrink->shrunk.target, verdict);
  return true;
}

/* Line by line: the process may die in the middle. */
static void show(void *ud, uint64_t job, struct verdict *out) {
  (void)job;
  const struct shrink *shrink = ud;
  struct player player = {
      .schedule = &shrink->shorten.best, .tape = shrink->tape, .trace = shrink->trace};
  setvbuf(shrink->trace, NULL, _IOLBF, 0);
  play(shrink, &player, actl__trace_open_stream(shrink->trace), out);
  fflush(shrink->trace);
}

static void write_trace(void *ud, uint64_t job, struct verdict *out) {
  (void)job;
  const struct shrink *shrink = ud;
  struct player player = {.schedule = &shrink->shorten.best};
  struct trace *trace = NULL;
  char *problem = actl__trace_open(&trace, shrink->options->trace);
  if (problem == NULL) {
    play(shrink, &player, trace, out);
  } else {
    *out = (struct verdict){.kind = VERDICT_ENGINE, .text = problem};
  }
}

/* ---- The command --------------------------------------------------------------------------------------- */

static int refuse(const struct shrink *shrink, int status, const char *problem, FILE *out) {
  actl__console_say("%s", problem);
  if (shrink->options->is_json) actl__shrunk_refuse(&shrink->shrunk, problem, out);
  return status;
}

static void tell(void *ud, const struct shorten *shorten) {
  const struct shrink *shrink = ud;
  if (shrink->options->is_quiet) return;
  char *name =
      actl__text_format("%s, %zu choices left, runs:", shrink->shrunk.path, shorten->best.n);
  actl__console_progress(name, (double)shorten->n_runs, 0);
  free(name);
}

static char *trace_refused(const char *path) {
  return actl__text_format("cannot write the trace to %s", path);
}

static bool is_file_trace(const struct options *options) {
  return options->trace != NULL && strcmp(options->trace, "-") != 0;
}

/* The shortest run once more, with its trace. */
static char *show_last(struct shrink *shrink) {
  struct shrunk *shrunk = &shrink->shrunk;
  shrink->trace = tmpfile();
  if (shrink->trace == NULL)
    return actl__text_format("no file is to be had for the trace: %s", strerror(errno));
  actl__tape_clear(shrink->tape);
  char *problem = run_one(shrink, show, hear_same);
  uint64_t n_made;
  (void)actl__tape_read(shrink->tape, &shrunk->left, &n_made);
  actl__shrunk_read_trace(shrunk, shrink->trace);
  fclose(shrink->trace);
  if (problem == NULL && is_file_trace(shrink->options)) {
    problem = run_one(shrink, write_trace, hear_same);
    /* What it failed of is that it cannot be written. */
    if (problem == NULL && !shrink->has_failed) problem = trace_refused(shrink->options->trace);
  }
  return problem;
}

static char *not_failing(const struct shrink *shrink) {
  return actl__text_format("%s does not fail with seed %" PRIu64 ": there is nothing to shrink",
                           shrink->shrunk.path, shrink->options->seed);
}

static char *not_repeating(const struct shrink *shrink) {
  return actl__text_format("%s does not fail again with seed %" PRIu64
                           " and the same choices: the run depends on more "
                           "than these, on files, the environment or a C module",
                           shrink->shrunk.path, shrink->options->seed);
}

static bool is_wrong(enum verdict_kind kind) {
  return kind == VERDICT_FILE || kind == VERDICT_USAGE;
}

/* NULL: there is something to shrink; otherwise why not, to be freed. */
static char *find_target(struct shrink *shrink) {
  struct shrunk *shrunk = &shrink->shrunk;
  char *problem = run_one(shrink, take_down, hear_target);
  if (problem != NULL || actl__interrupt_signal() != 0) return problem;
  if (!shrink->has_failed) return not_failing(shrink);
  if (is_wrong(shrunk->target.kind)) return actl__text_format("%s", shrunk->target.text);
  if (shrunk->target.kind == VERDICT_HUNG)
    return actl__text_format("%s hangs with seed %" PRIu64 ": only runs that end can be shrunk",
                             shrunk->path, shrink->options->seed);

  bool is_whole = actl__tape_read(shrink->tape, &shrink->shorten.best, &shrunk->n_made);
  shrunk->n_differing = shrink->shorten.best.n;
  problem = run_one(shrink, repeat, hear_same);
  if (problem != NULL || actl__interrupt_signal() != 0 || shrink->has_failed) return problem;
  return is_whole ? not_repeating(shrink)
                  : actl__text_format("%s makes more choices with seed %" PRIu64
                                      " than can be taken down: %" PRIu64,
                                      shrunk->path, shrink->options->seed, shrunk->n_made);
}

/* Shortens what find_target has found. */
static char *shorten(struct shrink *shrink) {
  struct shrunk *shrunk = &shrink->shrunk;
  struct shorten *own = &shrink->shorten;
  char *problem = actl__shorten(own);
  shrunk->n_runs = own->n_runs + 2;
  shrunk->is_minimal = own->is_minimal;
  shrunk->was_interrupted = actl__interrupt_signal() != 0;
  actl__console_clear();
  if (problem != NULL) return problem;
  if (!shrunk->was_interrupted) return show_last(shrink);
  actl__schedule_copy(&shrunk->left, &own->best);
  return NULL;
}

static int shrink_file(struct shrink *shrink, FILE *out) {
  shrink->tape = actl__tape_new();
  char *problem = shrink->tape == NULL
                      ? actl__text_format("no memory is to be had: %s", strerror(errno))
                      : find_target(shrink);
  bool is_found = problem == NULL && actl__interrupt_signal() == 0;
  if (is_found) problem = shorten(shrink);
  int status = STATUS_DONE;
  if (problem != NULL) {
    bool is_usage = shrink->shrunk.target.kind == VERDICT_USAGE;
    status = refuse(shrink, is_usage ? STATUS_USAGE : STATUS_FAILED, problem, out);
  } else if (is_found) {
    actl__shrunk_show(&shrink->shrunk, out);
  }
  free(problem);
  return status;
}

/* Before the work is done that would be for nothing. NULL: it can be written. */
static char *check_trace(const struct options *options) {
  if (!is_file_trace(options)) return NULL;
  FILE *file = fopen(options->trace, "ab");
  if (file == NULL)
    return actl__text_format("cannot write the trace to %s: %s", options->trace, strerror(errno));
  fclose(file);
  return NULL;
}

int actl__shrink(const struct options *options, FILE *out) {
  char *path = actl__find_file(options->files[0]);
  struct source source;
  bool is_there = false;
  char *problem = actl__source_read(&source, path, &is_there);
  int refused = is_there ? STATUS_FAILED : STATUS_USAGE;
  if (problem == NULL && (problem = check_trace(options)) != NULL) refused = STATUS_USAGE;

  struct shrink shrink = {.options = options, .shrunk = {.options = options, .path = path}};
  actl__attempt_init(&shrink.attempt, options, &source);
  shrink.shorten = (struct shorten){.attempt = &shrink.attempt,
                                    .seed = options->seed,
                                    .target = &shrink.shrunk.target,
                                    .tell = tell,
                                    .tell_ud = &shrink};
  int status = refused;
  if (problem != NULL) {
    refuse(&shrink, refused, problem, out);
  } else {
    actl__interrupt_catch();
    status = shrink_file(&shrink, out);
  }
  actl__tape_free(shrink.tape);
  actl__schedule_free(&shrink.shorten.best);
  actl__shrunk_free(&shrink.shrunk);
  actl__source_free(&source);
  free(problem);
  free(path);
  return status;
}
