/*
 * slab.c - slabs and their pieces.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/slab.h"

enum { FIRST_SLAB = 256 * 1024, SLAB = 2 * 1024 * 1024 };

struct slab {
  struct slab *next;
  void *block;
  size_t size;
};

struct piece {
  struct piece *next;
};

actl_status actl__slabs_init(struct slabs *slabs, const struct memory *mem) {
  *slabs = (struct slabs){.mem = mem};
  return actl__lock_init(&slabs->lock);
}

void actl__slabs_fini(struct slabs *slabs) {
  for (struct slab *s = slabs->first, *next; s != NULL; s = next) {
    next = s->next;
    actl__memory_free(slabs->mem, s->block, s->size);
    actl__memory_free(slabs->mem, s, sizeof *s);
  }
  actl__lock_fini(&slabs->lock);
}

static void free_piece(struct slabs *slabs, void *at, unsigned class) {
  struct piece *p = at;
  p->next = slabs->free[class];
  slabs->free[class] = p;
}

/* What is left of a slab goes to the free lists in the largest pieces that fit. */
static void put_rest_aside(struct slabs *slabs) {
  for (unsigned class = ACTL__PIECE_CLASSES; class -- > 0;) {
    size_t size = (size_t)ACTL__PIECE_MIN << class;
    while ((size_t)(slabs->end - slabs->at) >= size) {
      free_piece(slabs, slabs->at, class);
      slabs->at += size;
    }
  }
}

static bool grow(struct slabs *slabs, size_t wanted) {
  /* A small engine stays small. */
  size_t size = slabs->first == NULL && wanted * 4 <= FIRST_SLAB ? FIRST_SLAB : SLAB;
  struct slab *s = actl__memory_new(slabs->mem, sizeof *s);
  void *block = s != NULL ? actl__memory_new(slabs->mem, size) : NULL;
  if (block == NULL) {
    actl__memory_free(slabs->mem, s, sizeof *s);
    return false;
  }

  put_rest_aside(slabs);
  *s = (struct slab){.next = slabs->first, .block = block, .size = size};
  slabs->first = s;

  uintptr_t from = ((uintptr_t)block + ACTL__CACHE_LINE - 1) & ~(uintptr_t)(ACTL__CACHE_LINE - 1);
  slabs->at = (char *)block + (from - (uintptr_t)block);
  slabs->end = (char *)block + size;
  return true;
}

void *actl__slabs_take(struct slabs *slabs, unsigned class) {
  size_t size = (size_t)ACTL__PIECE_MIN << class;
  void *out = NULL;

  actl__lock_take(&slabs->lock);
  if (slabs->free[class] != NULL) {
    out = slabs->free[class];
    slabs->free[class] = slabs->free[class]->next;
  } else if ((size_t)(slabs->end - slabs->at) >= size || grow(slabs, size)) {
    out = slabs->at;
    slabs->at += size;
  }
  actl__lock_drop(&slabs->lock);
  return out;
}

void actl__slabs_give(struct slabs *slabs, void *piece, unsigned class) {
  actl__lock_take(&slabs->lock);
  free_piece(slabs, piece, class);
  actl__lock_drop(&slabs->lock);
}
