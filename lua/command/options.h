/*
 * options.h - the command line, read.
 *
 *   actorlua run FILE ... [-- ARGUMENTS]    every word is a file
 *   actorlua FILE [ARGUMENTS]               the first word is the file, the others are the script's
 *   actorlua list [DIR]
 *   actorlua explore FILE                   many seeds; shrink FILE: the shortest failing run of one
 *   actorlua test FILE ...                  every word is a file
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

enum command {
  COMMAND_RUN,
  COMMAND_LIST,
  COMMAND_EXPLORE,
  COMMAND_SHRINK,
  COMMAND_TEST,
  COMMAND_HELP,
  COMMAND_VERSION,
  COMMANDS
};

/* One `--set name=value`. */
struct setting {
  char *name;
  const char *value;
};

struct options {
  enum command command;
  uint32_t workers, vats; /* 0: the engine's default */
  bool is_json, is_quiet;
  bool is_seeded; /* --seed was given */
  uint64_t seed;
  bool is_strict;      /* an assignment to a global after loading and a lost message are errors */
  bool scatters;       /* the seed places every spawn */
  bool is_lossy;       /* where it is strict: but lost messages are none */
  bool goes_on;        /* explore: after a failure, too */
  bool is_threaded;    /* test: on threads and the real clock */
  uint64_t max_steps;  /* 0: the command's default */
  uint64_t runs, from; /* explore: how many seeds, and the first */
  uint32_t jobs;       /* explore, test: processes; 0: one for each processor */
  uint32_t seeds;      /* test: how many for each case */
  const char *trace;   /* the file to write; NULL: none */
  const char *junit;   /* test: the same */
  const char *only;    /* test: a part of the names of those that are run; NULL: all */
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

/* Whether the word would be read as a command's name. */
bool actl__options_is_command(const char *word);

/* The text of --help. */
extern const char actl__options_help[];

#endif
