/*
 * test_ask.c - an ask is answered once, near and far, or fails with its reason; none is forgotten.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

/* ---- One that answers as it is told ---- */

enum how {
  ANSWER,         /* with twice the second value */
  ANSWER_NOTHING, /* by returning */
  ANSWER_TWICE,
  KEEP,            /* answered when RELEASE comes */
  KEEP_AND_FAIL,   /* failed with ACTL_FULL when RELEASE comes */
  KEEP_AND_ANSWER, /* actl_later and then actl_reply */
  UNHANDLED,
  RELEASE, /* answers what is kept */
  LEAVE,   /* ends by actl_exit */
  ANSWER_AND_LEAVE
};

enum { KEPT_MAX = 20000 };

/* What the server saw; written by it only. */
struct served {
  int64_t asked, no_ask, wrong;
  actl_status second, third, after_later, released_again;
  actl_request kept[KEPT_MAX];
  int64_t kept_value[KEPT_MAX];
  bool kept_fails[KEPT_MAX];
  int n_kept;
  actl_status release_status; /* of the last one */
  actl_pid thief;             /* is told of what is kept */
};

static actl_status server_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static void release_all(actl_ctx *ctx, struct served *served) {
  for (int i = 0; i < served->n_kept; i++) {
    served->release_status =
        served->kept_fails[i]
            ? actl_request_fail(ctx, served->kept[i], ACTL_FULL)
            : actl_request_reply(ctx, served->kept[i],
                                 ACTL_VALUES(actl_int(served->kept_value[i] * 2)));
    served->released_again = actl_request_reply(ctx, served->kept[i], NULL, 0);
  }
  served->n_kept = 0;
}

static actl_status keep(actl_ctx *ctx, struct served *served, int64_t value, bool fails) {
  int i = served->n_kept++;
  served->kept_value[i] = value;
  served->kept_fails[i] = fails;
  if (served->thief.bits != 0)
    actl_send(ctx, served->thief, ACTL_VALUES(pointer(served), actl_who(actl_self(ctx))));
  return actl_later(ctx, &served->kept[i]);
}

static actl_status server_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct served *served = *(struct served **)state;
  int64_t how = actl_msg_int(msg, 0, -1), value = actl_msg_int(msg, 1, 0);
  served->asked++;
  switch (how) {
  case ANSWER:
    if (actl_reply(ctx, ACTL_VALUES(actl_int(value * 2))) != ACTL_OK) served->no_ask++;
    return ACTL_OK;
  case ANSWER_TWICE:
    actl_reply(ctx, ACTL_VALUES(actl_int(value * 2)));
    served->second = actl_reply(ctx, ACTL_VALUES(actl_int(-1)));
    actl_request request;
    served->third = actl_later(ctx, &request);
    return ACTL_OK;
  case KEEP: return keep(ctx, served, value, false);
  case KEEP_AND_FAIL: return keep(ctx, served, value, true);
  case KEEP_AND_ANSWER:
    if (keep(ctx, served, value, false) != ACTL_OK) served->wrong++;
    served->after_later = actl_reply(ctx, ACTL_VALUES(actl_int(value * 2)));
    return ACTL_OK;
  case UNHANDLED: return ACTL_UNHANDLED;
  case RELEASE: release_all(ctx, served); return ACTL_OK;
  case LEAVE: actl_exit(ctx, NULL); return ACTL_OK;
  case ANSWER_AND_LEAVE:
    actl_reply(ctx, ACTL_VALUES(actl_int(value * 2)));
    actl_exit(ctx, NULL);
    return ACTL_OK;
  default: return ACTL_OK;
  }
}

static const actl_behavior server = {
    .name = "server", .state_size = sizeof(void *), .init = server_init, .receive = server_receive};

/* ---- One that asks as it is told ---- */

/* What the asker saw; written by it only. */
struct asked {
  actl_pid server;
  int64_t replies, wrong, empty, by_status[32];
  actl_status last, ask_status;
  bool leaves, untouched;
  uint64_t first_id, n_asked;
};

static actl_status asker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

