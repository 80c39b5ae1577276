/*
 * random.h - a small generator for choices that need no secrecy.
 *
 * xorshift64* (Marsaglia 2003, Vigna 2016): any state but zero.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_RANDOM_H
#define ACTL_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t actl__random_next(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545F4914F6CDD1Dull;
}

/* A number below `n`, which is not 0 (Lemire's multiplication, without its correction). */
static inline uint32_t actl__random_below(uint64_t *state, uint32_t n) {
  return (uint32_t)(((actl__random_next(state) >> 32) * n) >> 32);
}

#endif
