/*
 * region.h - an allocator over addresses that repeat.
 *
 * A region has up to 4 GB of addresses, which begin at a multiple of 4 GB. Where a block lies in it
 * depends on the calls before alone: the lower 32 bits of its address are the same in each process,
 * wherever the system has put the region. The addresses are reserved at once, and memory is taken
 * as it is needed; all of it is given back at the end. No lock: one owner at a time.
 *
 * Blocks are rounded up to size classes, multiples of 16 bytes at first and then four to each
 * doubling, with a free list each; new ones are cut from the front. A block is freed with its size,
 * so it needs no header.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_REGION_H
#define ACTL_BASE_REGION_H

#include "base/memory.h"

struct region;

/* NULL: no memory, or no addresses. */
struct region *actl__region_new(const struct memory *mem);
void actl__region_free(struct region *region, const struct memory *mem); /* NULL is ignored */

/* As lua_Alloc: makes (`ptr` NULL), resizes, frees (`new_size` 0). Aligned to 16; not zeroed. NULL: no
 * memory, and the old block is as it was; a block never fails to shrink. */
void *actl__region_resize(struct region *region, void *ptr, size_t old_size, size_t new_size);

#endif