/* (how, count): asks the server so many times, in one handler. */
static actl_status asker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct asked *asked = *(struct asked **)state;
  int64_t how = actl_msg_int(msg, 0, -1), count = actl_msg_int(msg, 1, 1);
  for (int64_t i = 0; i < count; i++) {
    actl_ask_id id = {77};
    asked->ask_status = actl_ask(ctx, asked->server, ACTL_VALUES(actl_int(how), actl_int(21)), &id);
    if (asked->ask_status != ACTL_OK) asked->untouched = id.bits == 77;
    asked->n_asked++;
  }
  if (asked->leaves) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static actl_status asker_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ctx, (void)ask;
  struct asked *asked = *(struct asked **)state;
  asked->replies++;
  asked->last = status;
  asked->by_status[-status]++;
  if ((status == ACTL_OK) != (msg != NULL)) asked->wrong++;
  if (msg == NULL) return ACTL_OK;
  if (actl_msg_count(msg) == 0) {
    asked->empty++;
  } else if (actl_msg_int(msg, 0, 0) != 42) {
    asked->wrong++;
  }
  return ACTL_OK;
}

static const actl_behavior asker = {.name = "asker",
                                    .state_size = sizeof(void *),
                                    .init = asker_init,
                                    .receive = asker_receive,
                                    .reply = asker_reply};

/* An asker in vat 0 and a server in another or the same. */
struct pair {
  struct host host;
  struct served served;
  struct asked asked;
  actl_pid asker, server;
};

static struct pair *pair_open(uint32_t workers, uint32_t vat) {
  struct pair *pair = calloc(1, sizeof *pair);
  assert_non_null(pair);
  host_open(&pair->host, workers, 2);
  pair->server = host_spawn(&pair->host, vat, &server, ACTL_VALUES(pointer(&pair->served)));
  pair->asked.server = pair->server;
  pair->asker = host_spawn(&pair->host, 0, &asker, ACTL_VALUES(pointer(&pair->asked)));
  return pair;
}

static void pair_ask(struct pair *pair, enum how how, int64_t count) {
  host_send(&pair->host, pair->asker, ACTL_VALUES(actl_int(how), actl_int(count)));
}

static void pair_close(struct pair *pair) {
  assert_int_equal(pair->asked.wrong, 0);
  assert_int_equal(pair->served.wrong, 0);
  host_close(&pair->host);
  free(pair);
}

/* Runs the body with a pair near and far, with 1 and 2 workers. */
typedef void pair_test(struct pair *pair);
static void with_pairs(pair_test *test) {
  for (uint32_t i = 0; i < 4; i++) {
    struct pair *pair = pair_open(1 + i / 2, i % 2);
    test(pair);
    pair_close(pair);
  }
}

static void check_answer(struct pair *pair) {
  pair_ask(pair, ANSWER, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 1);
  assert_int_equal(pair->asked.by_status[0], 1);
  assert_int_equal(pair->asked.empty, 0);
  assert_accounted(&pair->host, 2);
  assert_int_equal(letters_of(&pair->host.stats), 0);
}

static void an_ask_is_answered(void **state) {
  (void)state;
  with_pairs(check_answer);
}

static void check_nothing(struct pair *pair) {
  pair_ask(pair, ANSWER_NOTHING, 3);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 3);
  assert_int_equal(pair->asked.empty, 3);
}

static void a_handler_that_returns_answers_with_no_values(void **state) {
  (void)state;
  with_pairs(check_nothing);
}

static void check_second(struct pair *pair) {
  pair_ask(pair, ANSWER_TWICE, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 1);
  assert_int_equal(pair->asked.by_status[0], 1);
  assert_int_equal(pair->served.second, ACTL_EXPIRED);
  assert_true(pair->served.third != ACTL_OK);
}

static void a_second_answer_is_expired(void **state) {
  (void)state;
  with_pairs(check_second);
}

