/*
 * memory.h - the one door to memory: the host's allocation hook, or malloc.
 *
 * Every block is freed with the size that it was made with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_MEMORY_H
#define ACTL_BASE_MEMORY_H

#include "actl.h"
#include "base/invariant.h"

enum { ACTL__CACHE_LINE = 64 };

struct memory {
  actl_alloc_fn fn;
  void *ud;
};

/* The hook itself when `fn` is NULL is the default one. */
void actl__memory_init(struct memory *mem, actl_alloc_fn fn, void *ud);

/* Not zeroed; NULL when there is none. `size` is not 0. */
static inline void *actl__memory_new(const struct memory *mem, size_t size) {
  return mem->fn(mem->ud, NULL, 0, size);
}

void *actl__memory_new_zeroed(const struct memory *mem, size_t size);

static inline void actl__memory_free(const struct memory *mem, void *ptr, size_t size) {
  if (ptr != NULL) mem->fn(mem->ud, ptr, size, 0);
}

/* Aligned to a cache line. */
void *actl__memory_new_aligned(const struct memory *mem, size_t size);
void actl__memory_free_aligned(const struct memory *mem, void *ptr, size_t size);

/* NULL on failure: the old block is untouched. */
static inline void *actl__memory_resize(const struct memory *mem, void *ptr, size_t old_size,
                                        size_t new_size) {
  return mem->fn(mem->ud, ptr, old_size, new_size);
}

#endif
