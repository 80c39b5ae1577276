/*
 * test_placed.c - memory of a vat at addresses that repeat, which a binding gets with a seed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "actl.h"
#include "actl_driver.h"
#include "support/alloc.h"

enum { BLOCKS = 500, VATS = 3, LIVES = 4 };

/* What the actor of a vat got, by its lower 32 bits and its upper ones. */
struct seen {
  uint32_t low[BLOCKS], high[BLOCKS];
  int n_born;
};

static struct seen seen[VATS + 1];

/* Makes, grows and frees, and leaves some to the end of the vat. */
static actl_status init(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct seen *s = &seen[actl_msg_int(msg, 0, 0)];
  s->n_born++;
  for (size_t i = 0; i < BLOCKS; i++) {
    size_t size = 1 + i * i % 40000;
    char *block = actl_vat_realloc_placed(ctx, NULL, 0, size);
    assert_non_null(block);
    memset(block, (int)i, size);
    if (i % 3 == 0) {
      block = actl_vat_realloc_placed(ctx, block, size, size * 3);
      assert_non_null(block);
      assert_int_equal(block[size - 1], (char)i);
      size *= 3;
    }
    s->low[i] = (uint32_t)(uintptr_t)block;
    s->high[i] = (uint32_t)((uintptr_t)block >> 32);
    if (i % 2 == 0) assert_null(actl_vat_realloc_placed(ctx, block, size, 0));
  }
  return ACTL_OK;
}

static actl_status receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  (void)state;
  (void)msg;
  return ACTL_OK;
}

static const actl_behavior BEHAVIOR = {.name = "placed", .init = init, .receive = receive};

static void make(actl_engine *engine, uint32_t vat, int64_t i) {
  actl_pid pid;
  assert_int_equal(actl_engine_spawn(engine, vat, &BEHAVIOR, ACTL_VALUES(actl_int(i)), &pid),
                   ACTL_OK);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
}

/* Within 4 GB, and at the same places as in `first`. */
static void check(const struct seen *s, const struct seen *first) {
  assert_memory_equal(s->low, first->low, sizeof s->low);
  for (int i = 0; i < BLOCKS; i++) assert_int_equal(s->high[i], s->high[0]);
}

static void the_same_calls_give_the_same_places_in_each_vat_and_engine(void **state) {
  (void)state;
  memset(seen, 0, sizeof seen);
  struct test_alloc alloc = {0};
  actl_engine *engine[2];
  const actl_config config = {
      .is_seeded = true, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  for (int e = 0; e < 2; e++) assert_int_equal(actl_engine_new(&engine[e], &config), ACTL_OK);
  for (uint32_t vat = 0; vat < VATS; vat++) make(engine[0], vat, vat);
  make(engine[1], VATS - 1, VATS);
  for (int i = 0; i <= VATS; i++) {
    assert_int_equal(seen[i].n_born, 1);
    check(&seen[i], &seen[0]);
    for (int j = 0; j < i; j++) assert_int_not_equal(seen[i].high[0], seen[j].high[0]);
  }
  for (int e = 0; e < 2; e++) actl_engine_free(engine[e]);
  assert_true(test_alloc_is_clean(&alloc));
}

static void a_vat_that_is_opened_again_begins_anew(void **state) {
  (void)state;
  memset(seen, 0, sizeof seen);
  struct test_alloc alloc = {0};
  actl_engine *engine;
  const actl_config config = {.is_seeded = true, .alloc = test_alloc, .alloc_ud = &alloc};
  assert_int_equal(actl_engine_new(&engine, &config), ACTL_OK);
  for (int i = 0; i < LIVES; i++) {
    uint32_t vat;
    assert_int_equal(actl_vat_open(engine, &vat), ACTL_OK);
    make(engine, vat, i % 2);
    assert_int_equal(actl_vat_close(engine, vat), ACTL_OK);
    assert_int_equal(actl_engine_run(engine), ACTL_OK);
    check(&seen[i % 2], &seen[0]);
  }
  assert_int_equal(seen[0].n_born + seen[1].n_born, LIVES);
  actl_engine_free(engine);
  assert_true(test_alloc_is_clean(&alloc));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_calls_give_the_same_places_in_each_vat_and_engine),
      cmocka_unit_test(a_vat_that_is_opened_again_begins_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