static void check_later(struct pair *pair) {
  pair_ask(pair, KEEP, 5);
  pair_ask(pair, KEEP_AND_FAIL, 4);
  pair_ask(pair, ANSWER, 1);
  host_send(&pair->host, pair->asker, ACTL_VALUES(actl_int(RELEASE)));
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 11);
  assert_int_equal(pair->asked.by_status[0], 7);
  assert_int_equal(pair->asked.by_status[-ACTL_FULL], 4);
  assert_int_equal(pair->asked.empty, 1); /* of RELEASE itself */
  assert_int_equal(pair->served.release_status, ACTL_OK);
  assert_int_equal(pair->served.released_again, ACTL_EXPIRED);
  assert_int_equal(pair->host.stats.deadlocks, 0);
  assert_int_equal(pair->host.stats.late_replies, 0);
}

static void a_kept_request_is_answered_or_failed_by_a_later_handler(void **state) {
  (void)state;
  with_pairs(check_later);
}

static void check_keep_and_answer(struct pair *pair) {
  pair_ask(pair, KEEP_AND_ANSWER, 1);
  pair_ask(pair, RELEASE, 1);
  host_run(&pair->host);
  /* Whichever of the two answers was taken, the other was not. */
  assert_true((pair->served.after_later == ACTL_OK) != (pair->served.release_status == ACTL_OK));
  assert_int_equal(pair->asked.replies, 2);
  assert_int_equal(pair->asked.by_status[0], 2);
  assert_int_equal(pair->asked.empty, 1);
}

static void a_kept_request_is_answered_once_also_by_reply(void **state) {
  (void)state;
  with_pairs(check_keep_and_answer);
}

static void check_keeper_ends(struct pair *pair) {
  pair_ask(pair, KEEP, 10);
  pair_ask(pair, LEAVE, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 11);
  assert_int_equal(pair->asked.by_status[-ACTL_STOPPED], 10);
  assert_int_equal(pair->asked.empty, 1); /* LEAVE was handled */
  assert_int_equal(pair->host.stats.alive, 1);
  assert_int_equal(pair->host.stats.deadlocks, 0);
  assert_accounted(&pair->host, 2 + 11);
}

static void a_kept_request_fails_when_its_keeper_ends(void **state) {
  (void)state;
  with_pairs(check_keeper_ends);
}

static void check_answer_and_leave(struct pair *pair) {
  pair_ask(pair, ANSWER_AND_LEAVE, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.by_status[0], 1);
  assert_int_equal(pair->asked.replies, 1);
  assert_int_equal(pair->host.stats.alive, 1);
}

static void an_answer_given_before_the_end_counts(void **state) {
  (void)state;
  with_pairs(check_answer_and_leave);
}

static void check_dead(struct pair *pair) {
  host_send(&pair->host, pair->server, ACTL_VALUES(actl_int(LEAVE)));
  host_run(&pair->host);
  assert_int_equal(pair->host.stats.alive, 1);
  pair_ask(pair, ANSWER, 3);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 3);
  assert_int_equal(pair->asked.by_status[-ACTL_NO_ACTOR], 3);
  assert_int_equal(pair->host.stats.dead_letters[ACTL_LETTER_NO_ACTOR], 3);
  assert_int_equal(pair->host.stats.deadlocks, 0);
  assert_accounted(&pair->host, 2 + 3);
}

static void asking_the_dead_fails_with_no_actor(void **state) {
  (void)state;
  with_pairs(check_dead);
}

static void check_ending(struct pair *pair) {
  pair_ask(pair, LEAVE, 20); /* the first is handled, the others come too late */
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 20);
  assert_int_equal(pair->asked.empty, 1);
  assert_int_equal(pair->asked.by_status[-ACTL_STOPPED] + pair->asked.by_status[-ACTL_NO_ACTOR],
                   19);
  assert_int_equal(letters_of(&pair->host.stats), 19);
  assert_accounted(&pair->host, 1 + 20);
}

static void asks_in_the_queue_of_one_that_ends_fail(void **state) {
  (void)state;
  with_pairs(check_ending);
}

