/*
 * test_values.c - values of every type and size arrive as they were sent, near, far and from a host,
 * as a message, as spawn's values and as an answer.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "actl_driver.h"

enum {
  CASES = 60,    /* lists of values, by number */
  BIG = 1 << 20, /* bytes of the largest string */
};

/* What every case is made from; written before the run. */
struct world {
  actl_name name, other_name;
  actl_pid pid;
  char *bytes; /* BIG of them, no two neighbourhoods alike */
  atomic_uint checked, wrong;
};

/* The sizes at which a string may be held another way, and those around them. */
static const uint32_t sizes[] = {
    0,  1,  2,  6,  7,  8,  9,   15,  16,  17,  23,  24,   25,   31,   32,    33,    39,    40,
    41, 47, 48, 63, 64, 65, 127, 128, 255, 256, 257, 1000, 4095, 4096, 65535, 65536, 65537, BIG};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static actl_value some_bytes(const struct world *world, uint32_t type, uint32_t size, int salt) {
  actl_value value = actl_bytes(world->bytes + (size > BIG - 512 ? 0 : salt % 512), size);
  value.type = type;
  return value;
}

static actl_value small_value(const struct world *world, int i) {
  static const double floats[] = {0.0, -0.0, 1.5, -1e308, 5e-324};
  static const int64_t integers[] = {0, 1, -1, INT64_MAX, INT64_MIN};
  switch (i % 10) {
  case 0: return actl_nil();
  case 1: return actl_bool(true);
  case 2: return actl_bool(false);
  case 3: return actl_int(integers[i / 10 % 5]);
  case 4: return actl_float(floats[i / 10 % 5]);
  case 5: return actl_who(world->pid);
  case 6: return actl_named(i / 10 % 2 ? world->name : world->other_name);
  case 7: return some_bytes(world, ACTL_STRING, (uint32_t)i % 8, i);
  case 8: return some_bytes(world, ACTL_STRING, sizes[i / 10 % 30], i);
  default: return some_bytes(world, ACTL_TABLE, sizes[i / 10 % 30], i);
  }
}

/* Case `number` of CASES: how many values it has; they are written to `out`. */
static size_t make_case(const struct world *world, int number, actl_value *out) {
  size_t n = 0;
  if (number < SIZES) { /* one string of each size, and something after it */
    out[n++] = some_bytes(world, ACTL_STRING, sizes[number], number);
    out[n++] = actl_int(number);
    out[n++] = some_bytes(world, ACTL_TABLE, sizes[SIZES - 1 - number], number);
    out[n++] = actl_text("last");
    return n;
  }
  int kind = number - SIZES;
  if (kind < 12) { /* 0 to 11 values of all types */
    for (int i = 0; i < kind; i++) out[n++] = small_value(world, i + kind * 7);
    return n;
  }
  static const size_t counts[] = {4, 5, 6, 12, 13, 100, 254, ACTL_VALUES_MAX};
  size_t count = counts[(kind - 12) % 8];
  for (size_t i = 0; i < count; i++) {
    if (kind >= 20) {
      out[n++] = small_value(world, (int)i + kind);
    } else {
      out[n++] = actl_int((int64_t)i * INT32_MAX);
    }
  }
  return n;
}

static bool is_same(const actl_value *a, const actl_value *b) {
  if (a->type == ACTL_STRING || a->type == ACTL_TABLE) {
    return b->type == a->type && b->size == a->size &&
           (a->size == 0 || memcmp(a->as.bytes, b->as.bytes, a->size) == 0);
  }
  if (a->type == ACTL_NAME) return b->type == ACTL_NAME && b->as.name.id == a->as.name.id;
  if (a->type == ACTL_NIL || a->type == ACTL_TRUE || a->type == ACTL_FALSE) {
    return b->type == a->type;
  }
  return b->type == a->type && b->as.bits == a->as.bits;
}

/* Whether `msg` is a case with the case's number after it, by both ways to read. */
static void check_case(struct world *world, const actl_msg *msg, int number, size_t extra) {
  actl_value values[ACTL_VALUES_MAX];
  size_t n = make_case(world, number, values);
  if (n > ACTL_VALUES_MAX - extra) n = ACTL_VALUES_MAX - extra;
  bool right = actl_msg_count(msg) == n + extra;
  for (size_t i = 0; i < n; i++) {
    actl_value value = actl_msg_value(msg, i + extra);
    right = right && is_same(&values[i], &value);
  }
  actl_cursor cursor = actl_msg_begin(msg);
  actl_value value;
  size_t read = 0;
  for (; actl_msg_next(&cursor, &value); read++) {
    if (read >= extra) right = right && read < n + extra && is_same(&values[read - extra], &value);
  }
  right = right && read == n + extra;
  right = right && actl_msg_value(msg, n + extra).type == ACTL_NIL;
  right = right && actl_msg_value(msg, 1000000).type == ACTL_NIL;
  tick(&world->checked);
  if (!right) tick(&world->wrong);
}

/* ---- The actors: values 0 and 1 are the world and the number, the case follows ---- */

