/*
 * hash_seed.c - a Lua state whose strings are hashed from a seed of ours.
 *
 * Lua 5.4 makes that seed of the time and of addresses, and has no way to give it one. But it takes its
 * memory from us: lua_newstate's first block is the state, in which all is set before the second call,
 * and before any string is made. A global_State begins with the allocator and its `ud`, and no other
 * place in the block has these two side by side. Whether that was right is looked at afterwards, by a
 * string's hash.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <string.h>

#if LUA_VERSION_NUM != 504
#error "only Lua 5.4 is known well enough"
#endif

/* The beginning of Lua 5.4's global_State (lstate.h). */
struct global_begin {
  lua_Alloc alloc;
  void *ud;
  ptrdiff_t total_bytes, debt;
  size_t estimate, last_atomic;
  struct {
    void **hash;
    int n_used, size;
  } strings;
  struct {
    uint64_t value, tag;
  } registry, nil;
  unsigned seed;
};

/* What lies before a short string's bytes: its TString (lobject.h) from the hash on. */
enum { HASH_BEFORE_BYTES = 12 };

struct making {
  lua_Alloc alloc;
  void *ud;
  char *block; /* NULL: not made yet */
  size_t size;
  unsigned seed;
  bool is_set;
};

static void *watch(void *ud, void *ptr, size_t old_size, size_t new_size);

static void set_seed(struct making *making) {
  making->is_set = true;
  for (size_t at = 0; at + sizeof(struct global_begin) <= making->size; at += sizeof(void *)) {
    struct global_begin global;
    memcpy(&global, making->block + at, sizeof global);
    if (global.alloc != watch || global.ud != making) continue;
    if (global.strings.hash != NULL || global.strings.size != 0) continue;
    memcpy(making->block + at + offsetof(struct global_begin, seed), &making->seed,
           sizeof making->seed);
    return;
  }
}

/* The allocator while the state is made. */
static void *watch(void *ud, void *ptr, size_t old_size, size_t new_size) {
  struct making *making = ud;
  if (making->block != NULL && !making->is_set) set_seed(making);
  void *result = making->alloc(making->ud, ptr, old_size, new_size);
  if (making->block == NULL) {
    making->block = result;
    making->size = new_size;
  }
  return result;
}

lua_State *actl__lua_newstate_seeded(lua_Alloc alloc, void *ud, unsigned seed) {
  struct making making = {.alloc = alloc, .ud = ud, .seed = seed};
  lua_State *L = lua_newstate(watch, &making);
  if (L != NULL) lua_setallocf(L, alloc, ud);
  return L;
}

/* As Lua 5.4 hashes a short string (lstring.c). */
static unsigned hash_of(const char *bytes, size_t size, unsigned seed) {
  unsigned hash = seed ^ (unsigned)size;
  for (; size > 0; size--) {
    hash ^= (hash << 5) + (hash >> 2) + (unsigned char)bytes[size - 1];
  }
  return hash;
}

void actl__lua_check_seed(lua_State *L, unsigned seed) {
  size_t size;
  lua_pushliteral(L, "a short string");
  const char *bytes = lua_tolstring(L, -1, &size);
  unsigned hash;
  memcpy(&hash, bytes - HASH_BEFORE_BYTES, sizeof hash);
  if (hash != hash_of(bytes, size, seed)) {
    luaL_error(L,
               "this Lua (%s) does not let the seed of its string hash be set, which a seed needs",
               LUA_RELEASE);
  }
  lua_pop(L, 1);
}