static void check_unhandled(struct pair *pair) {
  pair_ask(pair, UNHANDLED, 4);
  host_send(&pair->host, pair->server, ACTL_VALUES(actl_int(UNHANDLED)));
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 4);
  assert_int_equal(pair->asked.by_status[-ACTL_UNHANDLED], 4);
  assert_int_equal(pair->host.stats.dead_letters[ACTL_LETTER_UNHANDLED], 5);
  assert_int_equal(pair->host.stats.failed, 0);
  assert_int_equal(pair->host.stats.alive, 2);
  assert_int_equal(pair->host.journal.entries[ACTL_LOG_FAILURE], 0);
  assert_accounted(&pair->host, 1 + 5);
}

static void an_ask_that_nobody_handles_fails_as_unhandled(void **state) {
  (void)state;
  with_pairs(check_unhandled);
}

static void check_asker_ends(struct pair *pair) {
  pair->asked.leaves = true;
  pair_ask(pair, KEEP, 3);
  host_run(&pair->host);
  assert_int_equal(pair->host.stats.alive, 1);
  assert_int_equal(pair->host.stats.deadlocks, 0);
  host_send(&pair->host, pair->server, ACTL_VALUES(actl_int(RELEASE)));
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 0);
  /* Where the asker was gone before the ask was handled, it is not. */
  assert_int_equal(
      pair->host.stats.late_replies + pair->host.stats.dead_letters[ACTL_LETTER_EXPIRED], 3);
  assert_true(pair->served.release_status == ACTL_OK ||
              pair->served.release_status == ACTL_EXPIRED);
}

static void an_answer_to_one_that_has_ended_is_counted_as_late(void **state) {
  (void)state;
  with_pairs(check_asker_ends);
}

static void check_flight(struct pair *pair) {
  int64_t n = SIZED(KEPT_MAX, 500);
  pair_ask(pair, KEEP, n);
  pair_ask(pair, ANSWER, n);
  pair_ask(pair, RELEASE, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.by_status[0], 2 * n + 1);
  assert_int_equal(pair->asked.replies, 2 * n + 1);
  assert_int_equal(pair->asked.empty, 1);
  assert_int_equal(pair->host.stats.late_replies, 0);
  assert_accounted(&pair->host, (uint64_t)(3 + 2 * n + 1));
}

static void many_asks_may_be_in_flight(void **state) {
  (void)state;
  with_pairs(check_flight);
}

/* ---- Asks that cannot be sent ---- */

static actl_status self_asker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct asked *asked = *(struct asked **)state;
  (void)msg;
  static actl_value many[ACTL_VALUES_MAX + 1];
  actl_ask_id id = {77};
  asked->by_status[0] = actl_ask(ctx, actl_self(ctx), NULL, 0, &id);
  asked->by_status[1] = actl_ask(ctx, (actl_pid){0}, NULL, 0, &id);
  asked->by_status[2] = actl_ask(ctx, asked->server, many, ACTL_VALUES_MAX + 1, &id);
  asked->by_status[3] = actl_reply(ctx, NULL, 0);
  actl_request request = {78};
  asked->by_status[4] = actl_later(ctx, &request);
  asked->untouched = id.bits == 77 && request.bits == 78;
  return ACTL_OK;
}

static const actl_behavior self_asker = {.name = "self asker",
                                         .state_size = sizeof(void *),
                                         .init = asker_init,
                                         .receive = self_asker_receive,
                                         .reply = asker_reply};

static void an_ask_that_cannot_be_sent_is_refused(void **state) {
  (void)state;
  struct asked asked = {0};
  struct served served = {0};
  struct host host;
  host_open(&host, 1, 1);
  asked.server = host_spawn(&host, 0, &server, ACTL_VALUES(pointer(&served)));
  actl_pid pid = host_spawn(&host, 0, &self_asker, ACTL_VALUES(pointer(&asked)));
  host_send(&host, pid, NULL, 0);
  host_run(&host);
  assert_int_equal(asked.by_status[0], ACTL_SELF);
  assert_int_equal(asked.by_status[1], ACTL_INVALID);
  assert_int_equal(asked.by_status[2], ACTL_INVALID);
  assert_int_equal(asked.by_status[3], ACTL_INVALID);
  assert_int_equal(asked.by_status[4], ACTL_INVALID);
  assert_true(asked.untouched);
  assert_int_equal(asked.replies, 0);
  assert_int_equal(served.asked, 0);
  assert_int_equal(host.stats.deadlocks, 0);
  host_close(&host);
}

