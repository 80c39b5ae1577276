/*
 * test_receives.c - processes: bodies that take their messages themselves. The letters are those of
 * puppet.h.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/puppet.h"

enum { HOUR_MS = 3600000 };

enum how { IN_ORDER, NOW, KILL, HOWS };

/* Puppet `i` is a process from now on. */
static struct puppet *make_process(struct stage *stage, int i) {
  struct puppet *puppet = &stage->world.puppets[i];
  puppet->hooks |= ACTL_IS_PROCESS;
  return puppet;
}

/* A native that sends n numbers: (to, n, from). */
static actl_status sender_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  int64_t n = actl_msg_int(msg, 1, 0), from = actl_msg_int(msg, 2, 0);
  for (int64_t i = 0; i < n; i++) {
    actl_status status =
        actl_send(ctx, actl_msg_pid(msg, 0), ACTL_VALUES(actl_int(TAKE), actl_int(from + i)));
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static const actl_behavior sender = {.name = "sender", .receive = sender_receive};

/* ---- In order ---- */

enum { PER_SENDER = 300, SENDERS = 2, APART = 10000 };

static void check_order(struct stage *stage, uint32_t vat) {
  struct puppet *puppet = make_process(stage, 0);
  actl_pid pid = stage_enter(stage, 0, vat);
  for (int i = 0; i < SENDERS; i++) {
    actl_pid by = host_spawn(&stage->host, (uint32_t)i, &sender, NULL, 0);
    host_send(&stage->host, by,
              ACTL_VALUES(actl_who(pid), actl_int(PER_SENDER), actl_int(i * APART)));
  }
  host_run(&stage->host);
  assert_int_equal(puppet->n_taken, SENDERS * PER_SENDER);
  int64_t next[SENDERS] = {0, APART}, misplaced = 0;
  for (int64_t i = 0; i < puppet->n_taken; i++) {
    misplaced += puppet->taken[i] != next[puppet->taken[i] / APART]++;
  }
  assert_int_equal(misplaced, 0);
  const char *row = stage_events(stage, 0);
  assert_int_equal(row[strlen(row) - 1], 'v'); /* it waits for more, and the run has ended */
  assert_int_equal(letters_of(&stage->host.stats), 0);
  assert_int_equal(stage->host.stats.deadlocks, 0);
  assert_accounted(&stage->host, SENDERS + SENDERS * PER_SENDER);
  /* The same process goes on in a later run. */
  host_send(&stage->host, pid, ACTL_VALUES(actl_int(TAKE), actl_int(5)));
  host_send(&stage->host, pid, ACTL_VALUES(actl_int(EXIT)));
  host_run(&stage->host);
  assert_int_equal(puppet->taken[SENDERS * PER_SENDER], 5);
  row = stage_events(stage, 0);
  assert_string_equal(row + strlen(row) - 3, "xSD");
}

static void a_process_takes_each_senders_messages_in_order(void **state) {
  (void)state;
  on_stages(check_order);
}

static void processes_that_wait_may_be_left_by_longjmp(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct stage *stage = stage_open(1 + i % 2);
    stage->world.jumps = true;
    check_order(stage, i / 2);
    stage_close(stage);
  }
}

/* A near process, with and without an init that takes values, has the same body. */
static void check_births(struct stage *stage, uint32_t vat) {
  actl_pid pid = stage_enter(stage, 0, 0);
  make_process(stage, 1);
  make_process(stage, 2);
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&stage->world.puppets[1]), actl_int(-1),
            actl_int(4));
  stage_ask(stage, pid, actl_int(SPAWN), pointer(&stage->world.puppets[2]), actl_int(vat),
            actl_int(4));
  host_run(&stage->host);
  const char *rows[] = {stage_events(stage, 1), stage_events(stage, 2)};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(rows[i][0], i == 0 ? 'I' : 'B');
    int64_t echoes = 0;
    for (const char *at = rows[i]; *at != '\0'; at++) echoes += *at == 'e';
    assert_int_equal(echoes, 4);
  }
  stage_end(stage, pid, IN_ORDER);
  host_run(&stage->host);
  assert_int_equal(stage->host.stats.alive, 2);
  for (int i = 0; i < 2; i++) assert_string_equal(rows[i] + strlen(rows[i]) - 3, "ASD");
}

static void a_process_may_be_born_near_and_elsewhere_and_ends_with_its_parent(void **state) {
  (void)state;
  on_stages(check_births);
}

/* ---- Times ---- */

