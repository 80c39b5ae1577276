/*
 * behavior.h - what actor.behavior and actor.native make.
 *
 * A behavior belongs to its machine and lives as long; its number goes into the words of its
 * actors. Handlers are found by the message's name in an open-addressing hash of name ids.
 *
 * An actor's word, from the bottom: 32 bits that say what handles its messages, either the ref of a
 * function, or WORD_BEHAVIOR and a behavior's number; then 32 bits with the ref of its `self`, 0
 * until a handler first gets it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_BEHAVIOR_H
#define ACTL_LUA_BEHAVIOR_H

#include "machine.h"

#define WORD_BEHAVIOR UINT32_C(0x80000000)

enum { UNHANDLED_NOTED = 64 };

struct handler {
  uint32_t key; /* the name's id + 1; 0: free */
  uint32_t ref;
};

struct behavior {
  char *name; /* NULL while it is being made */
  uint32_t number;
  actl_name id;                     /* its name, as it travels */
  char *place;                      /* "file.lua:12", where it was made */
  uint32_t init, stop, other, down; /* refs, 0: none */
  uint32_t mask;
  struct handler *handlers; /* mask + 1 of them, at most half used */
  uint32_t n_unhandled;     /* names nobody handles, noted so that each is logged once */
  uint32_t unhandled[UNHANDLED_NOTED];
};

/* The userdata that scripts hold: one of the two is set. */
struct behavior_object {
  const void *mark; /* tells it from other userdata of the same size */
  struct behavior *behavior;
  const actl_behavior *native;
};

/* What WORD_BEHAVIOR words stand for. */
static inline struct behavior *actl__lua_behavior_of(struct machine *m, uint64_t word) {
  return m->behaviors[(uint32_t)word & ~WORD_BEHAVIOR];
}

static inline unsigned actl__lua_behavior_hooks(const struct behavior *b) {
  return (b->init != 0 ? ACTL_HAS_INIT : 0u) | (b->stop != 0 ? ACTL_HAS_STOP : 0u);
}

/* The ref of the handler for a name; 0: none. */
static inline uint32_t actl__lua_behavior_handler(const struct behavior *b, actl_name name) {
  for (uint32_t i = name.id & b->mask;; i = (i + 1) & b->mask) {
    if (b->handlers[i].key == name.id + 1) return b->handlers[i].ref;
    if (b->handlers[i].key == 0) return 0;
  }
}

/* The same for a string that did not come as a name. L is a running state. */
uint32_t actl__lua_behavior_handler_of(lua_State *L, struct machine *m, const struct behavior *b,
                                       const char *bytes, size_t size);

/* Whether it is the first time that nothing handles this name. */
bool actl__lua_behavior_note_unhandled(struct behavior *b, const char *name, size_t size);

/* The object at `index`, or NULL. */
const struct behavior_object *actl__lua_behavior_at(lua_State *L, int index);
const char *actl__lua_behavior_name(const struct behavior_object *object);

/* The behavior of this machine that has the name; NULL: none. */
struct behavior *actl__lua_behavior_find(struct machine *m, const char *name);

/* Pushes an object for a behavior or a native behavior. */
void actl__lua_behavior_push(lua_State *L, struct behavior *behavior, const actl_behavior *native);

void actl__lua_behaviors_fini(struct machine *m);

/* The keys that are no strings: actor.down and actor.other. */
void actl__lua_push_down(lua_State *L);
void actl__lua_push_other(lua_State *L);

/* Its name when the value at `index` is one of the two, else NULL. */
const char *actl__lua_sentinel_name(lua_State *L, int index);

#endif
