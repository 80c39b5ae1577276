/*
 * io.h - the one thread that sleeps: it rings alarms when they are due, ticks for the watchdog, and
 * takes the signals of the process.
 *
 *   absent --arm, watch--> sleeping --told, or a time has come--> awake --> sleeping     free ends it
 *
 * The thread is made when first needed and runs a libuv loop, in which each alarm is a timer. Other
 * threads never touch the loop: they leave what they want in a list, and tell the thread once. With no
 * alarm and no watch it sleeps without a time.
 *
 * It knows nothing of who is rung: an alarm has a `whom`, which outlives the io.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_IO_IO_H
#define ACTL_IO_IO_H

#include "actl.h"
#include "base/memory.h"

struct io;
struct alarm;

/* What it calls, on its own thread, with no lock held. `ud` is handed to `watch`. */
struct io_user {
  void (*ring)(void *whom);
  bool (*watch)(void *ud); /* every IO_WATCH_MS from actl__io_watch on; false: no more */
  void *ud;
};

enum { IO_WATCH_MS = 5 };

/* NULL: no memory, or no lock. Starts no thread. */
struct io *actl__io_new(const struct memory *mem, const struct io_user *user);

/* Ends the thread; no alarm rings any more, and all are freed. NULL is ignored. */
void actl__io_free(struct io *io);

/* An alarm that rings `whom`, and lasts as long as the io; NULL: no memory. Any thread. */
struct alarm *actl__io_alarm(struct io *io, void *whom);

/* Has the alarm ring when actl__clock_ns shows `due_ms` milliseconds: never before, and once. A time
 * that it was armed for before and that has not come is forgotten, though an alarm under way may still
 * ring. Any thread. false: no thread is to be had, so it will not ring; each call tries again. */
bool actl__io_arm(struct io *io, struct alarm *alarm, uint64_t due_ms);

/* Has `take(ud, number)` called on the thread each time the process gets that signal, from when this
 * returns until the end. ACTL_INVALID: no such signal, or it is taken already; ACTL_NO_MEMORY;
 * ACTL_SYSTEM. Any thread but this one. */
actl_status actl__io_take(struct io *io, int number, void (*take)(void *ud, int number), void *ud);

/* Has `watch` called until it says no more. Without a thread it is called as soon as there is one. */
void actl__io_watch(struct io *io);

#endif
