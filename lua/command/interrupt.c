/*
 * interrupt.c - stops the actors on SIGINT and SIGTERM.
 *
 * A handler writes the signal into a pipe, and a thread that reads the pipe stops the engine: that
 * takes a lock, which a handler must not. The signals stay unblocked (no sigwait), since what a
 * script starts with os.execute or io.popen inherits blocked signals, but not handlers, and would
 * not hear of a Ctrl-C.
 *
 * Signal handlers are one for the process, and so are the variables here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/interrupt.h"

#include "command/console.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 }; /* how long the actors may take to stop before something is said */

static const int signals[] = {SIGINT, SIGTERM};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static atomic_int came;                    /* the first signal; 0: none. Any thread */
static int ends[2];                        /* the pipe; written before the handlers are set */
static pthread_t thread;                   /* the one that reads the pipe */
static struct sigaction before[N_SIGNALS]; /* what was set when the command began; main thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static actl_engine *watched; /* under `lock`: it is not freed while it is being stopped */

static void on_signal(int signal) {
  int none = 0;
  /* relaxed: only the number itself is handed over here; the pipe orders the rest. */
  if (!atomic_compare_exchange_strong_explicit(&came, &none, signal, memory_order_relaxed,
                                               memory_order_relaxed)) {
    _exit(128 + signal);
  }
  int error = errno;
  char byte = 1;
  ssize_t written = write(ends[1], &byte, 1);
  (void)written; /* the pipe is empty: at most two bytes are ever written */
  errno = error;
}

static void stop_watched(void) {
  pthread_mutex_lock(&lock);
  if (watched != NULL) actl_engine_shutdown(watched);
  pthread_mutex_unlock(&lock);
}

/* The byte in the pipe within `timeout` milliseconds, 0 meaning the end; -1: nothing came. */
static int read_byte(int timeout) {
  struct pollfd wait = {.fd = ends[0], .events = POLLIN};
  while (poll(&wait, 1, timeout) < 0) {
    if (errno != EINTR) return 0;
  }
  char byte = 0;
  if ((wait.revents & POLLIN) == 0) return -1;
  return read(ends[0], &byte, 1) == 1 ? byte : 0;
}

static void *wait_for_signal(void *unused) {
  (void)unused;
  if (read_byte(-1) == 0) return NULL;

  stop_watched();
  if (read_byte(PATIENCE_MS) < 0) {
    actl__console_say("the actors are being stopped; interrupt again to end at once");
    read_byte(-1);
  }
  return NULL;
}

bool actl__interrupt_start(void) {
  if (pipe(ends) != 0) return false;
  if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0) {
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < N_SIGNALS; i++) {
    sigaction(signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
  }
  return true;
}

void actl__interrupt_stop(void) {
  for (size_t i = 0; i < N_SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
  char end = 0;
  ssize_t written = write(ends[1], &end, 1);
  (void)written;
  pthread_join(thread, NULL);
  close(ends[0]);
  close(ends[1]);
}

void actl__interrupt_watch(actl_engine *engine) {
  pthread_mutex_lock(&lock);
  watched = engine;
  pthread_mutex_unlock(&lock);
  if (engine != NULL && actl__interrupt_signal() != 0) stop_watched();
}

int actl__interrupt_signal(void) {
  /* relaxed: see on_signal. */
  return atomic_load_explicit(&came, memory_order_relaxed);
}
