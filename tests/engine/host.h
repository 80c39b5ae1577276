/*
 * host.h - what the tests of the contract share: an engine with a journal of its log, a watchdog,
 * sizes that shrink where a build is slow, and ways to hand a record to an actor. With a seed
 * (support/seeds.h) every engine that is opened here has it.
 *
 * cmocka asserts on the main thread only, and handlers run on any: they write to records, which the
 * test reads when the run has returned.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_HOST_H
#define ACTL_TESTS_ENGINE_HOST_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actl.h"
#include "support/seeds.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif
#ifdef ACTL_STRESS
#define IS_STRESSED 1
#else
#define IS_STRESSED 0
#endif

/* A size that a release build handles at once, divided where everything takes longer. */
#define SCALED(n) ((n) / (IS_SANITIZED || IS_STRESSED ? 10 : 1))

/* The same, and another size where the test is played with hundreds of seeds. */
#define SIZED(n, seeded) (seeds_are_on() ? (seeded) : SCALED(n))

/* A test that is ended, with a word, when it hangs. */
#define WATCHED(test) cmocka_unit_test_setup_teardown(test, watch_start, watch_stop)
int watch_start(void **state);
int watch_stop(void **state);

/* What the log callback got: how many entries of each kind, and the last one's text. */
struct journal {
  pthread_mutex_t lock;
  unsigned entries[4];
  actl_log_level level[4];
  char text[4][512];
};

struct story;

struct host {
  actl_engine *engine;
  struct story *story; /* NULL: the run is not traced, or by the test itself */
  struct journal journal;
  actl_stats stats; /* as of the last host_run */
};

void journal_write(void *ud, actl_log_level level, actl_log_kind kind, const char *text);

/* Makes an engine that logs to the journal; `config` may be NULL, its log is not used. Where the
 * environment has ACTL_TEST_TRACED and the test has no trace of its own, a story is told, and checked at
 * the end. */
void host_open(struct host *host, uint32_t workers, uint32_t vats);
void host_open_with(struct host *host, const actl_config *config);

/* Runs until it is quiet, takes the stats and checks what always holds of them. */
void host_run(struct host *host);
void host_close(struct host *host);

actl_pid host_spawn(struct host *host, uint32_t vat, const actl_behavior *behavior,
                    const actl_value *values, size_t n);
void host_send(struct host *host, actl_pid to, const actl_value *values, size_t n);

/* All dead letters, whatever the reason. */
uint64_t letters_of(const actl_stats *stats);

/* That every one of `sent` messages was handled or is a dead letter. */
void assert_accounted(const struct host *host, uint64_t sent);

/* A pointer as a value. The actors and the test share memory; the contract's values do not. */
static inline actl_value pointer(const void *p) { return actl_int((int64_t)(intptr_t)p); }
static inline void *pointer_in(const actl_msg *msg, size_t i) {
  return (void *)(intptr_t)actl_msg_int(msg, i, 0);
}

/* The next number of a count that several threads share. */
static inline unsigned tick(atomic_uint *count) {
  return atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* Seconds of a monotonic clock. */
double seconds_now(void);

/* Nanoseconds of the clock that the engine promises its times in: with a seed, the virtual one. In a
 * handler; `ctx` NULL: of the other one, anywhere. */
uint64_t now_ns(actl_ctx *ctx);

/* Computes, in a handler, until the clock shows that. */
void burn_until(actl_ctx *ctx, uint64_t ns);
static inline void burn_ms(actl_ctx *ctx, uint64_t ms) {
  burn_until(ctx, now_ns(ctx) + ms * 1000000);
}

/* xorshift: the same numbers in each run. */
static inline uint64_t random_next(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

#endif
