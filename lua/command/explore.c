/*
 * explore.c - runs a file with many seeds, in several processes, until one fails.
 *
 * A job of the crew is a seed. Which one is reported depends on the seeds alone: the first by number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/explore.h"

#include "command/again.h"
#include "command/attempt.h"
#include "command/console.h"
#include "command/crew.h"
#include "command/find.h"
#include "command/interrupt.h"
#include "command/json.h"
#include "command/letters.h"
#include "command/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What came of the seeds that failed in one way. */
struct tally {
  uint64_t n, first; /* the first: a job */
  char *text;        /* of the first */
};

struct search {
  const struct options *options;
  const char *path;
  uint64_t n; /* seeds */
  uint32_t processes;
  struct attempt attempt;
  struct tally tallies[VERDICTS];
  struct crew_result result;
  double seconds;
  FILE *trace;       /* of a run that is made once more */
  struct text where; /* the line of it that shows what the failure to be shown is about; or empty */
};

/* ---- Searching ------------------------------------------------------------------------------------ */

static void work(void *ud, uint64_t job, struct verdict *out) {
  const struct search *search = ud;
  actl__attempt_run(&search->attempt, search->options->from + job, NULL, out);
}

/* What is wrong with the file or the command line is found by the first run, whatever the seed. */
static bool is_wrong(uint64_t job, enum verdict_kind kind) {
  return job == 0 && (kind == VERDICT_FILE || kind == VERDICT_USAGE);
}

static bool hear(void *ud, uint64_t job, const struct verdict *verdict) {
  struct search *search = ud;
  struct tally *tally = &search->tallies[verdict->kind];
  if (tally->n++ == 0 || job < tally->first) {
    free(tally->text);
    tally->first = job;
    tally->text = actl__text_copy(verdict->text, strlen(verdict->text));
  }
  return !search->options->goes_on || is_wrong(job, verdict->kind);
}

static void tell(void *ud, uint64_t n_done) {
  const struct search *search = ud;
  if (search->options->is_quiet) return;
  actl__console_progress(search->path, (double)n_done, (double)search->n);
}

static char *run_crew(struct search *search) {
  const struct crew crew = {.n_jobs = search->n,
                            .processes = search->processes,
                            .ud = search,
                            .work = work,
                            .hear = hear,
                            .tell = tell};
  struct span start = actl__span_now(NULL);
  actl__interrupt_catch();
  char *problem = actl__crew_run(&crew, &search->result);
  search->seconds = (double)actl__span_between(start, actl__span_now(NULL)).wall_ns / 1e9;
  actl__console_clear();
  return problem;
}

/* ---- What came of it --------------------------------------------------------------------------------- */

static uint64_t n_failed(const struct search *search) {
  if (!search->options->goes_on) return search->result.was_found ? 1 : 0;
  uint64_t n = 0;
  for (int i = 0; i < VERDICTS; i++) n += search->tallies[i].n;
  return n;
}

/* Seeds whose verdict counts: up to the one that was found. */
static uint64_t n_tried(const struct search *search) {
  return search->result.was_found ? search->result.found + 1 : search->result.n_done;
}

/* The failure to show: the first that was heard of. NULL: none. */
static const struct tally *first_failure(const struct search *search, enum verdict_kind *kind) {
  const struct tally *first = NULL;
  for (int i = 0; i < VERDICTS; i++) {
    const struct tally *tally = &search->tallies[i];
    if (tally->n == 0 || (first != NULL && first->first < tally->first)) continue;
    first = tally;
    *kind = (enum verdict_kind)i;
  }
  return first;
}

static uint64_t seed_of(const struct search *search, uint64_t job) {
  return search->options->from + job;
}

static void add_again(struct text *out, const struct search *search, enum verdict_kind kind,
                      uint64_t seed) {
  uint64_t max_steps = kind == VERDICT_STEPS ? search->attempt.options.max_steps : 0;
  actl__again_run(out, search->options, seed, max_steps);
}

/* ---- Where a message was lost -------------------------------------------------------------------------- */

static void trace_run(void *ud, uint64_t job, struct verdict *out) {
  const struct search *search = ud;
  enum verdict_kind kind;
  const struct tally *first = first_failure(search, &kind);
  const struct attempt_hooks hooks = {.trace = actl__trace_open_stream(search->trace)};
  actl__attempt_run(&search->attempt, seed_of(search, first->first), &hooks, out);
  fflush(search->trace);
  (void)job;
}

static bool hear_nothing(void *ud, uint64_t job, const struct verdict *verdict) {
  (void)ud;
  (void)job;
  (void)verdict;
  return false;
}

static void read_where(struct search *search) {
  struct text trace = {0};
  rewind(search->trace);
  (void)actl__text_read(&trace, search->trace);
  const char *line = NULL;
  size_t size = actl__letters_find(trace.bytes, &line);
  if (size > 0) actl__text_add(&search->where, line, size);
  actl__text_free(&trace);
}

