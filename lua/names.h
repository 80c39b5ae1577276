/*
 * names.h - strings that travel as engine-wide numbers, as this machine knows them.
 *
 * Lua keeps one copy of each short string, so the address of a string that is kept alive stands for
 * its content. The machine keeps the strings of the names it knows alive (STORE_NAMES, by id), and
 * finds the name of a string by its address alone.
 *
 * A name becomes known when a behavior of this machine declares it, when a message brings it, or
 * when a script has sent the same string 16 times as a message's first value. Other strings are
 * never made names: what a script makes up ("job" .. i) fills nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_NAMES_H
#define ACTL_LUA_NAMES_H

#include "actl.h"

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct machine;

enum {
  NAME_BYTES_MAX = 40, /* Lua keeps one copy of strings up to this size */
  NAME_SENDS = 16,
  NAMES_COUNTED_MAX = 49152, /* names of the engine beyond which only behaviors make new ones */
  NAMES_COUNTED = 256
};

struct name_entry {
  const void *address; /* of the string object, as lua_topointer says; NULL: free */
  actl_name name;
};

/* How often a string was sent. The string may be gone and another be at its address: the hash of
 * the content tells that, and where it errs a count is off, no more. */
struct name_count {
  const void *address;
  uint32_t hash, n;
};

struct names {
  struct name_entry *entries; /* open addressing, at most half full */
  uint32_t mask, n;           /* mask + 1 entries; 0 entries while `entries` is NULL */
  bool is_full; /* what is sent often makes no more names: the rest are for behaviors */
  struct name_count counts[NAMES_COUNTED];
};

/* By the lower half of the address, which with a seed is all that repeats: what is sent often enough to
 * become a name must not depend on the rest. */
static inline uint32_t actl__lua_name_slot(const void *address) {
  return (uint32_t)(((uint64_t)(uint32_t)(uintptr_t)address * 0x9E3779B97F4A7C15u) >> 40);
}

/* The name of the string object at that address, if the machine knows it. Known strings are kept
 * alive, so no other object has the address of one. */
static inline bool actl__lua_name_find(const struct names *names, const void *address,
                                       actl_name *out) {
  if (address == NULL) return false;
  for (uint32_t i = actl__lua_name_slot(address) & names->mask;; i = (i + 1) & names->mask) {
    const struct name_entry *e = &names->entries[i];
    if (e->address == address) {
      *out = e->name;
      return true;
    }
    if (e->address == NULL) return false;
  }
}

void actl__lua_names_init(lua_State *L, struct machine *m);
void actl__lua_names_fini(struct machine *m);

/* Interns the string at `index` of L and makes it known. */
actl_status actl__lua_name_declare(lua_State *L, struct machine *m, int index, actl_name *out);

/* Counts one more sending of an unknown short string; true when that has made it a name. */
bool actl__lua_name_count(lua_State *L, struct machine *m, int index, actl_name *out);

/* Pushes the string of a name, making it known. */
void actl__lua_name_push(lua_State *L, struct machine *m, actl_name name);

#endif
