/*
 * test_slab.c - pieces of slabs: apart from each other, used again, all given back.
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
#include "base/slab.h"
#include "support/alloc.h"
#include "support/race.h"

struct piece_held {
  unsigned char *at;
  unsigned class;
  unsigned char mark;
};

static size_t size_of(unsigned class) { return (size_t)ACTL__PIECE_MIN << class; }

/* Both ends and a byte of each kilobyte: pieces that overlap share one of these. */
static void mark(struct piece_held *p, unsigned char byte) {
  p->mark = byte;
  for (size_t i = 0; i < size_of(p->class); i += ACTL__PIECE_MIN) p->at[i] = byte;
  p->at[size_of(p->class) - 1] = byte;
}
static bool is_marked(const struct piece_held *p) {
  for (size_t i = 0; i < size_of(p->class); i += ACTL__PIECE_MIN)
    if (p->at[i] != p->mark) return false;
  return p->at[size_of(p->class) - 1] == p->mark;
}

struct fixture {
  struct test_alloc alloc;
  struct memory mem;
  struct slabs slabs;
};

static void begin(struct fixture *f) {
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->alloc);
  assert_int_equal(actl__slabs_init(&f->slabs, &f->mem), ACTL_OK);
}
static void end(struct fixture *f) {
  actl__slabs_fini(&f->slabs);
  assert_true(test_alloc_is_clean(&f->alloc));
}

/* Takes and gives at random, so many times, and gives everything back. Counts what is wrong. */
static unsigned use_at_random(struct slabs *slabs, uint64_t random, unsigned classes, int rounds) {
  enum { HELD = 24 };
  struct piece_held held[HELD] = {{0}};
  unsigned n_faults = 0;
  for (int i = 0; i < rounds + HELD; i++) {
    struct piece_held *p = &held[i < rounds ? (int)actl__random_below(&random, HELD) : i - rounds];
    if (p->at != NULL) {
      if (!is_marked(p)) n_faults++;
      actl__slabs_give(slabs, p->at, p->class);
      p->at = NULL;
    } else if (i < rounds) {
      p->class = actl__random_below(&random, classes);
      p->at = actl__slabs_take(slabs, p->class);
      if (p->at == NULL || (uintptr_t)p->at % ACTL__CACHE_LINE != 0) return n_faults + 1000;
      mark(p, (unsigned char)actl__random_next(&random));
    }
  }
  return n_faults;
}

static void pieces_of_all_classes_are_apart_and_aligned(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  assert_int_equal(use_at_random(&f.slabs, 1, ACTL__PIECE_CLASSES, 20000), 0);
  assert_int_equal(size_of(ACTL__PIECE_CLASSES - 1), ACTL__PIECE_MAX);
  end(&f);
}

struct user {
  struct slabs *slabs;
  uint64_t seed;
  unsigned n_faults;
};

static void use(void *arg) {
  struct user *user = arg;
  user->n_faults = use_at_random(user->slabs, user->seed, 5, 10000);
}

static void several_threads_take_and_give_at_once(void **state) {
  (void)state;
  enum { USERS = 4 };
  struct fixture f;
  begin(&f);
  struct user users[USERS];
  struct test_racer racers[USERS];
  for (unsigned i = 0; i < USERS; i++) {
    users[i] = (struct user){&f.slabs, i + 1, 0};
    racers[i] = (struct test_racer){use, &users[i]};
  }
  test_race(racers, USERS);
  for (unsigned i = 0; i < USERS; i++) assert_int_equal(users[i].n_faults, 0);
  end(&f);
}

static void pieces_given_back_are_used_again(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  for (unsigned class = 0; class < ACTL__PIECE_CLASSES; class ++) {
    void *piece = actl__slabs_take(&f.slabs, class);
    assert_non_null(piece);
    actl__slabs_give(&f.slabs, piece, class);
  }
  size_t bytes = f.alloc.live_bytes;
  for (int i = 0; i < 100000; i++) {
    unsigned class = (unsigned)i % ACTL__PIECE_CLASSES;
    void *piece = actl__slabs_take(&f.slabs, class);
    assert_non_null(piece);
    actl__slabs_give(&f.slabs, piece, class);
  }
  assert_int_equal(f.alloc.live_bytes, bytes);
  end(&f);
}

static void small_pieces_share_a_small_slab(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 200; i++) assert_non_null(actl__slabs_take(&f.slabs, 0));
  assert_true(f.alloc.live_bytes < 2 * 1024 * 1024);
  assert_int_equal(f.alloc.live_blocks, 2);
  end(&f);
}

static void the_rest_of_a_slab_is_not_lost(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  assert_non_null(actl__slabs_take(&f.slabs, 0));
  assert_non_null(actl__slabs_take(&f.slabs, ACTL__PIECE_CLASSES - 1)); /* does not fit */
  size_t blocks = f.alloc.live_blocks;
  for (int i = 0; i < 200; i++) assert_non_null(actl__slabs_take(&f.slabs, i % 8 == 0 ? 3 : 0));
  assert_int_equal(f.alloc.live_blocks, blocks);
  end(&f);
}

static void no_memory_is_null_and_nothing_leaks(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  unsigned n_refused = 0;
  for (unsigned class = 0; class < ACTL__PIECE_CLASSES; class ++) {
    for (size_t n = 1;; n++) {
      size_t bytes = f.alloc.live_bytes;
      void *piece = NULL;
      test_alloc_fail_from(&f.alloc, n);
      while (f.alloc.n_calls < n && (piece = actl__slabs_take(&f.slabs, class)) != NULL) {}
      if (!test_alloc_heal(&f.alloc)) break;
      assert_null(piece);
      n_refused++;
      if (n <= 2) assert_int_equal(f.alloc.live_bytes, bytes);
      if (n == 3) break;
    }
    assert_non_null(actl__slabs_take(&f.slabs, class));
  }
  assert_true(n_refused >= 2 * ACTL__PIECE_CLASSES);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_of_all_classes_are_apart_and_aligned),
      cmocka_unit_test(several_threads_take_and_give_at_once),
      cmocka_unit_test(pieces_given_back_are_used_again),
      cmocka_unit_test(small_pieces_share_a_small_slab),
      cmocka_unit_test(the_rest_of_a_slab_is_not_lost),
      cmocka_unit_test(no_memory_is_null_and_nothing_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
