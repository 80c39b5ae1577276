/*
 * junit.c - writes JUnit XML: a suite for each file, with its cases.
 *
 * What XML 1.0 cannot have, not even escaped, is left out: most control characters, U+FFFE and U+FFFF.
 * Bytes that are no UTF-8 become U+FFFD.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/junit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *escape_of(char c, bool is_attribute) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  /* A reader would make blanks of them. */
  case '\n': return is_attribute ? "&#10;" : NULL;
  case '\t': return is_attribute ? "&#9;" : NULL;
  case '\r': return "&#13;";
  default: return NULL;
  }
}

static bool is_allowed(const char *at, size_t n) {
  if (n == 1) return (unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t' || *at == '\r';
  return n != 3 || (memcmp(at, "\xEF\xBF\xBE", 3) != 0 && memcmp(at, "\xEF\xBF\xBF", 3) != 0);
}

static void write_text(FILE *out, const char *text, bool is_attribute) {
  size_t left = strlen(text);
  while (left > 0) {
    size_t n = actl__text_character(text, left);
    const char *escape = n == 0 ? "\xEF\xBF\xBD" : escape_of(*text, is_attribute);
    if (escape != NULL) {
      fputs(escape, out);
    } else if (is_allowed(text, n)) {
      fwrite(text, 1, n, out);
    }
    text += n == 0 ? 1 : n;
    left -= n == 0 ? 1 : n;
  }
}

static void write_attribute(FILE *out, const char *name, const char *value) {
  fprintf(out, " %s=\"", name);
  write_text(out, value, true);
  fputc('"', out);
}

static void write_seconds(FILE *out, uint64_t ns) {
  fprintf(out, " time=\"%" PRIu64 ".%06" PRIu64 "\"", ns / 1000000000, ns / 1000 % 1000000);
}

static size_t count(const struct test_file *file, enum outcome outcome) {
  size_t n = 0;
  for (size_t i = 0; i < file->n_cases; i++)
    if (file->cases[i].outcome == outcome) n++;
  return n;
}

/* Those that were run, or are to be skipped. */
static size_t count_all(const struct test_file *file) {
  return file->n_cases - count(file, OUTCOME_NONE);
}

static uint64_t time_of(const struct test_file *file) {
  uint64_t ns = 0;
  for (size_t i = 0; i < file->n_cases; i++) ns += file->cases[i].ns;
  return ns;
}

static void write_part(FILE *out, const char *what, const char *text) {
  if (text == NULL) return;
  fprintf(out, "\n%s: ", what);
  write_text(out, text, false);
}

static void write_fault(FILE *out, const struct test_case *test) {
  const char *element = test->outcome == OUTCOME_FAILED ? "failure" : "error";
  fprintf(out, "      <%s", element);
  write_attribute(out, "message", test->message != NULL ? test->message : "");
  write_attribute(out, "type", test->outcome == OUTCOME_FAILED ? "assertion" : "error");
  fputc('>', out);
  if (test->fault_file != NULL) {
    write_text(out, test->fault_file, false);
    fprintf(out, ":%" PRIu64, test->fault_line);
  }
  char *command = actl__case_command(test);
  write_part(out, "repeat", command);
  write_part(out, "found", test->found);
  write_part(out, "wanted", test->wanted);
  write_part(out, "traceback", test->traceback);
  write_part(out, "log", test->log);
  write_part(out, "trace", test->trace);
  fprintf(out, "</%s>\n", element);
  free(command);
}

static void write_case(FILE *out, const struct test_case *test) {
  fputs("    <testcase", out);
  write_attribute(out, "classname", test->file->run.name);
  write_attribute(out, "name", test->name);
  write_attribute(out, "file", test->file->run.path);
  if (test->line != 0) fprintf(out, " line=\"%" PRIu64 "\"", test->line);
  write_seconds(out, test->ns);
  fputs(">\n", out);
  if (test->outcome == OUTCOME_SKIPPED) fputs("      <skipped/>\n", out);
  if (actl__case_is_bad(test)) write_fault(out, test);
  if (test->printed != NULL && test->printed[0] != '\0') {
    fputs("      <system-out>", out);
    write_text(out, test->printed, false);
    fputs("</system-out>\n", out);
  }
  fputs("    </testcase>\n", out);
}

static void write_file(FILE *out, const struct test_file *file) {
  fputs("  <testsuite", out);
  write_attribute(out, "name", file->run.path);
  fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", count_all(file),
          count(file, OUTCOME_FAILED), count(file, OUTCOME_ERROR), count(file, OUTCOME_SKIPPED));
  write_seconds(out, time_of(file));
  fputs(">\n", out);
  for (size_t i = 0; i < file->n_cases; i++)
    if (file->cases[i].outcome != OUTCOME_NONE) write_case(out, &file->cases[i]);
  fputs("  </testsuite>\n", out);
}

void actl__junit_write(FILE *out, const struct test_file *files, size_t n) {
  size_t n_all = 0, n_failed = 0, n_errors = 0, n_skipped = 0;
  uint64_t ns = 0;
  for (size_t i = 0; i < n; i++) {
    n_all += count_all(&files[i]);
    n_failed += count(&files[i], OUTCOME_FAILED);
    n_errors += count(&files[i], OUTCOME_ERROR);
    n_skipped += count(&files[i], OUTCOME_SKIPPED);
    ns += time_of(&files[i]);
  }
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
  fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", n_all, n_failed,
          n_errors, n_skipped);
  write_seconds(out, ns);
  fputs(">\n", out);
  for (size_t i = 0; i < n; i++) write_file(out, &files[i]);
  fputs("</testsuites>\n", out);
}
