/*
 * clock.h - the one place that reads time; and a clock of an engine, which may be virtual.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_CLOCK_H
#define ACTL_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Monotonic nanoseconds from an arbitrary start. */
uint64_t actl__clock_ns(void);

/* Nanoseconds since 1970, UTC. */
uint64_t actl__clock_wall_ns(void);

/* When a virtual clock begins, and what the calendar says then: 1 January 2020. */
#define CLOCK_START_NS UINT64_C(1000000000000)
#define CLOCK_START_WALL_NS UINT64_C(1577836800000000000)

/* A virtual clock does not jump beyond, so that what is added to its time does not wrap. */
#define CLOCK_END_NS (UINT64_MAX - UINT64_C(60) * 366 * 24 * 3600 * 1000000000)

struct clock {
  bool is_virtual;  /* constant */
  uint64_t now_ns;  /* of a virtual one, as the next two: the thread that runs the engine */
  uint64_t read_ns; /* what a handler was told last, and how often in a row */
  uint32_t n_reads;
};

static inline void actl__clock_init(struct clock *clock, bool is_virtual) {
  clock->is_virtual = is_virtual;
  clock->now_ns = CLOCK_START_NS;
  clock->read_ns = 0;
  clock->n_reads = 0;
}

static inline uint64_t actl__clock_now(const struct clock *clock) {
  return clock->is_virtual ? clock->now_ns : actl__clock_ns();
}

static inline uint64_t actl__clock_wall(const struct clock *clock) {
  return clock->is_virtual ? CLOCK_START_WALL_NS + (clock->now_ns - CLOCK_START_NS)
                           : actl__clock_wall_ns();
}

#endif