/* Requests that were never given, or belong to another actor. */
static actl_status forger_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  atomic_uint *accepted = pointer_in(msg, 0);
  uint64_t seed = 88172645463325252u;
  for (int i = 0; i < 1000; i++) {
    actl_request request = {i < 100 ? (uint64_t)i : random_next(&seed)};
    if (actl_request_reply(ctx, request, NULL, 0) == ACTL_OK) tick(accepted);
    if (actl_request_fail(ctx, request, ACTL_FULL) == ACTL_OK) tick(accepted);
  }
  return ACTL_OK;
}

static const actl_behavior forger = {.name = "forger", .receive = forger_receive};

static void check_forged(struct pair *pair) {
  atomic_uint accepted = 0;
  pair_ask(pair, KEEP, 10);
  host_send(&pair->host, host_spawn(&pair->host, 0, &forger, NULL, 0),
            ACTL_VALUES(pointer(&accepted)));
  pair_ask(pair, RELEASE, 1);
  host_run(&pair->host);
  assert_int_equal(atomic_load(&accepted), 0);
  assert_int_equal(pair->asked.by_status[0], 11);
  assert_int_equal(pair->asked.replies, 11);
}

static void requests_that_were_never_given_answer_nothing(void **state) {
  (void)state;
  with_pairs(check_forged);
}

/* ---- No reply function ---- */

static const actl_behavior deaf_asker = {.name = "deaf asker",
                                         .state_size = sizeof(void *),
                                         .init = asker_init,
                                         .receive = asker_receive};

static void without_a_reply_function_answers_are_dropped(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct pair *pair = pair_open(2, vat);
    actl_pid deaf = host_spawn(&pair->host, 0, &deaf_asker, ACTL_VALUES(pointer(&pair->asked)));
    host_send(&pair->host, deaf, ACTL_VALUES(actl_int(ANSWER), actl_int(100)));
    host_send(&pair->host, deaf, ACTL_VALUES(actl_int(KEEP), actl_int(100)));
    host_send(&pair->host, deaf, ACTL_VALUES(actl_int(UNHANDLED), actl_int(100)));
    host_send(&pair->host, deaf, ACTL_VALUES(actl_int(RELEASE), actl_int(1)));
    host_run(&pair->host);
    assert_int_equal(pair->asked.n_asked, 301);
    assert_int_equal(pair->asked.ask_status, ACTL_OK);
    assert_int_equal(pair->served.asked, 301);
    assert_int_equal(pair->asked.replies, 0);
    assert_int_equal(pair->host.stats.alive, 3);
    pair_close(pair);
  }
}

/* ---- Hopeless asks ---- */

static void check_hopeless(struct pair *pair) {
  pair_ask(pair, KEEP, 3);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 3);
  assert_int_equal(pair->asked.by_status[-ACTL_DEADLOCK], 3);
  assert_int_equal(pair->host.stats.deadlocks, 3);
  assert_true(pair->host.journal.entries[ACTL_LOG_STUCK] >= 1);
  assert_int_equal(pair->host.stats.alive, 2);
  /* It goes on afterwards, and answers that come now are late. */
  host_send(&pair->host, pair->server, ACTL_VALUES(actl_int(RELEASE)));
  pair_ask(pair, ANSWER, 1);
  host_run(&pair->host);
  assert_int_equal(pair->asked.replies, 4);
  assert_int_equal(pair->asked.by_status[0], 1);
  assert_int_equal(pair->host.stats.deadlocks, 3);
  /* Where the asker was gone before the ask was handled, it is not. */
  assert_int_equal(
      pair->host.stats.late_replies + pair->host.stats.dead_letters[ACTL_LETTER_EXPIRED], 3);
}

