/*
 * memory.c - the default allocation hook.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *ud, void *ptr, size_t old_size, size_t new_size) {
  (void)ud;
  (void)old_size;
  if (new_size == 0) {
    free(ptr);
    return NULL;
  }
  return realloc(ptr, new_size);
}

void actl__memory_init(struct memory *mem, actl_alloc_fn fn, void *ud) {
  mem->fn = fn != NULL ? fn : default_alloc;
  mem->ud = ud;
}

void *actl__memory_new_zeroed(const struct memory *mem, size_t size) {
  void *ptr = actl__memory_new(mem, size);
  if (ptr != NULL) memset(ptr, 0, size);
  return ptr;
}

#define ALIGNED_EXTRA ((size_t)2 * ACTL__CACHE_LINE)

/* The block's start is kept in front of what is handed out. */
void *actl__memory_new_aligned(const struct memory *mem, size_t size) {
  char *block = actl__memory_new(mem, size + ALIGNED_EXTRA);
  if (block == NULL) return NULL;

  size_t off = ACTL__CACHE_LINE - (uintptr_t)block % ACTL__CACHE_LINE;
  char *out = block + off;
  if (off < sizeof(void *)) out += ACTL__CACHE_LINE;
  memcpy(out - sizeof(void *), &block, sizeof block);
  return out;
}

void actl__memory_free_aligned(const struct memory *mem, void *ptr, size_t size) {
  if (ptr == NULL) return;
  void *block;
  memcpy(&block, (char *)ptr - sizeof(void *), sizeof block);
  actl__memory_free(mem, block, size + ALIGNED_EXTRA);
}