static size_t make_message(struct world *world, int number, actl_value *out) {
  actl_value values[ACTL_VALUES_MAX];
  size_t n = make_case(world, number, values);
  if (n > ACTL_VALUES_MAX - 2) n = ACTL_VALUES_MAX - 2;
  out[0] = pointer(world);
  out[1] = actl_int(number);
  memcpy(out + 2, values, n * sizeof values[0]);
  return n + 2;
}

static void check_message(const actl_msg *msg) {
  check_case(pointer_in(msg, 0), msg, (int)actl_msg_int(msg, 1, 0), 2);
}

static actl_status checker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx, (void)state;
  check_message(args);
  return ACTL_OK;
}

static actl_status checker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  check_message(msg);
  actl_value values[ACTL_VALUES_MAX];
  size_t n = make_case(pointer_in(msg, 0), (int)actl_msg_int(msg, 1, 0), values);
  actl_reply(ctx, values, n);
  return ACTL_OK;
}

static const actl_behavior checker = {
    .name = "checker", .init = checker_init, .receive = checker_receive};

struct source {
  struct world *world;
  actl_ask_id asks[2 * CASES];
  int n_asks;
};

static actl_status source_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct source *self = state;
  self->world = pointer_in(msg, 0);
  int number = (int)actl_msg_int(msg, 1, 0);
  actl_value values[ACTL_VALUES_MAX];
  size_t n = make_message(self->world, number, values);
  for (uint32_t vat = 0; vat < 2; vat++) {
    actl_pid pid;
    if (actl_spawn_on(ctx, vat, &checker, values, n, &pid) != ACTL_OK) tick(&self->world->wrong);
    if (actl_send(ctx, pid, values, n) != ACTL_OK) tick(&self->world->wrong);
    if (actl_ask(ctx, pid, values, n, &self->asks[self->n_asks++]) != ACTL_OK) {
      tick(&self->world->wrong);
    }
  }
  if (number + 1 == CASES) return ACTL_OK;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(self->world), actl_int(number + 1)));
}

static actl_status source_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ctx;
  struct source *self = state;
  int at = 0;
  while (at < self->n_asks && self->asks[at].bits != ask.bits) at++;
  if (status != ACTL_OK || at == self->n_asks) {
    tick(&self->world->wrong);
  } else {
    check_case(self->world, msg, at / 2, 0);
  }
  return ACTL_OK;
}

static const actl_behavior source = {.name = "source",
                                     .state_size = sizeof(struct source),
                                     .receive = source_receive,
                                     .reply = source_reply};

static void world_open(struct world *world, struct host *host) {
  world->bytes = malloc(BIG);
  assert_non_null(world->bytes);
  uint64_t seed = 88172645463325252u;
  for (size_t i = 0; i < BIG; i++) world->bytes[i] = (char)random_next(&seed);
  memset(world->bytes + 3, 0, 5); /* zero bytes are bytes */
  assert_int_equal(actl_name_intern(host->engine, "add", 3, &world->name), ACTL_OK);
  assert_int_equal(actl_name_intern(host->engine, "a longer name", 13, &world->other_name),
                   ACTL_OK);
  world->pid = host_spawn(host, 0, &source, NULL, 0);
}

static void values_arrive_as_they_were_near_far_and_from_a_host(void **state) {
  (void)state;
  seeds_need_time(5);
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct world world = {0};
    struct host host;
    host_open(&host, workers, 2);
    world_open(&world, &host);
    host_send(&host, world.pid, ACTL_VALUES(pointer(&world), actl_int(0)));
    for (int number = 0; number < CASES; number++) {
      actl_value values[ACTL_VALUES_MAX];
      size_t n = make_message(&world, number, values);
      actl_pid pid = host_spawn(&host, 1, &checker, values, n);
      host_send(&host, pid, values, n);
    }
    host_run(&host);
    assert_int_equal(atomic_load(&world.wrong), 0);
    assert_int_equal(atomic_load(&world.checked), CASES * (2 * 4 + 2));
    assert_int_equal(letters_of(&host.stats), 0);
    host_close(&host);
    free(world.bytes);
  }
}

/* ---- Copies, and helpers that read ---- */

static actl_status copier_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  atomic_uint *wrong = pointer_in(msg, 0);
  actl_value text = actl_msg_value(msg, 1);
  if (text.type != ACTL_STRING || text.size < 5 || memcmp(text.as.bytes, "first", 5) != 0) {
    tick(wrong);
  }
  (void)ctx;
  return ACTL_OK;
}

static const actl_behavior copier = {.name = "copier", .receive = copier_receive};

static void bytes_are_copied_before_the_call_returns(void **state) {
  (void)state;
  static char bytes[5000];
  atomic_uint wrong = 0;
  struct host host;
  host_open(&host, 1, 1);
  actl_pid pid = host_spawn(&host, 0, &copier, NULL, 0);
  static const uint32_t lengths[] = {5, 7, 8, 40, 5000};
  for (int i = 0; i < 5; i++) {
    memcpy(bytes, "first", 5);
    host_send(&host, pid, ACTL_VALUES(pointer(&wrong), actl_bytes(bytes, lengths[i])));
    memset(bytes, 'x', sizeof bytes);
  }
  host_run(&host);
  assert_int_equal(host.stats.messages, 5);
  assert_int_equal(atomic_load(&wrong), 0);
  host_close(&host);
}

