/*
 * test_names.c - strings that become numbers: one number each, from any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "msg/names.h"
#include "support/alloc.h"
#include "support/race.h"

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct names names;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  assert_int_equal(actl__names_init(&f->names, &f->mem), ACTL_OK);
}

static void end(struct fixture *f) {
  actl__names_fini(&f->names);
  assert_true(test_alloc_is_clean(&f->hook));
}

static uint32_t intern(struct fixture *f, const char *bytes, size_t size) {
  uint32_t id = UINT32_MAX;
  assert_int_equal(actl__names_intern(&f->names, bytes, size, &id), ACTL_OK);
  assert_true(id < ACTL__NAMES_MAX);
  return id;
}

static void expect(struct fixture *f, uint32_t id, const char *bytes, size_t size) {
  size_t n = SIZE_MAX;
  const char *own = actl__names_bytes(&f->names, id, &n);
  assert_non_null(own);
  assert_int_equal(n, size);
  if (size > 0) assert_memory_equal(own, bytes, size);
  assert_int_equal(own[size], '\0');
  assert_true(actl__names_equal(&f->names, id, bytes, size));
  assert_ptr_equal(actl__names_bytes(&f->names, id, NULL), own);
}

static void equal_strings_have_one_id_and_others_another(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  /* The pairs have one FNV-1a hash each. */
  static const struct {
    const char *bytes;
    size_t size;
  } strings[] = {
      {"", 0},          {"\0", 1},        {"\0\0", 2},     {"a", 1},           {"a\0", 2},
      {"a\0b", 3},      {"a\0c", 3},      {"ab", 2},       {"costarring", 10}, {"liquid", 6},
      {"declinate", 9}, {"macallums", 9}, {"altarage", 8}, {"zinke", 5},       {"altarages", 9},
      {"zinkes", 6}};
  enum { STRINGS = sizeof strings / sizeof strings[0] };
  uint32_t ids[STRINGS];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < STRINGS; i++) {
      uint32_t id = intern(&f, strings[i].bytes, strings[i].size);
      if (round > 0) assert_int_equal(id, ids[i]);
      ids[i] = id;
      for (int k = 0; k < i; k++) assert_true(ids[k] != id);
    }
  }
  for (int i = 0; i < STRINGS; i++) {
    expect(&f, ids[i], strings[i].bytes, strings[i].size);
    for (int k = 0; k < STRINGS; k++)
      assert_int_equal(actl__names_equal(&f.names, ids[i], strings[k].bytes, strings[k].size),
                       i == k);
  }
  end(&f);
}

static void an_id_that_nobody_was_given_has_no_bytes(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  static const uint32_t wrong[] = {
      0, 1, ACTL__NAMES_CHUNK, ACTL__NAMES_MAX - 1, ACTL__NAMES_MAX, UINT32_MAX};
  size_t size = 42;
  for (int round = 0; round < 2; round++) {
    for (size_t i = (size_t)round; i < sizeof wrong / sizeof wrong[0]; i++) {
      assert_null(actl__names_bytes(&f.names, wrong[i], &size));
      assert_false(actl__names_equal(&f.names, wrong[i], "", 0));
    }
    assert_int_equal(intern(&f, "x", 1), 0);
  }
  assert_int_equal(size, 42);
  end(&f);
}

static void a_long_name_is_a_name(void **state) {
  (void)state;
  enum { SIZE = 100000 };
  struct fixture f;
  static char bytes[SIZE];
  begin(&f);
  memset(bytes, 'x', SIZE);
  uint32_t id = intern(&f, bytes, SIZE);
  expect(&f, id, bytes, SIZE);
  bytes[SIZE - 1] = 'y';
  assert_false(actl__names_equal(&f.names, id, bytes, SIZE));
  assert_true(intern(&f, bytes, SIZE) != id);
  end(&f);
}

static size_t print_name(char *out, size_t room, uint32_t i) {
  return (size_t)snprintf(out, room, "name %u", i);
}

static void the_limit_is_a_status_and_what_is_there_stays(void **state) {
  (void)state;
  struct fixture f;
  char text[32];
  begin(&f);
  for (uint32_t i = 0; i < ACTL__NAMES_MAX; i++)
    if (intern(&f, text, print_name(text, sizeof text, i)) != i) fail();

  uint32_t id = 77;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(actl__names_intern(&f.names, "one more", 8, &id), ACTL_LIMIT);
    assert_int_equal(id, 77);
  }
  for (uint32_t i = 0; i < ACTL__NAMES_MAX; i += 17) {
    size_t size = print_name(text, sizeof text, i);
    if (intern(&f, text, size) != i) fail();
    expect(&f, i, text, size);
  }
  end(&f);
}

