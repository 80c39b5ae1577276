/*
 * crew.c - processes that work off numbered jobs, each of which comes to a verdict.
 *
 *   board   memory that all of them share: the next job, the first that is not needed, and for each
 *           process the job that it is at
 *   pipe    one for each process: a record for each job that did not come to VERDICT_DONE. Its end is
 *           the process's end
 *
 * A job is taken by counting `next` up, so that at any time all jobs before it have been taken: when one
 * is what was looked for, those before it are under way or done, and are waited for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/crew.h"

#include "command/interrupt.h"
#include "command/run.h"
#include "command/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCESSES = 256, LOOK_MS = 50 };

#define NO_JOB UINT64_MAX

/* Each word by itself: what is read is a moment old, which does not matter, so all of it is relaxed. */
struct board {
  _Atomic(uint64_t) next;              /* counted up by the processes */
  _Atomic(uint64_t) end;               /* jobs from here on are not needed; ours */
  _Atomic(uint64_t) n_done;            /* counted up by the processes */
  _Atomic(uint64_t) at[MAX_PROCESSES]; /* the job of each; NO_JOB: it has none, and ends */
};

struct process {
  pid_t pid; /* 0: there is none */
  int fd;
  struct text heard;  /* of the pipe, not understood yet */
  uint64_t last_told; /* the last job that a record came of; NO_JOB: none */
  uint64_t seen_at;   /* the job that it was at when last looked at, */
  uint64_t since_ms;  /* and since when */
  bool is_hung;       /* it was killed for that */
};

struct state {
  const struct crew *crew;
  struct crew_result *out;
  struct board *board;
  uint32_t n;
  struct process *processes;
};

/* What a record begins with; the text and the check's name follow. */
struct record {
  uint64_t job, n_choices;
  uint32_t kind, text_size, check_size; /* sizes with the zero byte; 0: NULL */
};