static void a_request_that_is_kept_for_ever_is_a_deadlock(void **state) {
  (void)state;
  with_pairs(check_hopeless);
}

/* ---- A request that another actor tries to answer ---- */

/* Tries to answer the requests that a server of its vat kept. */
static actl_status thief_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  const struct served *served = pointer_in(msg, 0);
  for (int i = 0; i < served->n_kept; i++) {
    actl_request_reply(ctx, served->kept[i], ACTL_VALUES(actl_int(42)));
    actl_request_fail(ctx, served->kept[i], ACTL_FULL);
  }
  return actl_send(ctx, actl_msg_pid(msg, 1), ACTL_VALUES(actl_int(RELEASE)));
}

static const actl_behavior thief = {.name = "thief", .receive = thief_receive};

static void a_request_is_answered_once_whoever_tries(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct pair *pair = pair_open(1, vat);
    pair->served.thief = host_spawn(&pair->host, vat, &thief, NULL, 0);
    pair_ask(pair, KEEP, 5);
    host_run(&pair->host);
    assert_int_equal(pair->asked.by_status[0], 5);
    assert_int_equal(pair->asked.replies, 5);
    assert_int_equal(pair->host.stats.deadlocks, 0);
    pair_close(pair);
  }
}

/* ---- Out of place ---- */

/* Asks in its stop hook, whose answers nobody waits for, and answers where nothing was asked. */
struct misplaced {
  actl_pid server;
  actl_status init_reply, reply_reply, reply_later, stop_reply, stop_later, stop_ask;
  int64_t replies;
};

static actl_status misplaced_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct misplaced *self = *(void **)state = pointer_in(args, 0);
  self->init_reply = actl_reply(ctx, NULL, 0);
  actl_ask_id ask;
  return actl_ask(ctx, self->server, ACTL_VALUES(actl_int(ANSWER), actl_int(21)), &ask);
}

static actl_status misplaced_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                   const actl_msg *msg) {
  (void)ask, (void)status, (void)msg;
  struct misplaced *self = *(struct misplaced **)state;
  self->replies++;
  actl_request request;
  self->reply_reply = actl_reply(ctx, NULL, 0);
  self->reply_later = actl_later(ctx, &request);
  actl_exit(ctx, NULL);
  return ACTL_OK;
}

static void misplaced_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  struct misplaced *self = *(struct misplaced **)state;
  actl_request request;
  actl_ask_id ask;
  self->stop_reply = actl_reply(ctx, NULL, 0);
  self->stop_later = actl_later(ctx, &request);
  self->stop_ask = actl_ask(ctx, self->server, ACTL_VALUES(actl_int(ANSWER), actl_int(21)), &ask);
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior misplaced_behavior = {.name = "misplaced",
                                                 .state_size = sizeof(void *),
                                                 .init = misplaced_init,
                                                 .receive = nothing,
                                                 .reply = misplaced_reply,
                                                 .stop = misplaced_stop};

static void where_nothing_was_asked_nothing_is_answered(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct pair *pair = pair_open(1 + i / 2, i % 2);
    struct misplaced misplaced = {.server = pair->server};
    host_spawn(&pair->host, 0, &misplaced_behavior, ACTL_VALUES(pointer(&misplaced)));
    host_run(&pair->host);
    assert_int_equal(misplaced.replies, 1);
    assert_int_equal(misplaced.init_reply, ACTL_INVALID);
    assert_int_equal(misplaced.reply_reply, ACTL_INVALID);
    assert_int_equal(misplaced.reply_later, ACTL_INVALID);
    assert_int_equal(misplaced.stop_reply, ACTL_INVALID);
    assert_int_equal(misplaced.stop_later, ACTL_INVALID);
    assert_int_equal(pair->host.stats.alive, 2);
    assert_int_equal(pair->host.stats.deadlocks, 0);
    /* Nobody waits for the answer to what an actor asks in its stop hook: near that is known. */
    int64_t expired = (int64_t)pair->host.stats.dead_letters[ACTL_LETTER_EXPIRED];
    assert_int_equal(pair->served.asked + expired, misplaced.stop_ask == ACTL_OK ? 2 : 1);
    pair_close(pair);
  }
}