static void a_name_without_memory_leaves_all_as_it_was(void **state) {
  (void)state;
  struct fixture f;
  char text[32];
  begin(&f);
  unsigned n_refused = 0;
  for (uint32_t i = 0; i < 3 * ACTL__NAMES_CHUNK; i++) {
    size_t size = print_name(text, sizeof text, i);
    for (size_t n = 1;; n++) {
      uint32_t id = 12345;
      test_alloc_fail_from(&f.hook, n);
      actl_status status = actl__names_intern(&f.names, text, size, &id);
      if (!test_alloc_heal(&f.hook)) {
        assert_int_equal(status, ACTL_OK);
        assert_int_equal(id, i);
        break;
      }
      n_refused++;
      assert_int_equal(status, ACTL_NO_MEMORY);
      assert_int_equal(id, 12345);
      assert_null(actl__names_bytes(&f.names, i, NULL));
      if (i > 0) assert_true(actl__names_equal(&f.names, 0, "name 0", 6));
    }
    expect(&f, i, text, size);
  }
  assert_true(n_refused > 3 * ACTL__NAMES_CHUNK);
  end(&f);
}

/* ---- Threads ---- */

enum { STRINGS = 6000, INTERNERS = 3 };

struct interner {
  struct names *names;
  _Atomic(uint32_t) *given; /* by string: id + 1, from whoever was first */
  uint64_t seed;
  uint32_t ids[STRINGS];
  unsigned n_faults, n_read;
};

/* Interns all strings in an order of its own, and reads ids that others gave it. */
static void intern_all(void *arg) {
  struct interner *me = arg;
  char text[32];
  uint32_t step = 1 + 2 * actl__random_below(&me->seed, STRINGS / 2);
  while (STRINGS % step == 0 || step % 3 == 0 || step % 5 == 0) step += 2;

  for (uint32_t k = 0; k < STRINGS; k++) {
    uint32_t i = (uint32_t)((uint64_t)k * step % STRINGS);
    size_t size = print_name(text, sizeof text, i);
    if (actl__names_intern(me->names, text, size, &me->ids[i]) != ACTL_OK) me->n_faults++;
    /* release: with the id goes the name. */
    atomic_store_explicit(&me->given[i], me->ids[i] + 1, memory_order_release);

    uint32_t other = actl__random_below(&me->seed, STRINGS);
    uint32_t given = atomic_load_explicit(&me->given[other], memory_order_acquire);
    if (given == 0) continue;
    size = print_name(text, sizeof text, other);
    if (!actl__names_equal(me->names, given - 1, text, size)) me->n_faults++;
    me->n_read++;
  }
}

static void threads_that_intern_one_string_at_once_get_one_id(void **state) {
  (void)state;
  static struct interner interners[INTERNERS];
  static _Atomic(uint32_t) given[STRINGS];
  struct test_racer racers[INTERNERS];
  struct fixture f;
  begin(&f);
  for (unsigned i = 0; i < INTERNERS; i++) {
    interners[i] = (struct interner){.names = &f.names, .given = given, .seed = i + 1};
    racers[i] = (struct test_racer){intern_all, &interners[i]};
  }
  test_race(racers, INTERNERS);

  static bool is_given[STRINGS];
  char text[32];
  assert_int_equal(f.names.n, STRINGS);
  for (uint32_t i = 0; i < STRINGS; i++) {
    uint32_t id = interners[0].ids[i];
    for (int k = 1; k < INTERNERS; k++) assert_int_equal(interners[k].ids[i], id);
    assert_true(id < STRINGS && !is_given[id]);
    is_given[id] = true;
    expect(&f, id, text, print_name(text, sizeof text, i));
  }
  for (int k = 0; k < INTERNERS; k++) {
    assert_int_equal(interners[k].n_faults, 0);
    assert_true(interners[k].n_read > 0);
  }
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_strings_have_one_id_and_others_another),
      cmocka_unit_test(an_id_that_nobody_was_given_has_no_bytes),
      cmocka_unit_test(a_long_name_is_a_name),
      cmocka_unit_test(the_limit_is_a_status_and_what_is_there_stays),
      cmocka_unit_test(a_name_without_memory_leaves_all_as_it_was),
      cmocka_unit_test(threads_that_intern_one_string_at_once_get_one_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
