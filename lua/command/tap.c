/*
 * tap.c - writes TAP. Its diagnostics are YAML: texts of one line are quoted as in JSON, which YAML 1.2
 * has in it, those of several lines are literal blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/tap.h"

#include "command/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void actl__tap_begin(FILE *out, size_t n) {
  fprintf(out, "TAP version 14\n1..%zu%s\n", n, n == 0 ? " # SKIP there are no cases" : "");
}

/* One line that a terminal and a parser can take: without what controls them. */
static void write_line(FILE *out, const char *line, size_t size) {
  for (size_t i = 0; i < size;) {
    size_t n = actl__text_character(line + i, size - i);
    bool is_control = ((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7F;
    if (n == 0 || is_control) {
      fputs("\xEF\xBF\xBD", out);
      i++;
    } else {
      fwrite(line + i, 1, n, out);
      i += n;
    }
  }
}

/* Each line behind `indent`; an empty one at the end counts for nothing. */
static void write_lines(FILE *out, const char *indent, const char *text) {
  while (*text != '\0') {
    size_t size = strcspn(text, "\n");
    fputs(indent, out);
    write_line(out, text, size);
    fputc('\n', out);
    text += size + (text[size] == '\n' ? 1 : 0);
  }
}

void actl__tap_comment(FILE *out, const char *text) { write_lines(out, "# ", text); }

static void write_field(FILE *out, const char *key, const char *text) {
  if (text == NULL) return;
  if (strchr(text, '\n') != NULL) {
    fprintf(out, "  %s: |2\n", key);
    write_lines(out, "    ", text);
    return;
  }
  struct text quoted = {0};
  struct json json = {.out = &quoted};
  actl__json_string(&json, NULL, text);
  fprintf(out, "  %s: %s\n", key, quoted.bytes);
  actl__text_free(&quoted);
}

static void write_diagnostics(FILE *out, const struct test_case *test) {
  const char *file = test->fault_file != NULL ? test->fault_file : test->file->run.path;
  uint64_t line = test->fault_file != NULL ? test->fault_line : test->line;
  char *command = actl__case_command(test);

  fputs("  ---\n", out);
  write_field(out, "message", test->message);
  write_field(out, "severity", test->outcome == OUTCOME_FAILED ? "fail" : "error");
  write_field(out, "file", file);
  if (line != 0) fprintf(out, "  line: %" PRIu64 "\n", line);
  write_field(out, "found", test->found);
  write_field(out, "wanted", test->wanted);
  if (!test->file->run.options->is_threaded && test->n_seeds > 0)
    fprintf(out, "  seed: %" PRIu64 "\n", test->seed);
  write_field(out, "repeat", command);
  write_field(out, "traceback", test->traceback);
  write_field(out, "log", test->log);
  write_field(out, "trace", test->trace);
  fputs("  ...\n", out);
  free(command);
}

/* What # and \ would mean is taken from them. */
static void write_name(FILE *out, const char *name) {
  for (const char *at = name; *at != '\0';) {
    size_t size = strcspn(at, "#\\\n");
    write_line(out, at, size);
    at += size;
    if (*at == '\0') break;
    if (*at != '\n') fputc('\\', out);
    fputc(*at == '\n' ? ' ' : *at, out);
    at++;
  }
}

void actl__tap_case(FILE *out, const struct test_case *test, size_t number) {
  if (test->printed != NULL) actl__tap_comment(out, test->printed);
  fprintf(out, "%s %zu - ", actl__case_is_bad(test) ? "not ok" : "ok", number);
  write_name(out, test->name);
  if (test->outcome == OUTCOME_SKIPPED) {
    fputs(" # SKIP\n", out);
    return;
  }
  fprintf(out, " # time=%.1fms\n", (double)test->ns / 1e6);
  if (actl__case_is_bad(test)) write_diagnostics(out, test);
}
