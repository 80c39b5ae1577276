/*
 * alloc.h - an allocation hook that counts what is live, checks sizes, and fails on demand.
 *
 *   struct test_alloc alloc = {0};
 *   config.alloc = test_alloc, config.alloc_ud = &alloc;
 *   for (size_t n = 1;; n++) {
 *     test_alloc_fail_from(&alloc, n);
 *     status = what_is_tested();
 *     bool did_fail = test_alloc_heal(&alloc);
 *     if (!did_fail) break;               no allocation was refused: the sweep is through
 *     assert nothing changed;
 *   }
 *   assert_true(test_alloc_is_clean(&alloc));
 *
 * New bytes are filled with 0xA5 and freed ones with 0x5A, so what relies on zeroes or on freed
 * memory shows. Any number of threads may use one hook.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_ALLOC_H
#define TESTS_SUPPORT_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Any thread, each field. */
struct test_alloc {
  _Atomic(size_t) live_bytes;  /* as asked for */
  _Atomic(size_t) live_blocks; /* made and not freed */
  _Atomic(size_t) n_calls;     /* that made or grew a block, or were refused, since fail_from */
  _Atomic(size_t) n_failed;    /* that were refused, since fail_from */
  _Atomic(size_t) n_wrong;     /* blocks that came back with another size, or were not ours */
  _Atomic(size_t) fail_from;   /* the call that fails first, and all later ones; 0: none fails */
  _Atomic(bool) fails_shrinks; /* whether shrinking a block is a call that may be refused */
};

/* The hook, of type actl_alloc_fn and lua_Alloc; `ud` is a struct test_alloc. */
void *test_alloc(void *ud, void *ptr, size_t old_size, size_t new_size);

/* The `n`-th allocation from now and all later ones fail; 0: none does. */
void test_alloc_fail_from(struct test_alloc *alloc, size_t n);

/* No allocation fails from now on; whether one did since fail_from. */
bool test_alloc_heal(struct test_alloc *alloc);

/* Whether nothing is live and no block came back wrongly. */
bool test_alloc_is_clean(struct test_alloc *alloc);

#endif
