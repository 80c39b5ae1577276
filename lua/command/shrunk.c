/*
 * shrunk.c - what shrinking a run came to:
 *
 *   bank.lua, seed 17: the check 'no update is lost' failed
 *     1,840 choices, of which 213 were not plain: 2 are left, and each is needed (318 runs)
 *     choice 41, vat: 1 of 3
 *     choice 63, actor: 3 of 6
 *   vat: which vat takes the next turn; 0: the one that has waited longest
 *   ...
 *         0.003200 ms  vat 0  adder <1.1.1>               spawn    by actorlua.run <0.1.1>
 *   >>> choice 41, vat: 1 of 3
 *   ...
 *
 * where each choice stands in the trace before what came of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/shrunk.h"

#include "command/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 1000 };

void actl__shrunk_read_trace(struct shrunk *shrunk, FILE *file) {
  rewind(file);
  (void)actl__text_read(&shrunk->trace, file);
}

void actl__shrunk_free(struct shrunk *shrunk) {
  actl__verdict_free(&shrunk->target);
  actl__schedule_free(&shrunk->left);
  actl__text_free(&shrunk->trace);
}

/* The line of the trace that came last before the choice; its size, 0: none. */
static size_t line_before(const struct shrunk *shrunk, const struct choice *choice,
                          const char **line) {
  size_t end = choice->place < shrunk->trace.size ? (size_t)choice->place : shrunk->trace.size;
  if (end == 0) return 0;
  end--; /* the newline */
  size_t begin = end;
  while (begin > 0 && shrunk->trace.bytes[begin - 1] != '\n') begin--;
  *line = shrunk->trace.bytes + begin;
  return end - begin;
}

/* ---- For a reader ---------------------------------------------------------------------------------- */

static void print_choice(const char *before, const struct choice *choice, FILE *out) {
  fprintf(out, "%schoice %" PRIu64 ", %s: %" PRIu32 " of %" PRIu32 "\n", before, choice->at,
          actl_choice_name((actl_choice)choice->kind), choice->value, choice->n);
}

static void print_counts(const struct shrunk *shrunk, FILE *out) {
  char made[TEXT_COUNT_SIZE], differing[TEXT_COUNT_SIZE], runs[TEXT_COUNT_SIZE];
  size_t n = shrunk->left.n;
  fprintf(out, "  %s choices, of which %s were not plain: ", actl__text_count(made, shrunk->n_made),
          actl__text_count(differing, shrunk->n_differing));
  if (n == 0) {
    fputs("none is needed, it fails in the plain order too", out);
  } else {
    fprintf(out, "%zu %s left", n, n == 1 ? "is" : "are");
    fputs(!shrunk->is_minimal ? ", of which some may not be needed"
          : n == 1            ? ", and it is needed"
                              : ", and each is needed",
          out);
  }
  fprintf(out, " (%s runs%s)\n", actl__text_count(runs, shrunk->n_runs),
          shrunk->was_interrupted ? ", then interrupted" : "");
}

static void print_choices(const struct shrunk *shrunk, FILE *out) {
  bool is_there[ACTL_CHOICE_KINDS] = {false};
  for (size_t i = 0; i < shrunk->left.n; i++) {
    const struct choice *choice = &shrunk->left.choices[i];
    print_choice("  ", choice, out);
    if (choice->kind < ACTL_CHOICE_KINDS) is_there[choice->kind] = true;
  }
  for (int i = 0; i < ACTL_CHOICE_KINDS; i++)
    if (is_there[i])
      fprintf(out, "  %s: %s\n", actl_choice_name((actl_choice)i),
              actl_choice_text((actl_choice)i));
}

/* Where the last lines begin that are shown; `n_before`: how many lines are not. */
static size_t skip_lines(const struct text *trace, uint64_t *n_before) {
  size_t at = trace->size, n = 0;
  while (at > 0 && n <= LINES_SHOWN) n += trace->bytes[--at] == '\n';
  if (n > LINES_SHOWN) at++;
  *n_before = 0;
  for (size_t i = 0; i < at; i++) *n_before += trace->bytes[i] == '\n';
  return at;
}