static void check_times(struct stage *stage, uint32_t vat) {
  static const uint64_t times[] = {1, 3, 10, 25, ACTL_FOREVER /* none at all, see puppet.c */};
  for (int i = 0; i < 5; i++) {
    struct puppet *puppet = make_process(stage, i);
    puppet->patience_ms = times[i];
    puppet->gives_up_at = 3;
    stage_enter(stage, i, vat);
  }
  host_run(&stage->host);
  for (int i = 0; i < 5; i++) {
    assert_string_equal(stage_events(stage, i), "BvtvtvtSD");
    assert_int_equal(stage->world.puppets[i].last, ACTL_OK); /* of the stop */
  }
  assert_int_equal(stage->host.stats.alive, 2);
  assert_int_equal(stage->host.stats.timers, 0);
  assert_int_equal(stage->host.stats.timeouts, 0); /* these are no asks */
  assert_int_equal(stage->host.stats.fired, 0);
}

static void a_receive_ends_with_its_time_and_not_early(void **state) {
  (void)state;
  on_stages(check_times);
}

/* Messages come within the time, again and again: no time of a receive that has ended comes back. */
static void check_in_time(struct stage *stage, uint32_t vat) {
  struct puppet *puppet = make_process(stage, 0);
  puppet->patience_ms = HOUR_MS;
  puppet->gives_up_at = 1;
  actl_pid pid = stage_enter(stage, 0, vat), other = stage_enter(stage, 1, 1);
  for (int64_t i = 0; i < 20; i++) {
    stage_ask(stage, other, actl_int(SLEEP), actl_int(1), actl_int(1));
    stage_ask(stage, other, actl_int(WAIT), actl_who(pid), actl_int(1));
  }
  stage_ask(stage, other, actl_int(WAIT_OP), actl_who(pid),
            actl_int(RECEIVE)); /* 1 ms, no answer */
  host_run(&stage->host);
  assert_int_equal(puppet->n_timeouts, 1);
  const char *row = stage_events(stage, 0);
  assert_string_equal(row + strlen(row) - 5, "nvtSD");
  assert_int_equal(stage->answers.ok, 20 + 20 + 1);
  assert_int_equal(stage->answers.sum, 20 * 7 + 20 * 2 + ACTL_UNANSWERED);
}

static void a_message_in_time_ends_the_time(void **state) {
  (void)state;
  on_stages(check_in_time);
}

/* Waits of no time let others run: two such processes and a native share a vat. */
static void check_polling(struct stage *stage, uint32_t vat) {
  for (int i = 0; i < 2; i++) {
    struct puppet *puppet = make_process(stage, i);
    puppet->patience_ms = ACTL_FOREVER; /* none at all */
    puppet->gives_up_at = 1000;
    stage_enter(stage, i, vat);
  }
  actl_pid third = stage_enter(stage, 2, vat);
  for (int i = 0; i < 50; i++) stage_ask(stage, third, actl_int(ECHO), actl_int(i));
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 50);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(strlen(stage_events(stage, i)), 1 + 2000 + 2);
    assert_int_equal(stage->world.puppets[i].n_timeouts, 1000);
  }
}

static void a_receive_of_no_time_lets_others_run(void **state) {
  (void)state;
  on_stages(check_polling);
}

/* ---- Asks ---- */

static void check_asks(struct stage *stage, uint32_t vat) {
  make_process(stage, 0);
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(ECHO), actl_int(21));
  host_run(&stage->host);
  assert_int_equal(stage->answers.value, 42);
  /* Not answered when the next is taken, or when it waits for one. */
  stage_ask(stage, pid, actl_int(NOTHING));
  stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
  stage_ask(stage, pid, actl_int(NOTHING));
  host_run(&stage->host);
  assert_int_equal(stage->answers.replies, 4);
  assert_int_equal(stage->answers.ok, 2);
  assert_int_equal(stage->answers.status, ACTL_UNANSWERED);
  assert_int_equal(stage->host.stats.deadlocks, 0);
  /* Kept, and answered with a later message. */
  stage_ask(stage, pid, actl_int(KEEP));
  stage_ask(stage, pid, actl_int(ECHO), actl_int(3));
  stage_ask(stage, pid, actl_int(RELEASE)); /* not answered itself */
  host_run(&stage->host);
  assert_int_equal(stage->world.puppets[0].last, ACTL_OK);
  assert_int_equal(stage->answers.replies, 7);
  assert_int_equal(stage->answers.ok, 4);
  assert_int_equal(stage->answers.sum, 42 + 2 + 99 + 6);
  assert_int_equal(letters_of(&stage->host.stats), 0);
  assert_int_equal(stage->host.stats.alive, 3);
}

