/*
 * console.c - lines and progress on stderr.
 *
 * stderr is one for the process, and so is what is known of it here: whether a line of progress is
 * on it, and when that was written. Both under `lock`, which is held while writing, so that lines
 * of several workers do not mix.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/console.h"

#include "command/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_EVERY_NS = 100000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_progress;    /* under `lock` */
static uint64_t progress_ns; /* when progress was last written; under `lock` */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void clear_locked(void) {
  if (has_progress) fputs("\r\033[K", stderr);
  has_progress = false;
}

void actl__console_write(const char *text) {
  pthread_mutex_lock(&lock);
  clear_locked();
  fprintf(stderr, "%s\n", text);
  fflush(stderr);
  pthread_mutex_unlock(&lock);
}

char *actl__console_entry(actl_log_level level, const char *text) {
  static const char *const levels[] = {"debug", "info", "warning", "error"};
  return actl__text_format("%s: %s", levels[(unsigned)level < 4 ? (unsigned)level : 3], text);
}

void actl__console_say(const char *format, ...) {
  struct text line = {0};
  actl__text_print(&line, "actorlua: ");
  va_list values;
  va_start(values, format);
  actl__text_print_list(&line, format, values);
  va_end(values);
  actl__console_write(line.bytes);
  actl__text_free(&line);
}

static bool is_terminal(void) {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
}

void actl__console_progress(const char *name, double done, double total) {
  if (!is_terminal()) return;

  pthread_mutex_lock(&lock);
  uint64_t now = now_ns();
  if (!has_progress || now - progress_ns >= PROGRESS_EVERY_NS) {
    progress_ns = now;
    has_progress = true;
    if (total > 0) {
      fprintf(stderr, "\r%s  %.0f %%\033[K", name, 100 * done / total);
    } else {
      fprintf(stderr, "\r%s  %.0f\033[K", name, done);
    }
    fflush(stderr);
  }
  pthread_mutex_unlock(&lock);
}

void actl__console_clear(void) {
  pthread_mutex_lock(&lock);
  clear_locked();
  fflush(stderr);
  pthread_mutex_unlock(&lock);
}
