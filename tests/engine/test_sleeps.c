/*
 * test_sleeps.c - handlers that wait for a time: they sleep, or wait for an answer no longer than they
 * said. The letters are those of puppet.h.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/puppet.h"

enum { HOUR_MS = 3600000 };

enum how { IN_ORDER, NOW, KILL, HOWS };

static const int64_t for_ever = (int64_t)ACTL_FOREVER;

/* ---- Sleeping ---- */

static void check_sleep(struct stage *stage, uint32_t vat) {
  static const int64_t times[] = {0, 1, 2, 3, 5, 10, 20};
  actl_pid pid = stage_enter(stage, 0, vat);
  for (int i = 0; i < 7; i++) {
    stage_ask(stage, pid, actl_int(SLEEP), actl_int(times[i]), actl_int(3));
    stage_ask(stage, pid, actl_int(ECHO), actl_int(i));
  }
  host_run(&stage->host);
  char row[64] = "B";
  for (int i = 0; i < 7; i++) strcat(row, "zRzRzRe");
  assert_string_equal(stage_events(stage, 0), row);
  assert_int_equal(stage->answers.ok, 14);
  assert_int_equal(stage->answers.sum, 7 * 7 + 2 * 21);
  assert_int_equal(stage->host.stats.deadlocks, 0);
  assert_int_equal(stage->host.stats.timeouts, 0);
}

static void a_sleep_ends_not_early_and_what_came_meanwhile_is_in_order(void **state) {
  (void)state;
  on_stages(check_sleep);
}

static void sleeping_handlers_may_be_left_by_longjmp(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct stage *stage = stage_open(1 + i % 2);
    stage->world.jumps = true;
    check_sleep(stage, i / 2);
    stage_close(stage);
  }
}

static void many_sleep_at_once(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct stage *stage = stage_open(workers);
    for (int i = 0; i < PUPPETS; i++) {
      actl_pid pid = stage_enter(stage, i, (uint32_t)i % 3);
      stage_ask(stage, pid, actl_int(SLEEP), actl_int(i % 7), actl_int(10));
    }
    host_run(&stage->host);
    assert_int_equal(stage->answers.ok, PUPPETS);
    for (int i = 0; i < PUPPETS; i++) assert_int_equal(strlen(stage_events(stage, i)), 1 + 20);
    stage_close(stage);
  }
}

/* ---- Ends ---- */

static const char *const rows_of_ends[HOWS] = {"BzASD", "BzASD", "BzAD"};

/* Nothing is queued: the end is told by the sleeper itself, so that it surely finds it asleep. */
static void check_ended(struct stage *stage, uint32_t vat) {
  static const int64_t times[] = {HOUR_MS, INT64_C(30000000000), (int64_t)ACTL_FOREVER};
  for (int how = IN_ORDER; how < HOWS; how++) {
    for (int i = 0; i < 3; i++) {
      int at = how * 3 + i;
      actl_pid pid = stage_enter(stage, at, vat);
      stage_ask(stage, pid, actl_int(SLEEP), actl_int(times[i]), actl_int(2),
                actl_who(stage->ender), actl_int(how));
      host_run(&stage->host);
      assert_string_equal(stage_events(stage, at), rows_of_ends[how]);
      assert_int_equal(stage->world.puppets[at].n_drops, 1);
    }
  }
  assert_int_equal(stage->answers.replies, HOWS * 3);
  assert_int_equal(stage->answers.ok, 0);
  assert_int_equal(stage->host.stats.alive, 2);
  assert_int_equal(stage->host.stats.timers, 0);
  assert_int_equal(stage->host.stats.deadlocks, 0);
}

static void a_sleeping_handler_that_is_ended_is_abandoned_once(void **state) {
  (void)state;
  on_stages(check_ended);
}

