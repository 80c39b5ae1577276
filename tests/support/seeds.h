/*
 * seeds.h - a cmocka program whose tests are played threaded, or with many seeds.
 *
 *   int main(void) { ... return seeds_main(tests); }
 *
 * runs the tests once. With ACTL_SEEDS=n in the environment they are run with n seeds in place of that,
 * from ACTL_SEED on (1 where it is not set), until one fails: then what the tests of that run said is
 * printed, and the command that plays it again. With ACTL_SEED alone they are run with that one, and
 * say all. What a test passes through seeds_put has the seed then.
 *
 * On the main thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SEEDS_H
#define TESTS_SUPPORT_SEEDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actl.h"

#define seeds_main(tests) seeds_run(#tests, (tests), sizeof(tests) / sizeof(tests)[0])
int seeds_run(const char *name, const struct CMUnitTest *tests, size_t n);

/* Whether the tests are played with a seed. */
bool seeds_are_on(void);

/* The seed; 0: none. */
uint64_t seeds_number(void);

/* Puts the seed in, where there is one and the config has none of its own. */
void seeds_put(actl_config *config);

/* With how many workers a test is to be tried, at most: with a seed there is but one. */
uint32_t seeds_workers(void);

/* Skips a test, with any seed: it has to do with threads, or with the clock on the wall. */
void seeds_need_threads(void);

/* Skips a test that takes long, with all seeds but one in `n`. */
void seeds_need_time(unsigned n);

/* Prints what the tests of this run have said so far. For a signal handler. */
void seeds_tell(void);

#endif