/* Makes the run once more with a trace. Where that cannot be, the failure is shown without. */
static void find_where(struct search *search) {
  enum verdict_kind kind = VERDICT_DONE;
  if (first_failure(search, &kind) == NULL || kind != VERDICT_LOST) return;
  search->trace = tmpfile();
  if (search->trace == NULL) return;
  const struct crew crew = {
      .n_jobs = 1, .processes = 1, .ud = search, .work = trace_run, .hear = hear_nothing};
  struct crew_result result;
  free(actl__crew_run(&crew, &result));
  actl__verdict_free(&result.verdict);
  read_where(search);
  fclose(search->trace);
}

/* ---- For a reader ------------------------------------------------------------------------------------ */

/* Its lines, each two columns in. */
static void print_lines(const char *text, FILE *out) {
  while (*text != '\0') {
    size_t size = strcspn(text, "\n");
    fprintf(out, "  %.*s\n", (int)size, text);
    text += size + (text[size] == '\n');
  }
}

static void print_commands(const struct search *search, enum verdict_kind kind, uint64_t seed,
                           FILE *out) {
  if (search->where.size > 0) fprintf(out, "  the first:        %s\n", search->where.bytes);
  struct text again = {0}, shrink = {0};
  add_again(&again, search, kind, seed);
  actl__again_shrink(&shrink, search->options, seed);
  fprintf(out, "  to see it again:  %s\n", again.bytes);
  fprintf(out, "  to shorten it:    %s\n", shrink.bytes);
  actl__text_free(&again);
  actl__text_free(&shrink);
}

static void print_rate(const struct search *search, FILE *out) {
  char done[TEXT_COUNT_SIZE], rate[TEXT_COUNT_SIZE];
  uint64_t n = search->result.n_done;
  double each = search->seconds > 0 ? (double)n / search->seconds : 0;
  fprintf(out, "  %s run%s in %.3g s: %s a second, in %" PRIu32 " process%s\n",
          actl__text_count(done, n), n == 1 ? "" : "s", search->seconds,
          actl__text_count(rate, (uint64_t)each), search->processes,
          search->processes == 1 ? "" : "es");
}

/* "1,000 seeds, 1 to 1000" */
static void print_seeds(const struct search *search, FILE *out) {
  char count[TEXT_COUNT_SIZE];
  uint64_t n = n_tried(search);
  fprintf(out, "%s seed%s", actl__text_count(count, n), n == 1 ? "" : "s");
  if (n == search->n)
    fprintf(out, ", %" PRIu64 " to %" PRIu64 ",", search->options->from, seed_of(search, n - 1));
}

static void print_nothing_found(const struct search *search, FILE *out) {
  fprintf(out, "%s: ", search->path);
  print_seeds(search, out);
  fputs(" and none failed\n"
        "  which is no proof: other seeds make other schedules\n",
        out);
}

static void print_found(const struct search *search, FILE *out) {
  char count[TEXT_COUNT_SIZE];
  const struct crew_result *result = &search->result;
  uint64_t seed = seed_of(search, result->found);
  fprintf(out, "%s: seed %" PRIu64 " fails, ", search->path, seed);
  if (result->found == 0) {
    fputs("the first that was tried\n", out);
  } else {
    fprintf(out, "after %s that did not\n", actl__text_count(count, result->found));
  }
  print_lines(result->verdict.text, out);
  print_commands(search, result->verdict.kind, seed, out);
}

static void print_tally(const struct search *search, enum verdict_kind kind, FILE *out) {
  char count[TEXT_COUNT_SIZE];
  const struct tally *tally = &search->tallies[kind];
  if (tally->n == 0) return;
  fprintf(out, "  %s: %s, the first with seed %" PRIu64 ":\n", actl__verdict_several(kind),
          actl__text_count(count, tally->n), seed_of(search, tally->first));
  fprintf(out, "    %.*s\n", (int)strcspn(tally->text, "\n"), tally->text);
}

static void print_all(const struct search *search, FILE *out) {
  char count[TEXT_COUNT_SIZE];
  fprintf(out, "%s: ", search->path);
  print_seeds(search, out);
  fprintf(out, " of which %s failed\n", actl__text_count(count, n_failed(search)));
  for (int i = 0; i < VERDICTS; i++) print_tally(search, (enum verdict_kind)i, out);
  enum verdict_kind kind = VERDICT_DONE;
  const struct tally *first = first_failure(search, &kind);
  print_commands(search, kind, seed_of(search, first->first), out);
}

static void print(const struct search *search, FILE *out) {
  bool is_quiet = search->options->is_quiet;
  if (search->result.was_found) {
    print_found(search, out);
  } else if (n_failed(search) > 0) {
    print_all(search, out);
  } else if (!is_quiet) {
    print_nothing_found(search, out);
  }
  if (!is_quiet) print_rate(search, out);
}

/* ---- As JSON ------------------------------------------------------------------------------------------ */

