/*
 * test_wheel.c - what is due when, against a plain list.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actor/wheel.h"
#include "base/random.h"
#include "support/alloc.h"

enum { ENTRIES = 400 };

struct entry {
  struct slot slot;
  struct due due;
  uint32_t number; /* in the model */
};

/* What the model knows of an entry. */
struct expected {
  due_ref ref;
  uint64_t when_ms, set_as; /* the how-manieth that was set */
  bool is_set;
};

struct bench {
  struct test_alloc hook;
  struct memory mem;
  struct slabs slabs;
  struct arena arena;
  struct slots tables[WHEEL_TABLES];
  struct wheel wheel;
  struct expected model[ENTRIES];
  uint64_t now_ms, n_set, n_due, random;
  bool prefers; /* now and then another of equal times comes first */
  uint64_t n_preferred;
};

static struct bench bench;

static struct bench *begin(uint64_t seed, uint64_t now_ms) {
  struct bench *b = &bench;
  memset(b, 0, sizeof *b);
  b->random = seed;
  b->now_ms = now_ms;
  actl__memory_init(&b->mem, test_alloc, &b->hook);
  assert_int_equal(actl__slabs_init(&b->slabs, &b->mem), ACTL_OK);
  actl__arena_init(&b->arena, &b->slabs);
  for (int i = 0; i < WHEEL_TABLES; i++) actl__slots_init(&b->tables[i], sizeof(struct entry));
  actl__wheel_init(&b->wheel, &b->arena, &b->tables[0], &b->tables[1]);
  assert_true(actl__wheel_prepare(&b->wheel));

  for (uint32_t i = 0; i < ENTRIES; i++) {
    uint64_t id;
    unsigned table = i % WHEEL_TABLES;
    struct entry *entry = actl__slots_new(&b->tables[table], &b->arena, &id);
    assert_non_null(entry);
    entry->number = i;
    b->model[i].ref = actl__due_ref(&b->wheel, table, entry);
  }
  return b;
}

static void end(struct bench *b) {
  actl__arena_fini(&b->arena);
  actl__slabs_fini(&b->slabs);
  assert_true(test_alloc_is_clean(&b->hook));
}

static uint64_t below(struct bench *b, uint32_t n) { return actl__random_below(&b->random, n); }

static void set(struct bench *b, uint32_t i, uint64_t when_ms) {
  struct expected *e = &b->model[i];
  assert_false(e->is_set);
  *e = (struct expected){e->ref, when_ms, b->n_set++, true};
  actl__wheel_add(&b->wheel, e->ref, when_ms, b->now_ms);
}

static void cancel(struct bench *b, uint32_t i) {
  b->model[i].is_set = false;
  actl__wheel_remove(&b->wheel, b->model[i].ref);
}

static uint32_t number_of(const struct bench *b, due_ref ref) {
  const struct entry *entry = actl__due_entry(&b->wheel, ref);
  return entry->number;
}

/* The first by time, and of equal times the one that was set first; NULL: none is due. */
static struct expected *first_due(struct bench *b) {
  struct expected *first = NULL;
  for (int i = 0; i < ENTRIES; i++) {
    struct expected *e = &b->model[i];
    if (!e->is_set || e->when_ms > b->now_ms) continue;
    if (first == NULL || e->when_ms < first->when_ms ||
        (e->when_ms == first->when_ms && e->set_as < first->set_as))
      first = e;
  }
  return first;
}

/* Looks, and has another one of those that are due at the same time come first, as far along in the ring
 * as `steps`. NULL: what is looked at is not due. */
static struct expected *prefer(struct bench *b, uint64_t steps) {
  if (!actl__wheel_look(&b->wheel, b->now_ms)) return NULL;
  due_ref first = b->wheel.looked_at, ref = first, found = first;
  uint64_t when_ms = actl__due_at(&b->wheel, first)->when_ms;
  if (when_ms > b->wheel.now_ms) return NULL;
  for (; steps > 0; steps--) {
    ref = actl__due_at(&b->wheel, ref)->next;
    if (actl__due_at(&b->wheel, ref)->when_ms == when_ms) found = ref;
  }
  if (found != first) actl__wheel_prefer(&b->wheel, found);
  assert_int_equal(b->wheel.looked_at, found);
  return &b->model[number_of(b, found)];
}

