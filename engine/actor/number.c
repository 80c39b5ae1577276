/*
 * number.c - vat numbers: one for each vat, and further ones for a vat that runs out of slots.
 *
 * Each number has a table of records of its own. A vat's tables are a list, the newest first, that
 * any thread may read and that only grows: a far spawner that finds no slot makes the next one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/vat.h"

struct vat_number actl__number(struct actl_engine *engine, uint32_t number) {
  /* acquire: pairs with actl__number_set. */
  struct vat_number *chunk =
      atomic_load_explicit(&engine->numbers[number / VAT_NUMBERS_CHUNK], memory_order_acquire);
  return chunk == NULL ? (struct vat_number){NULL, NULL} : chunk[number % VAT_NUMBERS_CHUNK];
}

actl_status actl__number_set(struct actl_engine *engine, uint32_t number, struct vat *vat,
                             struct records *records) {
  _Atomic(struct vat_number *) *place = &engine->numbers[number / VAT_NUMBERS_CHUNK];
  struct vat_number *chunk = atomic_load_explicit(place, memory_order_relaxed);
  bool is_new = chunk == NULL;
  if (is_new) {
    chunk = actl__memory_new_zeroed(&engine->mem, VAT_NUMBERS_CHUNK * sizeof *chunk);
    if (chunk == NULL) return ACTL_NO_MEMORY;
  }
  /* A number is set before any pid that has it is given to anybody. */
  chunk[number % VAT_NUMBERS_CHUNK] = (struct vat_number){vat, records};
  /* release: pairs with actl__number, which takes no lock. */
  if (is_new) atomic_store_explicit(place, chunk, memory_order_release);
  return ACTL_OK;
}

/* Under the engine's lock. */
static struct records *make_table(struct vat *vat, struct records *newest) {
  struct actl_engine *engine = vat->engine;
  uint32_t number = engine->n_numbers, table = newest->table + 1;
  if (number >= PID_VAT_OUTSIDE || table + 1 >= RECORDS_TABLES) return NULL;

  struct records *records = actl__memory_new(&engine->mem, sizeof *records);
  if (records == NULL) return NULL;
  if (actl__records_init(records, actl__pid_home(number), table, &vat->arena, &engine->mem) !=
      ACTL_OK)
    goto fail_init;
  if (actl__number_set(engine, number, vat, records) != ACTL_OK) goto fail_number;
  records->next = newest;
  engine->n_numbers++;
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
  struct vat_number number = actl__number(vat->engine, actl__pid_vat(pid));
  *is_near = (pid & PID_TOP) != 0 && (pid >> PID_NODE_SHIFT & 255) == 0 && number.vat == vat;
  return *is_near ? actl__records_find(number.records, pid) : NULL;
}
