/*
 * held.h - blocks with contents, for the tests of what hands out memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_HELD_H
#define ACTL_TESTS_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held {
  unsigned char *at;
  size_t size;
  uint64_t seed;
};

/* The whole of small blocks, of large ones the ends and a byte here and there. */
static inline size_t step_of(size_t size) { return size <= 2048 ? 1 : size / 512; }

static inline unsigned char byte_at(uint64_t seed, size_t i) {
  return (unsigned char)((seed + i) * 0x9E3779B97F4A7C15ull >> 56);
}

static inline void fill(struct held *h, uint64_t seed) {
  h->seed = seed;
  for (size_t i = 0; i < h->size; i += step_of(h->size)) h->at[i] = byte_at(seed, i);
  if (h->size > 0) h->at[h->size - 1] = byte_at(seed, h->size - 1);
}

/* Whether the first `n` bytes are as they were filled; `size` is what it was then. */
static inline bool is_intact(const struct held *h, size_t n) {
  for (size_t i = 0; i < n; i += step_of(h->size))
    if (h->at[i] != byte_at(h->seed, i)) return false;
  return n < h->size || n == 0 || h->at[n - 1] == byte_at(h->seed, n - 1);
}

#endif
