/*
 * region.c - size classes over reserved addresses. See region.h.
 *
 *   base      LEAD       at          ready          base + 4 GB
 *    | unused  | blocks   | writable   | reserved      |
 *
 * Twice the addresses are reserved, of which the aligned part is kept.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/region.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/size.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHES_BLOCKS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WATCHES_BLOCKS 1
#endif
#if defined(WATCHES_BLOCKS)
#include <sanitizer/asan_interface.h>
#endif

#define REGION_BYTES ((size_t)1 << 32)
#define REGION_LEAD ((size_t)1 << 16) /* no block's lower bits look like those of NULL */
#define REGION_STEP ((size_t)1 << 18) /* so much is made writable at a time, at least */

enum { CLASSES = SIZE_CLASSES(32) };

struct free_block {
  struct free_block *next;
};

struct region {
  char *base, *at, *ready; /* as drawn above */
  struct free_block *free[CLASSES];
};

/* ---- An address sanitizer is told which bytes are in use ---- */

static void begin_use(void *ptr, size_t size) {
#if defined(WATCHES_BLOCKS)
  ASAN_UNPOISON_MEMORY_REGION(ptr, size);
#else
  (void)ptr;
  (void)size;
#endif
}

static void end_use(void *ptr, size_t size) {
#if defined(WATCHES_BLOCKS)
  ASAN_POISON_MEMORY_REGION(ptr, size);
#else
  (void)ptr;
  (void)size;
#endif
}

/* ---- Making and freeing ---- */

/* NULL: there are no such addresses. */
static char *reserve(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *all = mmap(NULL, 2 * REGION_BYTES, PROT_NONE, flags, -1, 0);
  if (all == MAP_FAILED) return NULL;

  size_t before = (REGION_BYTES - (uintptr_t)all % REGION_BYTES) % REGION_BYTES;
  char *base = (char *)all + before;
  if (before > 0) munmap(all, before);
  munmap(base + REGION_BYTES, REGION_BYTES - before);
  return base;
}

struct region *actl__region_new(const struct memory *mem) {
  struct region *region = actl__memory_new_zeroed(mem, sizeof *region);
  if (region == NULL) return NULL;
  region->base = reserve();
  if (region->base == NULL) {
    actl__memory_free(mem, region, sizeof *region);
    return NULL;
  }
  region->at = region->ready = region->base + REGION_LEAD;
  return region;
}

void actl__region_free(struct region *region, const struct memory *mem) {
  if (region == NULL) return;
  begin_use(region->base, (size_t)(region->ready - region->base));
  munmap(region->base, REGION_BYTES);
  actl__memory_free(mem, region, sizeof *region);
}

/* ---- Blocks ---- */

/* Makes `size` bytes more writable from `at` on. What is made ready at a time grows with the region, so
 * that the system is asked seldom. */
static bool get_ready(struct region *region, size_t size) {
  size_t left = (size_t)(region->base + REGION_BYTES - region->ready);
  size_t missing = size - (size_t)(region->ready - region->at);
  if (missing > left) return false;

  size_t more = (size_t)(region->ready - region->base) / 4;
  if (more < missing) more = missing;
  more = (more + REGION_STEP - 1) / REGION_STEP * REGION_STEP;
  if (more > left) more = left;
  if (mprotect(region->ready, more, PROT_READ | PROT_WRITE) != 0) return false;
  end_use(region->ready, more);
  region->ready += more;
  return true;
}

static void *cut(struct region *region, size_t size) {
  if ((size_t)(region->ready - region->at) < size && !get_ready(region, size)) return NULL;
  void *out = region->at;
  region->at += size;
  return out;
}

static void *block_new(struct region *region, size_t size) {
  if (size >= REGION_BYTES) return NULL;
  unsigned class = actl__size_class(size);
  struct free_block *b = region->free[class];
  if (b == NULL) {
    b = cut(region, actl__size_of_class(class));
    if (b == NULL) return NULL;
  } else {
    begin_use(b, sizeof *b);
    region->free[class] = b->next;
  }
  begin_use(b, size);
  return b;
}

static void block_free(struct region *region, void *ptr, size_t size) {
  unsigned class = actl__size_class(size);
  struct free_block *b = ptr;
  begin_use(b, sizeof *b);
  b->next = region->free[class];
  region->free[class] = b;
  end_use(b, actl__size_of_class(class));
}

/* A block that shrinks where there is no memory for the smaller one: the smaller is cut from it, and the
 * rest is lost until the end. */
static void *move(struct region *region, void *ptr, size_t old_size, size_t new_size) {
  void *out = block_new(region, new_size);
  if (out == NULL) return new_size < old_size ? ptr : NULL;
  memcpy(out, ptr, old_size < new_size ? old_size : new_size);
  block_free(region, ptr, old_size);
  return out;
}

void *actl__region_resize(struct region *region, void *ptr, size_t old_size, size_t new_size) {
  if (ptr == NULL) return new_size > 0 ? block_new(region, new_size) : NULL;
  if (new_size == 0) {
    block_free(region, ptr, old_size);
    return NULL;
  }
  if (new_size >= REGION_BYTES) return NULL;
  if (actl__size_class(old_size) != actl__size_class(new_size))
    return move(region, ptr, old_size, new_size);
  if (new_size > old_size) {
    begin_use((char *)ptr, new_size);
  } else {
    end_use((char *)ptr + new_size, old_size - new_size);
  }
  return ptr;
}
