/*
 * trace.c - the file, stream or ring that a trace goes to, and the lock around it.
 *
 * Events come from several threads: each is written whole, under the lock, in the order in which they
 * take it. An engine tells of a send before anybody can receive it, so what is written is in an order
 * that the run could have had.
 *
 * Bytes are gathered and written in blocks. In the Chrome format each block is followed by what ends
 * the file, which the next block is written over: so the file is whole whenever the process ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trace.h"

#include "command/trace_chrome.h"
#include "command/trace_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1 << 16, PATIENCE_S = 1 };

enum form { FORM_TEXT, FORM_CHROME, FORM_RING };

struct trace {
  pthread_mutex_t lock; /* everything below is under it, once events come */
  enum form form;
  actl_engine *engine;
  struct trace_names names;
  struct trace_chrome chrome;
  uint64_t begin_ns;
  bool has_begun;

  char *path;      /* NULL: a stream, or a ring */
  FILE *file;      /* NULL: a ring */
  bool is_direct;  /* lines are written one by one: others write to the stream, too */
  bool is_seeking; /* what ends the file is written over */
  int error;       /* the first that writing met */
  struct text text;

  struct text *lines; /* a ring */
  size_t n_lines, room, next;
};

/* The file that is to be whole when the process ends at once: that end is one for the process, and so
 * is this. release and acquire: who finds it sees it as it was opened. */
static _Atomic(struct trace *) saved;

/* ---- Opening ---- */

static struct trace *trace_new(enum form form) {
  struct trace *trace = actl__text_room(NULL, sizeof *trace);
  *trace = (struct trace){.form = form};
  pthread_mutex_init(&trace->lock, NULL);
  return trace;
}

static bool has_suffix(const char *path, const char *suffix) {
  size_t size = strlen(path), suffix_size = strlen(suffix);
  return size >= suffix_size && strcmp(path + size - suffix_size, suffix) == 0;
}

char *actl__trace_open(struct trace **out, const char *path) {
  if (strcmp(path, "-") == 0) {
    *out = actl__trace_open_stream(stdout);
    return NULL;
  }
  FILE *file = fopen(path, "wb");
  if (file == NULL)
    return actl__text_format("cannot write the trace to %s: %s", path, strerror(errno));

  setvbuf(file, NULL, _IONBF, 0);
  struct trace *trace = trace_new(has_suffix(path, ".json") ? FORM_CHROME : FORM_TEXT);
  trace->file = file;
  trace->path = actl__text_copy(path, strlen(path));
  if (trace->form == FORM_CHROME) {
    trace->is_seeking = fseeko(file, 0, SEEK_CUR) == 0;
    actl__text_print(&trace->text, "%s", actl__trace_chrome_head);
  }
  atomic_store_explicit(&saved, trace, memory_order_release);
  *out = trace;
  return NULL;
}

struct trace *actl__trace_open_stream(FILE *file) {
  struct trace *trace = trace_new(FORM_TEXT);
  trace->file = file;
  trace->is_direct = true;
  return trace;
}

struct trace *actl__trace_open_ring(size_t n) {
  struct trace *trace = trace_new(FORM_RING);
  trace->room = n;
  trace->lines = actl__text_room(NULL, n * sizeof *trace->lines);
  memset(trace->lines, 0, n * sizeof *trace->lines);
  return trace;
}

void actl__trace_attach(struct trace *trace, actl_engine *engine) {
  pthread_mutex_lock(&trace->lock);
  trace->engine = engine;
  pthread_mutex_unlock(&trace->lock);
}

/* ---- Writing ---- */

static void write_bytes(struct trace *trace, const char *bytes, size_t size) {
  if (trace->error != 0 || size == 0) return;
  errno = 0;
  if (fwrite(bytes, 1, size, trace->file) != size) trace->error = errno != 0 ? errno : EIO;
}

