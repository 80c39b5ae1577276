/*
 * arena.c - size classes over slabs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/arena.h"

#include <stddef.h>
#include <string.h>

#include "base/size.h"

enum { PIECE_CLASS_MAX = 8 }; /* 256 kB */

struct arena_block {
  struct arena_block *next;
};

struct arena_piece { /* at the start of a piece */
  alignas(16) struct arena_piece *next;
  unsigned class;
};

struct arena_large { /* in front of a block above ACTL__ARENA_LARGE */
  alignas(16) struct arena_large *next;
  struct arena_large **link;
  size_t size; /* with this header */
};

void actl__arena_init(struct arena *arena, struct slabs *slabs) {
  *arena = (struct arena){.slabs = slabs};
}

void actl__arena_fini(struct arena *arena) {
  for (struct arena_large *l = arena->large, *next; l != NULL; l = next) {
    next = l->next;
    actl__memory_free(arena->slabs->mem, l, l->size);
  }
  for (struct arena_piece *p = arena->pieces, *next; p != NULL; p = next) {
    next = p->next;
    actl__slabs_give(arena->slabs, p, p->class);
  }
  actl__arena_init(arena, arena->slabs);
}

static void push_free(struct arena *arena, unsigned class, void *ptr) {
  struct arena_block *b = ptr;
  b->next = arena->free[class];
  arena->free[class] = b;
}

static void put_rest_aside(struct arena *arena) {
  for (unsigned class = ACTL__ARENA_CLASSES; class -- > 0;) {
    while ((size_t)(arena->end - arena->at) >= actl__size_of_class(class)) {
      push_free(arena, class, arena->at);
      arena->at += actl__size_of_class(class);
    }
  }
}

static bool take_piece(struct arena *arena, size_t size) {
  while (((size_t)ACTL__PIECE_MIN << arena->piece_class) < size + sizeof(struct arena_piece))
    arena->piece_class++;

  struct arena_piece *p = actl__slabs_take(arena->slabs, arena->piece_class);
  if (p == NULL) return false;

  put_rest_aside(arena);
  p->next = arena->pieces;
  p->class = arena->piece_class;
  arena->pieces = p;
  arena->at = (char *)(p + 1);
  arena->end = (char *)p + ((size_t)ACTL__PIECE_MIN << p->class);
  if (arena->piece_class < PIECE_CLASS_MAX) arena->piece_class++;
  return true;
}

static ACTL_NOINLINE void *carve(struct arena *arena, unsigned class) {
  size_t size = actl__size_of_class(class);
  if ((size_t)(arena->end - arena->at) < size && !take_piece(arena, size)) return NULL;

  void *out = arena->at;
  arena->at += size;
  return out;
}

static void link_large(struct arena *arena, struct arena_large *l, size_t size) {
  l->size = size;
  l->next = arena->large;
  l->link = &arena->large;
  if (l->next != NULL) l->next->link = &l->next;
  arena->large = l;
}

static void unlink_large(struct arena_large *l) {
  *l->link = l->next;
  if (l->next != NULL) l->next->link = l->link;
}

static ACTL_NOINLINE void *new_large(struct arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  struct arena_large *l = actl__memory_new(arena->slabs->mem, sizeof *l + size);
  if (l == NULL) return NULL;

  link_large(arena, l, sizeof *l + size);
  return l + 1;
}

void *actl__arena_new(struct arena *arena, size_t size) {
  void *out;
  if (ACTL_LIKELY(size <= ACTL__ARENA_LARGE)) {
    unsigned class = actl__size_class(size);
    struct arena_block *b = arena->free[class];
    if (ACTL_LIKELY(b != NULL)) {
      arena->free[class] = b->next;
      out = b;
    } else {
      out = carve(arena, class);
    }
  } else {
    out = new_large(arena, size);
  }
  if (ACTL_LIKELY(out != NULL)) arena->bytes += size;
  return out;
}

void actl__arena_free(struct arena *arena, void *ptr, size_t size) {
  if (ptr == NULL) return;

  arena->bytes -= size;
  if (ACTL_LIKELY(size <= ACTL__ARENA_LARGE)) {
    push_free(arena, actl__size_class(size), ptr);
    return;
  }

  struct arena_large *l = (struct arena_large *)ptr - 1;
  unlink_large(l);
  actl__memory_free(arena->slabs->mem, l, l->size);
}

static void *resize_large(struct arena *arena, void *ptr, size_t old_size, size_t new_size) {
  struct arena_large *l = (struct arena_large *)ptr - 1;
  unlink_large(l);
  struct arena_large *moved =
      actl__memory_resize(arena->slabs->mem, l, l->size, sizeof *l + new_size);
  if (moved == NULL) {
    link_large(arena, l, l->size);
    if (new_size > old_size) return NULL;
    arena->bytes -= old_size - new_size;
    return ptr; /* its header knows how large it really is */
  }
  link_large(arena, moved, sizeof *l + new_size);
  arena->bytes += new_size - old_size;
  return moved + 1;
}

/* A block that shrinks without memory for the smaller one stays where it is only if the two are of
 * one class: a free list must not get a block that is smaller than its class. So the smaller block
 * is cut from the larger one: its class is smaller, and the rest of it is lost until the end. */
static void *move(struct arena *arena, void *ptr, size_t old_size, size_t new_size) {
  void *out = actl__arena_new(arena, new_size);
  if (out == NULL) {
    if (new_size > old_size || old_size > ACTL__ARENA_LARGE) return NULL;
    arena->bytes -= old_size - new_size;
    return ptr;
  }
  memcpy(out, ptr, old_size < new_size ? old_size : new_size);
  actl__arena_free(arena, ptr, old_size);
  return out;
}

void *actl__arena_resize(struct arena *arena, void *ptr, size_t old_size, size_t new_size) {
  if (new_size == 0) {
    actl__arena_free(arena, ptr, old_size);
    return NULL;
  }
  if (ptr == NULL) return actl__arena_new(arena, new_size);

  bool was_large = old_size > ACTL__ARENA_LARGE;
  bool is_large = new_size > ACTL__ARENA_LARGE;
  if (was_large && is_large && new_size <= SIZE_MAX / 2)
    return resize_large(arena, ptr, old_size, new_size);
  if (!was_large && !is_large && actl__size_class(old_size) == actl__size_class(new_size)) {
    arena->bytes += new_size - old_size;
    return ptr;
  }
  return move(arena, ptr, old_size, new_size);
}
