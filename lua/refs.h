/*
 * refs.h - Lua values kept for C: numbers that stand for functions, `self` tables and coroutines.
 *
 * The values live in Lua tables ("blocks") of 256 slots that are made with all their slots, so that
 * setting and clearing one never allocates and the collector never walks a huge table in one step.
 * A block whose slots are all free again is given back.
 *
 *   ref = block * 256 + slot          0 stands for nothing: slot 0 of block 0 is never given out
 *
 * Invariants
 *   - a block is in the list of `open` blocks if and only if it has a free slot.
 *   - functions are shared: `owner` of a shared slot is the function's address, which cannot be
 *     reused while the slot holds the function.
 *   - `epoch` changes whenever a block is given back: who keeps a block's table must look again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_REFS_H
#define ACTL_LUA_REFS_H

#include <lua.h>
#include <stdint.h>

struct machine;

enum { REF_SLOTS = 256, REFS_RECENT = 64, REF_NO_BLOCK = 0xFFFFFFFF >> 8 };

struct ref_block {
  uint32_t n_used;
  uint32_t free;             /* first free slot; REF_SLOTS: none */
  uint32_t previous, next;   /* in the list of open blocks */
  uint32_t count[REF_SLOTS]; /* holders of a used slot; the next free slot of a free one */
  const void *owner[REF_SLOTS];
};

struct refs {
  struct ref_block **blocks;
  uint32_t n_blocks, capacity;
  uint32_t open;   /* first block with a free slot, or REF_NO_BLOCK */
  uint32_t vacant; /* no block number below this one is unused */
  uint32_t hot;    /* the block whose table is at STORE_HOT_BLOCK */
  uint32_t epoch;
  uint32_t recent[REFS_RECENT]; /* refs of functions by their address */
};

void actl__lua_refs_init(struct refs *refs);
void actl__lua_refs_fini(struct machine *m);

/* Takes the value on top of L, which must be protected. */
uint32_t actl__lua_ref(lua_State *L, struct machine *m);

/* The ref of the function at `index`, with one holder more. */
uint32_t actl__lua_ref_function(lua_State *L, struct machine *m, int index);

/* One holder less. Allocates nothing; 0 is ignored. */
void actl__lua_unref(struct machine *m, uint32_t ref);

/* Pushes the value onto L. */
void actl__lua_ref_push(lua_State *L, struct machine *m, uint32_t ref);

/* Pushes the table of a block onto L; the value of `ref` is its element ref % 256 + 1. */
void actl__lua_ref_push_block(lua_State *L, struct machine *m, uint32_t block);

#endif
