/*
 * test_driver.c - what a binding is promised: which deliveries are made, in which order, and that
 * waits, ends and words are kept in order with them. The letters are those of puppet.h.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/puppet.h"

/* ---- Deliveries ---- */

static void check_row(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  for (int i = 0; i < 300; i++) stage_ask(stage, pid, actl_int(ECHO), actl_int(i));
  stage_ask(stage, pid, actl_int(NOTHING));
  stage_ask(stage, pid, actl_int(EXIT));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 302);
  assert_int_equal(stage->answers.sum, 299 * 300 - 2);
  char row[512] = "B";
  memset(row + 1, 'e', 300);
  memcpy(row + 301, "nxSD", 5);
  assert_string_equal(stage_events(stage, 0), row);
  assert_int_equal(stage->world.puppets[0].last, ACTL_OK);
  assert_string_equal(stage->world.puppets[0].text, "the show is over");
  assert_int_equal(stage->host.stats.alive, 2);
  assert_accounted(&stage->host, 2 * 302);
  assert_int_equal(letters_of(&stage->host.stats), 0);
}

static void deliveries_come_in_a_row_and_are_answered(void **state) {
  (void)state;
  on_stages(check_row);
}

static void check_fail(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(FAIL));
  host_run(&stage->host);
  assert_int_equal(stage->answers.status, ACTL_FAILED);
  assert_string_equal(stage_events(stage, 0), "BfSD");
  assert_int_equal(stage->world.puppets[0].last, ACTL_FAILED);
  assert_non_null(strstr(stage->world.puppets[0].text, "the puppet fell"));
  assert_int_equal(stage->host.journal.entries[ACTL_LOG_FAILURE], 1);
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_FAILURE], "the puppet fell"));
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_FAILURE], "stack traceback: none"));
  assert_int_equal(stage->host.stats.failed, 1);
  assert_int_equal(stage->host.stats.dead_letters[ACTL_LETTER_FAILED], 1);
  assert_accounted(&stage->host, 2);
}

static void a_failed_delivery_is_the_actors_end(void **state) {
  (void)state;
  on_stages(check_fail);
}

static void check_unhandled(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(UNHANDLED), actl_int(1));
  stage_ask(stage, pid, actl_int(UNHANDLED), actl_int(0));
  host_run(&stage->host);
  assert_int_equal(stage->answers.replies, 2);
  assert_int_equal(stage->answers.status, ACTL_UNHANDLED);
  assert_string_equal(stage_events(stage, 0), "Buu");
  assert_int_equal(stage->host.journal.entries[ACTL_LOG_UNANSWERED], 1);
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_UNANSWERED], "dance"));
  assert_int_equal(stage->host.stats.dead_letters[ACTL_LETTER_UNHANDLED], 2);
  assert_int_equal(stage->host.stats.alive, 3);
  assert_accounted(&stage->host, 4);
}

static void an_unhandled_message_is_logged_when_the_driver_says_so(void **state) {
  (void)state;
  on_stages(check_unhandled);
}

/* ---- Births ---- */

static void check_births(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  struct puppet *puppets = stage->world.puppets;
  puppets[2].hooks = 0;
  puppets[3].hooks = 0;
  puppets[4].hooks = ACTL_HAS_STOP;
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[1]), actl_int(-1), actl_int(3));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[2]), actl_int(-1), actl_int(2));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[3]), actl_int(2), actl_int(2));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[4]), actl_int(-1), actl_int(1));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[5]), actl_int(1), actl_int(100));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[6]), actl_int(vat), actl_int(1));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 6);
  assert_string_equal(stage_events(stage, 1), "Ieee");
  assert_string_equal(stage_events(stage, 2), "ee");
  assert_string_equal(stage_events(stage, 3), "Bee");
  assert_string_equal(stage_events(stage, 4), "e");
  assert_int_equal(strlen(stage_events(stage, 5)), 101);
  assert_int_equal(stage_events(stage, 5)[0], 'B');
  assert_string_equal(stage_events(stage, 6), "Be");
  for (int i = 0; i <= 6; i++) assert_int_equal(puppets[i].n_drops, 0);
  stage_end(stage, pid, 0);
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BppppppSD");
  assert_string_equal(stage_events(stage, 1), "IeeeSD");
  assert_string_equal(stage_events(stage, 2), "eeD");
  assert_string_equal(stage_events(stage, 3), "BeeD");
  assert_string_equal(stage_events(stage, 4), "eSD");
  assert_string_equal(stage_events(stage, 5) + 101, "SD");
  assert_int_equal(stage->host.stats.alive, 2);
}

