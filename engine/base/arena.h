/*
 * arena.h - a vat's own allocator: size classes with free lists over pieces of the slabs.
 *
 * No lock: one owner at a time. Sizes up to 16 kB are rounded up to their class (size.h), larger
 * blocks come from the hook. A block is freed with its size, so it needs no header. At the arena's end everything that it gave out goes back at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_ARENA_H
#define ACTL_BASE_ARENA_H

#include "base/slab.h"

/* Under stress, and where an address sanitizer looks on, each block comes from the hook: a sweep of
 * failing allocations then meets every one, and an overrun is seen. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ACTL__ARENA_DIRECT 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(ACTL_STRESS)
#define ACTL__ARENA_DIRECT 1
#endif

enum {
  ACTL__ARENA_CLASSES = 80,
#if defined(ACTL__ARENA_DIRECT)
  ACTL__ARENA_LARGE = 0
#else
  ACTL__ARENA_LARGE = 16 * 1024 /* larger blocks are not in a class */
#endif
};

struct arena_block;
struct arena_piece;
struct arena_large;

struct arena {
  struct arena_block *free[ACTL__ARENA_CLASSES];
  char *at, *end; /* what is left of the newest piece */
  struct slabs *slabs;
  struct arena_piece *pieces;
  struct arena_large *large;
  size_t bytes;         /* given out and not given back, as asked for */
  unsigned piece_class; /* of the next piece */
};

void actl__arena_init(struct arena *arena, struct slabs *slabs);
void actl__arena_fini(struct arena *arena);

/* `size` is not 0; aligned to 16; not zeroed; NULL: no memory. */
void *actl__arena_new(struct arena *arena, size_t size);
void actl__arena_free(struct arena *arena, void *ptr, size_t size);

/* As lua_Alloc: makes (`ptr` NULL), resizes, frees (`new_size` 0). NULL: no memory, and the old block
 * is as it was. A block of a size class never fails to shrink. */
void *actl__arena_resize(struct arena *arena, void *ptr, size_t old_size, size_t new_size);

#endif
