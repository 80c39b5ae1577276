/*
 * test_arena.c - an arena against a model that knows each block's size and contents.
 *
 * Where blocks come from the hook one by one (arena.h says when) there are no size classes, and what
 * is said of them is left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/held.h"
#include "support/alloc.h"

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct slabs slabs;
  struct arena arena;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  assert_int_equal(actl__slabs_init(&f->slabs, &f->mem), ACTL_OK);
  actl__arena_init(&f->arena, &f->slabs);
}

static void end(struct fixture *f) {
  actl__arena_fini(&f->arena);
  assert_int_equal(f->arena.bytes, 0);
  actl__slabs_fini(&f->slabs);
  assert_true(test_alloc_is_clean(&f->hook));
}

/* ---- Blocks with contents ---- */

static const size_t LARGEST_CLASS = 16 * 1024;

static size_t random_size(uint64_t *random) {
  switch (actl__random_below(random, 16)) {
  case 0: return 1 + actl__random_below(random, 100000); /* classes, and beyond */
  case 1: return LARGEST_CLASS - 2 + actl__random_below(random, 5);
  case 2:
  case 3: return 1 + actl__random_below(random, 5000);
  case 4: return (size_t)1 << actl__random_below(random, 16);
  case 5: return ((size_t)1 << actl__random_below(random, 16)) + 1;
  default: return 1 + actl__random_below(random, 300);
  }
}

enum { HELD = 300 };

struct model {
  struct held held[HELD];
  size_t bytes, n_failed, n_made, n_resized;
};

static void check_new(struct model *m, struct held *h, void *at, size_t size, uint64_t seed) {
  if (at == NULL) {
    m->n_failed++;
    return;
  }
  assert_int_equal((uintptr_t)at % 16, 0);
  h->at = at;
  h->size = size;
  m->bytes += size;
  m->n_made++;
  fill(h, seed);
}

static void resize(struct model *m, struct arena *arena, struct held *h, size_t size,
                   uint64_t seed) {
  unsigned char *at = actl__arena_resize(arena, h->at, h->size, size);
  if (at == NULL) {
    m->n_failed++;
    /* A block of a size class never fails to shrink. */
    assert_true(size > h->size || h->size > ACTL__ARENA_LARGE);
    assert_true(is_intact(h, h->size));
    return;
  }
  assert_int_equal((uintptr_t)at % 16, 0);
  h->at = at;
  struct held now = {at, h->size, h->seed}; /* contents up to the smaller size are kept */
  assert_true(is_intact(&now, size < h->size ? size : h->size));
  m->bytes += size - h->size;
  m->n_resized++;
  h->size = size;
  fill(h, seed);
}

static void drop(struct model *m, struct arena *arena, struct held *h, bool by_resize) {
  assert_true(is_intact(h, h->size));
  if (by_resize) {
    assert_null(actl__arena_resize(arena, h->at, h->size, 0));
  } else {
    actl__arena_free(arena, h->at, h->size);
  }
  m->bytes -= h->size;
  h->at = NULL;
}

static void use_at_random(struct fixture *f, struct model *m, int rounds, bool with_failures) {
  uint64_t random = 17;
  memset(m, 0, sizeof *m);
  for (int i = 0; i < rounds; i++) {
    struct held *h = &m->held[actl__random_below(&random, HELD)];
    uint32_t choice = actl__random_below(&random, 4);
    size_t size = random_size(&random);
    uint64_t seed = actl__random_next(&random);
    if (with_failures && i % 64 == 0)
      test_alloc_fail_from(&f->hook, i % 128 == 0 ? 1 + actl__random_below(&random, 8) : 0);

    if (h->at == NULL && choice == 0) {
      check_new(m, h, actl__arena_resize(&f->arena, NULL, 0, size), size, seed);
    } else if (h->at == NULL) {
      check_new(m, h, actl__arena_new(&f->arena, size), size, seed);
    } else if (choice < 2) {
      resize(m, &f->arena, h, size, seed);
    } else {
      drop(m, &f->arena, h, choice == 3);
    }
    if (f->arena.bytes != m->bytes) fail();
  }
  test_alloc_fail_from(&f->hook, 0);
  for (int i = 0; i < HELD; i++)
    if (m->held[i].at != NULL) assert_true(is_intact(&m->held[i], m->held[i].size));
}

/* ---- Tests ---- */

static void blocks_of_every_size_are_apart_and_aligned(void **state) {
  (void)state;
  enum { SIZES = 3000 };
  static struct held held[SIZES];
  struct fixture f;
  begin(&f);
  size_t bytes = 0;
  for (size_t i = 0; i < SIZES; i++) {
    size_t size = i < 1500 ? i + 1 : (i - 1400) * 11; /* to beyond the largest class */
    held[i] = (struct held){actl__arena_new(&f.arena, size), size, 0};
    assert_non_null(held[i].at);
    assert_int_equal((uintptr_t)held[i].at % 16, 0);
    fill(&held[i], i);
    bytes += size;
    assert_int_equal(f.arena.bytes, bytes);
  }
  for (size_t i = 0; i < SIZES; i++) assert_true(is_intact(&held[i], held[i].size));
  end(&f);
}

static void blocks_keep_their_contents_through_all_that_happens(void **state) {
  (void)state;
  static struct model m;
  struct fixture f;
  begin(&f);
  use_at_random(&f, &m, 100000, false);
  assert_int_equal(m.n_failed, 0);
  assert_true(m.n_made > 10000 && m.n_resized > 10000);
  end(&f); /* with blocks of all sizes not freed */
}