static void the_first_and_last_deliveries_are_those_of_the_hooks(void **state) {
  (void)state;
  on_stages(check_births);
}

static void check_failed_births(struct stage *stage, uint32_t vat) {
  struct puppet *puppets = stage->world.puppets;
  actl_pid pid = stage_enter(stage, 0, 0);
  puppets[1].fails_at_first = puppets[2].fails_at_first = true;
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[1]), actl_int(-1), actl_int(3));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[2]), actl_int(vat), actl_int(3));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "Bpp");
  assert_string_equal(stage_events(stage, 1), "ID");
  assert_string_equal(stage_events(stage, 2), "BD");
  assert_int_equal(stage->host.journal.entries[ACTL_LOG_FAILURE], 2);
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_FAILURE], "stage fright"));
  assert_int_equal(stage->host.stats.failed, 2);
  assert_int_equal(letters_of(&stage->host.stats), 6);
  assert_accounted(&stage->host, 2 * 2 + 6);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void after_a_failed_first_delivery_there_is_no_stop_hook(void **state) {
  (void)state;
  on_stages(check_failed_births);
}

static void check_waiting_births(struct stage *stage, uint32_t vat) {
  struct puppet *puppets = stage->world.puppets;
  actl_pid pid = stage_enter(stage, 0, 0), echo = stage_enter(stage, 3, 1);
  for (int i = 1; i <= 2; i++) {
    puppets[i].waits_at_first = true;
    puppets[i].waits_for = echo;
    stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[i]),
              actl_int(i == 1 ? -1 : (int64_t)vat), actl_int(3));
  }
  host_run(&stage->host);
  assert_true(puppets[1].may_wait);
  assert_string_equal(stage_events(stage, 1), "IwReee");
  if (puppets[2].may_wait) assert_string_equal(stage_events(stage, 2), "BwReee");
  assert_int_equal(puppets[2].may_wait, puppets[1].may_wait);
  assert_int_equal(stage->host.stats.deadlocks, 0);
}

static void the_first_delivery_may_wait_and_still_comes_first(void **state) {
  (void)state;
  on_stages(check_waiting_births);
}

static void check_killed(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat);
  struct puppet *puppets = stage->world.puppets;
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[1]), actl_int(-1), actl_int(0));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&puppets[2]), actl_int(2), actl_int(0));
  host_run(&stage->host);
  stage_end(stage, pid, 2);
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BppD");
  assert_string_equal(stage_events(stage, 1), "ID");
  assert_string_equal(stage_events(stage, 2), "BD");
  assert_int_equal(stage->host.stats.alive, 2);
}

static void a_kill_makes_no_delivery_but_drops_each_word_once(void **state) {
  (void)state;
  on_stages(check_killed);
}

/* ---- Waiting ---- */

