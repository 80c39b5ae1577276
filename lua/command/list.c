/*
 * list.c - shows the scenarios of a folder.
 *
 * What a scenario says of itself is only known once its top level has run. A script would then do
 * its work, which nobody asked for; so a file is left out unless its text has both a `return` and
 * a field `run`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/list.h"

#include "command/console.h"
#include "command/find.h"
#include "command/interrupt.h"
#include "command/report.h"
#include "command/run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_word_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether `text` has `word` by itself, followed by `then` after blanks ('\0': by anything). */
static bool has_word(const char *text, const char *word, char then) {
  size_t size = strlen(word);
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    if (at > text && is_word_letter(at[-1])) continue;
    if (is_word_letter(at[size])) continue;
    const char *next = at + size + strspn(at + size, " \t");
    if (then == '\0' || *next == then) return true;
  }
  return false;
}

/* A file that cannot be read may be one: loading it says what is wrong. */
static bool may_be_scenario(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return true;
  struct text text = {0};
  char block[16384];
  size_t n = 0;
  while ((n = fread(block, 1, sizeof block, file)) > 0) actl__text_add(&text, block, n);
  fclose(file);
  bool may_be = text.size > 0 && has_word(text.bytes, "return", '\0') &&
                (has_word(text.bytes, "run", '=') || has_word(text.bytes, ".run", '('));
  actl__text_free(&text);
  return may_be;
}

static void show_json(const struct run *run, FILE *out) {
  struct text text = {0};
  struct json json = {.out = &text};
  actl__json_open(&json, NULL, '{');
  actl__json_string(&json, "scenario", run->name);
  actl__json_string(&json, "file", run->path);
  actl__json_string(&json, "about", run->about);
  actl__json_open(&json, "params", '{');
  for (size_t i = 0; i < run->n_params; i++) {
    actl__report_value(&json, run->params[i].name, &run->params[i]);
  }
  actl__json_close(&json, '}');
  actl__json_close(&json, '}');
  fprintf(out, "%s\n", text.bytes);
  actl__text_free(&text);
}

static void show(const struct run *run, FILE *out) {
  if (run->options->is_json) {
    show_json(run, out);
    return;
  }
  fprintf(out, "%s", run->name);
  if (run->about != NULL) fprintf(out, "  %s", run->about);
  fputc('\n', out);
  actl__report_params(run, out);
}

/* Returns the status; counts the scenarios shown. */
static int show_file(const struct options *options, const char *path, FILE *out, size_t *shown) {
  if (!may_be_scenario(path)) return STATUS_DONE;

  struct run run;
  actl__run_new(&run, options, path, NULL);
  actl__run_load(&run);
  actl__run_finish(&run);
  if (run.status == STATUS_DONE && actl__run_is_scenario(&run)) {
    show(&run, out);
    (*shown)++;
  }
  int status = run.status;
  actl__run_free(&run);
  return status;
}

static int worse(int a, int b) { return a > b ? a : b; }

static int show_folder(const struct options *options, const char *folder, FILE *out) {
  char **names = NULL;
  size_t n = 0, shown = 0;
  if (!actl__find_scripts(folder, &names, &n)) {
    actl__console_say("cannot read %s: %s", folder, strerror(errno));
    return STATUS_USAGE;
  }
  int status = STATUS_DONE;
  size_t size = strlen(folder);
  const char *slash = size > 0 && folder[size - 1] == '/' ? "" : "/";
  for (size_t i = 0; i < n && actl__interrupt_signal() == 0; i++) {
    char *path = actl__text_format("%s%s%s", folder, slash, names[i]);
    status = worse(status, show_file(options, path, out, &shown));
    free(path);
  }
  actl__find_free(names, n);
  if (shown == 0 && status == STATUS_DONE) {
    actl__console_say("there is no scenario in %s: a scenario is a .lua file that returns a table "
                      "with 'run'",
                      folder);
    status = STATUS_USAGE;
  }
  return status;
}

int actl__list(const struct options *given, FILE *out) {
  /* One vat is enough to look at a file. */
  struct options options = *given;
  options.workers = options.vats = 1;

  char *folder = given->n_files > 0 ? actl__text_copy(given->files[0], strlen(given->files[0]))
                                    : actl__find_folder();
  if (folder == NULL) {
    actl__console_say("there is no folder scenarios/ here, and none is installed: name one, as in "
                      "'actorlua list DIR'");
    return STATUS_USAGE;
  }
  struct stat info;
  size_t shown = 0;
  bool is_file = stat(folder, &info) == 0 && S_ISREG(info.st_mode);
  int status =
      is_file ? show_file(&options, folder, out, &shown) : show_folder(&options, folder, out);
  if (is_file && shown == 0 && status == STATUS_DONE) {
    actl__console_say("%s is a script, no scenario: it returns no table with 'run'", folder);
    status = STATUS_USAGE;
  }
  free(folder);
  return status;
}
