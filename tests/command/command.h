/*
 * command.h - runs the built actorlua and keeps what it said.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_COMMAND_H
#define ACTL_TESTS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The end of a process: its exit status, or 1000 and the signal that killed it. */
struct ran {
  int status;
  char *out, *err;
};

/* For cmocka's group: a scratch folder, which is the working directory meanwhile. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* Writes a file into the scratch folder and returns `name`. */
const char *script(const char *name, const char *text);

/* The beginning of a scenario in which putters put letters into a log, which knows the first. */
#define LOG_AND_PUTTER                                                                             \
  "local actor = require 'actor'\n"                                                                \
  "local Log = actor.behavior('log', {\n"                                                          \
  "  init = function(self) self.first = false end,\n"                                              \
  "  receive = { put = function(self, x) self.first = self.first or x end,\n"                      \
  "              first = function(self) return self.first end } })\n"                              \
  "local Putter = actor.behavior('putter', { receive = {\n"                                        \
  "  put = function(self, log, x) log:send('put', x) end,\n"                                       \
  "  done = function() return true end } })\n"

/* Runs actorlua with the arguments up to NULL. The result is valid until the next call. */
struct ran actorlua(const char *first, ...);

/* The same in two steps: `out` is a descriptor that reads its stdout. Both outputs to `terminal`
 * when that is not -1. */
struct started {
  pid_t pid;
  int out;
};
struct started start_actorlua(int terminal, const char *const *arguments);
int wait_for(pid_t pid);

/* Reads from `fd` until `text` has come; false: the end came first. */
bool read_until(int fd, const char *text);

/* Reads all of `fd` into `out`, a zero byte after it; returns its size. What does not fit is lost. */
size_t read_all(int fd, char *out, size_t size);

/* What the process wrote to stderr, after wait_for. Valid until the next call. */
const char *read_stderr(void);

/* A new pseudo-terminal: `*terminal` is the end for a process, the result the end to read. */
int open_terminal(int *terminal);

bool contains(const char *text, const char *part);
size_t count_lines(const char *text);

/* A descriptive failure: prints what `ran` was unless `is` is true. */
#define assert_ran(ran, is) assert_ran_at((ran), (is), #is, __FILE__, __LINE__)
void assert_ran_at(struct ran ran, bool is, const char *what, const char *file, int line);

#endif
