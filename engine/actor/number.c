/*
 * number.c - vat numbers: one for each vat, and further ones for a vat that runs out of slots.
 *
 * Each number has a table of records of its own. A vat's tables are a list, the newest first, that
 * any thread may read and that only grows: a far spawner that finds no slot makes the next one. A
 * number stands for the same vat and table for good: a vat that has ended is used again with all of
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/vat.h"

struct vat_number actl__number(struct actl_engine *engine, uint32_t number) {
  /* acquire: pairs with chunk_of. */
  struct number *chunk =
      atomic_load_explicit(&engine->numbers[number / VAT_NUMBERS_CHUNK], memory_order_acquire);
  if (chunk == NULL) return (struct vat_number){NULL, NULL};

  struct number *entry = &chunk[number % VAT_NUMBERS_CHUNK];
  /* acquire: pairs with set. */
  struct vat *vat = atomic_load_explicit(&entry->vat, memory_order_acquire);
  /* relaxed: the load above orders it. */
  return (struct vat_number){vat, atomic_load_explicit(&entry->records, memory_order_relaxed)};
}

/* Under the engine's lock: the chunk that `number` is in; NULL: no memory. */
static struct number *chunk_of(struct actl_engine *engine, uint32_t number) {
  _Atomic(struct number *) *place = &engine->numbers[number / VAT_NUMBERS_CHUNK];
  struct number *chunk = atomic_load_explicit(place, memory_order_relaxed);
  if (chunk != NULL) return chunk;

  chunk = actl__memory_new_zeroed(&engine->mem, VAT_NUMBERS_CHUNK * sizeof *chunk);
  /* release: pairs with actl__number, which takes no lock. */
  if (chunk != NULL) atomic_store_explicit(place, chunk, memory_order_release);
  return chunk;
}

/* Under the engine's lock: the next number, which stands for `records` of `vat` from now on. Nobody
 * has a pid of that number yet, but anybody may guess it. */
static actl_status set(struct vat *vat, struct records *records) {
  struct actl_engine *engine = vat->engine;
  uint32_t number = engine->n_numbers;
  if (number >= VAT_NUMBERS) return ACTL_LIMIT;
  struct number *chunk = chunk_of(engine, number);
  if (chunk == NULL) return ACTL_NO_MEMORY;

  struct number *entry = &chunk[number % VAT_NUMBERS_CHUNK];
  records->home = actl__pid_home(number);
  if (records == &vat->records) {
    vat->number = number;
    vat->home = records->home;
    vat->door = engine->trace != NULL ? PID_NOWHERE : vat->home;
  }
  atomic_store_explicit(&entry->records, records, memory_order_relaxed);
  /* release: pairs with actl__number. */
  atomic_store_explicit(&entry->vat, vat, memory_order_release);
  engine->n_numbers++;
  return ACTL_OK;
}

actl_status actl__number_first(struct vat *vat) { return set(vat, &vat->records); }

/* Under the engine's lock. */
static struct records *make_table(struct vat *vat, struct records *newest) {
  struct actl_engine *engine = vat->engine;
  uint32_t table = newest->table + 1;
  if (engine->n_numbers >= VAT_NUMBERS || table + 1 >= RECORDS_TABLES) return NULL;

  struct records *records = actl__memory_new(&engine->mem, sizeof *records);
  if (records == NULL) return NULL;
  if (actl__records_init(records, 0, table, &vat->arena, &engine->mem) != ACTL_OK) goto fail_init;
  if (set(vat, records) != ACTL_OK) goto fail_number;
  records->next = newest;
  /* release: pairs with actl__vat_newest. */
  atomic_store_explicit(&vat->newest, records, memory_order_release);
  return records;

fail_number:
  actl__records_fini(records);
fail_init:
  actl__memory_free(&engine->mem, records, sizeof *records);
  return NULL;
}

struct records *actl__vat_more(struct vat *vat, struct records *full) {
  actl__lock_take(&vat->engine->lock);
  struct records *newest = actl__vat_newest(vat);
  if (newest == full) newest = make_table(vat, full);
  actl__lock_drop(&vat->engine->lock);
  return newest;
}

struct records *actl__vat_table(const struct vat *vat, uint32_t table) {
  struct records *records = actl__vat_newest(vat);
  while (records->table != table) records = records->next;
  return records;
}

struct actor *actl__vat_find_further(struct vat *vat, uint64_t pid, bool *is_near) {
  if (ACTL_LIKELY(actl__vat_newest(vat) == &vat->records)) {
    *is_near = false;
    return NULL;
  }
  struct vat_number number = actl__number(vat->engine, actl__pid_vat(pid));
  *is_near = (pid & PID_TOP) != 0 && (pid >> PID_NODE_SHIFT & 255) == 0 && number.vat == vat;
  return *is_near ? actl__records_find(number.records, pid) : NULL;
}