static void blocks_keep_their_contents_while_memory_comes_and_goes(void **state) {
  (void)state;
  static struct model m;
  struct fixture f;
  begin(&f);
  use_at_random(&f, &m, 100000, true);
  assert_true(m.n_failed > 100);
  assert_true(m.n_made > 10000 && m.n_resized > 10000);
  for (int i = 0; i < HELD; i++)
    if (m.held[i].at != NULL) drop(&m, &f.arena, &m.held[i], false);
  assert_int_equal(f.arena.bytes, 0);
  end(&f);
}

#if !defined(ACTL__ARENA_DIRECT)
static void without_memory_a_class_block_shrinks_where_it_is(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  struct held h = {actl__arena_new(&f.arena, LARGEST_CLASS), LARGEST_CLASS, 0};
  assert_non_null(h.at);
  fill(&h, 5);
  test_alloc_fail_from(&f.hook, 1);
  while (actl__arena_new(&f.arena, 16) != NULL) { /* nothing is left for smaller ones */
  }
  size_t others = f.arena.bytes - h.size;
  for (size_t size = LARGEST_CLASS - 1; size > 0; size -= size > 300 ? 97 : 1) {
    void *at = actl__arena_resize(&f.arena, h.at, h.size, size);
    assert_non_null(at);
    h.at = at;
    h.size = size;
    for (size_t i = 0; i < size; i += step_of(LARGEST_CLASS))
      if (h.at[i] != byte_at(5, i)) fail();
    assert_int_equal(f.arena.bytes, others + size);
  }
  assert_null(actl__arena_resize(&f.arena, h.at, 1, 17));
  assert_int_equal(f.arena.bytes, others + 1);
  actl__arena_free(&f.arena, h.at, 1);
  assert_true(test_alloc_heal(&f.hook));
  end(&f);
}

static void small_arenas_share_a_slab(void **state) {
  (void)state;
  enum { ARENAS = 200 };
  static struct arena arenas[ARENAS];
  struct fixture f;
  begin(&f);
  for (int i = 0; i < ARENAS; i++) {
    actl__arena_init(&arenas[i], &f.slabs);
    assert_non_null(actl__arena_new(&arenas[i], 500));
  }
  assert_true(f.hook.live_bytes < 300 * 1024);
  for (int i = 0; i < ARENAS; i++) actl__arena_fini(&arenas[i]);
  end(&f);
}
#endif

static void freed_blocks_are_used_again(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  size_t slabs = 0;
  for (int i = 0; i < 500000; i++) {
    size_t size = 1 + (size_t)i * 7919 % 4000;
    void *a = actl__arena_new(&f.arena, size), *b = actl__arena_new(&f.arena, size);
    if (a == NULL || b == NULL) fail();
    actl__arena_free(&f.arena, a, size);
    actl__arena_free(&f.arena, b, size);
    if (i == 100000) slabs = f.hook.live_bytes;
  }
  assert_int_equal(f.hook.live_bytes, slabs);
  assert_int_equal(f.arena.bytes, 0);
  actl__arena_free(&f.arena, NULL, 5);
  assert_int_equal(f.arena.bytes, 0);
  end(&f);
}

static void an_arenas_end_gives_all_back_to_others(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  size_t bytes = 0;
  for (int i = 0; i < 200; i++) {
    struct arena arena;
    actl__arena_init(&arena, &f.slabs);
    for (size_t size = 1; size < 40000; size += size / 2 + 1)
      assert_non_null(actl__arena_new(&arena, size));
    actl__arena_fini(&arena);
    assert_int_equal(arena.bytes, 0);
    if (i == 0) bytes = f.hook.live_bytes;
    assert_int_equal(f.hook.live_bytes, bytes);
  }
  end(&f);
}

static void sizes_that_no_memory_has_are_refused(void **state) {
  (void)state;
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 64, SIZE_MAX / 2 + 1};
  struct fixture f;
  begin(&f);
  struct held small = {actl__arena_new(&f.arena, 100), 100, 0};
  struct held large = {actl__arena_new(&f.arena, 50000), 50000, 0};
  assert_true(small.at != NULL && large.at != NULL);
  fill(&small, 1);
  fill(&large, 2);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_null(actl__arena_new(&f.arena, sizes[i]));
    assert_null(actl__arena_resize(&f.arena, small.at, small.size, sizes[i]));
    assert_null(actl__arena_resize(&f.arena, large.at, large.size, sizes[i]));
    assert_int_equal(f.arena.bytes, 50100);
  }
  assert_true(is_intact(&small, 100) && is_intact(&large, 50000));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_of_every_size_are_apart_and_aligned),
    cmocka_unit_test(blocks_keep_their_contents_through_all_that_happens),
    cmocka_unit_test(blocks_keep_their_contents_while_memory_comes_and_goes),
    cmocka_unit_test(freed_blocks_are_used_again),
    cmocka_unit_test(an_arenas_end_gives_all_back_to_others),
#if !defined(ACTL__ARENA_DIRECT)
    cmocka_unit_test(without_memory_a_class_block_shrinks_where_it_is),
    cmocka_unit_test(small_arenas_share_a_slab),
#endif
    cmocka_unit_test(sizes_that_no_memory_has_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
