/*
 * options.h - the command line, read.
 *
 *   actorlua run FILE ... [-- ARGUMENTS]    every word is a file
 *   actorlua FILE [ARGUMENTS]               the first word is the file, the others are the script's
 *   actorlua list [DIR]
 *   actorlua help | version
 *
 * Options may stand anywhere before `--`; what follows it is the script's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_OPTIONS_H
#define ACTL_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command { COMMAND_RUN, COMMAND_LIST, COMMAND_HELP, COMMAND_VERSION };

/* One `--set name=value`. */
struct setting {
  char *name;
  const char *value;
};

struct options {
  enum command command;
  uint32_t workers, vats; /* 0: the engine's default */
  bool is_json, is_quiet;
  struct setting *settings; /* in the order given: the last of a name counts */
  size_t n_settings;
  const char **files; /* for COMMAND_LIST the folders */
  size_t n_files;
  const char **arguments; /* for the script */
  size_t n_arguments;
};

/* Reads `argv`, which must outlive `out`. NULL: done, and `out` is to be given to
 * actl__options_free; otherwise what is wrong, in one line, to be freed. */
char *actl__options_parse(struct options *out, int argc, char *const *argv);
void actl__options_free(struct options *options);

/* The text of --help. */
extern const char actl__options_help[];

#endif