/* Pops what is due, with so much work at a time. Returns how many there were. */
static unsigned drain(struct bench *b, int work_each) {
  unsigned n = 0;
  for (int idle = 0; idle < 2;) {
    int work = work_each;
    struct expected *preferred = b->prefers ? prefer(b, below(b, 6)) : NULL;
    due_ref ref = actl__wheel_pop(&b->wheel, b->now_ms, &work);
    idle = ref == 0 && work >= 0 ? idle + 1 : 0;
    if (ref == 0) continue;
    struct expected *e = &b->model[number_of(b, ref)];
    assert_true(e->is_set && e->ref == ref);
    if (preferred != NULL) {
      assert_ptr_equal(e, preferred);
      assert_int_equal(e->when_ms, first_due(b)->when_ms);
      b->n_preferred += e != first_due(b);
    } else {
      assert_ptr_equal(e, first_due(b));
    }
    e->is_set = false;
    b->n_due++;
    n++;
  }
  assert_null(first_due(b));
  assert_false(actl__wheel_look(&b->wheel, b->now_ms));
  return n;
}

static uint64_t earliest(const struct bench *b) {
  uint64_t when_ms = WHEEL_NEVER;
  for (int i = 0; i < ENTRIES; i++)
    if (b->model[i].is_set && b->model[i].when_ms < when_ms) when_ms = b->model[i].when_ms;
  return when_ms;
}

/* `reach`: as many bits as the times have at most. */
static void play(struct bench *b, unsigned reach, int work, int rounds) {
  for (int round = 0; round < rounds; round++) {
    for (uint64_t n = below(b, 20); n > 0; n--) {
      uint32_t i = (uint32_t)below(b, ENTRIES);
      uint64_t span = (uint64_t)1 << below(b, reach);
      if (b->model[i].is_set) {
        cancel(b, i);
      } else {
        set(b, i, b->now_ms + (span * below(b, 1000)) / 1000);
      }
    }
    uint64_t bound = actl__wheel_next(&b->wheel), first = earliest(b);
    assert_true(first == WHEEL_NEVER ? bound == WHEEL_NEVER : bound <= first);
    b->now_ms += (((uint64_t)1 << below(b, reach)) * below(b, 1000)) / 1000;
    drain(b, work);
  }
}

static void what_is_due_comes_in_order_and_never_early(void **state) {
  (void)state;
  static const unsigned reaches[] = {4, 8, 14, 24, 40};
  for (unsigned r = 0; r < 5; r++) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
      struct bench *b = begin(seed, seed * 977 * (seed % 2));
      play(b, reaches[r], 1 << 30, 300);
      assert_true(b->n_due > 100);
      end(b);
    }
  }
}

/* Between two looks at a few entries each nothing is lost, and the order stays. */
static void a_little_work_at_a_time_gets_on(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    struct bench *b = begin(seed, 1000003);
    play(b, 16, 1 + (int)seed % 3, 300);
    assert_true(b->n_due > 100);
    end(b);
  }
}

/* Set while others are looked at: behind those of the same time. */
static void of_equal_times_the_first_set_is_the_first_due(void **state) {
  (void)state;
  struct bench *b = begin(1, 5);
  for (uint32_t i = 0; i < 100; i++) set(b, i, 200);
  b->now_ms = 199;
  int work = 30;
  assert_int_equal(actl__wheel_pop(&b->wheel, b->now_ms, &work), 0);
  for (uint32_t i = 100; i < 200; i++) set(b, i, 200);
  b->now_ms = 200;
  assert_int_equal(drain(b, 7), 200);
  end(b);
}