/* Something is queued: a stop in order waits for it, the others do not. */
static void check_ended_in_order(struct stage *stage, uint32_t vat) {
  static const char *const rows[HOWS] = {"BzReSD", "BzASD", "BzAD"};
  static const int64_t times[HOWS] = {30, HOUR_MS, HOUR_MS};
  for (int how = IN_ORDER; how < HOWS; how++) {
    actl_pid pid = stage_enter(stage, how, vat);
    stage_ask(stage, pid, actl_int(SLEEP), actl_int(times[how]), actl_int(1),
              actl_who(stage->ender), actl_int(how + QUEUED));
    host_run(&stage->host);
    assert_string_equal(stage_events(stage, how), rows[how]);
  }
  assert_int_equal(stage->answers.replies, HOWS);
  assert_int_equal(stage->answers.ok, 1);
  assert_int_equal(letters_of(&stage->host.stats), 2 * 2); /* what it slept in, and the echo */
  assert_int_equal(stage->host.stats.alive, 2);
}

static void a_stop_in_order_waits_for_what_is_queued_behind_a_sleep(void **state) {
  (void)state;
  on_stages(check_ended_in_order);
}

/* A native that ends the engine's actors. */
static actl_status closer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  actl_engine_shutdown(actl_ctx_engine(ctx));
  return ACTL_OK;
}

static const actl_behavior closer = {.name = "closer", .receive = closer_receive};

static void check_shutdown(struct stage *stage, uint32_t vat) {
  actl_pid end = host_spawn(&stage->host, vat, &closer, NULL, 0);
  actl_pid pids[11];
  for (int i = 0; i < 11; i++) pids[i] = stage_enter(stage, i, (uint32_t)i % 3);
  host_run(&stage->host);
  for (int i = 0; i < 10; i++) {
    stage_ask(stage, pids[i], actl_int(SLEEP), actl_int(i % 2 ? HOUR_MS : for_ever), actl_int(1));
  }
  stage_ask(stage, pids[10], actl_int(SLEEP), actl_int(20), actl_int(1));
  stage_ask(stage, pids[10], actl_int(SLEEP), actl_int(HOUR_MS), actl_int(1), actl_who(end),
            actl_int(0));
  host_run(&stage->host);
  int n_slept = 0;
  for (int i = 0; i < 10; i++) {
    bool has_slept = strcmp(stage_events(stage, i), "BzASD") == 0;
    if (!has_slept) assert_string_equal(stage_events(stage, i), "BSD");
    n_slept += has_slept;
  }
  assert_true(n_slept > 0);
  assert_int_equal(stage->host.stats.alive, 0);
  assert_int_equal(stage->host.stats.timers, 0);
}

static void a_shutdown_ends_those_that_sleep(void **state) {
  (void)state;
  on_stages(check_shutdown);
}

static void check_freed(struct stage *stage, uint32_t vat) {
  for (int i = 0; i < 20; i++) {
    actl_pid pid = stage_enter(stage, i, i % 2 ? vat : 2);
    stage_ask(stage, pid, actl_int(SLEEP), actl_int(for_ever), actl_int(1));
  }
  host_run(&stage->host); /* those that sleep for ever do not keep it alive */
  for (int i = 0; i < 20; i++) assert_string_equal(stage_events(stage, i), "Bz");
  assert_int_equal(stage->answers.ok, 0);
}

static void an_engine_is_freed_while_handlers_sleep_for_ever(void **state) {
  (void)state;
  on_stages(check_freed);
}

/* ---- Hooks ---- */

static void check_hooks(struct stage *stage, uint32_t vat) {
  struct puppet *puppets = stage->world.puppets;
  actl_pid pid = stage_enter(stage, 0, 0);
  for (int i = 1; i <= 2; i++) {
    puppets[i].waits_at_first = puppets[i].waits_in_stop = true;
    puppets[i].waits_ms = 5;
    stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[i]),
              actl_int(i == 1 ? -1 : (int64_t)vat), actl_int(3));
  }
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 1), "IzReee");
  assert_string_equal(stage_events(stage, 2), "BzReee");
  stage_end(stage, pid, IN_ORDER);
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 1), "IzReeeSzRD");
  assert_string_equal(stage_events(stage, 2), "BzReeeSzRD");
  assert_int_equal(stage->host.stats.alive, 2);
}

static void the_first_and_last_deliveries_may_sleep(void **state) {
  (void)state;
  on_stages(check_hooks);
}

/* ---- Timers of one that sleeps ---- */

