/*
 * test_region.c - a region against a model that knows each block's size and contents.
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
#include "base/region.h"
#include "base/held.h"
#include "support/alloc.h"

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct region *region;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  f->region = actl__region_new(&f->mem);
  assert_non_null(f->region);
}

static void end(struct fixture *f) {
  actl__region_free(f->region, &f->mem);
  assert_true(test_alloc_is_clean(&f->hook));
}

/* ---- Blocks with contents ---- */

enum { BLOCKS = 300, STEPS = 20000 };

static size_t random_size(uint64_t *random) {
  switch (actl__random_below(random, 16)) {
  case 0: return 1 + actl__random_below(random, 300000);
  case 1:
  case 2: return 1 + actl__random_below(random, 5000);
  case 3: return (size_t)1 << actl__random_below(random, 18);
  case 4: return ((size_t)1 << actl__random_below(random, 18)) + 1;
  default: return 1 + actl__random_below(random, 300);
  }
}

static void resize(struct fixture *f, struct held *h, size_t size) {
  size_t kept = h->size < size ? h->size : size;
  void *at = actl__region_resize(f->region, h->at, h->size, size);
  assert_true(size == 0 || at != NULL);
  assert_int_equal((uintptr_t)at % 16, 0);
  h->at = at;
  if (size > 0) assert_true(is_intact(h, kept));
  h->size = size;
}

/* Makes, resizes and frees at random; returns a hash of the lower 32 bits of all addresses. */
static uint64_t use(struct fixture *f) {
  static struct held held[BLOCKS];
  uint64_t random = 7, hash = 1;
  memset(held, 0, sizeof held);
  for (int i = 0; i < STEPS; i++) {
    struct held *h = &held[actl__random_below(&random, BLOCKS)];
    assert_true(is_intact(h, h->size));
    bool frees = h->at != NULL && actl__random_below(&random, 3) == 0;
    resize(f, h, frees ? 0 : random_size(&random));
    fill(h, random);
    hash = (hash ^ (uint32_t)(uintptr_t)h->at) * 0x100000001B3ull;
  }
  for (int i = 0; i < BLOCKS; i++) assert_true(is_intact(&held[i], held[i].size));
  return hash;
}

static void blocks_keep_their_contents_and_do_not_overlap(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  use(&f);
  end(&f);
}

static void the_same_calls_give_the_same_lower_32_bits(void **state) {
  (void)state;
  struct fixture one, two;
  begin(&one);
  begin(&two);
  assert_ptr_not_equal(one.region, two.region);
  void *first = actl__region_resize(one.region, NULL, 0, 100);
  void *second = actl__region_resize(two.region, NULL, 0, 100);
  assert_ptr_not_equal(first, second);
  assert_int_equal((uint32_t)(uintptr_t)first, (uint32_t)(uintptr_t)second);
  assert_int_not_equal((uint32_t)(uintptr_t)first, 0);
  assert_true(use(&one) == use(&two));
  end(&one);
  end(&two);
}

static void what_is_freed_is_used_again(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  for (size_t size = 1; size < (size_t)1 << 30; size = size * 3 + 1) {
    void *at = actl__region_resize(f.region, NULL, 0, size);
    assert_non_null(at);
    actl__region_resize(f.region, at, size, 0);
    assert_ptr_equal(actl__region_resize(f.region, NULL, 0, size), at);
    actl__region_resize(f.region, at, size, 0);
  }
  end(&f);
}

static void four_gigabytes_are_the_end_and_nothing_is_lost(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  char *kept = actl__region_resize(f.region, NULL, 0, 100);
  memset(kept, 'k', 100);
  size_t n = 0;
  while (actl__region_resize(f.region, NULL, 0, (size_t)1 << 28) != NULL) n++;
  assert_int_equal(n, 15);
  assert_null(actl__region_resize(f.region, kept, 100, (size_t)1 << 29));
  assert_null(actl__region_resize(f.region, kept, 100, (size_t)1 << 32));
  assert_null(actl__region_resize(f.region, NULL, 0, SIZE_MAX - 100));
  for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 'k');
  assert_non_null(actl__region_resize(f.region, NULL, 0, 1000));
  end(&f);
}

static void a_block_never_fails_to_shrink(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  char *block = actl__region_resize(f.region, NULL, 0, 100000);
  memset(block, 's', 100000);
  for (size_t size = (size_t)1 << 30; size >= 16; size /= 2)
    while (actl__region_resize(f.region, NULL, 0, size) != NULL) continue;
  assert_ptr_equal(actl__region_resize(f.region, block, 100000, 50), block);
  for (int i = 0; i < 50; i++) assert_int_equal(block[i], 's');
  assert_null(actl__region_resize(f.region, block, 50, 100));
  end(&f);
}

static void without_memory_there_is_no_region(void **state) {
  (void)state;
  struct fixture f = {0};
  actl__memory_init(&f.mem, test_alloc, &f.hook);
  test_alloc_fail_from(&f.hook, 1);
  assert_null(actl__region_new(&f.mem));
  assert_true(test_alloc_heal(&f.hook));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_keep_their_contents_and_do_not_overlap),
      cmocka_unit_test(the_same_calls_give_the_same_lower_32_bits),
      cmocka_unit_test(what_is_freed_is_used_again),
      cmocka_unit_test(four_gigabytes_are_the_end_and_nothing_is_lost),
      cmocka_unit_test(a_block_never_fails_to_shrink),
      cmocka_unit_test(without_memory_there_is_no_region),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
