/*
 * test_failure.c - a handler that fails ends its actor, is logged once, and takes nothing along that
 * it should not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

/* What the test reads when the run has returned. */
struct record {
  /* the failing actor's */
  int64_t handled, stops;
  actl_status reason;
  char text[256];
  unsigned stopped_at;
  /* the asker's */
  int64_t replies;
  actl_status reply;
  /* the children's */
  atomic_uint children_stopped;
  unsigned child_stopped_at[4];
  atomic_uint order;
};

enum how { HANDLE, FAIL_WITH_TEXT, FAIL, FAIL_OTHERWISE, FAIL_LONG, REPLY_THEN_FAIL, FAIL_LATER };

static actl_status child_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(const void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static void child_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  struct record *record = *(struct record **)state;
  record->child_stopped_at[tick(&record->children_stopped) % 4] = tick(&record->order) + 1;
}

static const actl_behavior child = {.name = "child",
                                    .state_size = sizeof(void *),
                                    .init = child_init,
                                    .receive = nothing,
                                    .stop = child_stop};

/* ---- One that fails as it is told ---- */

static actl_status failing_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  *(const void **)state = pointer_in(args, 0);
  actl_pid pid;
  for (uint32_t i = 0; i < 4; i++) {
    actl_spawn_on(ctx, i % 2, &child, ACTL_VALUES(actl_msg_value(args, 0)), &pid);
  }
  return ACTL_OK;
}

static actl_status fail_as_told(actl_ctx *ctx, int64_t how) {
  static char long_text[3000];
  char text[] = "the well is dry";
  actl_status status;
  switch (how) {
  case FAIL_WITH_TEXT:
    status = actl_fail(ctx, text);
    memset(text, 'x', sizeof text - 1);
    return status;
  case FAIL: return ACTL_FAILED;
  case FAIL_OTHERWISE: return ACTL_NO_ROUTE;
  case FAIL_LONG: memset(long_text, 'w', sizeof long_text - 1); return actl_fail(ctx, long_text);
  case REPLY_THEN_FAIL:
    actl_reply(ctx, ACTL_VALUES(actl_int(5)));
    return actl_fail(ctx, "after the answer");
  case FAIL_LATER: {
    actl_request request;
    actl_later(ctx, &request);
    return actl_fail(ctx, "with a request kept");
  }
  default: return ACTL_OK;
  }
}

static actl_status failing_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (*(struct record **)state)->handled++;
  return fail_as_told(ctx, actl_msg_int(msg, 0, HANDLE));
}

static void failing_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  struct record *record = *(struct record **)state;
  record->stops++;
  record->reason = reason->status;
  snprintf(record->text, sizeof record->text, "%s", reason->text ? reason->text : "");
  record->stopped_at = tick(&record->order) + 1;
}

static const actl_behavior failing = {.name = "failing",
                                      .state_size = sizeof(void *),
                                      .init = failing_init,
                                      .receive = failing_receive,
                                      .stop = failing_stop};