static void check_cancel(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  for (int i = 0; i < 6; i++) {
    stage_ask(stage, pid, actl_int(SET_AND_SLEEP), actl_int(i), actl_int(i < 3 ? 10 : 0));
  }
  stage_ask(stage, pid, actl_int(SLEEP), actl_int(10), actl_int(1));
  host_run(&stage->host);
  /* While it slept its timer's message waited; after the cancel it does not come. */
  assert_string_equal(stage_events(stage, 0), "BzRzRzRzRzRzRzR");
  assert_int_equal(stage->answers.ok, 7);
  assert_int_equal(stage->answers.sum, 6 * ACTL_OK + 7);
  assert_int_equal(stage->host.stats.fired, 0);
  assert_int_equal(stage->host.stats.timers, 0);
  stage_ask(stage, pid, actl_int(STEP_OUT));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BzRzRzRzRzRzRzRn");
}

static void a_timer_whose_message_waits_for_a_sleeper_can_be_cancelled(void **state) {
  (void)state;
  on_stages(check_cancel);
}

/* ---- An answer within a time ---- */

static void check_within(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, 0), b = stage_enter(stage, 1, vat);
  static const int64_t times[] = {1, 5, 20};
  stage_keep(stage, 3 + 1);
  for (int i = 0; i < 3; i++) {
    stage_ask(stage, a, actl_int(WAIT_WITHIN), actl_who(b), actl_int(KEEP), actl_int(times[i]));
  }
  stage_ask(stage, a, actl_int(WAIT), actl_who(b), actl_int(1));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BwRwRwRwR");
  assert_int_equal(stage->answers.ok, 4);
  assert_int_equal(stage->answers.sum, 3 * ACTL_TIMEOUT + 2);
  assert_int_equal(stage->host.stats.timeouts, 3);
  assert_int_equal(stage->host.stats.deadlocks, 0);
  uint64_t expired = stage->host.stats.dead_letters[ACTL_LETTER_EXPIRED];
  const char *row = stage_events(stage, 1);
  assert_int_equal(strlen(row) + expired, 1 + 3 + 1);
  /* The late answer to the last that was kept ends no other wait. */
  stage_keep(stage, 3 + 1 + 1);
  stage_ask(stage, b, actl_int(RELEASE));
  stage_ask(stage, a, actl_int(SLEEP), actl_int(10), actl_int(1));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BwRwRwRwRzR");
  if (expired < 3) assert_int_equal(stage->host.stats.late_replies, 1);
}

static void a_wait_ends_with_its_time_and_a_late_answer_is_dropped(void **state) {
  (void)state;
  on_stages(check_within);
}

static void a_wait_without_a_time_has_the_engines(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    actl_config config = {.ask_timeout_ms = 12};
    struct stage *stage = stage_open_with(1 + i / 2, &config);
    actl_pid a = stage_enter(stage, 0, 0), b = stage_enter(stage, 1, i % 2);
    host_run(&stage->host);
    stage_keep(stage, 1);
    stage_ask(stage, a, actl_int(WAIT_OP), actl_who(b), actl_int(KEEP));
    host_run(&stage->host);
    stage_keep(stage, 2);
    stage_ask(stage, a, actl_int(WAIT_WITHIN), actl_who(b), actl_int(KEEP), actl_int(0));
    host_run(&stage->host);
    /* The probe's own asks have the same time, and may have ended before. */
    assert_int_equal(stage->answers.replies, 2);
    const struct puppet *puppet = &stage->world.puppets[0];
    uint64_t expired = stage->host.stats.dead_letters[ACTL_LETTER_EXPIRED];
    assert_true(expired > 0 || puppet->last == ACTL_TIMEOUT);
    assert_true(stage->host.stats.timeouts >= 2);
    assert_int_equal(stage->host.stats.deadlocks, 0);
    stage_close(stage);
  }
}

/* Only times of asks are left: no wait lasts so long. */
static void check_hopeless(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, 0), b = stage_enter(stage, 1, vat);
  static const int64_t times[] = {HOUR_MS, (int64_t)ACTL_FOREVER};
  for (int i = 0; i < 2; i++) {
    stage_ask(stage, a, actl_int(WAIT_WITHIN), actl_who(b), actl_int(KEEP), actl_int(times[i]));
    host_run(&stage->host);
    assert_int_equal(stage->world.puppets[0].last, ACTL_DEADLOCK);
  }
  assert_string_equal(stage_events(stage, 0), "BwRwR");
  assert_int_equal(stage->host.stats.timeouts, 0);
  /* Where another one sleeps they wait as long as that. */
  stage_ask(stage, b, actl_int(SLEEP), actl_int(15), actl_int(1));
  stage_ask(stage, a, actl_int(WAIT_WITHIN), actl_who(b), actl_int(ECHO), actl_int(HOUR_MS));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BwRwRwR");
  assert_int_equal(stage->world.puppets[0].last, ACTL_OK);
}