static void of_equal_times_any_may_be_preferred(void **state) {
  (void)state;
  static const unsigned reaches[] = {4, 9, 16, 33};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    struct bench *b = begin(seed, 1000003);
    b->prefers = true;
    play(b, reaches[seed % 4], seed % 2 == 0 ? 1 << 30 : 1 + (int)seed % 5, 300);
    assert_true(b->n_due > 100);
    if (seed % 4 == 0) assert_true(b->n_preferred > 20);
    end(b);
  }
}

/* The others keep their order, and each can still be taken out. */
static void who_was_not_preferred_waits_as_before(void **state) {
  (void)state;
  for (uint32_t chosen = 0; chosen < 5; chosen++) {
    struct bench *b = begin(1, 0);
    for (uint32_t i = 0; i < 5; i++) set(b, i, 50);
    b->now_ms = 50;
    assert_ptr_equal(prefer(b, chosen), &b->model[chosen]);
    int work = 10;
    assert_int_equal(actl__wheel_pop(&b->wheel, b->now_ms, &work), b->model[chosen].ref);
    b->model[chosen].is_set = false;
    assert_ptr_equal(prefer(b, 2), &b->model[chosen <= 2 ? 3 : 2]);
    for (uint32_t i = 0; i < 5; i++)
      if (i % 2 == 0 && b->model[i].is_set) cancel(b, i);
    b->model[chosen <= 2 ? 3 : 2].set_as = 0; /* it is the first from now on, if it is there */
    assert_int_equal(drain(b, 1), chosen % 2 == 0 ? 2 : 1);
    end(b);
  }
}

static void one_that_is_alone_has_its_very_time_as_the_bound(void **state) {
  (void)state;
  for (uint64_t ms = 1; ms < WHEEL_MAX / 2; ms = ms * 3 + 1) {
    struct bench *b = begin(1, 12345);
    set(b, 0, b->now_ms + ms);
    assert_int_equal(actl__wheel_next(&b->wheel), b->now_ms + ms);
    cancel(b, 0);
    assert_int_equal(actl__wheel_next(&b->wheel), WHEEL_NEVER);
    end(b);
  }
}

/* However far away a time is, the wheel comes to it, and past the last one it stays. */
static void the_latest_time_is_reached(void **state) {
  (void)state;
  struct bench *b = begin(1, 0);
  set(b, 0, WHEEL_MAX);
  set(b, 1, WHEEL_MAX - 1);
  b->now_ms = WHEEL_MAX - 1;
  assert_int_equal(drain(b, 1 << 30), 1);
  assert_true(b->model[0].is_set && !b->model[1].is_set);
  b->now_ms = WHEEL_MAX;
  assert_int_equal(drain(b, 1 << 30), 1);
  end(b);
}

static void without_memory_a_wheel_is_not_prepared(void **state) {
  (void)state;
  struct bench *b = begin(1, 0);
  struct wheel other;
  actl__wheel_init(&other, &b->arena, &b->tables[0], &b->tables[1]);
  /* Whatever the arena has left goes first. */
  test_alloc_fail_from(&b->hook, 1);
  while (actl__arena_new(&b->arena, WHEEL_LEVELS * WHEEL_SLOTS * sizeof(due_ref)) != NULL) {}
  assert_false(actl__wheel_prepare(&other));
  assert_true(test_alloc_heal(&b->hook));
  assert_true(actl__wheel_prepare(&other));
  assert_true(actl__wheel_prepare(&other));
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_due_comes_in_order_and_never_early),
      cmocka_unit_test(a_little_work_at_a_time_gets_on),
      cmocka_unit_test(of_equal_times_the_first_set_is_the_first_due),
      cmocka_unit_test(of_equal_times_any_may_be_preferred),
      cmocka_unit_test(who_was_not_preferred_waits_as_before),
      cmocka_unit_test(one_that_is_alone_has_its_very_time_as_the_bound),
      cmocka_unit_test(the_latest_time_is_reached),
      cmocka_unit_test(without_memory_a_wheel_is_not_prepared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