static void check_wait(struct stage *stage, uint32_t vat) {
  actl_pid waiting = stage_enter(stage, 0, vat), echo = stage_enter(stage, 1, 0);
  stage_ask(stage, waiting, actl_int(WAIT), actl_who(echo), actl_int(10));
  stage_ask(stage, waiting, actl_int(ECHO), actl_int(0));
  stage_ask(stage, waiting, actl_int(WAIT), actl_who(echo), actl_int(1));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 3);
  assert_int_equal(stage->answers.sum, 1024 + 0 + 2);
  assert_string_equal(stage_events(stage, 0), "BwRwRwRwRwRwRwRwRwRwRewR");
  assert_string_equal(stage_events(stage, 1), "Beeeeeeeeeee");
  assert_int_equal(stage->host.stats.deadlocks, 0);
  assert_int_equal(letters_of(&stage->host.stats), 0);
}

static void a_handler_that_waits_is_resumed_before_anything_else_is_delivered(void **state) {
  (void)state;
  on_stages(check_wait);
}

static void check_failed_wait(struct stage *stage, uint32_t vat) {
  actl_pid waiting = stage_enter(stage, 0, 0), other = stage_enter(stage, 1, vat);
  stage_ask(stage, waiting, actl_int(WAIT_OP), actl_who(other), actl_int(UNHANDLED));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_UNHANDLED);
  stage_ask(stage, waiting, actl_int(WAIT_OP), actl_who(other), actl_int(FAIL));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_FAILED);
  stage_ask(stage, waiting, actl_int(WAIT_OP), actl_who(other), actl_int(ECHO)); /* dead now */
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_NO_ACTOR);
  stage_ask(stage, waiting, actl_int(WAIT_OP), actl_who(waiting), actl_int(ECHO));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_SELF);
  stage_ask(stage, waiting, actl_int(WAIT_OP), actl_nil(), actl_int(ECHO));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_INVALID);
  assert_string_equal(stage_events(stage, 0), vat == 0 ? "BwRwR!!!" : "BwRwRwR!!");
  assert_int_equal(stage->answers.ok, 5);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void a_wait_ends_with_the_reason_why_there_is_no_answer(void **state) {
  (void)state;
  on_stages(check_failed_wait);
}

static void check_give_way(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, vat), b = stage_enter(stage, 1, vat);
  stage_ask(stage, a, actl_int(GIVE_WAY), actl_int(5));
  stage_ask(stage, a, actl_int(NOTHING));
  stage_ask(stage, b, actl_int(GIVE_WAY), actl_int(5));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 3);
  assert_int_equal(stage->answers.sum, 7 - 1 + 7);
  assert_string_equal(stage_events(stage, 0), "BgRgRgRgRgRn");
  assert_string_equal(stage_events(stage, 1), "BgRgRgRgRgR");
}

static void a_handler_that_gives_way_is_resumed(void **state) {
  (void)state;
  on_stages(check_give_way);
}

/* Many wait at once, for one another's answers, through all vats. */
static void many_handlers_wait_at_once(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct stage *stage = stage_open(workers);
    actl_pid pids[PUPPETS];
    for (int i = 0; i < PUPPETS; i++) pids[i] = stage_enter(stage, i, (uint32_t)i % 3);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < PUPPETS / 2; i++) {
        stage_ask(stage, pids[i], actl_int(WAIT),
                  actl_who(pids[PUPPETS / 2 + (i + round) % (PUPPETS / 2)]), actl_int(8));
      }
    }
    host_run(&stage->host);
    assert_int_equal(stage->answers.ok, 20 * PUPPETS / 2);
    assert_int_equal(stage->answers.sum, 256 * 20 * PUPPETS / 2);
    for (int i = 0; i < PUPPETS / 2; i++)
      assert_int_equal(strlen(stage_events(stage, i)), 1 + 20 * 16);
    stage_close(stage);
  }
}