/* Writes what has been gathered, at once. In the Chrome format the file is whole then. */
static void write_block(struct trace *trace, bool is_last) {
  size_t size = strlen(actl__trace_chrome_foot);
  bool is_ended = trace->form == FORM_CHROME && (trace->is_seeking || is_last);
  if (is_ended) actl__text_add(&trace->text, actl__trace_chrome_foot, size);
  write_bytes(trace, trace->text.bytes, trace->text.size);
  trace->text.size = 0;
  bool goes_on = is_ended && !is_last && trace->error == 0;
  if (goes_on && fseeko(trace->file, -(off_t)size, SEEK_CUR) != 0) trace->error = errno;
}

/* The place of the next line in the ring. */
static struct text *next_line(struct trace *trace) {
  struct text *line = &trace->lines[trace->next];
  trace->next = (trace->next + 1) % trace->room;
  if (trace->n_lines < trace->room) trace->n_lines++;
  line->size = 0;
  return line;
}

static void print_line(struct trace *trace, const actl_event *event) {
  bool is_ring = trace->form == FORM_RING;
  struct text *out = is_ring ? next_line(trace) : &trace->text;
  const struct trace_writer to = {trace->engine, &trace->names, out};
  actl__trace_text_print(&to, event, trace->begin_ns);
  if (!is_ring) actl__text_add(out, "\n", 1);
}

static void print_event(struct trace *trace, const actl_event *event) {
  if (!trace->has_begun) trace->begin_ns = event->time_ns;
  trace->has_begun = true;
  if (event->kind == ACTL_EVENT_SPAWN && event->text != NULL) {
    struct trace_actor *actor = actl__trace_names_get(&trace->names, event->actor);
    actl__trace_names_learn(&trace->names, actor, event->text);
  }
  if (trace->form == FORM_CHROME) {
    const struct trace_writer to = {trace->engine, &trace->names, &trace->text};
    actl__trace_chrome_print(&trace->chrome, &to, event);
  } else {
    print_line(trace, event);
  }
}

void actl__trace_tell(void *ud, const actl_event *event) {
  struct trace *trace = ud;
  pthread_mutex_lock(&trace->lock);
  print_event(trace, event);
  if (trace->form != FORM_RING && (trace->is_direct || trace->text.size >= BLOCK))
    write_block(trace, false);
  pthread_mutex_unlock(&trace->lock);
}

void actl__trace_save(void) {
  struct trace *trace = atomic_load_explicit(&saved, memory_order_acquire);
  if (trace == NULL) return;
  /* Another thread may be in it for good: then what has been gathered is lost. From here on nobody
   * writes: the lock is kept. */
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  if (pthread_mutex_timedlock(&trace->lock, &until) == 0) write_block(trace, false);
}

/* ---- The ring's lines ---- */

size_t actl__trace_n_lines(const struct trace *trace) { return trace->n_lines; }

const char *actl__trace_line(const struct trace *trace, size_t i) {
  return trace->lines[(trace->next + trace->room - trace->n_lines + i) % trace->room].bytes;
}

/* ---- Closing ---- */

/* What is wrong with the file, to be freed; NULL: nothing. */
static char *finish(struct trace *trace) {
  if (trace->form == FORM_CHROME) {
    const struct trace_writer to = {NULL, &trace->names, &trace->text}; /* it may be gone */
    actl__trace_chrome_end(&trace->chrome, &to);
  }
  write_block(trace, true);
  if (trace->path != NULL && fclose(trace->file) != 0 && trace->error == 0) trace->error = errno;
  if (trace->error == 0) return NULL;
  return actl__text_format("cannot write all of the trace to %s: %s",
                           trace->path != NULL ? trace->path : "stdout", strerror(trace->error));
}

char *actl__trace_close(struct trace *trace) {
  if (trace == NULL) return NULL;
  struct trace *self = trace;
  atomic_compare_exchange_strong_explicit(&saved, &self, NULL, memory_order_relaxed,
                                          memory_order_relaxed);
  char *problem = trace->file != NULL ? finish(trace) : NULL;
  for (size_t i = 0; i < trace->room; i++) actl__text_free(&trace->lines[i]);
  free(trace->lines);
  free(trace->path);
  actl__text_free(&trace->text);
  actl__trace_names_free(&trace->names);
  actl__trace_chrome_free(&trace->chrome);
  pthread_mutex_destroy(&trace->lock);
  free(trace);
  return problem;
}
