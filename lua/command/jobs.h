/*
 * jobs.h - work in processes of its own, several at a time.
 *
 *   jobs_open --> start --> wait --> start, wait, ... --> jobs_close
 *
 * What a process prints is kept, and so is what it writes to its memo. SIGINT and SIGTERM end all of
 * them, and are told by wait. One `struct jobs` a process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_JOBS_H
#define ACTL_COMMAND_JOBS_H

#include "command/text.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct job {
  pid_t pid; /* 0: the place is free */
  int memo, printed;
  void *ud;
};

struct jobs {
  struct job *places;
  uint32_t n_places, n_running;
  int signal; /* that came; 0: none */
  sigset_t awaited, before;
};

/* What came of a job. */
struct job_end {
  void *ud;
  int status; /* as waitpid has it */
  struct text memo, printed;
};

/* `n_places` 0: one for each processor. */
void actl__jobs_open(struct jobs *out, uint32_t n_places);
void actl__jobs_close(struct jobs *jobs);

/* Has a new process call work(ud, memo) and end. There must be a place. False: there can be no process
 * (errno). */
bool actl__jobs_start(struct jobs *jobs, void (*work)(void *ud, int memo), void *ud);

/* Waits until a job has ended; `out` and its texts are to be freed. False: a signal came, and the jobs
 * have been ended. Some job must be running. */
bool actl__jobs_wait(struct jobs *jobs, struct job_end *out);

/* In a process of a job: forgets what has been printed. */
void actl__jobs_reprint(void);

#endif
