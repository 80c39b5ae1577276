/*
 * size.h - size classes: multiples of 16 bytes up to 1 kB, then four to each doubling (1280, 1536, 1792,
 * 2048, 2560 ...).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_SIZE_H
#define ACTL_BASE_SIZE_H

#include <stddef.h>

enum {
  SIZE_STEP = 16, /* a coroutine's stack has 720 bytes */
  SIZE_SMALL_LOG = 10,
  SIZE_SMALL = 1 << SIZE_SMALL_LOG,
  SIZE_SMALL_CLASSES = SIZE_SMALL / SIZE_STEP
};

/* Up to 2 to the power of `log`, 10 or more, so many classes. */
#define SIZE_CLASSES(log) (SIZE_SMALL_CLASSES + ((log)-SIZE_SMALL_LOG) * 4)

/* `size` is not 0. */
static inline unsigned actl__size_class(size_t size) {
  if (size <= SIZE_SMALL) return (unsigned)((size + SIZE_STEP - 1) / SIZE_STEP - 1);

  unsigned log = 63u - (unsigned)__builtin_clzll(size - 1); /* 1024 < size <= 2048: 10 */
  unsigned quarter = (unsigned)((size - 1) >> (log - 2)) & 3;
  return SIZE_SMALL_CLASSES + (log - SIZE_SMALL_LOG) * 4 + quarter;
}

/* The largest size in a class. */
static inline size_t actl__size_of_class(unsigned class) {
  if (class < SIZE_SMALL_CLASSES) return (size_t)(class + 1) * SIZE_STEP;

  unsigned log = SIZE_SMALL_LOG + (class - SIZE_SMALL_CLASSES) / 4;
  size_t quarter = (class - SIZE_SMALL_CLASSES) % 4 + 1;
  return ((size_t)1 << log) + (quarter << (log - 2));
}

#endif
