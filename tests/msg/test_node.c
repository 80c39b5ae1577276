/*
 * test_node.c - values into a node and out again: all types, counts, sizes and rooms.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "msg/node.h"
#include "support/alloc.h"

static struct test_alloc hook;
static struct memory mem;

static int set_up(void **state) {
  (void)state;
  memset(&hook, 0, sizeof hook);
  actl__memory_init(&mem, test_alloc, &hook);
  return 0;
}

static int nothing_is_left(void **state) {
  (void)state;
  return test_alloc_is_clean(&hook) ? 0 : -1;
}

/* ---- Values, nodes and how they compare ---- */

enum { BYTES = 4096, CANARY = 0x5C };
static char bytes[BYTES]; /* zero bytes among them */

static void fill_bytes(void) {
  uint64_t random = 99;
  for (int i = 0; i < BYTES; i++)
    bytes[i] = (char)(actl__random_below(&random, 4) == 0 ? 0 : actl__random_next(&random));
}

static const uint32_t types[] = {ACTL_NIL, ACTL_FALSE, ACTL_TRUE,   ACTL_INTEGER, ACTL_FLOAT,
                                 ACTL_PID, ACTL_NAME,  ACTL_STRING, ACTL_TABLE};
enum { TYPES = sizeof types / sizeof types[0] };

static bool has_bytes(uint32_t type) { return type == ACTL_STRING || type == ACTL_TABLE; }

static actl_value value_of(uint32_t type, uint64_t *random, uint32_t size_max) {
  actl_value v = {.type = type};
  if (has_bytes(type)) {
    v.size = actl__random_below(random, size_max + 1);
    v.as.bytes = v.size == 0 ? NULL : bytes + actl__random_below(random, BYTES - v.size);
  } else if (type == ACTL_NAME) {
    v.as.name.id = (uint32_t)actl__random_next(random);
  } else if (type >= ACTL_INTEGER) {
    v.as.bits = actl__random_next(random);
  }
  return v;
}

static bool is_same(actl_value a, actl_value b) {
  if (a.type != b.type) return false;
  if (has_bytes(a.type))
    return a.size == b.size && (a.size == 0 || memcmp(a.as.bytes, b.as.bytes, a.size) == 0);
  if (a.type == ACTL_NAME) return a.as.name.id == b.as.name.id;
  return a.type < ACTL_INTEGER || a.as.bits == b.as.bits;
}

static const uint64_t head = (uint64_t)NODE_ASK << NODE_KIND_SHIFT |
                             (uint64_t)1 << NODE_PRIORITY_SHIFT | NODE_FAR |
                             (uint64_t)0xABCDEF1 << NODE_AGE_SHIFT;
static const uint64_t type_bits = (uint64_t)0xFFFFF << NODE_TYPES_SHIFT;

/* Both ways of reading give what was written; what is not the values' is as it was. */
static void check(const struct actl_msg *m, const actl_value *values, size_t n, unsigned room) {
  assert_int_equal(actl__node_count(m), n);
  assert_int_equal(actl_msg_count(m), n);
  assert_true((m->header & ~type_bits & ~(uint64_t)255) == head);
  for (unsigned slot = room; slot < NODE_SLOTS; slot++) {
    assert_true(m->slot[slot] == CANARY);
    assert_int_equal(actl__node_type(m, slot), 0);
  }
  assert_true(m->from == CANARY);

  uint32_t slot = 0;
  const void *at = NULL;
  for (size_t i = 0; i < n; i++) {
    actl_value v = {.type = 77};
    /* A walk each: of many values some. */
    if (i < 8 || i % 31 == 0 || i + 1 == n) assert_true(is_same(actl_msg_value(m, i), values[i]));
    actl__node_read(m, &slot, &at, &v);
    assert_true(is_same(v, values[i]));
  }
  assert_int_equal(actl_msg_value(m, n).type, ACTL_NIL);
  assert_int_equal(actl_msg_value(m, SIZE_MAX).type, ACTL_NIL);
}

static void begin(struct actl_msg *m) {
  memset(m, 0xEE, sizeof *m);
  m->from = CANARY;
  for (int i = 0; i < NODE_SLOTS; i++) m->slot[i] = CANARY;
}

static void round_trip(const actl_value *values, size_t n, unsigned room) {
  struct actl_msg m;
  begin(&m);
  assert_int_equal(actl__node_write(&m, head, values, n, room, &mem), ACTL_OK);
  check(&m, values, n, room);

  actl__node_clear(&m, &mem);
  assert_int_equal(hook.live_blocks, 0);
  actl__node_clear(&m, &mem); /* what was cleared has nothing left */
  assert_int_equal(hook.n_wrong, 0);
}

/* ---- Tests ---- */