/* ---- Asking one that is stopping ---- */

/* A child that asks its parent over and over, until the parent's end reaches it. */
struct nag {
  atomic_uint ok, refused, wrong;
};

static actl_status nag_ask(actl_ctx *ctx, const void *state) {
  actl_ask_id ask;
  return actl_ask(ctx, *(const actl_pid *)state, ACTL_VALUES(actl_int(ANSWER)), &ask);
}

struct nagging {
  actl_pid parent;
  struct nag *nag;
};

static actl_status nag_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct nagging *self = state;
  self->nag = pointer_in(args, 0);
  self->parent = actl_msg_pid(args, 1);
  return nag_ask(ctx, state);
}

static actl_status nag_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                             const actl_msg *msg) {
  (void)ask, (void)msg;
  struct nag *nag = ((struct nagging *)state)->nag;
  if (status == ACTL_OK) {
    tick(&nag->ok);
  } else {
    tick(status == ACTL_STOPPED || status == ACTL_NO_ACTOR ? &nag->refused : &nag->wrong);
  }
  return nag_ask(ctx, state);
}

static const actl_behavior nagger = {.name = "nagger",
                                     .state_size = sizeof(struct nagging),
                                     .init = nag_init,
                                     .receive = nothing,
                                     .reply = nag_reply};

/* Has far children that nag, and stops when it has been asked a thousand times. */
static actl_status nagged_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  int64_t *asked = state;
  if (actl_msg_count(msg) == 2) {
    for (uint32_t i = 0; i < 6; i++) {
      actl_pid pid;
      actl_spawn_on(ctx, i % 2, &nagger,
                    ACTL_VALUES(actl_msg_value(msg, 0), actl_who(actl_self(ctx))), &pid);
    }
    return ACTL_OK;
  }
  if (++*asked == 1000) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior nagged = {
    .name = "nagged", .state_size = sizeof(int64_t), .receive = nagged_receive};

static void a_childs_ask_to_its_stopping_parent_fails_and_both_end(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    for (int round = 0; round < 10; round++) {
      struct nag nag = {0};
      struct host host;
      host_open(&host, workers, 2);
      actl_pid pid = host_spawn(&host, 0, &nagged, NULL, 0);
      host_send(&host, pid, ACTL_VALUES(pointer(&nag), actl_nil()));
      host_run(&host);
      assert_int_equal(host.stats.alive, 0);
      assert_int_equal(atomic_load(&nag.wrong), 0);
      assert_in_range(atomic_load(&nag.ok), 990, 1000);
      assert_int_equal(host.stats.deadlocks, 0);
      host_close(&host);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(an_ask_is_answered),
      WATCHED(a_handler_that_returns_answers_with_no_values),
      WATCHED(a_second_answer_is_expired),
      WATCHED(a_kept_request_is_answered_or_failed_by_a_later_handler),
      WATCHED(a_kept_request_is_answered_once_also_by_reply),
      WATCHED(a_kept_request_fails_when_its_keeper_ends),
      WATCHED(an_answer_given_before_the_end_counts),
      WATCHED(asking_the_dead_fails_with_no_actor),
      WATCHED(asks_in_the_queue_of_one_that_ends_fail),
      WATCHED(an_ask_that_nobody_handles_fails_as_unhandled),
      WATCHED(an_answer_to_one_that_has_ended_is_counted_as_late),
      WATCHED(many_asks_may_be_in_flight),
      WATCHED(an_ask_that_cannot_be_sent_is_refused),
      WATCHED(requests_that_were_never_given_answer_nothing),
      WATCHED(without_a_reply_function_answers_are_dropped),
      WATCHED(a_request_is_answered_once_whoever_tries),
      WATCHED(where_nothing_was_asked_nothing_is_answered),
      WATCHED(a_childs_ask_to_its_stopping_parent_fails_and_both_end),
      WATCHED(a_request_that_is_kept_for_ever_is_a_deadlock),
  };
  return seeds_main(tests);
}