static void check_deadlock(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, 0), b = stage_enter(stage, 1, vat);
  stage_ask(stage, a, actl_int(WAIT_OP), actl_who(b), actl_int(KEEP));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_DEADLOCK);
  assert_true(stage->host.journal.entries[ACTL_LOG_STUCK] >= 1);
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_STUCK], "puppet number 0"));
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_STUCK], "stage.play:1000"));
  assert_true(stage->host.stats.deadlocks >= 1);
  assert_string_equal(stage_events(stage, 0), "BwR");
  /* The answer comes too late, and what is asked next is answered. */
  stage_ask(stage, b, actl_int(RELEASE));
  stage_ask(stage, a, actl_int(WAIT), actl_who(b), actl_int(1));
  host_run(&stage->host);
  assert_int_equal(stage->answers.value, 2);
  assert_true(stage->host.stats.late_replies >= 1); /* the probe's own ask was hopeless, too */
}

static void a_wait_that_nothing_can_end_is_a_deadlock_and_says_where(void **state) {
  (void)state;
  on_stages(check_deadlock);
}

static void check_circle(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, 0), b = stage_enter(stage, 1, vat);
  stage_ask(stage, a, actl_int(WAIT), actl_who(b), actl_int(1));
  stage_ask(stage, b, actl_int(WAIT), actl_who(a), actl_int(1));
  host_run(&stage->host);
  /* Either each wait was served in time, or the two waited for each other. */
  assert_int_equal(stage->answers.replies, 2);
  assert_int_equal(stage->host.stats.alive, 4);
}

static void two_that_wait_for_each_other_do_not_hold_up_the_run(void **state) {
  (void)state;
  on_stages(check_circle);
}

static void check_later(struct stage *stage, uint32_t vat) {
  actl_pid a = stage_enter(stage, 0, vat);
  stage_ask(stage, a, actl_int(KEEP));
  stage_ask(stage, a, actl_int(RELEASE));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 2);
  assert_int_equal(stage->answers.sum, 99 - 1);
  assert_int_equal(stage->world.puppets[0].last, ACTL_OK);
  stage_ask(stage, a, actl_int(RELEASE));
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_EXPIRED);
}

static void a_driven_actor_may_keep_a_request(void **state) {
  (void)state;
  on_stages(check_later);
}

/* ---- Ends ---- */

static void check_abandon(struct stage *stage, uint32_t vat) {
  actl_pid keeper = stage_enter(stage, 3, 0);
  for (int how = 1; how <= 2; how++) {
    actl_pid pid = stage_enter(stage, how, vat);
    stage_ask(stage, pid, actl_int(WAIT_OP), actl_who(keeper), actl_int(KEEP));
    stage_ask(stage, pid, actl_int(ECHO), actl_int(1)); /* waits in the queue */
    /* The ender is asked in the same run: the wait has no other end. */
    stage_ask(stage, keeper, actl_int(ECHO), actl_int(1));
    stage_end(stage, pid, how);
    host_run(&stage->host);
    const char *row = stage_events(stage, how);
    if (row[0] == '\0') { /* the end came even before it was born */
      assert_int_equal(stage->world.puppets[how].n_drops, 0);
      continue;
    }
    if (strchr(row, 'w') == NULL) { /* the end came first */
      assert_string_equal(row, how == 1 ? "BSD" : "BD");
    } else if (strchr(row, 'R') == NULL) {
      assert_string_equal(row, how == 1 ? "BwASD" : "BwAD");
    }
    assert_int_equal(stage->world.puppets[how].n_drops, 1);
    assert_false(stage->world.puppets[how].waiter.is_parked);
  }
  assert_int_equal(stage->host.stats.alive, 3);
}

static void a_waiting_handler_is_abandoned_when_its_actor_is_told_to_end(void **state) {
  (void)state;
  on_stages(check_abandon);
}

/* A puppet that waits for the ender's own ask: the end surely meets it parked. */
static actl_status stopper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  actl_request request;
  actl_status status = actl_later(ctx, &request);
  if (status != ACTL_OK) return status;
  return actl_msg_int(msg, 0, 0) == KEEP ? actl_stop_now(ctx, actl_sender(ctx))
                                         : actl_kill(ctx, actl_sender(ctx));
}

static const actl_behavior stopper = {.name = "stopper", .receive = stopper_receive};

