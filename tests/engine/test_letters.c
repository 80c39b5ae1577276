/*
 * test_letters.c - dead letters by their reason, and pids of the dead: however often a place is used
 * again, they reach nobody.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior idler = {.name = "idler", .receive = nothing};

static actl_status quitter_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior quitter = {.name = "quitter", .init = quitter_init, .receive = nothing};

/* Sends `count` messages to a pid. */
static actl_status sender_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_pid to = actl_msg_pid(msg, 0);
  int64_t count = actl_msg_int(msg, 1, 1);
  for (int64_t i = 0; i < count; i++) {
    actl_status status = actl_send(ctx, to, ACTL_VALUES(actl_text("a text that takes some room")));
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static const actl_behavior sender = {.name = "sender", .receive = sender_receive};

static void messages_to_the_dead_are_letters_near_far_and_from_a_host(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct host host;
    host_open(&host, workers, 2);
    actl_pid dead = host_spawn(&host, 0, &quitter, NULL, 0);
    host_run(&host);
    for (uint32_t vat = 0; vat < 2; vat++) {
      actl_pid by = host_spawn(&host, vat, &sender, NULL, 0);
      host_send(&host, by, ACTL_VALUES(actl_who(dead), actl_int(500)));
    }
    for (int i = 0; i < 7; i++) host_send(&host, dead, NULL, 0);
    host_run(&host);
    assert_int_equal(host.stats.failed, 0);
    assert_int_equal(host.stats.dead_letters[ACTL_LETTER_NO_ACTOR], 1007);
    assert_int_equal(letters_of(&host.stats), 1007);
    assert_accounted(&host, 2 + 1007);
    host_close(&host);
  }
}

/* ---- Every reason in one run ---- */

static actl_status picky_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  switch (actl_msg_int(msg, 0, 0)) {
  case 1: return ACTL_UNHANDLED;
  case 2: return actl_fail(ctx, "as told");
  default: return ACTL_OK;
  }
}

static const actl_behavior picky = {.name = "picky", .receive = picky_receive};

static void letters_are_counted_by_their_reason(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 2, 2);
  actl_pid dead = host_spawn(&host, 1, &quitter, NULL, 0);
  host_run(&host);
  actl_pid near = host_spawn(&host, 0, &picky, NULL, 0);
  actl_pid far = host_spawn(&host, 1, &picky, NULL, 0);
  for (int i = 0; i < 3; i++) {
    host_send(&host, near, ACTL_VALUES(actl_int(1)));
    host_send(&host, far, ACTL_VALUES(actl_int(1)));
    host_send(&host, dead, NULL, 0);
  }
  host_send(&host, near, ACTL_VALUES(actl_int(0)));
  host_send(&host, near, ACTL_VALUES(actl_int(2)));
  host_send(&host, far, ACTL_VALUES(actl_int(2)));
  for (int i = 0; i < 4; i++) host_send(&host, near, NULL, 0);
  host_run(&host);
  assert_int_equal(host.stats.dead_letters[ACTL_LETTER_UNHANDLED], 6);
  assert_int_equal(host.stats.dead_letters[ACTL_LETTER_NO_ACTOR] +
                       host.stats.dead_letters[ACTL_LETTER_STOPPED],
                   7);
  assert_true(host.stats.dead_letters[ACTL_LETTER_NO_ACTOR] >= 3);
  assert_int_equal(host.stats.dead_letters[ACTL_LETTER_FAILED], 2);
  assert_int_equal(letters_of(&host.stats), 15);
  assert_int_equal(host.stats.messages, 1);
  assert_int_equal(host.stats.failed, 2);
  host_close(&host);
}

/* ---- Pids used over and over ---- */

enum { KEEP_EACH = 64 };

/* The life of a breeder: it makes short lives, 100 at a time, and keeps some of the pids. */
struct lives {
  int64_t left, made, errors;
  uint64_t *pids; /* every KEEP_EACH-th */
  size_t n_pids;
  uint32_t vat; /* where they are made */
};

