/*
 * slab.h - large blocks of the engine, handed out in pieces of 1 kB times a power of two.
 *
 * A vat takes its first piece at 1 kB and doubles from there, so that thousands of small vats share
 * a slab and a large one soon has whole slabs. Pieces come back when a vat ends and are used again;
 * slabs go back when the engine is freed. Any thread; one lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_SLAB_H
#define ACTL_BASE_SLAB_H

#include "base/memory.h"
#include "base/thread.h"

enum {
  ACTL__PIECE_MIN = 1024,
  ACTL__PIECE_CLASSES = 11, /* 1 kB to 1 MB */
  ACTL__PIECE_MAX = ACTL__PIECE_MIN << (ACTL__PIECE_CLASSES - 1)
};

struct slab;
struct piece;

struct slabs {
  const struct memory *mem;
  actl__lock lock;
  struct slab *first;                      /* under `lock`, as all that follows */
  struct piece *free[ACTL__PIECE_CLASSES]; /* pieces given back */
  char *at, *end;                          /* what is left of the newest slab */
};

actl_status actl__slabs_init(struct slabs *slabs, const struct memory *mem);
void actl__slabs_fini(struct slabs *slabs);

/* A piece of ACTL__PIECE_MIN << class bytes, aligned to a cache line; NULL: no memory. */
void *actl__slabs_take(struct slabs *slabs, unsigned class);
void actl__slabs_give(struct slabs *slabs, void *piece, unsigned class);

#endif
