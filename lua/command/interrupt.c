/*
 * interrupt.c - stops the actors on SIGINT and SIGTERM.
 *
 * Each engine takes the signals while it lives (actl_engine_on_signal): the first one stops its actors,
 * the next one ends the process at once. Where no engine is there a signal does what it did before the
 * command began. Signals are one for the process, and so are the variables here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/interrupt.h"

#include "command/console.h"
#include "command/trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 1 }; /* how long the actors may take to stop before something is said */

static const int signals[] = {SIGINT, SIGTERM};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static atomic_int came; /* the first signal; 0: none. Any thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_ended = PTHREAD_COND_INITIALIZER;
static bool is_ending;    /* under `lock` */
static bool has_reminder; /* written by the engine's thread before the engine is freed */
static pthread_t reminder;

/* Says that it takes long, unless it has ended by then; lasts until the end. */
static void *remind(void *unused) {
  (void)unused;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;

  pthread_mutex_lock(&lock);
  int failed = 0;
  while (!is_ending && failed == 0) failed = pthread_cond_timedwait(&has_ended, &lock, &until);
  if (!is_ending) actl__console_say("the actors are being stopped; interrupt again to end at once");
  while (!is_ending) pthread_cond_wait(&has_ended, &lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* The first signal is noted, the next one ends the process. Also called where the process was stopped
 * in the middle of anything. */
static void note(int number) {
  int none = 0;
  /* relaxed: only the number itself is handed over here. */
  if (!atomic_compare_exchange_strong_explicit(&came, &none, number, memory_order_relaxed,
                                               memory_order_relaxed)) {
    actl__trace_save();
    _exit(128 + number);
  }
}

/* On the engine's thread. */
static void on_signal(void *engine, int number) {
  note(number);
  actl_engine_shutdown(engine);
  has_reminder = pthread_create(&reminder, NULL, remind, NULL) == 0;
}

static bool is_ignored(int number) {
  struct sigaction now;
  return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void actl__interrupt_watch(actl_engine *engine) {
  for (size_t i = 0; i < N_SIGNALS; i++) {
    /* Where it cannot be taken it ends the process, as it does in any program. */
    if (!is_ignored(signals[i])) (void)actl_engine_on_signal(engine, signals[i], on_signal, engine);
  }
}

void actl__interrupt_catch(void) {
  for (size_t i = 0; i < N_SIGNALS; i++) {
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    if (!is_ignored(signals[i])) (void)sigaction(signals[i], &action, NULL);
  }
}

void actl__interrupt_add(sigset_t *out) {
  for (size_t i = 0; i < N_SIGNALS; i++)
    if (!is_ignored(signals[i])) sigaddset(out, signals[i]);
}

void actl__interrupt_stop(void) {
  pthread_mutex_lock(&lock);
  is_ending = true;
  pthread_cond_signal(&has_ended);
  pthread_mutex_unlock(&lock);
  if (has_reminder) pthread_join(reminder, NULL);
}

int actl__interrupt_signal(void) {
  /* relaxed: see note. */
  return atomic_load_explicit(&came, memory_order_relaxed);
}
