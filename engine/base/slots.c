/*
 * slots.c - a table of entries named by numbers that are not used twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/slots.h"

#include <string.h>

enum { FIRST_CAPACITY = ACTL_TUNE(8, 1) };

void actl__slots_init(struct slots *slots, uint32_t entry_size) {
  *slots = (struct slots){.entry_size = entry_size};
}

void actl__slots_fini(struct slots *slots, struct arena *arena) {
  actl__arena_free(arena, slots->entries, (size_t)slots->capacity * slots->entry_size);
  actl__slots_init(slots, slots->entry_size);
}

static bool grow(struct slots *slots, struct arena *arena) {
  uint32_t capacity = slots->capacity == 0 ? FIRST_CAPACITY : slots->capacity * 2;
  if (capacity <= slots->capacity) return false;

  char *entries =
      actl__arena_resize(arena, slots->entries, (size_t)slots->capacity * slots->entry_size,
                         (size_t)capacity * slots->entry_size);
  if (entries == NULL) return false;
  slots->entries = entries;
  slots->capacity = capacity;
  return true;
}

void *actl__slots_new(struct slots *slots, struct arena *arena, uint64_t *id) {
  struct slot *s;
  if (slots->free != 0) {
    s = actl__slots_at(slots, slots->free - 1);
    slots->free = s->next_free;
  } else {
    if (slots->n_touched == slots->capacity && !grow(slots, arena)) return NULL;
    s = actl__slots_at(slots, slots->n_touched++);
    s->serial = 0;
  }

  memset(s + 1, 0, slots->entry_size - sizeof *s);
  s->serial++;
  s->next_free = 0;
  slots->n_used++;
  *id = actl__slots_id(slots, s);
  return s;
}

void actl__slots_free(struct slots *slots, void *entry) {
  struct slot *s = entry;
  s->serial++;
  s->next_free = slots->free;
  slots->free = (uint32_t)(((char *)entry - slots->entries) / slots->entry_size) + 1;
  slots->n_used--;
}