static actl_status breeder_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct lives *lives = pointer_in(msg, 0);
  for (int i = 0; i < 100 && lives->left > 0; i++, lives->left--) {
    actl_pid pid = {0};
    if (actl_spawn_on(ctx, lives->vat, &quitter, NULL, 0, &pid) != ACTL_OK) lives->errors++;
    if (lives->made++ % KEEP_EACH == 0) lives->pids[lives->n_pids++] = pid.bits;
  }
  if (lives->left == 0) return ACTL_OK;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(lives)));
}

static const actl_behavior breeder = {.name = "breeder", .receive = breeder_receive};

static actl_status survivor_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)msg;
  ++*(int64_t *)state;
  return actl_fail(ctx, "another's message came");
}

static const actl_behavior survivor = {
    .name = "survivor", .state_size = sizeof(int64_t), .receive = survivor_receive};

/* Sends to, stops and kills every pid that was kept. */
static actl_status haunter_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  const struct lives *lives = pointer_in(msg, 0);
  for (size_t i = 0; i < lives->n_pids; i++) {
    actl_pid pid = {lives->pids[i]};
    if (actl_send(ctx, pid, NULL, 0) != ACTL_OK) return actl_fail(ctx, "send");
    if (actl_stop(ctx, pid) != ACTL_OK) return actl_fail(ctx, "stop");
    if (actl_stop_now(ctx, pid) != ACTL_OK) return actl_fail(ctx, "stop now");
    if (actl_kill(ctx, pid) != ACTL_OK) return actl_fail(ctx, "kill");
  }
  return ACTL_OK;
}

static const actl_behavior haunter = {.name = "haunter", .receive = haunter_receive};

static int compare_bits(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void reuse(int64_t count, uint32_t vat, uint32_t workers) {
  enum { SURVIVORS = 1500 };
  struct lives lives = {.left = count, .vat = vat};
  lives.pids = calloc((size_t)count / KEEP_EACH + 1, sizeof lives.pids[0]);
  assert_non_null(lives.pids);
  struct host host;
  host_open(&host, workers, 2);
  actl_pid pid = host_spawn(&host, 0, &breeder, NULL, 0);
  host_send(&host, pid, ACTL_VALUES(pointer(&lives)));
  host_run(&host);
  assert_int_equal(lives.errors, 0);
  assert_int_equal(host.stats.spawned, count + 1);
  assert_int_equal(host.stats.alive, 1);
  for (int i = 0; i < SURVIVORS; i++) host_spawn(&host, vat, &survivor, NULL, 0);
  for (uint32_t from = 0; from < 2; from++) {
    actl_pid by = host_spawn(&host, from, &haunter, NULL, 0);
    host_send(&host, by, ACTL_VALUES(pointer(&lives)));
  }
  for (size_t i = 0; i < lives.n_pids; i += 7) {
    host_send(&host, (actl_pid){lives.pids[i]}, NULL, 0);
  }
  host_run(&host);
  assert_int_equal(host.stats.failed, 0);
  assert_string_equal(host.journal.text[ACTL_LOG_FAILURE], "");
  assert_int_equal(host.stats.alive, 1 + SURVIVORS + 2);
  assert_int_equal(host.stats.dead_letters[ACTL_LETTER_NO_ACTOR],
                   2 * lives.n_pids + (lives.n_pids + 6) / 7);
  qsort(lives.pids, lives.n_pids, sizeof lives.pids[0], compare_bits);
  for (size_t i = 1; i < lives.n_pids; i++) assert_true(lives.pids[i - 1] != lives.pids[i]);
  host_close(&host);
  free(lives.pids);
}

static void a_stale_pid_reaches_nobody_after_two_million_reuses_near(void **state) {
  (void)state;
  reuse(SIZED(2000000, 4000), 0, 1);
}

static void a_stale_pid_reaches_nobody_after_two_million_reuses_far(void **state) {
  (void)state;
  reuse(SIZED(2000000, 4000), 1, 1);
  reuse(SIZED(500000, 4000), 1, 2);
}

/* ---- Forged pids ---- */

static actl_status reply_dropped(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                 const actl_msg *msg) {
  (void)ctx, (void)ask, (void)msg;
  if (status == ACTL_OK) ++*(int64_t *)state;
  return status == ACTL_OK ? actl_fail(ctx, "a forged pid has answered") : ACTL_OK;
}

static actl_status forger_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  int64_t count = actl_msg_int(msg, 0, 0);
  uint64_t seed = 88172645463325252u;
  actl_ask_id ask;
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = random_next(&seed);
    if (i % 3 == 0) bits |= (uint64_t)1 << 63;
    if (i % 3 == 1) bits &= ~((uint64_t)1 << 63);
    if (i % 7 == 0) bits &= ~(uint64_t)0 << 40 | 0xFFFF;        /* small numbers of places */
    if (i % 11 == 0) bits = (bits & 0xFFF) | (uint64_t)1 << 63; /* and of vats */
    actl_pid pid = {bits};
    actl_send(ctx, pid, ACTL_VALUES(actl_text("to nobody that was ever born, at length")));
    actl_ask(ctx, pid, NULL, 0, &ask);
    actl_stop(ctx, pid);
    actl_stop_now(ctx, pid);
    actl_kill(ctx, pid);
  }
  return ACTL_OK;
}