static void check_surely_parked(struct stage *stage, uint32_t vat) {
  actl_pid by = host_spawn(&stage->host, vat, &stopper, NULL, 0);
  static const struct {
    enum op op;
    const char *row;
  } cases[] = {{KEEP, "BwASD"}, {RELEASE, "BwAD"}};
  for (int i = 0; i < 2; i++) {
    actl_pid pid = stage_enter(stage, i, 0);
    stage_ask(stage, pid, actl_int(WAIT_OP), actl_who(by), actl_int(cases[i].op));
    stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
    host_run(&stage->host);
    assert_string_equal(stage_events(stage, i), cases[i].row);
    assert_int_equal(stage->world.puppets[i].n_drops, 1);
    assert_false(stage->world.puppets[i].waiter.is_parked);
    assert_int_equal(stage->answers.replies, 2 * (i + 1));
    assert_int_equal(stage->answers.ok, 0); /* both asks to the puppet fail */
  }
  assert_int_equal(stage->host.stats.alive, 3);
  assert_int_equal(stage->host.stats.deadlocks, 0);
}

static void one_that_is_ended_by_whom_it_asks_is_abandoned(void **state) {
  (void)state;
  on_stages(check_surely_parked);
}

static void check_stop_waits(struct stage *stage, uint32_t vat) {
  actl_pid echo = stage_enter(stage, 1, vat), pid = stage_enter(stage, 0, 0);
  stage->world.puppets[0].waits_in_stop = true;
  stage->world.puppets[0].waits_for = echo;
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&stage->world.puppets[2]), actl_int(vat),
            actl_int(0));
  host_run(&stage->host);
  stage_end(stage, pid, 0);
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BpSwRD");
  assert_string_equal(stage_events(stage, 1), "Be");
  assert_string_equal(stage_events(stage, 2), "BSD");
  assert_true(stage->world.puppets[0].may_wait);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void a_stop_hook_may_wait(void **state) {
  (void)state;
  on_stages(check_stop_waits);
}

static void check_shutdown(struct stage *stage, uint32_t vat) {
  for (int i = 0; i < 20; i++) stage_enter(stage, i, i % 2 ? vat : 2);
  host_run(&stage->host);
  actl_engine_shutdown(stage->host.engine);
  host_run(&stage->host);
  for (int i = 0; i < 20; i++) assert_string_equal(stage_events(stage, i), "BSD");
  assert_int_equal(stage->host.stats.alive, 0);
}

static void a_shutdown_runs_the_stop_hooks_and_drops_the_words(void **state) {
  (void)state;
  on_stages(check_shutdown);
}

/* ---- Facts ---- */

static void check_state(struct stage *stage, uint32_t vat) {
  for (int how = 0; how < 3; how++) {
    actl_pid pid = stage_enter(stage, how, vat);
    stage_ask(stage, pid, actl_int(ASK_STATE), actl_int(how));
    host_run(&stage->host);
    assert_true(stage->world.puppets[how].may_wait);
    assert_true(stage->world.puppets[how].has_actor);
    assert_string_equal(stage_events(stage, how), how == 2 ? "BD" : "BSD");
    assert_true(stage->world.puppets[how].may_wait_stopped);
  }
}

static void a_handler_learns_whether_it_may_wait(void **state) {
  (void)state;
  on_stages(check_state);
}

static void check_overdrawn(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, vat), to = stage_enter(stage, 1, 1);
  stage_ask(stage, pid, actl_int(FLOOD), actl_who(to), actl_int(3000));
  host_run(&stage->host);
  assert_in_range(stage->world.puppets[0].overdrawn_at, 1, 1001);
  if (!IS_STRESSED) assert_in_range(stage->world.puppets[0].overdrawn_at, 999, 1001);
  assert_int_equal(strlen(stage_events(stage, 1)), 3001);
}