static void print_trace(const struct shrunk *shrunk, FILE *out) {
  char count[TEXT_COUNT_SIZE];
  const struct text *trace = &shrunk->trace;
  uint64_t n_before;
  size_t at = skip_lines(trace, &n_before), next = 0;
  if (n_before > 0)
    fprintf(out, "... %s lines before these are left out; --trace FILE has all\n",
            actl__text_count(count, n_before));
  while (at < trace->size) {
    for (; next < shrunk->left.n && shrunk->left.choices[next].place <= at; next++)
      print_choice(">>> ", &shrunk->left.choices[next], out);
    size_t size = strcspn(trace->bytes + at, "\n");
    fprintf(out, "%.*s\n", (int)size, trace->bytes + at);
    at += size + 1;
  }
}

static bool is_file_trace(const struct options *options) {
  return options->trace != NULL && strcmp(options->trace, "-") != 0;
}

static void print(const struct shrunk *shrunk, FILE *out) {
  const char *text = shrunk->target.text;
  fprintf(out, "%s, seed %" PRIu64 ": %.*s\n", shrunk->path, shrunk->options->seed,
          (int)strcspn(text, "\n"), text);
  print_counts(shrunk, out);
  print_choices(shrunk, out);
  if (shrunk->trace.size == 0) return;
  if (is_file_trace(shrunk->options)) {
    fprintf(out, "  its trace is in %s\n", shrunk->options->trace);
  } else {
    print_trace(shrunk, out);
  }
}

/* ---- As JSON ----------------------------------------------------------------------------------------- */

static void write_choices(struct json *json, const struct shrunk *shrunk) {
  actl__json_open(json, "choices", '[');
  for (size_t i = 0; i < shrunk->left.n; i++) {
    const struct choice *choice = &shrunk->left.choices[i];
    const char *line = NULL;
    size_t size = line_before(shrunk, choice, &line);
    actl__json_open(json, NULL, '{');
    actl__json_count(json, "number", choice->at);
    actl__json_string(json, "kind", actl_choice_name((actl_choice)choice->kind));
    actl__json_count(json, "value", choice->value);
    actl__json_count(json, "of", choice->n);
    if (size > 0) actl__json_bytes(json, "after", line, size);
    actl__json_close(json, '}');
  }
  actl__json_close(json, ']');
}

static void write_trace(struct json *json, const struct text *trace) {
  actl__json_open(json, "trace", '[');
  for (size_t at = 0; at < trace->size;) {
    size_t size = strcspn(trace->bytes + at, "\n");
    actl__json_bytes(json, NULL, trace->bytes + at, size);
    at += size + 1;
  }
  actl__json_close(json, ']');
}

static void write_result(struct json *json, const struct shrunk *shrunk) {
  actl__json_string(json, "kind", actl__verdict_name(shrunk->target.kind));
  actl__json_string(json, "text", shrunk->target.text);
  actl__json_count(json, "made", shrunk->n_made);
  actl__json_count(json, "differing", shrunk->n_differing);
  actl__json_count(json, "left", shrunk->left.n);
  actl__json_bool(json, "minimal", shrunk->is_minimal);
  write_choices(json, shrunk);
  if (!is_file_trace(shrunk->options)) write_trace(json, &shrunk->trace);
  actl__json_count(json, "runs", shrunk->n_runs);
  actl__json_bool(json, "interrupted", shrunk->was_interrupted);
}

/* `problem` NULL: there is a result. */
static void write_json(const struct shrunk *shrunk, const char *problem, FILE *out) {
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_open(&json, NULL, '{');
  actl__json_string(&json, "file", shrunk->path);
  actl__json_count(&json, "seed", shrunk->options->seed);
  if (problem == NULL) write_result(&json, shrunk);
  actl__json_string(&json, "version", actl_version());
  if (problem != NULL) actl__json_bytes(&json, "error", problem, strcspn(problem, "\n"));
  actl__json_close(&json, '}');
  fprintf(out, "%s\n", text.bytes);
  fflush(out);
  actl__text_free(&text);
}

void actl__shrunk_show(const struct shrunk *shrunk, FILE *out) {
  if (shrunk->options->is_json) {
    write_json(shrunk, NULL, out);
  } else {
    print(shrunk, out);
  }
}

void actl__shrunk_refuse(const struct shrunk *shrunk, const char *problem, FILE *out) {
  write_json(shrunk, problem, out);
}
