/*
 * slots.h - a table of entries named by numbers that are not used twice.
 *
 *   id = serial << 32 | index        an id whose entry was freed is recognised by its serial
 *
 * Owner only. Entries do not stay at one place: keep the id, not the pointer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_SLOTS_H
#define ACTL_BASE_SLOTS_H

#include "base/arena.h"

struct slot {         /* the head of every entry */
  uint32_t serial;    /* odd while in use */
  uint32_t next_free; /* index + 1; 0: the last */
};

struct slots {
  char *entries;
  uint32_t entry_size; /* with the head */
  uint32_t capacity;
  uint32_t n_touched; /* entries below it have a serial */
  uint32_t free;      /* index + 1 of the first free entry; 0: none */
  uint32_t n_used;
};

void actl__slots_init(struct slots *slots, uint32_t entry_size);
void actl__slots_fini(struct slots *slots, struct arena *arena);

/* A new entry, zeroed behind its head, and its id, which is never 0; NULL: no memory. */
void *actl__slots_new(struct slots *slots, struct arena *arena, uint64_t *id);
void actl__slots_free(struct slots *slots, void *entry);

/* The entry of `id`; NULL when it was freed, or is no id of this table. */
static inline void *actl__slots_get(const struct slots *slots, uint64_t id) {
  uint32_t index = (uint32_t)id;
  if (index >= slots->n_touched) return NULL;

  struct slot *s = (struct slot *)(void *)(slots->entries + (size_t)index * slots->entry_size);
  return s->serial == (uint32_t)(id >> 32) && (s->serial & 1) != 0 ? s : NULL;
}

/* The entry at `index`, which may be a free one; for walks. */
static inline struct slot *actl__slots_at(const struct slots *slots, uint32_t index) {
  return (struct slot *)(void *)(slots->entries + (size_t)index * slots->entry_size);
}

static inline uint64_t actl__slots_id(const struct slots *slots, const void *entry) {
  const struct slot *s = entry;
  uint64_t index = (uint64_t)((const char *)entry - slots->entries) / slots->entry_size;
  return (uint64_t)s->serial << 32 | index;
}

#endif