static void an_ask_is_answered_by_hand_or_fails_as_unanswered(void **state) {
  (void)state;
  on_stages(check_asks);
}

/* While it sleeps its message stays the current one, and others wait in order. */
static void check_sleeping(struct stage *stage, uint32_t vat) {
  struct puppet *puppet = make_process(stage, 0);
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(SLEEP), actl_int(10), actl_int(1));
  for (int64_t i = 0; i < 20; i++) {
    stage_ask(stage, pid, actl_int(ECHO), actl_int(i));
    host_send(&stage->host, pid, ACTL_VALUES(actl_int(TAKE), actl_int(i)));
  }
  host_run(&stage->host);
  assert_int_equal(stage->answers.ok, 21);
  assert_int_equal(stage->answers.sum, 7 + 19 * 20);
  assert_int_equal(puppet->n_taken, 20);
  for (int i = 0; i < 20; i++) assert_int_equal(puppet->taken[i], i);
  const char *row = stage_events(stage, 0), *slept = strstr(row, "zR");
  assert_non_null(slept);
  for (const char *at = row; at < slept; at++) assert_true(*at != 'e'); /* echoes came behind it */
}

static void a_process_may_sleep_with_a_message_in_hand(void **state) {
  (void)state;
  on_stages(check_sleeping);
}

/* ---- Ends ---- */

static void check_ended(struct stage *stage, uint32_t vat) {
  static const int64_t times[] = {HOUR_MS, 0 /* for ever */};
  static const char *const rows[HOWS] = {"BvnvASD", "BvnvASD", "BvnvAD"};
  for (int how = IN_ORDER; how < HOWS; how++) {
    for (int i = 0; i < 2; i++) {
      int at = how * 2 + i;
      make_process(stage, at);
      actl_pid pid = stage_enter(stage, at, vat);
      host_run(&stage->host);
      host_send(&stage->host, pid,
                ACTL_VALUES(actl_int(RECEIVE), actl_int(times[i]), actl_who(stage->ender),
                            actl_int(how)));
      host_run(&stage->host);
      assert_string_equal(stage_events(stage, at), rows[how]);
      assert_int_equal(stage->world.puppets[at].n_drops, 1);
    }
  }
  assert_int_equal(stage->host.stats.alive, 2);
  assert_int_equal(stage->host.stats.timers, 0);
  assert_int_equal(stage->host.stats.deadlocks, 0);
}

static void a_process_that_is_ended_while_it_waits_is_abandoned_once(void **state) {
  (void)state;
  on_stages(check_ended);
}

/* A stop in order comes after the messages before it. Between them it may wait for its next turn. */
static void check_ended_in_order(struct stage *stage, uint32_t vat) {
  make_process(stage, 0);
  actl_pid pid = stage_enter(stage, 0, vat);
  host_run(&stage->host);
  host_send(&stage->host, pid,
            ACTL_VALUES(actl_int(RECEIVE), actl_int(0), actl_who(stage->ender),
                        actl_int(IN_ORDER + QUEUED)));
  host_run(&stage->host);
  const char *row = stage_events(stage, 0);
  assert_true(strcmp(row, "BvnevASD") == 0 || strcmp(row, "BvnvevASD") == 0);
}

static void a_stop_in_order_lets_a_process_take_what_came_before(void **state) {
  (void)state;
  on_stages(check_ended_in_order);
}

/* The body ends without having taken anything: what is queued becomes dead letters. */
static void check_deaf(struct stage *stage, uint32_t vat) {
  struct puppet *puppet = make_process(stage, 0);
  puppet->is_deaf = true;
  puppet->waits_ms = 10;
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
  for (int i = 0; i < 5; i++) host_send(&stage->host, pid, ACTL_VALUES(actl_int(TAKE)));
  host_run(&stage->host);
  assert_string_equal(stage_events(stage, 0), "BzRSD");
  assert_int_equal(stage->answers.replies, 1);
  assert_int_equal(stage->answers.ok, 0);
  assert_true(stage->answers.status == ACTL_STOPPED || stage->answers.status == ACTL_NO_ACTOR);
  assert_int_equal(letters_of(&stage->host.stats), 6);
  assert_int_equal(stage->host.stats.alive, 2);
}

static void what_a_process_did_not_take_becomes_dead_letters(void **state) {
  (void)state;
  on_stages(check_deaf);
}