static void failures_end_the_actor_with_its_text(void **state) {
  (void)state;
  static const struct {
    enum how how;
    actl_status reason;
    const char *text;
  } cases[] = {
      {FAIL_WITH_TEXT, ACTL_FAILED, "the well is dry"},
      {FAIL, ACTL_FAILED, ""},
      {FAIL_OTHERWISE, ACTL_NO_ROUTE, ""},
      {FAIL_LONG, ACTL_FAILED, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"},
  };
  for (uint32_t workers = 1; workers <= 2; workers++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      struct record record = {0};
      struct host host;
      host_open(&host, workers, 2);
      actl_pid pid = host_spawn(&host, 0, &failing, ACTL_VALUES(pointer(&record)));
      host_send(&host, pid, ACTL_VALUES(actl_int(HANDLE)));
      host_send(&host, pid, ACTL_VALUES(actl_int(cases[i].how)));
      for (int j = 0; j < 5; j++) host_send(&host, pid, ACTL_VALUES(actl_int(HANDLE)));
      host_run(&host);
      assert_int_equal(record.handled, 2);
      assert_int_equal(record.stops, 1);
      assert_int_equal(record.reason, cases[i].reason);
      assert_memory_equal(record.text, cases[i].text, strlen(cases[i].text));
      assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
      assert_int_equal(host.journal.level[ACTL_LOG_FAILURE], ACTL_LOG_ERROR);
      assert_non_null(strstr(host.journal.text[ACTL_LOG_FAILURE], cases[i].text));
      assert_non_null(strstr(host.journal.text[ACTL_LOG_FAILURE], "failing")); /* its name */
      assert_int_equal(host.stats.failed, 1);
      assert_int_equal(host.stats.alive, 0);
      assert_int_equal(host.stats.dead_letters[ACTL_LETTER_FAILED], 1);
      assert_int_equal(letters_of(&host.stats), 6);
      assert_accounted(&host, 7);
      host_close(&host);
    }
  }
}

static void the_children_of_a_failed_actor_stop_before_its_hook(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct record record = {0};
    struct host host;
    host_open(&host, workers, 2);
    actl_pid pid = host_spawn(&host, 0, &failing, ACTL_VALUES(pointer(&record)));
    host_run(&host);
    assert_int_equal(host.stats.alive, 5);
    host_send(&host, pid, ACTL_VALUES(actl_int(FAIL_WITH_TEXT)));
    host_run(&host);
    assert_int_equal(atomic_load(&record.children_stopped), 4);
    assert_int_equal(record.stopped_at, 5);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(host.stats.failed, 1);
    assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
    host_close(&host);
  }
}

/* ---- One that asks it, as its parent ---- */

struct asker {
  struct record *record;
};

static actl_status asker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct record *record = pointer_in(msg, 0);
  ((struct asker *)state)->record = record;
  actl_pid pid;
  actl_ask_id ask;
  actl_status status = actl_spawn_on(ctx, (uint32_t)actl_msg_int(msg, 1, 0), &failing,
                                     ACTL_VALUES(pointer(record)), &pid);
  if (status != ACTL_OK) return status;
  return actl_ask(ctx, pid, ACTL_VALUES(actl_msg_value(msg, 2)), &ask);
}

static actl_status asker_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ctx, (void)ask;
  struct record *record = ((struct asker *)state)->record;
  record->replies++;
  record->reply = status;
  if ((msg == NULL) != (status != ACTL_OK)) record->replies += 100;
  return ACTL_OK;
}

static const actl_behavior asker = {.name = "asker",
                                    .state_size = sizeof(struct asker),
                                    .receive = asker_receive,
                                    .reply = asker_reply};

static void an_ask_fails_with_its_handler_near_and_far(void **state) {
  (void)state;
  static const struct {
    enum how how;
    actl_status reply, other_reply;
  } cases[] = {
      {HANDLE, ACTL_OK, ACTL_OK},          {FAIL_WITH_TEXT, ACTL_FAILED, ACTL_FAILED},
      {FAIL, ACTL_FAILED, ACTL_FAILED},    {FAIL_OTHERWISE, ACTL_FAILED, ACTL_NO_ROUTE},
      {REPLY_THEN_FAIL, ACTL_OK, ACTL_OK}, {FAIL_LATER, ACTL_STOPPED, ACTL_FAILED},
  };
  for (uint32_t run = 0; run < 4; run++) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      struct record record = {0};
      struct host host;
      host_open(&host, 1 + run / 2, 2);
      actl_pid pid = host_spawn(&host, 0, &asker, NULL, 0);
      host_send(&host, pid,
                ACTL_VALUES(pointer(&record), actl_int(run % 2), actl_int(cases[i].how)));
      host_run(&host);
      assert_int_equal(record.replies, 1);
      if (record.reply != cases[i].other_reply) assert_int_equal(record.reply, cases[i].reply);
      bool fails = cases[i].how != HANDLE;
      assert_int_equal(host.stats.failed, fails);
      assert_int_equal(host.stats.dead_letters[ACTL_LETTER_FAILED], fails);
      assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], fails);
      assert_int_equal(host.journal.entries[ACTL_LOG_STUCK], 0);
      assert_int_equal(host.stats.alive, fails ? 1 : 6);
      assert_accounted(&host, 2);
      host_close(&host);
    }
  }
}

