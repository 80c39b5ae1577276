/*
 * records.c - slots, their reuse and their reserve.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/records.h"

#include <string.h>

enum { FRESH_BATCH = ACTL_TUNE(64, 3) };

/* An empty table, as it is at first and when its vat has ended. */
static void begin(struct records *records) {
  records->directory = NULL;
  records->n_chunks = records->capacity = 0;
  records->n_touched = 0;
  records->n_free = 0;
  records->free = NULL;
  records->free_end = &records->free;
  /* relaxed: whoever comes next has its news of the table from elsewhere. Slot 0 is nobody's. */
  atomic_store_explicit(&records->n_fresh, 1, memory_order_relaxed);
  atomic_store_explicit(&records->is_low, false, memory_order_relaxed);
  records->fresh_at = records->fresh_end = 1;
  records->reserved = NULL;
  records->n_reserved = records->reserved_capacity = records->n_missed = 0;
  records->wanted = RECORDS_RESERVE;
}

actl_status actl__records_init(struct records *records, uint64_t home, uint32_t table,
                               struct arena *arena, const struct memory *mem) {
  memset(records, 0, sizeof *records);
  records->home = home;
  records->table = table;
  records->floor = records->unused = 1;
  records->arena = arena;
  records->mem = mem;
  begin(records);
  return actl__lock_init(&records->lock);
}

static void free_reserve(struct records *records) {
  actl__memory_free(records->mem, records->reserved,
                    records->reserved_capacity * sizeof *records->reserved);
}

/* The records themselves go with the arena. */
void actl__records_fini(struct records *records) {
  free_reserve(records);
  actl__lock_fini(&records->lock);
}

bool actl__records_renew(struct records *records) {
  free_reserve(records);
  begin(records);
  records->floor = records->unused;
  return records->floor < PID_GENERATIONS;
}

static bool grow_directory(struct records *records, uint32_t chunks) {
  if (chunks <= records->capacity) return true;
  uint32_t capacity = records->capacity == 0 ? 4 : records->capacity;
  while (capacity < chunks) capacity *= 2;

  uintptr_t *directory =
      actl__arena_resize(records->arena, records->directory, records->capacity * sizeof *directory,
                         capacity * sizeof *directory);
  if (directory == NULL) return false;
  records->directory = directory;
  records->capacity = capacity;
  return true;
}

/* Another block, as large as all before it. */
static bool grow(struct records *records) {
  uint32_t first = records->n_chunks * RECORDS_CHUNK;
  uint32_t slots = first == 0 ? RECORDS_CHUNK : first;
  if (slots > RECORDS_BLOCK_MAX) slots = RECORDS_BLOCK_MAX;
  uint32_t chunks = slots / RECORDS_CHUNK;
  if (!grow_directory(records, records->n_chunks + chunks)) return false;

  void *at = actl__arena_new(records->arena, slots * sizeof(struct actor));
  if (at == NULL) return false;
  uintptr_t biased = (uintptr_t)at - first * sizeof(struct actor);
  for (uint32_t i = 0; i < chunks; i++) records->directory[records->n_chunks++] = biased;
  return true;
}

/* Initialises the records up to `slot`: those in between belong to far spawns on their way. */
static bool touch(struct records *records, uint32_t slot) {
  while (records->n_touched <= slot) {
    uint32_t next = records->n_touched;
    if (next / RECORDS_CHUNK >= records->n_chunks && !grow(records)) return false;
    struct actor *a = actl__records_at(records, next);
    a->pid = actl__pid_make(0, next, records->floor);
    records->n_touched = next + 1;
  }
  return true;
}

static void make_live(struct records *records, struct actor *a, uint64_t pid) {
  *a = (struct actor){.pid = pid, .table = (uint8_t)records->table};
}

static struct actor *pop_free(struct records *records) {
  struct actor *a = records->free;
  records->free = a->ready;
  if (records->free == NULL) records->free_end = &records->free;
  records->n_free--;
  return a;
}

/* The next slot that nobody had; 0: none is left. Any thread. */
static uint32_t take_fresh(struct records *records, uint32_t n) {
  /* relaxed: the number is all that is shared. */
  uint32_t slot = atomic_load_explicit(&records->n_fresh, memory_order_relaxed);
  do {
    if (slot + n > RECORDS_SLOTS) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&records->n_fresh, &slot, slot + n,
                                                  memory_order_relaxed, memory_order_relaxed));
  return slot;
}

