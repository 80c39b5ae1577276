/*
 * wheel.h - what is due when: a hierarchical timing wheel of one vat, in milliseconds.
 *
 * Varghese and Lauck (1987), their scheme 7: eight levels of 64 slots, each slot of a level as long as
 * the whole level below. An entry lies at the level of the highest six bits in which its time differs
 * from the wheel's; when the wheel comes to its slot the entry is looked at again and moves down, or
 * is due. Setting and cancelling one costs the same however many there are.
 *
 *   set  --add-->  in a slot  --the wheel comes there-->  looked at  --its time is there-->  popped
 *                                                         looked at  --it is not-->  in a lower slot
 *
 * Invariants
 *   - an entry's time is not before the wheel's, and in the bits above its level the two are equal.
 *     So whatever lies at a lower level comes before all that lies at a higher one.
 *   - while entries are looked at new ones go behind them: of equal times the first set is the first
 *     due.
 *   - once it is prepared, nothing here fails.
 *
 * Entries are those of two tables of slots (base/slots.h), which move when they grow, and are named by
 * a reference. What is needed of an entry is a `struct due`, right behind its head.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_WHEEL_H
#define ACTL_ACTOR_WHEEL_H

#include "base/slots.h"

enum { WHEEL_LEVELS = 8, WHEEL_SLOTS = 64, WHEEL_TABLES = 2 };

#define WHEEL_NEVER UINT64_MAX
#define WHEEL_MAX (((uint64_t)1 << 47) - 1) /* the latest time: 4,000 years */

/* Table number << 31 | index + 1; 0: none. */
typedef uint32_t due_ref;

struct due {
  due_ref next, prev;    /* in a ring */
  uint64_t place : 16;   /* 0: nowhere; else where the ring begins, see wheel.c */
  uint64_t when_ms : 48; /* its time; in a list that is no slot whatever its user put there */
};

struct wheel {
  struct arena *arena;
  const struct slots *tables[WHEEL_TABLES];
  uint64_t now_ms;               /* how far it has come */
  uint64_t next_ms;              /* nothing is due before; WHEEL_NEVER: it is empty */
  uint64_t filled[WHEEL_LEVELS]; /* bit i: slot i of the level has entries */
  due_ref (*slots)[WHEEL_SLOTS]; /* by level: the first entry of each; NULL: not prepared */
  due_ref looked_at;             /* the first of those to look at */
};

void actl__wheel_init(struct wheel *wheel, struct arena *arena, const struct slots *table_0,
                      const struct slots *table_1);

/* Makes the slots, before anything is added; false: no memory. */
bool actl__wheel_prepare(struct wheel *wheel);

static inline due_ref actl__due_ref(const struct wheel *wheel, unsigned table, const void *entry) {
  const struct slots *slots = wheel->tables[table];
  uint64_t index = (uint64_t)((const char *)entry - slots->entries) / slots->entry_size;
  return (due_ref)table << 31 | (due_ref)(index + 1);
}

static inline unsigned actl__due_table(due_ref ref) { return ref >> 31; }

static inline void *actl__due_entry(const struct wheel *wheel, due_ref ref) {
  return actl__slots_at(wheel->tables[ref >> 31], (ref & 0x7FFFFFFF) - 1);
}

static inline struct due *actl__due_at(const struct wheel *wheel, due_ref ref) {
  return (struct due *)(void *)((struct slot *)actl__due_entry(wheel, ref) + 1);
}

/* Puts an entry that is nowhere where it is due at `when_ms`; now: as soon as it is looked at. */
void actl__wheel_add(struct wheel *wheel, due_ref ref, uint64_t when_ms, uint64_t now_ms);

/* Takes an entry out, wherever it is; nothing when it is nowhere. */
void actl__wheel_remove(struct wheel *wheel, due_ref ref);

/* Goes on to the first ring that is due by `now_ms`, where none is being looked at; false: none is. Then
 * `looked_at` is its first entry. */
bool actl__wheel_look(struct wheel *wheel, uint64_t now_ms);

/* Has an entry of the ring that is looked at popped next. */
void actl__wheel_prefer(struct wheel *wheel, due_ref ref);

/* The next entry that is due at `now_ms`, taken out; 0: none, or `work` is used up: it is counted down
 * for each entry that is looked at. */
due_ref actl__wheel_pop(struct wheel *wheel, uint64_t now_ms, int *work);

/* No entry is due before that time; WHEEL_NEVER: there is none. */
uint64_t actl__wheel_next(struct wheel *wheel);

/* ---- Rings, for lists of entries that are in no slot ---- */

/* At the end of the ring that begins at `*first`; `place` is kept with the entry. */
void actl__due_append(const struct wheel *wheel, due_ref *first, due_ref ref, unsigned place);
void actl__due_unlink(const struct wheel *wheel, due_ref *first, due_ref ref);

#endif
