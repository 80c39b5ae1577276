/*
 * test_slots.c - entries named by numbers that are not used twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/random.h"
#include "base/slots.h"
#include "support/alloc.h"

struct entry {
  struct slot head;
  uint64_t value;
  unsigned char rest[24];
};

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct slabs slabs;
  struct arena arena;
  struct slots slots;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  assert_int_equal(actl__slabs_init(&f->slabs, &f->mem), ACTL_OK);
  actl__arena_init(&f->arena, &f->slabs);
  actl__slots_init(&f->slots, sizeof(struct entry));
}

static void end(struct fixture *f) {
  actl__slots_fini(&f->slots, &f->arena);
  assert_int_equal(f->arena.bytes, 0);
  actl__arena_fini(&f->arena);
  actl__slabs_fini(&f->slabs);
  assert_true(test_alloc_is_clean(&f->hook));
}

static bool is_blank(const struct entry *e) {
  if (e->value != 0) return false;
  for (size_t i = 0; i < sizeof e->rest; i++)
    if (e->rest[i] != 0) return false;
  return true;
}

static uint64_t new_entry(struct fixture *f, uint64_t value) {
  uint64_t id = 0;
  struct entry *e = actl__slots_new(&f->slots, &f->arena, &id);
  assert_non_null(e);
  assert_true(id != 0);
  assert_true(is_blank(e));
  assert_ptr_equal(actl__slots_get(&f->slots, id), e);
  assert_true(actl__slots_id(&f->slots, e) == id);
  e->value = value;
  memset(e->rest, 0xFF, sizeof e->rest);
  return id;
}

static void an_empty_table_knows_no_id(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  assert_null(actl__slots_get(&f.slots, 0));
  assert_null(actl__slots_get(&f.slots, (uint64_t)1 << 32));
  assert_null(actl__slots_get(&f.slots, UINT64_MAX));
  assert_int_equal(f.arena.bytes, 0);
  end(&f);
}

static void entries_are_found_by_their_ids_and_by_no_others(void **state) {
  (void)state;
  enum { ENTRIES = 1000 };
  static uint64_t ids[ENTRIES];
  struct fixture f;
  begin(&f);
  for (uint64_t i = 0; i < ENTRIES; i++) ids[i] = new_entry(&f, i);
  assert_int_equal(f.slots.n_used, ENTRIES);
  for (uint64_t i = 0; i < ENTRIES; i++) {
    struct entry *e = actl__slots_get(&f.slots, ids[i]);
    assert_non_null(e);
    assert_true(e->value == i);
    for (uint64_t serial = 1; serial < 4; serial++) {
      assert_null(actl__slots_get(&f.slots, ids[i] + (serial << 32)));
      assert_null(actl__slots_get(&f.slots, ids[i] - (serial << 32)));
    }
    assert_null(actl__slots_get(&f.slots, i)); /* an index is no id */
  }
  assert_null(actl__slots_get(&f.slots, ids[ENTRIES - 1] + 1));
  end(&f);
}

enum { ALIVE = 200, PAST = 1000 };

struct known {
  uint64_t id, value;
};

static void ids_of_freed_entries_find_nothing_and_never_come_again(void **state) {
  (void)state;
  static struct known alive[ALIVE];
  static uint64_t past[PAST];
  static uint32_t serials[ALIVE + 1]; /* by index: the last one; ids grow by it */
  struct fixture f;
  begin(&f);
  memset(alive, 0, sizeof alive);
  uint64_t random = 4;
  uint32_t n_used = 0;
  for (uint64_t n = 1; n <= 300000; n++) {
    struct known *k = &alive[actl__random_below(&random, ALIVE)];
    if (k->id == 0) {
      *k = (struct known){new_entry(&f, n), n};
      n_used++;
      uint32_t index = (uint32_t)k->id, serial = (uint32_t)(k->id >> 32);
      assert_true(index < ALIVE); /* free ones are used again */
      assert_true(serial > serials[index]);
      serials[index] = serial;
    } else {
      struct entry *e = actl__slots_get(&f.slots, k->id);
      assert_true(e != NULL && e->value == k->value);
      actl__slots_free(&f.slots, e);
      past[n % PAST] = k->id;
      assert_null(actl__slots_get(&f.slots, k->id));
      k->id = 0;
      n_used--;
    }
    if (f.slots.n_used != n_used) fail();
    uint64_t stale = past[actl__random_below(&random, PAST)];
    if (stale != 0) assert_null(actl__slots_get(&f.slots, stale));
  }

  uint32_t n_odd = 0; /* a walk sees the used ones */
  for (uint32_t i = 0; i < f.slots.n_touched; i++) n_odd += actl__slots_at(&f.slots, i)->serial & 1;
  assert_int_equal(n_odd, n_used);
  end(&f);
}

static void entries_may_be_of_any_size(void **state) {
  (void)state;
  for (uint32_t size = sizeof(struct slot); size <= 20000; size += size < 64 ? 8 : size) {
    struct fixture f;
    uint64_t ids[50];
    begin(&f);
    actl__slots_init(&f.slots, size);
    for (int i = 0; i < 50; i++) {
      struct slot *s = actl__slots_new(&f.slots, &f.arena, &ids[i]);
      assert_non_null(s);
      memset(s + 1, i, size - sizeof *s);
    }
    for (int i = 0; i < 50; i++) {
      struct slot *s = actl__slots_get(&f.slots, ids[i]);
      assert_non_null(s);
      const unsigned char *bytes = (const unsigned char *)(s + 1);
      for (size_t k = 0; k < size - sizeof *s; k++)
        if (bytes[k] != i) fail();
    }
    end(&f);
  }
}

static void without_memory_new_is_null_and_nothing_changes(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  static uint64_t ids[3000];
  unsigned n_refused = 0;
  for (uint64_t i = 0; i < 3000; i++) {
    for (size_t n = 1;; n++) {
      uint64_t id = 77;
      size_t bytes = f.arena.bytes;
      uint32_t n_used = f.slots.n_used;
      test_alloc_fail_from(&f.hook, n);
      struct entry *e = actl__slots_new(&f.slots, &f.arena, &id);
      test_alloc_heal(&f.hook);
      if (e != NULL) {
        assert_true(is_blank(e));
        e->value = i;
        ids[i] = id;
        break;
      }
      n_refused++;
      assert_true(id == 77);
      assert_int_equal(f.arena.bytes, bytes);
      assert_int_equal(f.slots.n_used, n_used);
      if (i > 0) assert_non_null(actl__slots_get(&f.slots, ids[i - 1]));
    }
  }
  assert_true(n_refused > 3);
  for (uint64_t i = 0; i < 3000; i++) {
    struct entry *e = actl__slots_get(&f.slots, ids[i]);
    assert_true(e != NULL && e->value == i);
  }
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_table_knows_no_id),
      cmocka_unit_test(entries_are_found_by_their_ids_and_by_no_others),
      cmocka_unit_test(ids_of_freed_entries_find_nothing_and_never_come_again),
      cmocka_unit_test(entries_may_be_of_any_size),
      cmocka_unit_test(without_memory_new_is_null_and_nothing_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
