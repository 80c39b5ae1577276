/*
 * main.c - the actorlua command.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/console.h"
#include "command/explore.h"
#include "command/find.h"
#include "command/interrupt.h"
#include "command/list.h"
#include "command/options.h"
#include "command/report.h"
#include "command/run.h"
#include "command/shrink.h"
#include "command/test.h"

#include <lua.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where results go. With --json it is what stdout was, and stdout is stderr from now on: whatever a
 * script, a module or a process of theirs prints cannot get between the lines. NULL: refused. */
static FILE *open_results(const struct options *options) {
  if (!options->is_json) return stdout;

  int results = dup(STDOUT_FILENO);
  FILE *out = results < 0 ? NULL : fdopen(results, "w");
  if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  return out;
}

static void show(const struct run *run, FILE *out) {
  bool is_scenario = actl__run_is_scenario(run);
  if (run->options->is_json) {
    /* A script that did its work has no figures. */
    if (is_scenario || run->status != STATUS_DONE) actl__report_json(run, out);
  } else if (!run->options->is_quiet && is_scenario && run->was_played) {
    actl__report_print(run, out);
  }
}

static int run_file(const struct options *options, const char *word, FILE *out) {
  char *path = actl__find_file(word);
  struct run run;
  actl__run_new(&run, options, path, NULL);
  actl__run_load(&run);
  actl__run_play(&run);
  actl__run_finish(&run);
  show(&run, out);
  int status = run.status;
  actl__run_free(&run);
  free(path);
  return status;
}

static int run_files(const struct options *options, FILE *out) {
  int worst = STATUS_DONE;
  for (size_t i = 0; i < options->n_files && actl__interrupt_signal() == 0; i++) {
    int status = run_file(options, options->files[i], out);
    if (status > worst) worst = status;
  }
  return worst;
}

static int carry_out(const struct options *options, FILE *out) {
  switch (options->command) {
  case COMMAND_LIST: return actl__list(options, out);
  case COMMAND_EXPLORE: return actl__explore(options, out);
  case COMMAND_SHRINK: return actl__shrink(options, out);
  case COMMAND_TEST: return actl__test(options, out);
  default: return run_files(options, out);
  }
}

static int run_command(const struct options *options) {
  FILE *out = open_results(options);
  if (out == NULL) {
    actl__console_say("cannot write to stdout: %s", strerror(errno));
    return STATUS_FAILED;
  }
  int status = carry_out(options, out);
  int signal = actl__interrupt_signal();
  actl__interrupt_stop();
  if (signal != 0) actl__console_say("stopped by a signal");
  bool is_written = ferror(out) == 0;
  if (out != stdout && (fclose(out) != 0 || !is_written)) {
    actl__console_say("cannot write all results to stdout");
    if (status == STATUS_DONE) status = STATUS_FAILED;
  }
  return signal != 0 ? 128 + signal : status;
}

/* What was printed is only printed once it has left the buffer. */
static int flush(int status) {
  bool was_well = ferror(stdout) == 0;
  if (fflush(stdout) == 0 && was_well) return status;
  /* What came earlier has left no reason. */
  if (was_well) {
    actl__console_say("cannot write to stdout: %s", strerror(errno));
  } else {
    actl__console_say("cannot write all of the output to stdout");
  }
  return status == STATUS_DONE ? STATUS_FAILED : status;
}

/* Descriptors 0 to 2 that come closed would be given to files and pipes of ours and of scripts. */
static void fill_closed(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) abort();
}

int main(int argc, char **argv) {
  fill_closed();
  struct options options;
  char *problem = actl__options_parse(&options, argc, argv);
  if (problem != NULL) {
    actl__console_say("%s", problem);
    free(problem);
    return STATUS_USAGE;
  }

  int status = STATUS_DONE;
  switch (options.command) {
  case COMMAND_HELP: fputs(actl__options_help, stdout); break;
  case COMMANDS: break;
  case COMMAND_VERSION: printf("actorlua %s (%s)\n", actl_version(), LUA_RELEASE); break;
  case COMMAND_RUN:
  case COMMAND_LIST:
  case COMMAND_EXPLORE:
  case COMMAND_SHRINK:
  case COMMAND_TEST: status = run_command(&options); break;
  }
  actl__options_free(&options);
  return flush(status);
}
