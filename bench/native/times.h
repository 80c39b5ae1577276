/*
 * times.h - the clock, and a list of times that are taken while something is measured.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BENCH_TIMES_H
#define ACTL_BENCH_TIMES_H

#include "actl.h"

/* Nanoseconds of a clock that never goes back. */
int64_t actl_bench_now_ns(void);

/* All zeros is a list without room. */
struct actl_bench_times {
  int64_t *ns;
  int64_t n, room;
};

/* Makes room, all of it touched, so that nothing is measured but what should be. ACTL_NO_MEMORY. */
actl_status actl_bench_times_init(struct actl_bench_times *out, int64_t room);
void actl_bench_times_fini(struct actl_bench_times *times); /* leaves it without room */

/* A time too many is left out. */
static inline void actl_bench_times_add(struct actl_bench_times *times, int64_t ns) {
  if (times->n < times->room) times->ns[times->n++] = ns;
}

/* The list as the bytes that report.samples takes. */
actl_value actl_bench_times_value(const struct actl_bench_times *times);

#endif
