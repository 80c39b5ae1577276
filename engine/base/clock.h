/*
 * clock.h - the one place that reads time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_CLOCK_H
#define ACTL_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic nanoseconds from an arbitrary start. */
uint64_t actl__clock_ns(void);

#endif
