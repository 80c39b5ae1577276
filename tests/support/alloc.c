/*
 * alloc.c - an allocation hook for tests.
 *
 * In front of each block stands its size, mixed with its address: a free with another size, of a
 * freed block or of no block at all, is counted and not carried out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NEW_BYTE = 0xA5, FREED_BYTE = 0x5A };

struct head {
  alignas(16) size_t size;
  uint64_t mark;
};

static uint64_t mark_of(const struct head *head, size_t size) {
  return (uint64_t)(uintptr_t)head * 0x9E3779B97F4A7C15ull ^ size;
}

/* relaxed, here and below: counters; nothing is published by them. */
static void add(_Atomic(size_t) *counter, size_t n) {
  atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}
static void subtract(_Atomic(size_t) *counter, size_t n) {
  atomic_fetch_sub_explicit(counter, n, memory_order_relaxed);
}
static size_t load(_Atomic(size_t) *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static bool is_refused(struct test_alloc *alloc) {
  size_t call = atomic_fetch_add_explicit(&alloc->n_calls, 1, memory_order_relaxed) + 1;
  size_t from = load(&alloc->fail_from);
  if (from == 0 || call < from) return false;
  add(&alloc->n_failed, 1);
  return true;
}

static void *make(struct test_alloc *alloc, size_t size) {
  if (size > SIZE_MAX - sizeof(struct head)) return NULL;
  struct head *head = malloc(sizeof *head + size);
  if (head == NULL) return NULL;

  head->size = size;
  head->mark = mark_of(head, size);
  memset(head + 1, NEW_BYTE, size);
  add(&alloc->live_bytes, size);
  add(&alloc->live_blocks, 1);
  return head + 1;
}

static void drop(struct test_alloc *alloc, struct head *head) {
  subtract(&alloc->live_bytes, head->size);
  subtract(&alloc->live_blocks, 1);
  head->mark = 0;
  memset(head + 1, FREED_BYTE, head->size);
  free(head);
}

void *test_alloc(void *ud, void *ptr, size_t old_size, size_t new_size) {
  struct test_alloc *alloc = ud;
  if (ptr == NULL) return new_size == 0 || is_refused(alloc) ? NULL : make(alloc, new_size);

  struct head *head = (struct head *)ptr - 1;
  if (head->size != old_size || head->mark != mark_of(head, old_size)) {
    add(&alloc->n_wrong, 1);
    return NULL;
  }
  if (new_size == 0) {
    drop(alloc, head);
    return NULL;
  }

  bool may_fail =
      new_size > old_size || atomic_load_explicit(&alloc->fails_shrinks, memory_order_relaxed);
  if (may_fail && is_refused(alloc)) return NULL;
  /* Always to another place: who keeps the old pointer is found out. */
  void *out = make(alloc, new_size);
  if (out == NULL) return NULL;
  memcpy(out, ptr, old_size < new_size ? old_size : new_size);
  drop(alloc, head);
  return out;
}

void test_alloc_fail_from(struct test_alloc *alloc, size_t n) {
  atomic_store_explicit(&alloc->n_calls, 0, memory_order_relaxed);
  atomic_store_explicit(&alloc->n_failed, 0, memory_order_relaxed);
  atomic_store_explicit(&alloc->fail_from, n, memory_order_relaxed);
}

bool test_alloc_heal(struct test_alloc *alloc) {
  atomic_store_explicit(&alloc->fail_from, 0, memory_order_relaxed);
  return load(&alloc->n_failed) != 0;
}

bool test_alloc_is_clean(struct test_alloc *alloc) {
  return load(&alloc->live_bytes) == 0 && load(&alloc->live_blocks) == 0 &&
         load(&alloc->n_wrong) == 0;
}
