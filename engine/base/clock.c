/*
 * clock.c - the one place that reads time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"

#include <time.h>
#include <uv.h>

uint64_t actl__clock_ns(void) { return uv_hrtime(); }

uint64_t actl__clock_wall_ns(void) {
  struct timespec now;
  (void)timespec_get(&now, TIME_UTC);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
