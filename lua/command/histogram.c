/*
 * histogram.c - log-linear buckets, as in Tene's HdrHistogram: 1,024 to each power of two.
 *
 * A value below 2,048 has a bucket of its own. Above, the bucket is named by the highest 11 bits
 * of the value and by how far they were shifted down.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/histogram.h"

#include "command/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BITS = 10 };
static const size_t PARTS = (size_t)1 << PART_BITS;
static const size_t BUCKETS = (64 - PART_BITS + 1) * ((size_t)1 << PART_BITS);

/* How far `value` is shifted down so that at most PART_BITS + 1 bits of it are left. */
static unsigned shift_of(uint64_t value) {
  unsigned shift = 0;
  while (value >> shift >= 2 * PARTS) shift++;
  return shift;
}

static size_t bucket_of(uint64_t value) {
  unsigned shift = shift_of(value);
  return shift * PARTS + (size_t)(value >> shift);
}

/* The highest value of a bucket. */
static uint64_t value_of(size_t bucket) {
  if (bucket < 2 * PARTS) return bucket;
  unsigned shift = (unsigned)(bucket / PARTS) - 1;
  uint64_t first = (bucket - shift * PARTS) << shift;
  return first + (((uint64_t)1 << shift) - 1);
}

void actl__histogram_add(struct histogram *histogram, uint64_t value, uint64_t n) {
  if (n == 0) return;
  if (histogram->counts == NULL) {
    size_t size = BUCKETS * sizeof *histogram->counts;
    histogram->counts = actl__text_room(NULL, size);
    memset(histogram->counts, 0, size);
  }
  histogram->counts[bucket_of(value)] += n;
  histogram->count += n;
  if (value > histogram->max) histogram->max = value;
}

uint64_t actl__histogram_quantile(const struct histogram *histogram, double share) {
  if (histogram->count == 0) return 0;
  uint64_t rank = (uint64_t)ceil(share * (double)histogram->count);
  uint64_t passed = 0;
  for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
    passed += histogram->counts[bucket];
    if (passed < rank || passed == 0) continue;
    uint64_t value = value_of(bucket);
    return value < histogram->max ? value : histogram->max;
  }
  return histogram->max;
}

void actl__histogram_free(struct histogram *histogram) {
  free(histogram->counts);
  *histogram = (struct histogram){0};
}
