/*
 * race.h - bodies that run on threads of their own and begin together.
 *
 * A body does not assert: it records, and the main thread asserts when all have been joined.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_RACE_H
#define TESTS_SUPPORT_RACE_H

#include <stddef.h>

enum { TEST_RACE_MAX = 16 };

struct test_racer {
  void (*body)(void *arg);
  void *arg;
};

/* Runs each racer on a new thread; none begins before all are there. Returns when all have ended.
 * A thread that cannot be had ends the program. */
void test_race(const struct test_racer *racers, size_t n);

/* For a loop that waits for another thread: gives the processor away now and then. `spins` is the
 * loop's own count, 0 at first. */
void test_race_wait(unsigned *spins);

#endif
