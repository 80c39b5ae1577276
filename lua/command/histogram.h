/*
 * histogram.h - how latencies are spread, in a fixed amount of memory however many there are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_HISTOGRAM_H
#define ACTL_COMMAND_HISTOGRAM_H

#include <stdint.h>

struct histogram {
  uint64_t *counts; /* NULL until the first value */
  uint64_t count, max;
};

/* Records the value `n` times. */
void actl__histogram_add(struct histogram *histogram, uint64_t value, uint64_t n);

/* The least recorded value that at least `share` (0 to 1) of all values do not exceed: exact below
 * 2,048, at most a thousandth too high above. 0 when there is none. */
uint64_t actl__histogram_quantile(const struct histogram *histogram, double share);

void actl__histogram_free(struct histogram *histogram);

#endif