static uint64_t get(_Atomic(uint64_t) *word) {
  return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic(uint64_t) *word, uint64_t value) {
  atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t count(_Atomic(uint64_t) *word) {
  return atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
}

static uint64_t now_ms(void) { return actl__span_now(NULL).wall_ns / 1000000; }

/* ---- In a process of the crew -------------------------------------------------------------------- */

static uint32_t size_of(const char *text) { return text == NULL ? 0 : (uint32_t)strlen(text) + 1; }

static void write_record(int fd, uint64_t job, const struct verdict *verdict) {
  struct record record = {.job = job,
                          .n_choices = verdict->n_choices,
                          .kind = verdict->kind,
                          .text_size = size_of(verdict->text),
                          .check_size = size_of(verdict->check)};
  struct text text = {0};
  actl__text_add(&text, (const char *)&record, sizeof record);
  actl__text_add(&text, verdict->text, record.text_size);
  actl__text_add(&text, verdict->check, record.check_size);
  if (!actl__text_write(&text, fd)) _exit(EXIT_FAILURE); /* nobody listens any more */
  actl__text_free(&text);
}

/* A group of its own, so that what it starts can be ended with it, and so that Ctrl-C reaches us and
 * not it. */
static void settle(void) {
  (void)setpgid(0, 0);
  (void)signal(SIGINT, SIG_DFL);
  (void)signal(SIGTERM, SIG_DFL);
  int nowhere = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; fd++) (void)dup2(nowhere, fd);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

static void work(const struct state *state, uint32_t number, int fd, pid_t parent) {
  struct board *board = state->board;
  for (;;) {
    uint64_t job = count(&board->next);
    if (job >= get(&board->end) || getppid() != parent) break;
    set(&board->at[number], job);
    struct verdict verdict = {.kind = VERDICT_DONE};
    state->crew->work(state->crew->ud, job, &verdict);
    (void)count(&board->n_done);
    if (verdict.kind != VERDICT_DONE) write_record(fd, job, &verdict);
    actl__verdict_free(&verdict);
  }
  set(&board->at[number], NO_JOB);
  _exit(EXIT_SUCCESS);
}

/* ---- Hearing of them ------------------------------------------------------------------------------ */

static void hear(struct state *state, uint64_t job, const struct verdict *verdict) {
  struct crew_result *out = state->out;
  if (!state->crew->hear(state->crew->ud, job, verdict)) return;
  if (out->was_found && job > out->found) return;
  actl__verdict_free(&out->verdict);
  out->was_found = true;
  out->found = job;
  actl__verdict_copy(&out->verdict, verdict);
  set(&state->board->end, job);
}

/* Understands one record; returns its size, 0: it is not there as a whole. */
static size_t take_record(struct state *state, struct process *process, char *bytes, size_t size) {
  struct record record;
  if (size < sizeof record) return 0;
  memcpy(&record, bytes, sizeof record);
  size_t whole = sizeof record + record.text_size + record.check_size;
  if (size < whole || record.kind >= VERDICTS) return 0;

  char *text = bytes + sizeof record, *check = text + record.text_size;
  struct verdict verdict = {.kind = (enum verdict_kind)record.kind,
                            .text = record.text_size > 0 ? text : NULL,
                            .check = record.check_size > 0 ? check : NULL,
                            .n_choices = record.n_choices};
  process->last_told = record.job;
  hear(state, record.job, &verdict);
  return whole;
}

static void take_records(struct state *state, struct process *process) {
  struct text *heard = &process->heard;
  size_t at = 0, size;
  while ((size = take_record(state, process, heard->bytes + at, heard->size - at)) > 0) at += size;
  if (at == 0) return;
  heard->size -= at;
  memmove(heard->bytes, heard->bytes + at, heard->size);
}

/* What a process's end in the middle of a job says of that. */
static struct verdict verdict_of_end(const struct state *state, const struct process *process,
                                     int status) {
  struct verdict verdict = {.kind = VERDICT_PROCESS};
  uint64_t patience_ms = state->crew->patience_ms;
  if (process->is_hung) {
    verdict.kind = VERDICT_HUNG;
    verdict.text = actl__text_format("no end after %g s of real time", (double)patience_ms / 1e3);
  } else if (WIFSIGNALED(status)) {
    verdict.text = actl__text_format("the process was killed by signal %d (%s)", WTERMSIG(status),
                                     strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    verdict.text =
        actl__text_format("the process ended with status %d (os.exit)", WEXITSTATUS(status));
  } else {
    verdict.kind = VERDICT_DONE; /* as the script wants it: os.exit(0) */
  }
  return verdict;
}

/* The pipe has ended. */
static void take_end(struct state *state, uint32_t number) {
  struct process *process = &state->processes[number];
  int status = 0;
  while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) continue;
  close(process->fd);
  actl__text_free(&process->heard);
  process->pid = 0;

  uint64_t job = get(&state->board->at[number]);
  if (actl__interrupt_signal() != 0 || job == NO_JOB || job >= get(&state->board->end) ||
      job == process->last_told)
    return;
  (void)count(&state->board->n_done);
  struct verdict verdict = verdict_of_end(state, process, status);
  if (verdict.kind != VERDICT_DONE) hear(state, job, &verdict);
  actl__verdict_free(&verdict);
}

/* ---- Having them ----------------------------------------------------------------------------------- */

static char *start(struct state *state, uint32_t number) {
  int ends[2];
  if (pipe(ends) != 0) return actl__text_format("no pipe is to be had: %s", strerror(errno));
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  set(&state->board->at[number], NO_JOB);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    settle();
    work(state, number, ends[1], parent);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return actl__text_format("no process is to be had: %s", strerror(errno));
  }
  (void)setpgid(pid, pid);
  state->processes[number] = (struct process){
      .pid = pid, .fd = ends[0], .last_told = NO_JOB, .seen_at = NO_JOB, .since_ms = now_ms()};
  return NULL;
}

static void end(const struct process *process) { (void)kill(-process->pid, SIGKILL); }

