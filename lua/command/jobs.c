/*
 * jobs.c - processes for work.
 *
 * The signals that are awaited are blocked in the process that starts jobs, so that none comes between
 * a look and the wait.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/jobs.h"

#include "command/crew.h"
#include "command/interrupt.h"
#include "command/memo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void actl__jobs_open(struct jobs *out, uint32_t n_places) {
  *out = (struct jobs){.n_places = n_places != 0 ? n_places : actl__crew_processors()};
  out->places = actl__text_room(NULL, out->n_places * sizeof *out->places);
  memset(out->places, 0, out->n_places * sizeof *out->places);

  /* Who started us may have it ignored, and then no end is told. */
  signal(SIGCHLD, SIG_DFL);
  sigemptyset(&out->awaited);
  sigaddset(&out->awaited, SIGCHLD);
  actl__interrupt_add(&out->awaited);
  sigprocmask(SIG_BLOCK, &out->awaited, &out->before);
}

void actl__jobs_close(struct jobs *jobs) {
  sigprocmask(SIG_SETMASK, &jobs->before, NULL);
  free(jobs->places);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

static struct job *free_place(struct jobs *jobs) {
  for (uint32_t i = 0; i < jobs->n_places; i++)
    if (jobs->places[i].pid == 0) return &jobs->places[i];
  abort();
}

_Noreturn static void work_in(const struct jobs *jobs, const struct job *job,
                              void (*work)(void *ud, int memo)) {
  sigprocmask(SIG_SETMASK, &jobs->before, NULL);
  int nothing = open("/dev/null", O_RDONLY);
  bool is_set =
      nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(job->printed, STDOUT_FILENO) >= 0;
  if (!is_set) _exit(EXIT_FAILURE);
  if (nothing > STDERR_FILENO) close(nothing);
  setvbuf(stdout, NULL, _IOLBF, 0);
  work(job->ud, job->memo);
  exit(EXIT_SUCCESS);
}

bool actl__jobs_start(struct jobs *jobs, void (*work)(void *ud, int memo), void *ud) {
  struct job *job = free_place(jobs);
  *job = (struct job){.memo = actl__memo_open(), .printed = actl__memo_open(), .ud = ud};
  fflush(NULL);
  job->pid = job->memo < 0 || job->printed < 0 ? -1 : fork();
  if (job->pid == 0) work_in(jobs, job, work);
  if (job->pid > 0) {
    jobs->n_running++;
    return true;
  }

  int error = errno;
  if (job->memo >= 0) close(job->memo);
  if (job->printed >= 0) close(job->printed);
  job->pid = 0;
  errno = error;
  return false;
}

void actl__jobs_reprint(void) {
  fflush(stdout);
  /* Where it cannot be, what was printed before is shown too. */
  if (ftruncate(STDOUT_FILENO, 0) == 0) lseek(STDOUT_FILENO, 0, SEEK_SET);
}

/* ---- Ending ------------------------------------------------------------------------------------- */

static void leave(struct jobs *jobs, struct job *job) {
  close(job->memo);
  close(job->printed);
  job->pid = 0;
  jobs->n_running--;
}

/* A job that has ended already; NULL: none. */
static struct job *find_ended(struct jobs *jobs, int *status) {
  for (uint32_t i = 0; i < jobs->n_places; i++) {
    struct job *job = &jobs->places[i];
    if (job->pid > 0 && waitpid(job->pid, status, WNOHANG) == job->pid) return job;
  }
  return NULL;
}

static void end_all(struct jobs *jobs) {
  for (uint32_t i = 0; i < jobs->n_places; i++) {
    struct job *job = &jobs->places[i];
    if (job->pid == 0) continue;
    kill(job->pid, SIGKILL);
    while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR) continue;
    leave(jobs, job);
  }
}

bool actl__jobs_wait(struct jobs *jobs, struct job_end *out) {
  int status = 0;
  struct job *job = NULL;
  while ((job = find_ended(jobs, &status)) == NULL) {
    int number = 0;
    if (sigwait(&jobs->awaited, &number) != 0 || number == SIGCHLD) continue;
    jobs->signal = number;
    end_all(jobs);
    return false;
  }
  *out = (struct job_end){
      .ud = job->ud,
      .status = status,
      .memo = actl__memo_read(job->memo),
      .printed = actl__memo_read(job->printed),
  };
  leave(jobs, job);
  return true;
}
