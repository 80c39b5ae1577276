/*
 * refs.c - Lua values kept for C. See refs.h for the layout.
 *
 * The table of the block used last stays on the store's stack, so that keeping a value is one move
 * and one store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "refs.h"

#include "machine.h"

#include <lauxlib.h>
#include <string.h>

void actl__lua_refs_init(struct refs *refs) {
  memset(refs, 0, sizeof *refs);
  refs->open = REF_NO_BLOCK;
  refs->hot = REF_NO_BLOCK;
}

void actl__lua_refs_fini(struct machine *m) {
  struct refs *refs = &m->refs;
  for (uint32_t i = 0; i < refs->n_blocks; i++) {
    if (refs->blocks[i] != NULL) actl__lua_realloc(m, refs->blocks[i], sizeof **refs->blocks, 0);
  }
  actl__lua_realloc(m, refs->blocks, refs->capacity * sizeof *refs->blocks, 0);
}

static void open_insert(struct refs *refs, uint32_t number) {
  struct ref_block *block = refs->blocks[number];
  block->previous = REF_NO_BLOCK;
  block->next = refs->open;
  if (refs->open != REF_NO_BLOCK) refs->blocks[refs->open]->previous = number;
  refs->open = number;
}

static void open_remove(struct refs *refs, uint32_t number) {
  struct ref_block *block = refs->blocks[number];
  if (block->next != REF_NO_BLOCK) refs->blocks[block->next]->previous = block->previous;
  if (block->previous != REF_NO_BLOCK) {
    refs->blocks[block->previous]->next = block->next;
  } else {
    refs->open = block->next;
  }
}

/* A number no block has, with room for it in the array. */
static uint32_t block_number(lua_State *L, struct machine *m) {
  struct refs *refs = &m->refs;
  while (refs->vacant < refs->n_blocks && refs->blocks[refs->vacant] != NULL) refs->vacant++;
  if (refs->vacant < refs->capacity) return refs->vacant;

  uint32_t capacity = refs->capacity == 0 ? 8 : refs->capacity * 2;
  refs->blocks = actl__lua_grow(L, m, refs->blocks, refs->capacity * sizeof *refs->blocks,
                                capacity * sizeof *refs->blocks);
  refs->capacity = capacity;
  return refs->vacant;
}

static void block_clear(struct ref_block *block, uint32_t number) {
  memset(block, 0, sizeof *block);
  for (uint32_t i = 0; i < REF_SLOTS; i++) block->count[i] = i + 1;
  block->free = number == 0 ? 1 : 0;
}

static void block_new(lua_State *L, struct machine *m) {
  struct refs *refs = &m->refs;
  luaL_checkstack(L, 4, NULL);
  uint32_t number = block_number(L, m);

  lua_pushvalue(m->store, STORE_BLOCKS);
  lua_xmove(m->store, L, 1);
  lua_createtable(L, REF_SLOTS, 0);
  lua_rawseti(L, -2, (lua_Integer)number + 1);
  lua_pop(L, 1);

  /* Nothing below raises: a table without its block would only be replaced by the next one. */
  struct ref_block *block = actl__lua_grow(L, m, NULL, 0, sizeof *block);
  block_clear(block, number);
  refs->blocks[number] = block;
  if (number == refs->n_blocks) refs->n_blocks++;
  open_insert(refs, number);
}

static void block_free(struct machine *m, uint32_t number) {
  struct refs *refs = &m->refs;
  open_remove(refs, number);
  actl__lua_realloc(m, refs->blocks[number], sizeof **refs->blocks, 0);
  refs->blocks[number] = NULL;
  if (number < refs->vacant) refs->vacant = number;
  if (refs->hot == number) refs->hot = REF_NO_BLOCK;
  refs->epoch++;

  lua_pushnil(m->store);
  lua_rawseti(m->store, STORE_BLOCKS, (lua_Integer)number + 1);
}

static void make_hot(struct machine *m, uint32_t number) {
  if (m->refs.hot == number) return;
  lua_rawgeti(m->store, STORE_BLOCKS, (lua_Integer)number + 1);
  lua_replace(m->store, STORE_HOT_BLOCK);
  m->refs.hot = number;
}

uint32_t actl__lua_ref(lua_State *L, struct machine *m) {
  struct refs *refs = &m->refs;
  if (refs->open == REF_NO_BLOCK) block_new(L, m);
  uint32_t number = refs->open;
  struct ref_block *block = refs->blocks[number];

  uint32_t slot = block->free;
  block->free = block->count[slot];
  block->count[slot] = 1;
  block->owner[slot] = NULL;
  block->n_used++;
  if (block->free == REF_SLOTS) open_remove(refs, number);

  make_hot(m, number);
  lua_xmove(L, m->store, 1);
  lua_rawseti(m->store, STORE_HOT_BLOCK, (lua_Integer)slot + 1);
  return number * REF_SLOTS + slot;
}

uint32_t actl__lua_ref_function(lua_State *L, struct machine *m, int index) {
  struct refs *refs = &m->refs;
  const void *address = lua_topointer(L, index);
  uint32_t *recent = &refs->recent[((uintptr_t)address >> 5) % REFS_RECENT];
  uint32_t ref = *recent;

  /* A block may have been given back since: its number then has no block, or one in which the slot
   * has another owner. */
  struct ref_block *block = ref == 0 ? NULL : refs->blocks[ref / REF_SLOTS];
  if (block != NULL && block->owner[ref % REF_SLOTS] == address) {
    block->count[ref % REF_SLOTS]++;
    return ref;
  }

  lua_pushvalue(L, index);
  ref = actl__lua_ref(L, m);
  refs->blocks[ref / REF_SLOTS]->owner[ref % REF_SLOTS] = address;
  *recent = ref;
  return ref;
}

void actl__lua_unref(struct machine *m, uint32_t ref) {
  if (ref == 0) return;
  struct refs *refs = &m->refs;
  uint32_t number = ref / REF_SLOTS, slot = ref % REF_SLOTS;
  struct ref_block *block = refs->blocks[number];
  if (--block->count[slot] > 0) return;

  make_hot(m, number);
  lua_pushnil(m->store);
  lua_rawseti(m->store, STORE_HOT_BLOCK, (lua_Integer)slot + 1);

  if (block->free == REF_SLOTS) open_insert(refs, number);
  block->owner[slot] = NULL;
  block->count[slot] = block->free;
  block->free = slot;
  block->n_used--;

  /* The last open block stays, so that one value kept and let go again costs no new block. */
  bool is_last = refs->open == number && block->next == REF_NO_BLOCK;
  if (block->n_used == 0 && number != 0 && !is_last) block_free(m, number);
}

void actl__lua_ref_push(lua_State *L, struct machine *m, uint32_t ref) {
  make_hot(m, ref / REF_SLOTS);
  lua_rawgeti(m->store, STORE_HOT_BLOCK, (lua_Integer)(ref % REF_SLOTS) + 1);
  lua_xmove(m->store, L, 1);
}

void actl__lua_ref_push_block(lua_State *L, struct machine *m, uint32_t block) {
  lua_rawgeti(m->store, STORE_BLOCKS, (lua_Integer)block + 1);
  lua_xmove(m->store, L, 1);
}