static void write_failure(struct json *json, const struct search *search) {
  enum verdict_kind kind = VERDICT_DONE;
  const struct tally *tally = first_failure(search, &kind);
  if (tally == NULL) {
    actl__json_null(json, "failure");
    return;
  }
  uint64_t seed = seed_of(search, tally->first);
  struct text again = {0}, shrink = {0};
  add_again(&again, search, kind, seed);
  actl__again_shrink(&shrink, search->options, seed);
  actl__json_open(json, "failure", '{');
  actl__json_count(json, "seed", seed);
  actl__json_string(json, "kind", actl__verdict_name(kind));
  actl__json_string(json, "text", tally->text);
  if (search->where.size > 0) actl__json_string(json, "where", search->where.bytes);
  actl__json_string(json, "again", again.bytes);
  actl__json_string(json, "shrink", shrink.bytes);
  actl__json_close(json, '}');
  actl__text_free(&again);
  actl__text_free(&shrink);
}

static void write_kinds(struct json *json, const struct search *search) {
  actl__json_open(json, "kinds", '{');
  for (int i = 0; i < VERDICTS; i++) {
    const struct tally *tally = &search->tallies[i];
    if (tally->n == 0) continue;
    actl__json_open(json, actl__verdict_name((enum verdict_kind)i), '{');
    actl__json_count(json, "seeds", tally->n);
    actl__json_count(json, "first", seed_of(search, tally->first));
    actl__json_string(json, "text", tally->text);
    actl__json_close(json, '}');
  }
  actl__json_close(json, '}');
}

static void write_result(struct json *json, const struct search *search) {
  const struct options *options = search->options;
  uint64_t failed = n_failed(search), tried = n_tried(search);
  actl__json_count(json, "from", options->from);
  actl__json_count(json, "runs", search->n);
  actl__json_count(json, "tried", tried);
  actl__json_count(json, "passed", tried - failed);
  actl__json_count(json, "failed", failed);
  write_failure(json, search);
  if (options->goes_on) write_kinds(json, search);
  actl__json_count(json, "processes", search->processes);
  actl__json_number(json, "seconds", search->seconds, 6);
  if (search->seconds > 0)
    actl__json_number(json, "runs_per_second", (double)search->result.n_done / search->seconds, 4);
  actl__json_bool(json, "interrupted", actl__interrupt_signal() != 0);
}

/* `error`: why there is no result; NULL: there is one. */
static void write_json(const struct search *search, const char *error, FILE *out) {
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_open(&json, NULL, '{');
  actl__json_string(&json, "file", search->path);
  if (error == NULL) write_result(&json, search);
  actl__json_string(&json, "version", actl_version());
  if (error != NULL) actl__json_bytes(&json, "error", error, strcspn(error, "\n"));
  actl__json_close(&json, '}');
  fprintf(out, "%s\n", text.bytes);
  fflush(out);
  actl__text_free(&text);
}

/* ---- The command -------------------------------------------------------------------------------------- */

static int refuse(const struct search *search, int status, const char *problem, FILE *out) {
  actl__console_say("%s", problem);
  if (search->options->is_json) write_json(search, problem, out);
  return status;
}

static int explore(struct search *search, FILE *out) {
  char *problem = run_crew(search);
  const struct crew_result *result = &search->result;
  if (problem != NULL) {
    int status = refuse(search, STATUS_FAILED, problem, out);
    free(problem);
    return status;
  }
  if (result->was_found && is_wrong(result->found, result->verdict.kind)) {
    bool is_usage = result->verdict.kind == VERDICT_USAGE;
    return refuse(search, is_usage ? STATUS_USAGE : STATUS_FAILED, result->verdict.text, out);
  }
  find_where(search);
  if (search->options->is_json) {
    write_json(search, NULL, out);
  } else {
    print(search, out);
  }
  return n_failed(search) > 0 ? STATUS_FAILED : STATUS_DONE;
}

static void search_init(struct search *out, const struct options *options, const char *path,
                        const struct source *source) {
  *out = (struct search){.options = options, .path = path, .n = options->runs};
  /* Up to the last seed there is. */
  uint64_t after = UINT64_MAX - options->from;
  if (out->n - 1 > after) out->n = after + 1;
  out->processes = options->jobs != 0 ? options->jobs : actl__crew_processors();
  if (out->processes > out->n) out->processes = (uint32_t)out->n;
  actl__attempt_init(&out->attempt, options, source);
}

int actl__explore(const struct options *options, FILE *out) {
  char *path = actl__find_file(options->files[0]);
  struct source source;
  bool is_there = false;
  char *problem = actl__source_read(&source, path, &is_there);
  struct search search;
  search_init(&search, options, path, &source);
  int status = 0;
  if (problem != NULL) {
    status = refuse(&search, is_there ? STATUS_FAILED : STATUS_USAGE, problem, out);
  } else {
    status = explore(&search, out);
  }
  for (int i = 0; i < VERDICTS; i++) free(search.tallies[i].text);
  actl__text_free(&search.where);
  actl__verdict_free(&search.result.verdict);
  actl__source_free(&source);
  free(problem);
  free(path);
  return status;
}