static void a_wait_that_nothing_can_end_does_not_last_its_time(void **state) {
  (void)state;
  on_stages(check_hopeless);
}

/* Ended while it waits within a time: abandoned, and the time does not come back. */
static void check_wait_ended(struct stage *stage, uint32_t vat) {
  static const char *const rows[HOWS] = {"BwASD", "BwASD", "BwAD"};
  actl_pid b = stage_enter(stage, 10, vat);
  for (int how = IN_ORDER; how < HOWS; how++) {
    actl_pid pid = stage_enter(stage, how, 0);
    host_run(&stage->host);
    stage_ask(stage, pid, actl_int(WAIT_WITHIN), actl_who(b), actl_int(KEEP), actl_int(HOUR_MS));
    stage_ask(stage, b, actl_int(SLEEP), actl_int(10), actl_int(1)); /* keeps the run alive */
    stage_end(stage, pid, how);
    host_run(&stage->host);
    const char *row = stage_events(stage, how);
    bool came_first = strchr(row, 'w') == NULL;
    assert_string_equal(row, came_first ? (how == KILL ? "BD" : "BSD") : rows[how]);
  }
  assert_int_equal(stage->host.stats.timeouts, 0);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void a_wait_within_a_time_that_is_ended_is_abandoned_once(void **state) {
  (void)state;
  on_stages(check_wait_ended);
}

/* ---- Memory that runs out ---- */

static void set_up(struct puppet *puppet, int i) {
  if (i % 3 == 2) puppet->hooks |= ACTL_IS_PROCESS;
  if (i % 6 == 5) puppet->patience_ms = 2;
  puppet->gives_up_at = 3;
}

static void tell_all(actl_engine *engine, actl_pid asker, struct world *world, actl_pid who,
                     actl_pid next, int i) {
  (void)world;
  actl_value puppet = actl_who(who);
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(SLEEP), actl_int(i % 3)));
  actl_engine_send(
      engine, asker,
      ACTL_VALUES(puppet, actl_int(WAIT_WITHIN), actl_who(next), actl_int(KEEP), actl_int(i)));
  actl_engine_send(engine, asker,
                   ACTL_VALUES(puppet, actl_int(SET_AND_SLEEP), actl_int(1), actl_int(2)));
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(TAKE), actl_int(1)));
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(SLEEP), actl_int(for_ever)));
}

static void every_allocation_may_fail_where_handlers_sleep_and_receive(void **state) {
  (void)state;
  seeds_need_time(50);
  for (uint32_t workers = 1; workers <= 2; workers++) {
    unsigned resumed = puppet_sweep(workers, set_up, tell_all);
    assert_true(resumed >= 6 + 4); /* a sleep each, and the waits of four */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_sleep_ends_not_early_and_what_came_meanwhile_is_in_order),
      WATCHED(sleeping_handlers_may_be_left_by_longjmp),
      WATCHED(many_sleep_at_once),
      WATCHED(a_sleeping_handler_that_is_ended_is_abandoned_once),
      WATCHED(a_stop_in_order_waits_for_what_is_queued_behind_a_sleep),
      WATCHED(a_shutdown_ends_those_that_sleep),
      WATCHED(an_engine_is_freed_while_handlers_sleep_for_ever),
      WATCHED(the_first_and_last_deliveries_may_sleep),
      WATCHED(a_timer_whose_message_waits_for_a_sleeper_can_be_cancelled),
      WATCHED(a_wait_ends_with_its_time_and_a_late_answer_is_dropped),
      WATCHED(a_wait_without_a_time_has_the_engines),
      WATCHED(a_wait_that_nothing_can_end_does_not_last_its_time),
      WATCHED(a_wait_within_a_time_that_is_ended_is_abandoned_once),
      WATCHED(every_allocation_may_fail_where_handlers_sleep_and_receive),
  };
  return seeds_main(tests);
}
