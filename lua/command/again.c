/*
 * again.c - the command lines that make a run again, for a shell.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/again.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void actl__again_word(struct text *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  size_t size = strlen(word);
  if (size > 0 && strspn(word, plain) == size) {
    actl__text_add(out, word, size);
    return;
  }
  actl__text_add(out, "'", 1);
  for (; *word != '\0'; word++) {
    if (*word == '\'') {
      actl__text_print(out, "'\\''");
    } else {
      actl__text_add(out, word, 1);
    }
  }
  actl__text_add(out, "'", 1);
}

static void add_settings(struct text *out, const struct options *options) {
  if (options->vats != 0) actl__text_print(out, " --vats %" PRIu32, options->vats);
  for (size_t i = 0; i < options->n_settings; i++) {
    const struct setting *setting = &options->settings[i];
    char *word = actl__text_format("%s=%s", setting->name, setting->value);
    actl__text_print(out, " --set ");
    actl__again_word(out, word);
    free(word);
  }
}

static void add_arguments(struct text *out, const struct options *options) {
  if (options->n_arguments > 0) actl__text_print(out, " --");
  for (size_t i = 0; i < options->n_arguments; i++) {
    actl__text_add(out, " ", 1);
    actl__again_word(out, options->arguments[i]);
  }
}

/* A file may be called what a command is called. */
static void add_file(struct text *out, const struct options *options, const char *command) {
  const char *file = options->files[0];
  bool needs_command = command[0] != '\0' || actl__options_is_command(file);
  actl__text_print(out, "actorlua ");
  if (needs_command) actl__text_print(out, "%s ", command[0] != '\0' ? command : "run");
  actl__again_word(out, file);
}

void actl__again_run(struct text *out, const struct options *options, uint64_t seed,
                     uint64_t max_steps) {
  add_file(out, options, "");
  actl__text_print(out, " --seed %" PRIu64 " --scatter --strict", seed);
  if (options->is_lossy) actl__text_print(out, " --lossy");
  if (max_steps != 0) actl__text_print(out, " --steps %" PRIu64, max_steps);
  add_settings(out, options);
  add_arguments(out, options);
}

void actl__again_shrink(struct text *out, const struct options *options, uint64_t seed) {
  add_file(out, options, "shrink");
  actl__text_print(out, " --seed %" PRIu64, seed);
  if (options->is_lossy) actl__text_print(out, " --lossy");
  if (options->max_steps != 0) actl__text_print(out, " --steps %" PRIu64, options->max_steps);
  add_settings(out, options);
  add_arguments(out, options);
}