static void each_type_comes_out_as_it_went_in_at_every_count_and_room(void **state) {
  (void)state;
  static actl_value values[ACTL_VALUES_MAX];
  uint64_t random = 1;
  for (unsigned room = 2; room <= NODE_SLOTS; room++) {
    for (int t = 0; t < TYPES; t++) {
      for (size_t n = 0; n <= ACTL_VALUES_MAX; n++) {
        for (size_t i = 0; i < n; i++) values[i] = value_of(types[t], &random, 20);
        round_trip(values, n, room);
      }
    }
  }
}

static void mixtures_of_all_types_come_out_as_they_went_in(void **state) {
  (void)state;
  static actl_value values[ACTL_VALUES_MAX];
  uint64_t random = 2;
  for (int round = 0; round < 20000; round++) {
    size_t n = actl__random_below(&random, round % 10 == 0 ? ACTL_VALUES_MAX + 1 : 8);
    uint32_t size_max = round % 3 == 0 ? 1000 : 45;
    for (size_t i = 0; i < n; i++)
      values[i] = value_of(types[actl__random_below(&random, TYPES)], &random, size_max);
    round_trip(values, n, 2 + (unsigned)round % 4);
  }
}

static void strings_of_every_size_fit_beside_other_values(void **state) {
  (void)state;
  for (unsigned room = 2; room <= NODE_SLOTS; room++) {
    for (size_t n = 1; n <= NODE_SLOTS + 1; n++) {
      for (size_t place = 0; place < n; place++) {
        for (uint32_t size = 0; size <= 100; size++) {
          actl_value values[NODE_SLOTS + 1];
          for (size_t i = 0; i < n; i++) values[i] = actl_int(-(int64_t)i - 1);
          values[place] = actl_bytes(bytes + size, size);
          round_trip(values, n, room);
          values[place].type = ACTL_TABLE;
          round_trip(values, n, room);
        }
      }
    }
  }
}

static void two_strings_of_every_size_fit_beside_each_other(void **state) {
  (void)state;
  for (unsigned room = 2; room <= NODE_SLOTS; room++) {
    for (uint32_t a = 0; a <= 45; a++) {
      for (uint32_t b = 0; b <= 45; b++) {
        round_trip(ACTL_VALUES(actl_bytes(bytes, a), actl_bytes(bytes + 100, b)), room);
        round_trip(ACTL_VALUES(actl_bytes(bytes, a), actl_bytes(bytes + 100, b), actl_nil()), room);
      }
    }
  }
}

static void short_strings_need_no_memory(void **state) {
  (void)state;
  test_alloc_fail_from(&hook, 1);
  for (unsigned room = 2; room <= NODE_SLOTS; room++) {
    actl_value v = actl_bytes(bytes, room * 8 - 1);
    round_trip(&v, 1, room);
    round_trip(ACTL_VALUES(actl_bytes(bytes, 7), actl_bytes(bytes + 9, (room - 1) * 8 - 1)), room);
  }
  assert_false(test_alloc_heal(&hook));
}

static void floats_keep_every_bit(void **state) {
  (void)state;
  static const uint64_t bits[] = {0,
                                  1,
                                  (uint64_t)1 << 63,
                                  0x7FF0000000000000,
                                  0x7FF8000000000001,
                                  0x7FF0000000000001,
                                  0xFFFFFFFFFFFFFFFF};
  for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
    actl_value values[6];
    for (int k = 0; k < 6; k++) values[k] = (actl_value){.type = ACTL_FLOAT, .as.bits = bits[i]};
    round_trip(values, 1, 5);
    round_trip(values, 6, 5);
  }
}

static void a_written_message_does_not_point_to_what_it_was_given(void **state) {
  (void)state;
  for (uint32_t size = 1; size < 200; size += 3) {
    char *own = malloc(size);
    assert_non_null(own);
    memcpy(own, bytes, size);
    struct actl_msg m;
    begin(&m);
    actl_value v = actl_bytes(own, size);
    assert_int_equal(actl__node_write(&m, head, &v, 1, 5, &mem), ACTL_OK);
    memset(own, 1, size);
    free(own);
    v.as.bytes = bytes;
    check(&m, &v, 1, 5);
    actl__node_clear(&m, &mem);
  }
}

/* The node holds nothing: to clear it is nothing, and its head is kept. */
static void check_refused(struct actl_msg *m) {
  assert_int_equal(hook.live_blocks, 0);
  assert_int_equal(actl__node_count(m), 0);
  assert_true(m->header == head);
  actl__node_clear(m, &mem);
  assert_int_equal(hook.n_wrong, 0);
}

static void too_many_values_are_refused(void **state) {
  (void)state;
  static actl_value values[1000];
  for (int i = 0; i < 1000; i++) values[i] = actl_bytes(bytes, 50);
  static const size_t counts[] = {256, 257, 511, 512, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    struct actl_msg m;
    begin(&m);
    assert_int_equal(actl__node_write(&m, head, values, counts[i], 5, &mem), ACTL_INVALID);
    check_refused(&m);
  }
}