static void a_delivery_that_has_sent_a_thousand_messages_is_overdrawn(void **state) {
  (void)state;
  on_stages(check_overdrawn);
}

static void an_engine_has_one_driver_and_a_machine_where_one_is_needed(void **state) {
  (void)state;
  struct stage *stage = stage_open(2);
  struct world other = {0};
  assert_int_equal(actl_engine_drive(stage->host.engine, &puppet_driver, &other), ACTL_INVALID);
  host_run(&stage->host);
  assert_int_equal(atomic_load(&stage->world.opened), 0);
  for (int i = 0; i < 5; i++) stage_enter(stage, i, 2);
  host_run(&stage->host);
  assert_int_equal(atomic_load(&stage->world.opened), 1);
  for (int i = 5; i < 10; i++) stage_enter(stage, i, 0);
  host_run(&stage->host);
  assert_int_equal(atomic_load(&stage->world.opened), 2);
  assert_int_equal(atomic_load(&stage->world.closed), 0);
  stage_close(stage);
  assert_int_equal(atomic_load(&other.detached), 0);
}

static void without_a_machine_driven_actors_end_and_the_run_goes_on(void **state) {
  (void)state;
  struct stage *stage = stage_open(2);
  stage->world.does_not_open = true;
  actl_pid pid = stage_enter(stage, 0, 1);
  stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
  host_run(&stage->host);
  assert_int_equal(stage->answers.replies, 1);
  assert_int_equal(stage->answers.ok, 0);
  assert_string_equal(stage_events(stage, 0), "");
  stage_close(stage);
}

static void an_engine_may_be_freed_while_handlers_wait(void **state) {
  (void)state;
  struct stage *stage = stage_open(2);
  for (int i = 0; i < 30; i++) {
    actl_pid pid = stage_enter(stage, i, (uint32_t)i % 3);
    stage_ask(stage, pid, actl_int(GIVE_WAY), actl_int(3));
    if (i % 2) host_run(&stage->host);
    stage_ask(stage, pid, actl_int(ECHO), actl_int(3));
  }
  stage_close(stage);
}

static void handlers_that_wait_may_be_left_by_longjmp(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 8; i++) {
    struct stage *stage = stage_open(1 + i % 2);
    stage->world.jumps = true;
    stage_test *tests[] = {check_wait, check_give_way};
    tests[i / 4](stage, i / 2 % 2);
    stage_close(stage);
  }
}

/* ---- Giving way lets others run ---- */

/* Sends itself messages until it has had `left` of them. */
static actl_status busy_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct puppet *puppet = pointer_in(msg, 0);
  int64_t left = actl_msg_int(msg, 1, 0);
  if (left == 0) {
    puppet_note(puppet, 'n');
    return ACTL_OK;
  }
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(puppet), actl_int(left - 1)));
}

static const actl_behavior busy = {.name = "busy", .receive = busy_receive};

static void who_gives_way_lets_the_others_of_its_vat_run(void **state) {
  (void)state;
  seeds_need_threads(); /* with a seed a turn may leave what comes from outside to the next one */
  struct stage *stage = stage_open(1);
  actl_pid pid = stage_enter(stage, 0, 0);
  actl_pid other = host_spawn(&stage->host, 0, &busy, NULL, 0);
  host_run(&stage->host);
  stage_ask(stage, pid, actl_int(GIVE_WAY), actl_int(500));
  host_send(&stage->host, other, ACTL_VALUES(pointer(&stage->world.puppets[0]), actl_int(20)));
  host_run(&stage->host);
  /* The other's 20 messages were handled before the 500th resume. */
  const char *row = stage_events(stage, 0), *at = strchr(row, 'n');
  assert_non_null(at);
  assert_true(at < row + 900);
  assert_int_equal(strlen(row), 1 + 1000 + 1);
  stage_close(stage);
}

/* ---- A stop hook that waits for ever, or is killed ---- */