/* ---- A reply function that fails ---- */

static actl_status touchy_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  *(void **)state = pointer_in(msg, 0);
  actl_pid pid;
  actl_ask_id ask;
  actl_status status = actl_spawn_on(ctx, (uint32_t)actl_msg_int(msg, 1, 0), &failing,
                                     ACTL_VALUES(actl_msg_value(msg, 0)), &pid);
  if (status != ACTL_OK) return status;
  return actl_ask(ctx, pid, ACTL_VALUES(actl_int(HANDLE)), &ask);
}

static actl_status touchy_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ask, (void)status, (void)msg;
  (*(struct record **)state)->replies++;
  return actl_fail(ctx, "not that answer");
}

static const actl_behavior touchy = {.name = "touchy",
                                     .state_size = sizeof(void *),
                                     .receive = touchy_receive,
                                     .reply = touchy_reply};

static void a_failing_reply_function_ends_the_actor(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct record record = {0};
    struct host host;
    host_open(&host, 2, 2);
    actl_pid pid = host_spawn(&host, 0, &touchy, NULL, 0);
    host_send(&host, pid, ACTL_VALUES(pointer(&record), actl_int(vat)));
    host_run(&host);
    assert_int_equal(record.replies, 1);
    assert_int_equal(host.stats.failed, 1);
    assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 1);
    assert_non_null(strstr(host.journal.text[ACTL_LOG_FAILURE], "not that answer"));
    assert_int_equal(record.stops, 1); /* its child stops with it */
    assert_int_equal(record.reason, ACTL_OK);
    assert_int_equal(host.stats.alive, 0);
    host_close(&host);
  }
}

static void a_thousand_failures_are_a_thousand_entries(void **state) {
  (void)state;
  enum { FAILURES = 1000 };
  static struct record records[FAILURES];
  memset(records, 0, sizeof records);
  struct host host;
  host_open(&host, 2, 2);
  for (int i = 0; i < FAILURES; i++) {
    actl_pid pid = host_spawn(&host, (uint32_t)i % 2, &failing, ACTL_VALUES(pointer(&records[i])));
    host_send(&host, pid, ACTL_VALUES(actl_int(FAIL_WITH_TEXT)));
  }
  host_run(&host);
  assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], FAILURES);
  assert_int_equal(host.stats.failed, FAILURES);
  assert_int_equal(host.stats.alive, 0);
  assert_accounted(&host, FAILURES);
  host_close(&host);
}

static void without_a_log_a_failure_is_as_well(void **state) {
  (void)state;
  struct record record = {0};
  actl_engine *engine;
  actl_pid pid;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  assert_int_equal(actl_engine_spawn(engine, 0, &failing, ACTL_VALUES(pointer(&record)), &pid),
                   ACTL_OK);
  assert_int_equal(actl_engine_send(engine, pid, ACTL_VALUES(actl_int(FAIL_WITH_TEXT))), ACTL_OK);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  assert_int_equal(record.stops, 1);
  actl_engine_free(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(failures_end_the_actor_with_its_text),
      WATCHED(the_children_of_a_failed_actor_stop_before_its_hook),
      WATCHED(an_ask_fails_with_its_handler_near_and_far),
      WATCHED(a_failing_reply_function_ends_the_actor),
      WATCHED(a_thousand_failures_are_a_thousand_entries),
      WATCHED(without_a_log_a_failure_is_as_well),
  };
  return seeds_main(tests);
}
