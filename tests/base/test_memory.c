/*
 * test_memory.c - the door to memory: the default hook, aligned blocks, a hook that refuses.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "support/alloc.h"

static bool has_only(const unsigned char *bytes, unsigned char byte, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i] != byte) return false;
  return true;
}

static void the_default_hook_makes_resizes_and_frees(void **state) {
  (void)state;
  struct memory mem;
  actl__memory_init(&mem, NULL, NULL);

  unsigned char *p = actl__memory_new(&mem, 100);
  assert_non_null(p);
  memset(p, 7, 100);
  p = actl__memory_resize(&mem, p, 100, 100000);
  assert_non_null(p);
  assert_true(has_only(p, 7, 100));
  p = actl__memory_resize(&mem, p, 100000, 50);
  assert_non_null(p);
  assert_true(has_only(p, 7, 50));
  actl__memory_free(&mem, p, 50);
  actl__memory_free(&mem, NULL, 0);
}

static void a_hook_of_the_host_gets_all_calls_with_its_ud(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  struct memory mem;
  actl__memory_init(&mem, test_alloc, &alloc);

  void *p = actl__memory_new(&mem, 10);
  assert_non_null(p);
  assert_int_equal(alloc.live_bytes, 10);
  p = actl__memory_resize(&mem, p, 10, 30);
  assert_non_null(p);
  assert_int_equal(alloc.live_bytes, 30);
  actl__memory_free(&mem, p, 30);
  actl__memory_free(&mem, NULL, 30);
  assert_int_equal(alloc.n_calls, 2);
  assert_true(test_alloc_is_clean(&alloc));
}

static void zeroed_blocks_are_zero_to_their_last_byte(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  struct memory mem;
  actl__memory_init(&mem, test_alloc, &alloc);
  for (size_t size = 1; size < 300; size++) {
    unsigned char *p = actl__memory_new_zeroed(&mem, size);
    assert_non_null(p);
    assert_true(has_only(p, 0, size));
    actl__memory_free(&mem, p, size);
  }
  assert_true(test_alloc_is_clean(&alloc));
}

/* A hook whose blocks lie at each multiple of 16 in turn. */
struct shifting {
  _Alignas(64) unsigned char arena[1024];
  size_t offset;
  unsigned char *given;
  size_t given_size, freed_size;
};

static void *shifting_alloc(void *ud, void *ptr, size_t old_size, size_t new_size) {
  struct shifting *s = ud;
  if (ptr == NULL) {
    s->given = s->arena + 64 + s->offset;
    s->given_size = new_size;
    return s->given;
  }
  s->freed_size = ptr == s->given ? old_size : 0;
  return NULL;
}

static void aligned_blocks_lie_within_what_the_hook_gave(void **state) {
  (void)state;
  for (size_t offset = 0; offset < 64; offset += 16) {
    for (size_t size = 1; size < 300; size++) {
      struct shifting s = {.offset = offset};
      struct memory mem;
      actl__memory_init(&mem, shifting_alloc, &s);

      unsigned char *p = actl__memory_new_aligned(&mem, size);
      assert_non_null(p);
      assert_int_equal((uintptr_t)p % ACTL__CACHE_LINE, 0);
      assert_true(p >= s.given && p + size <= s.given + s.given_size);
      memset(p, 0xFF, size);
      actl__memory_free_aligned(&mem, p, size);
      assert_int_equal(s.freed_size, s.given_size);
    }
  }
  struct memory mem;
  actl__memory_init(&mem, NULL, NULL);
  actl__memory_free_aligned(&mem, NULL, 10);
}

static void no_memory_is_null_and_leaves_the_old_block(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  struct memory mem;
  actl__memory_init(&mem, test_alloc, &alloc);
  unsigned char *p = actl__memory_new(&mem, 10);
  assert_non_null(p);
  memset(p, 3, 10);

  test_alloc_fail_from(&alloc, 1);
  assert_null(actl__memory_new(&mem, 10));
  assert_null(actl__memory_new_zeroed(&mem, 10));
  assert_null(actl__memory_new_aligned(&mem, 10));
  assert_null(actl__memory_resize(&mem, p, 10, 20));
  assert_true(test_alloc_heal(&alloc));
  assert_int_equal(alloc.n_failed, 4);

  assert_true(has_only(p, 3, 10));
  actl__memory_free(&mem, p, 10);
  assert_true(test_alloc_is_clean(&alloc));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_default_hook_makes_resizes_and_frees),
      cmocka_unit_test(a_hook_of_the_host_gets_all_calls_with_its_ud),
      cmocka_unit_test(zeroed_blocks_are_zero_to_their_last_byte),
      cmocka_unit_test(aligned_blocks_lie_within_what_the_hook_gave),
      cmocka_unit_test(no_memory_is_null_and_leaves_the_old_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