static void check_stop_deadlock(struct stage *stage, uint32_t vat) {
  actl_pid by = host_spawn(&stage->host, vat, &stopper, NULL, 0); /* it kills who asks */
  actl_pid pid = stage_enter(stage, 0, 0);
  stage->world.puppets[0].waits_in_stop = true;
  stage->world.puppets[0].waits_for = by;
  host_run(&stage->host);
  stage_end(stage, pid, 0);
  host_run(&stage->host);
  /* The kill comes too late to skip the hook, which is abandoned in its wait. */
  const char *row = stage_events(stage, 0);
  assert_true(strcmp(row, "BSwAD") == 0 || strcmp(row, "BSwRD") == 0);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void a_kill_ends_a_stop_hook_that_waits(void **state) {
  (void)state;
  on_stages(check_stop_deadlock);
}

/* ---- Memory that runs out ---- */

static void tell_all(actl_engine *engine, actl_pid asker, struct world *world, actl_pid who,
                     actl_pid next, int i) {
  actl_value puppet = actl_who(who);
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(WAIT), actl_who(next), actl_int(3)));
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(GIVE_WAY), actl_int(3)));
  actl_engine_send(engine, asker,
                   ACTL_VALUES(puppet, actl_int(SPAWN), pointer(&world->puppets[10 + i]),
                               actl_int(i % 3 - 1), actl_int(2)));
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(KEEP)));
  actl_engine_send(engine, asker, ACTL_VALUES(puppet, actl_int(i < 2 ? FAIL : ECHO)));
}

static void every_allocation_may_fail_under_a_driver(void **state) {
  (void)state;
  seeds_need_time(50);
  for (uint32_t workers = 1; workers <= 2; workers++) puppet_sweep(workers, NULL, tell_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(deliveries_come_in_a_row_and_are_answered),
      WATCHED(a_failed_delivery_is_the_actors_end),
      WATCHED(an_unhandled_message_is_logged_when_the_driver_says_so),
      WATCHED(the_first_and_last_deliveries_are_those_of_the_hooks),
      WATCHED(after_a_failed_first_delivery_there_is_no_stop_hook),
      WATCHED(the_first_delivery_may_wait_and_still_comes_first),
      WATCHED(a_kill_makes_no_delivery_but_drops_each_word_once),
      WATCHED(a_handler_that_waits_is_resumed_before_anything_else_is_delivered),
      WATCHED(a_wait_ends_with_the_reason_why_there_is_no_answer),
      WATCHED(a_handler_that_gives_way_is_resumed),
      WATCHED(many_handlers_wait_at_once),
      WATCHED(handlers_that_wait_may_be_left_by_longjmp),
      WATCHED(who_gives_way_lets_the_others_of_its_vat_run),
      WATCHED(a_wait_that_nothing_can_end_is_a_deadlock_and_says_where),
      WATCHED(two_that_wait_for_each_other_do_not_hold_up_the_run),
      WATCHED(a_driven_actor_may_keep_a_request),
      WATCHED(a_waiting_handler_is_abandoned_when_its_actor_is_told_to_end),
      WATCHED(one_that_is_ended_by_whom_it_asks_is_abandoned),
      WATCHED(a_stop_hook_may_wait),
      WATCHED(a_kill_ends_a_stop_hook_that_waits),
      WATCHED(a_shutdown_runs_the_stop_hooks_and_drops_the_words),
      WATCHED(a_handler_learns_whether_it_may_wait),
      WATCHED(a_delivery_that_has_sent_a_thousand_messages_is_overdrawn),
      WATCHED(an_engine_has_one_driver_and_a_machine_where_one_is_needed),
      WATCHED(without_a_machine_driven_actors_end_and_the_run_goes_on),
      WATCHED(an_engine_may_be_freed_while_handlers_wait),
      WATCHED(every_allocation_may_fail_under_a_driver),
  };
  return seeds_main(tests);
}
