/*
 * wheel.c - a hierarchical timing wheel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/wheel.h"

#include <string.h>

enum {
  GROUP_BITS = 6,
  PLACE_LOOKED_AT = 1 << 15, /* places below: level << 6 | slot, and one, so that it is not 0 */
};

static_assert(1 << GROUP_BITS == WHEEL_SLOTS, "a slot for each value of a group");
static_assert(WHEEL_LEVELS * GROUP_BITS >= 48, "the levels span all times");

void actl__wheel_init(struct wheel *wheel, struct arena *arena, const struct slots *table_0,
                      const struct slots *table_1) {
  *wheel = (struct wheel){.arena = arena, .tables = {table_0, table_1}, .next_ms = WHEEL_NEVER};
}

/* ---- Rings ---- */

void actl__due_append(const struct wheel *wheel, due_ref *first, due_ref ref, unsigned place) {
  struct due *due = actl__due_at(wheel, ref);
  due->place = place & 0xFFFF;
  if (*first == 0) {
    due->next = due->prev = *first = ref;
    return;
  }
  struct due *head = actl__due_at(wheel, *first);
  due->prev = head->prev;
  due->next = *first;
  actl__due_at(wheel, head->prev)->next = ref;
  head->prev = ref;
}

void actl__due_unlink(const struct wheel *wheel, due_ref *first, due_ref ref) {
  struct due *due = actl__due_at(wheel, ref);
  if (due->next == ref) {
    *first = 0;
  } else {
    actl__due_at(wheel, due->prev)->next = due->next;
    actl__due_at(wheel, due->next)->prev = due->prev;
    if (*first == ref) *first = due->next;
  }
  due->place = 0;
}

/* ---- Slots ---- */

bool actl__wheel_prepare(struct wheel *wheel) {
  const size_t size = WHEEL_LEVELS * sizeof *wheel->slots;
  if (wheel->slots != NULL) return true;
  wheel->slots = actl__arena_new(wheel->arena, size);
  if (wheel->slots != NULL) memset(wheel->slots, 0, size);
  return wheel->slots != NULL;
}

static void put(struct wheel *wheel, due_ref ref, uint64_t when_ms) {
  if (when_ms <= wheel->now_ms) {
    actl__due_append(wheel, &wheel->looked_at, ref, PLACE_LOOKED_AT);
    return;
  }
  unsigned level = (63u - (unsigned)__builtin_clzll(when_ms ^ wheel->now_ms)) / GROUP_BITS;
  unsigned slot = (unsigned)(when_ms >> (level * GROUP_BITS)) % WHEEL_SLOTS;
  actl__due_append(wheel, &wheel->slots[level][slot], ref, (level << GROUP_BITS | slot) + 1);
  wheel->filled[level] |= (uint64_t)1 << slot;
}

void actl__wheel_add(struct wheel *wheel, due_ref ref, uint64_t when_ms, uint64_t now_ms) {
  if (when_ms > WHEEL_MAX) when_ms = WHEEL_MAX;
  if (wheel->next_ms == WHEEL_NEVER) wheel->now_ms = now_ms;
  if (when_ms < wheel->next_ms) wheel->next_ms = when_ms;

  actl__due_at(wheel, ref)->when_ms = when_ms & 0xFFFFFFFFFFFF;
  if (wheel->looked_at != 0) {
    actl__due_append(wheel, &wheel->looked_at, ref, PLACE_LOOKED_AT);
  } else {
    put(wheel, ref, when_ms);
  }
}

/* The ring of a slot that the wheel has come to is taken over as it is: its entries still have the
 * slot's place, so the first of it is told by its name. */
void actl__wheel_remove(struct wheel *wheel, due_ref ref) {
  unsigned place = actl__due_at(wheel, ref)->place;
  if (place == 0) return;
  if (place == PLACE_LOOKED_AT || ref == wheel->looked_at) {
    actl__due_unlink(wheel, &wheel->looked_at, ref);
    return;
  }
  unsigned level = (place - 1) >> GROUP_BITS, slot = (place - 1) % WHEEL_SLOTS;
  due_ref *first = &wheel->slots[level][slot];
  actl__due_unlink(wheel, first, ref);
  if (*first == 0) wheel->filled[level] &= ~((uint64_t)1 << slot);
}

/* ---- Time ---- */

/* The first slot that is filled: its level, and (`start`) when it begins; -1: none. */
static int first_slot(const struct wheel *wheel, uint64_t *start) {
  for (int level = 0; level < WHEEL_LEVELS; level++) {
    uint64_t filled = wheel->filled[level];
    if (filled == 0) continue;
    int shift = level * GROUP_BITS;
    uint64_t above = shift + GROUP_BITS < 64 ? wheel->now_ms >> (shift + GROUP_BITS) : 0;
    *start = (above << GROUP_BITS | (uint64_t)__builtin_ctzll(filled)) << shift;
    return level;
  }
  return -1;
}

uint64_t actl__wheel_next(struct wheel *wheel) {
  uint64_t start;
  if (wheel->looked_at != 0) return wheel->now_ms;
  if (first_slot(wheel, &start) < 0) {
    wheel->next_ms = WHEEL_NEVER;
  } else if (start > wheel->next_ms) {
    wheel->next_ms = start; /* the better of two bounds */
  }
  return wheel->next_ms;
}

/* Goes on to the first slot that is filled and begins by `now_ms`; its entries are to be looked at. */
static bool turn_on(struct wheel *wheel, uint64_t now_ms) {
  uint64_t start;
  int level = first_slot(wheel, &start);
  if (level < 0 || start > now_ms) {
    /* No entry is passed over: all lie at or beyond `start`. */
    if (now_ms > wheel->now_ms) wheel->now_ms = now_ms;
    return false;
  }

  unsigned slot = (unsigned)(start >> (level * GROUP_BITS)) % WHEEL_SLOTS;
  wheel->filled[level] &= ~((uint64_t)1 << slot);
  wheel->looked_at = wheel->slots[level][slot];
  wheel->slots[level][slot] = 0;
  wheel->now_ms = start;
  return true;
}

bool actl__wheel_look(struct wheel *wheel, uint64_t now_ms) {
  while (wheel->looked_at == 0)
    if (!turn_on(wheel, now_ms)) return false;
  return true;
}

void actl__wheel_prefer(struct wheel *wheel, due_ref ref) {
  unsigned place = actl__due_at(wheel, ref)->place;
  actl__due_unlink(wheel, &wheel->looked_at, ref);
  actl__due_append(wheel, &wheel->looked_at, ref, place);
  wheel->looked_at = ref; /* the ring's last is the one before its first */
}

due_ref actl__wheel_pop(struct wheel *wheel, uint64_t now_ms, int *work) {
  do {
    while (wheel->looked_at != 0) {
      if (--*work < 0) return 0;
      due_ref ref = wheel->looked_at;
      actl__due_unlink(wheel, &wheel->looked_at, ref);
      uint64_t when_ms = actl__due_at(wheel, ref)->when_ms;
      if (when_ms <= wheel->now_ms) return ref;
      put(wheel, ref, when_ms);
    }
  } while (turn_on(wheel, now_ms));

  wheel->next_ms = 0;
  actl__wheel_next(wheel);
  return 0;
}