static void a_type_that_no_message_has_is_refused_at_every_place(void **state) {
  (void)state;
  static const uint32_t wrong[] = {8, 9, 11, 12, 15, 16, 255, 256 + ACTL_STRING, UINT32_MAX};
  for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
    for (size_t n = 1; n <= 8; n++) {
      for (size_t place = 0; place < n; place++) {
        actl_value values[8];
        for (size_t i = 0; i < n; i++) values[i] = i % 2 == 0 ? actl_int(5) : actl_bytes(bytes, 60);
        values[place] = (actl_value){.type = wrong[w], .size = 100, .as.bytes = bytes};
        struct actl_msg m;
        begin(&m);
        assert_int_equal(actl__node_write(&m, head, values, n, 5, &mem), ACTL_ENCODING);
        check_refused(&m);
      }
    }
  }
}

static void a_write_without_memory_leaves_nothing(void **state) {
  (void)state;
  unsigned n_refused = 0;
  uint64_t random = 3;
  for (size_t n_values = 1; n_values <= 8; n_values++) {
    for (unsigned room = 2; room <= NODE_SLOTS; room++) {
      actl_value values[8];
      for (size_t i = 0; i < n_values; i++) {
        values[i] = value_of(i % 2 == 0 ? ACTL_TABLE : ACTL_STRING, &random, 40);
        values[i].size += 40;
        values[i].as.bytes = bytes + i;
      }
      struct actl_msg m;
      for (size_t n = 1;; n++) {
        begin(&m);
        test_alloc_fail_from(&hook, n);
        actl_status status = actl__node_write(&m, head, values, n_values, room, &mem);
        if (!test_alloc_heal(&hook)) {
          assert_int_equal(status, ACTL_OK);
          break;
        }
        n_refused++;
        assert_int_equal(status, ACTL_NO_MEMORY);
        check_refused(&m);
      }
      check(&m, values, n_values, room);
      actl__node_clear(&m, &mem);
    }
  }
  assert_true(n_refused > 40);
}

static void typed_reading_says_what_else_there_is(void **state) {
  (void)state;
  struct actl_msg m;
  actl_pid pid = {(uint64_t)1 << 63 | 5};
  begin(&m);
  assert_int_equal(actl__node_write(&m, head,
                                    ACTL_VALUES(actl_int(-7), actl_who(pid),
                                                actl_text("a name that is long, 40 bytes")),
                                    5, &mem),
                   ACTL_OK);
  assert_int_equal(actl_msg_int(&m, 0, 9), -7);
  assert_int_equal(actl_msg_int(&m, 1, 9), 9);
  assert_int_equal(actl_msg_int(&m, 2, 9), 9);
  assert_int_equal(actl_msg_int(&m, 3, 9), 9);
  assert_true(actl_pid_equal(actl_msg_pid(&m, 1), pid));
  assert_true(actl_msg_pid(&m, 0).bits == 0);
  assert_true(actl_msg_pid(&m, 2).bits == 0);
  assert_true(actl_msg_pid(&m, 100).bits == 0);
  actl__node_clear(&m, &mem);
}

static void kinds_and_links_are_read_as_they_were_set(void **state) {
  (void)state;
  struct actl_msg a, b;
  begin(&a);
  for (unsigned kind = 0; kind < NODE_KINDS; kind++) {
    uint64_t own = actl__node_head((enum node_kind)kind);
    assert_int_equal(actl__node_write(&a, own, NULL, 0, 5, &mem), ACTL_OK);
    assert_int_equal(actl__node_kind(&a), kind);
    assert_int_equal(actl__node_is_ask(&a), kind == NODE_ASK);
    assert_int_equal(actl__node_count(&a), 0);
    assert_int_equal(a.header & NODE_FAR, 0);
  }
  assert_true(NODE_KINDS <= 16);
  actl__node_link(&a, &b);
  assert_ptr_equal(actl__node_next(&a), &b);
  actl__node_link(&a, NULL);
  assert_null(actl__node_next(&a));
}

#define NODE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, nothing_is_left)

int main(void) {
  const struct CMUnitTest tests[] = {
      NODE_TEST(each_type_comes_out_as_it_went_in_at_every_count_and_room),
      NODE_TEST(mixtures_of_all_types_come_out_as_they_went_in),
      NODE_TEST(strings_of_every_size_fit_beside_other_values),
      NODE_TEST(two_strings_of_every_size_fit_beside_each_other),
      NODE_TEST(short_strings_need_no_memory),
      NODE_TEST(floats_keep_every_bit),
      NODE_TEST(a_written_message_does_not_point_to_what_it_was_given),
      NODE_TEST(too_many_values_are_refused),
      NODE_TEST(a_type_that_no_message_has_is_refused_at_every_place),
      NODE_TEST(a_write_without_memory_leaves_nothing),
      NODE_TEST(typed_reading_says_what_else_there_is),
      NODE_TEST(kinds_and_links_are_read_as_they_were_set),
  };
  fill_bytes();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