/* Passes its own message's bytes on, to itself, while it still reads them. */
static actl_status echoer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  int64_t left = actl_msg_int(msg, 2, 0);
  actl_value text = actl_msg_value(msg, 1);
  if (left > 0) {
    for (int i = 0; i < 2; i++) {
      actl_send(ctx, actl_self(ctx),
                ACTL_VALUES(actl_msg_value(msg, 0), text, actl_int(i == 0 ? left - 1 : 0)));
    }
  }
  for (uint32_t i = 0; i < text.size; i++) {
    if (text.as.bytes[i] != (char)('a' + i % 26)) {
      tick(pointer_in(msg, 0));
      break;
    }
  }
  return ACTL_OK;
}

static const actl_behavior echoer = {.name = "echoer", .receive = echoer_receive};

static void a_messages_own_bytes_may_be_sent_on(void **state) {
  (void)state;
  static char bytes[3000];
  for (int i = 0; i < 3000; i++) bytes[i] = (char)('a' + i % 26);
  atomic_uint wrong = 0;
  struct host host;
  host_open(&host, 1, 1);
  actl_pid pid = host_spawn(&host, 0, &echoer, NULL, 0);
  static const uint32_t lengths[] = {7, 30, 3000};
  for (int i = 0; i < 3; i++) {
    host_send(&host, pid,
              ACTL_VALUES(pointer(&wrong), actl_bytes(bytes, lengths[i]), actl_int(50)));
  }
  host_run(&host);
  assert_int_equal(host.stats.messages, 3 * 101);
  assert_int_equal(atomic_load(&wrong), 0);
  host_close(&host);
}

struct readings {
  actl_name add;
  int64_t integer, other, missing;
  actl_pid pid, no_pid;
  bool by_name, by_string, by_other, by_prefix, beyond;
};

static actl_status reader_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct readings *readings = pointer_in(msg, 0);
  readings->integer = actl_msg_int(msg, 0, -5) != -5;
  readings->other = actl_msg_int(msg, 1, -5);
  readings->missing = actl_msg_int(msg, 100, -6);
  readings->by_name = actl_msg_is(ctx, msg, 1, readings->add);
  readings->by_string = actl_msg_is(ctx, msg, 2, readings->add);
  readings->by_other = actl_msg_is(ctx, msg, 3, readings->add);
  readings->by_prefix = actl_msg_is(ctx, msg, 4, readings->add);
  readings->pid = actl_msg_pid(msg, 5);
  readings->no_pid = actl_msg_pid(msg, 0);
  readings->beyond = actl_msg_is(ctx, msg, 100, readings->add);
  return ACTL_OK;
}

static const actl_behavior reader = {.name = "reader", .receive = reader_receive};

static void values_are_read_as_what_they_are(void **state) {
  (void)state;
  struct readings readings = {0};
  struct host host;
  host_open(&host, 1, 1);
  actl_name sub;
  assert_int_equal(actl_name_intern(host.engine, "add", 3, &readings.add), ACTL_OK);
  assert_int_equal(actl_name_intern(host.engine, "sub", 3, &sub), ACTL_OK);
  actl_pid pid = host_spawn(&host, 0, &reader, NULL, 0);
  host_send(&host, pid,
            ACTL_VALUES(pointer(&readings), actl_named(readings.add), actl_text("add"),
                        actl_named(sub), actl_text("adds"), actl_who(pid)));
  host_run(&host);
  assert_true(readings.integer);
  assert_int_equal(readings.other, -5);
  assert_int_equal(readings.missing, -6);
  assert_true(readings.by_name);
  assert_true(readings.by_string);
  assert_false(readings.by_other);
  assert_false(readings.by_prefix);
  assert_false(readings.beyond);
  assert_true(actl_pid_equal(readings.pid, pid));
  assert_int_equal(readings.no_pid.bits, 0);
  host_close(&host);
}

static void too_many_values_are_refused(void **state) {
  (void)state;
  static actl_value many[ACTL_VALUES_MAX + 1];
  atomic_uint wrong = 0;
  struct host host;
  host_open(&host, 1, 1);
  actl_pid pid = host_spawn(&host, 0, &echoer, NULL, 0);
  assert_int_equal(actl_engine_send(host.engine, pid, many, ACTL_VALUES_MAX + 1), ACTL_INVALID);
  assert_int_equal(actl_engine_send(host.engine, (actl_pid){0}, many, 1), ACTL_INVALID);
  many[0] = pointer(&wrong);
  host_send(&host, pid, many, ACTL_VALUES_MAX);
  host_run(&host);
  assert_int_equal(host.stats.messages, 1);
  host_close(&host);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(values_arrive_as_they_were_near_far_and_from_a_host),
      WATCHED(bytes_are_copied_before_the_call_returns),
      WATCHED(a_messages_own_bytes_may_be_sent_on),
      WATCHED(values_are_read_as_what_they_are),
      WATCHED(too_many_values_are_refused),
  };
  return seeds_main(tests);
}