static const actl_behavior forger = {.name = "forger",
                                     .state_size = sizeof(int64_t),
                                     .receive = forger_receive,
                                     .reply = reply_dropped};

static void forged_pids_are_harmless(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct host host;
    host_open(&host, workers, 3);
    for (uint32_t i = 0; i < 50; i++) host_spawn(&host, i % 3, &idler, NULL, 0);
    for (uint32_t vat = 0; vat < 3; vat++) {
      host_send(&host, host_spawn(&host, vat, &forger, NULL, 0),
                ACTL_VALUES(actl_int(SIZED(30000, 1000))));
    }
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
      actl_pid pid = {random_next(&seed) | (uint64_t)(i % 2) << 63};
      actl_status status = actl_engine_send(host.engine, pid, NULL, 0);
      assert_true(status == ACTL_OK || status == ACTL_INVALID);
    }
    host_run(&host);
    assert_int_equal(host.stats.failed, 0);
    assert_int_equal(host.stats.messages, 3);
    assert_int_equal(host.stats.alive, 53);
    host_close(&host);
  }
}

/* A pid with one bit turned over names nobody. */
static actl_status near_miss_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_pid pid = actl_msg_pid(msg, 0);
  for (int bit = 0; bit < 64; bit++) {
    actl_pid other = {pid.bits ^ (uint64_t)1 << bit};
    if (actl_pid_equal(other, actl_self(ctx))) continue; /* there is one that it names */
    actl_send(ctx, other, NULL, 0);
    actl_stop(ctx, other);
    actl_kill(ctx, other);
  }
  return ACTL_OK;
}

static const actl_behavior near_miss = {.name = "near miss", .receive = near_miss_receive};

static void a_pid_with_one_bit_changed_reaches_nobody(void **state) {
  (void)state;
  for (uint32_t from = 0; from < 2; from++) {
    struct host host;
    host_open(&host, 1, 2);
    actl_pid pid = host_spawn(&host, 0, &survivor, NULL, 0);
    host_send(&host, host_spawn(&host, from, &near_miss, NULL, 0), ACTL_VALUES(actl_who(pid)));
    host_run(&host);
    assert_int_equal(host.stats.messages, 1);
    assert_int_equal(host.stats.alive, 2);
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(messages_to_the_dead_are_letters_near_far_and_from_a_host),
      WATCHED(letters_are_counted_by_their_reason),
      WATCHED(a_stale_pid_reaches_nobody_after_two_million_reuses_near),
      WATCHED(a_stale_pid_reaches_nobody_after_two_million_reuses_far),
      WATCHED(forged_pids_are_harmless),
      WATCHED(a_pid_with_one_bit_changed_reaches_nobody),
  };
  return seeds_main(tests);
}