static bool more_fresh(struct records *records) {
  uint32_t n = FRESH_BATCH;
  uint32_t slot = take_fresh(records, n);
  if (slot == 0) slot = take_fresh(records, n = 1);
  if (slot == 0) return false;
  records->fresh_at = slot;
  records->fresh_end = slot + n;
  return true;
}

struct actor *actl__records_new(struct records *records, bool *is_used_up) {
  struct actor *a;
  if (records->n_free > RECORDS_REUSE) {
    a = pop_free(records);
    make_live(records, a, records->home | a->pid);
    return a;
  }
  if (records->fresh_at < records->fresh_end || more_fresh(records)) {
    uint32_t slot = records->fresh_at;
    if (!touch(records, slot)) return NULL;
    records->fresh_at++;
    a = actl__records_at(records, slot);
    make_live(records, a, actl__pid_make(records->home, slot, records->floor));
    return a;
  }
  *is_used_up = true;
  return NULL;
}

static void push_free(struct records *records, struct actor *a) {
  a->ready = NULL;
  *records->free_end = a;
  records->free_end = &a->ready;
  records->n_free++;
}

void actl__records_free(struct records *records, struct actor *a) {
  uint32_t generation = actl__pid_generation(a->pid) + 1;
  if (generation > records->unused) records->unused = generation;
  a->pid = actl__pid_make(0, actl__pid_slot(a->pid), generation & (PID_GENERATIONS - 1));
  if (generation < PID_GENERATIONS) push_free(records, a); /* otherwise it is retired */
}

/* Under the lock: room for all that are wanted; false: no memory. */
static bool make_reserve(struct records *records) {
  if (records->reserved_capacity >= records->wanted) return true;
  size_t size = records->reserved_capacity * sizeof(uint64_t);
  uint64_t *reserved = actl__memory_resize(records->mem, records->reserved, size,
                                           records->wanted * sizeof(uint64_t));
  if (reserved == NULL) return false;
  records->reserved = reserved;
  records->reserved_capacity = records->wanted;
  return true;
}

uint64_t actl__records_reserve(struct records *records) {
  uint64_t pid = 0;
  actl__lock_take(&records->lock);
  if (records->n_reserved > 0) {
    pid = records->reserved[--records->n_reserved];
  } else {
    records->n_missed++;
  }
  actl__lock_drop(&records->lock);

  /* relaxed: a hint for the owner's next turn. */
  atomic_store_explicit(&records->is_low, true, memory_order_relaxed);
  if (pid != 0) return pid;

  uint32_t slot = take_fresh(records, 1);
  return slot == 0 ? 0 : actl__pid_make(records->home, slot, records->floor);
}

void actl__records_unreserve(struct records *records, uint64_t pid) {
  actl__lock_take(&records->lock);
  if (records->n_reserved < records->wanted && make_reserve(records))
    records->reserved[records->n_reserved++] = pid;
  actl__lock_drop(&records->lock);
}

struct actor *actl__records_adopt(struct records *records, uint64_t pid) {
  if (!touch(records, actl__pid_slot(pid))) return NULL;
  struct actor *a = actl__records_at(records, actl__pid_slot(pid));
  ACTL_INVARIANT((a->pid & PID_TOP) == 0);
  make_live(records, a, pid);
  return a;
}

void actl__records_lose(struct records *records, uint64_t pid) {
  uint32_t generation = actl__pid_generation(pid) + 1;
  if (generation > records->unused) records->unused = generation;
}

void actl__records_fill_reserve(struct records *records) {
  /* relaxed: hints. */
  if (!atomic_load_explicit(&records->is_low, memory_order_relaxed)) return;

  atomic_store_explicit(&records->is_low, false, memory_order_relaxed);
  actl__lock_take(&records->lock);
  if (records->n_missed > records->wanted / 2 && records->wanted < RECORDS_SLOTS / 2) {
    records->wanted *= 2;
    records->n_missed = 0;
  }
  bool has_room = records->n_free > RECORDS_REUSE && make_reserve(records);
  while (has_room && records->n_reserved < records->wanted && records->n_free > RECORDS_REUSE) {
    struct actor *a = pop_free(records);
    records->reserved[records->n_reserved++] = records->home | a->pid;
  }
  actl__lock_drop(&records->lock);
}