/* An error in its body is a failure like any, also in the middle. */
static void check_failing(struct stage *stage, uint32_t vat) {
  make_process(stage, 0);
  actl_pid pid = stage_enter(stage, 0, vat);
  stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
  stage_ask(stage, pid, actl_int(FAIL));
  stage_ask(stage, pid, actl_int(ECHO), actl_int(1));
  host_run(&stage->host);
  const char *row = stage_events(stage, 0);
  assert_string_equal(row + strlen(row) - 3, "fSD");
  assert_int_equal(stage->host.stats.failed, 1);
  assert_int_equal(stage->answers.replies, 3);
  assert_int_equal(stage->answers.ok, 1);
  assert_int_equal(stage->host.stats.dead_letters[ACTL_LETTER_FAILED], 1);
  assert_int_equal(letters_of(&stage->host.stats), 2);
  assert_int_equal(stage->host.journal.entries[ACTL_LOG_FAILURE], 1);
  assert_non_null(strstr(stage->host.journal.text[ACTL_LOG_FAILURE], "the process fell"));
}

static void a_process_that_fails_ends_and_the_message_in_hand_is_a_dead_letter(void **state) {
  (void)state;
  on_stages(check_failing);
}

static void check_freed(struct stage *stage, uint32_t vat) {
  actl_pid pids[20];
  for (int i = 0; i < 20; i++) {
    make_process(stage, i);
    pids[i] = stage_enter(stage, i, i % 2 ? vat : 2);
    stage_ask(stage, pids[i], actl_int(KEEP));
  }
  host_run(&stage->host);
  for (int i = 0; i < 20; i++) {
    assert_true(stage->world.puppets[i].waiter.is_parked);
    host_send(&stage->host, pids[i], ACTL_VALUES(actl_int(TAKE)));
  }
}

static void an_engine_is_freed_while_processes_wait(void **state) {
  (void)state;
  on_stages(check_freed);
}

/* ---- Load ---- */

/* A crowd of processes that are told numbers by native senders everywhere, with short patience. */
static void processes_lose_nothing_under_load(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct stage *stage = stage_open(workers);
    actl_pid pids[30], senders[3];
    for (uint32_t i = 0; i < 3; i++) senders[i] = host_spawn(&stage->host, i, &sender, NULL, 0);
    for (int i = 0; i < 30; i++) {
      make_process(stage, i)->patience_ms = i % 3 == 0 ? 0 : i % 3 == 1 ? ACTL_FOREVER : 1;
      stage->world.puppets[i].gives_up_at = 0;
      if (i % 3 == 1) stage->world.puppets[i].patience_ms = HOUR_MS;
      pids[i] = stage_enter(stage, i, (uint32_t)i / 3 % 3);
    }
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 3; j++) {
          host_send(&stage->host, senders[j],
                    ACTL_VALUES(actl_who(pids[i]), actl_int(20), actl_int(round * 20)));
        }
      }
    }
    for (int i = 0; i < 30; i++) { /* at last they all wait for ever, or the run would not end */
      stage_ask(stage, pids[i], actl_int(RECEIVE), actl_int(0));
    }
    host_run(&stage->host);
    for (int i = 0; i < 30; i++) assert_int_equal(stage->world.puppets[i].n_taken, 10 * 20 * 3);
    assert_int_equal(letters_of(&stage->host.stats), 0);
    stage_close(stage);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_process_takes_each_senders_messages_in_order),
      WATCHED(processes_that_wait_may_be_left_by_longjmp),
      WATCHED(a_process_may_be_born_near_and_elsewhere_and_ends_with_its_parent),
      WATCHED(a_receive_ends_with_its_time_and_not_early),
      WATCHED(a_message_in_time_ends_the_time),
      WATCHED(a_receive_of_no_time_lets_others_run),
      WATCHED(an_ask_is_answered_by_hand_or_fails_as_unanswered),
      WATCHED(a_process_may_sleep_with_a_message_in_hand),
      WATCHED(a_process_that_is_ended_while_it_waits_is_abandoned_once),
      WATCHED(a_stop_in_order_lets_a_process_take_what_came_before),
      WATCHED(what_a_process_did_not_take_becomes_dead_letters),
      WATCHED(a_process_that_fails_ends_and_the_message_in_hand_is_a_dead_letter),
      WATCHED(an_engine_is_freed_while_processes_wait),
      WATCHED(processes_lose_nothing_under_load),
  };
  return seeds_main(tests);
}