/* Ends those whose jobs are not needed, and those that hang. */
static void look(struct state *state) {
  uint64_t now = now_ms(), last = get(&state->board->end);
  bool is_over = actl__interrupt_signal() != 0;
  for (uint32_t i = 0; i < state->n; i++) {
    struct process *process = &state->processes[i];
    if (process->pid == 0) continue;
    uint64_t at = get(&state->board->at[i]);
    if (is_over || (at != NO_JOB && at >= last)) end(process);
    if (at != process->seen_at || at == NO_JOB) {
      process->seen_at = at;
      process->since_ms = now;
    } else if (now - process->since_ms >= state->crew->patience_ms) {
      process->is_hung = true;
      end(process);
    }
  }
}

/* Reads what is there; false: the end. */
static bool read_some(struct process *process) {
  char block[65536];
  ssize_t n = read(process->fd, block, sizeof block);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  actl__text_add(&process->heard, block, (size_t)n);
  return true;
}

static bool is_alive(const struct state *state) {
  for (uint32_t i = 0; i < state->n; i++)
    if (state->processes[i].pid != 0) return true;
  return false;
}

/* Waits until there is something to hear, for a little. A process that has ended is replaced as long as
 * there are jobs. */
static char *listen(struct state *state) {
  struct pollfd fds[MAX_PROCESSES];
  for (uint32_t i = 0; i < state->n; i++) {
    const struct process *process = &state->processes[i];
    fds[i] = (struct pollfd){.fd = process->pid != 0 ? process->fd : -1, .events = POLLIN};
  }
  if (poll(fds, state->n, LOOK_MS) <= 0) return NULL;
  for (uint32_t i = 0; i < state->n; i++) {
    struct process *process = &state->processes[i];
    if (process->pid == 0 || fds[i].revents == 0) continue;
    if (read_some(process)) {
      take_records(state, process);
      continue;
    }
    take_end(state, i);
    bool has_more = get(&state->board->next) < get(&state->board->end);
    char *problem = has_more && actl__interrupt_signal() == 0 ? start(state, i) : NULL;
    if (problem != NULL) return problem;
  }
  return NULL;
}

/* Something is wrong with having them at all. */
static void end_all(struct state *state) {
  set(&state->board->end, 0);
  for (uint32_t i = 0; i < state->n; i++) {
    if (state->processes[i].pid == 0) continue;
    end(&state->processes[i]);
    take_end(state, i);
  }
}

static char *run_all(struct state *state) {
  char *problem = NULL;
  for (uint32_t i = 0; i < state->n && problem == NULL; i++) problem = start(state, i);
  while (problem == NULL && is_alive(state)) {
    problem = listen(state);
    look(state);
    if (state->crew->tell != NULL) state->crew->tell(state->crew->ud, get(&state->board->n_done));
  }
  if (problem != NULL) end_all(state);
  return problem;
}

uint32_t actl__crew_processors(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MAX_PROCESSES ? MAX_PROCESSES : (uint32_t)n;
}

char *actl__crew_run(const struct crew *crew, struct crew_result *out) {
  *out = (struct crew_result){.verdict = {.kind = VERDICT_DONE}};
  struct crew own = *crew;
  if (own.patience_ms == 0) own.patience_ms = CREW_PATIENCE_MS;
  uint32_t n = own.processes != 0 ? own.processes : actl__crew_processors();
  if (n > MAX_PROCESSES) n = MAX_PROCESSES;
  if (n > own.n_jobs) n = (uint32_t)own.n_jobs;

  struct board *board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (board == MAP_FAILED) return actl__text_format("no memory is to be had: %s", strerror(errno));
  set(&board->end, own.n_jobs);
  struct process *processes = actl__text_room(NULL, (n + 1) * sizeof *processes);
  memset(processes, 0, (n + 1) * sizeof *processes);

  /* What is in our buffers must not be written by the others too. */
  (void)fflush(NULL);
  struct state state = {&own, out, board, n, processes};
  char *problem = run_all(&state);
  out->n_done = get(&board->n_done);
  free(processes);
  (void)munmap(board, sizeof *board);
  return problem;
}
