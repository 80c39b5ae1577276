/*
 * test_order.c - messages from one sender to one receiver arrive in the order sent, wherever the two
 * are and whatever else goes on.
 *
 * ctest: timeout 240
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

enum { SENDERS = 4, PLACEMENTS = 5, VATS = 5 };

/* The vat of the receiver and those of the senders. */
static const struct placement {
  uint32_t receiver, sender[SENDERS];
} placements[PLACEMENTS] = {
    {0, {0, 0, 0, 0}}, /* all near */
    {0, {1, 0, 0, 0}}, /* a sender far */
    {1, {0, 0, 0, 0}}, /* the receiver far */
    {0, {1, 2, 3, 4}}, /* all in different vats */
    {4, {1, 1, 2, 2}}, /* in pairs */
};
static const uint32_t worker_counts[] = {1, 2, 4};

enum { WITH_SELF_SENDS = 1, WITH_ASKS = 2 };

/* How one run is done, and what was seen in it. Each field is written by one actor only. */
struct run {
  int64_t each, burst;
  unsigned with;
  int64_t handled[SENDERS]; /* the receiver's: the next number of each sender */
  int64_t misplaced;        /* the receiver's */
  int64_t self_misplaced[SENDERS];
  int64_t answered[SENDERS], wrong_answers[SENDERS];
  uint64_t sent[SENDERS], self_sent[SENDERS];
};

/* ---- The receiver: checks the numbers, and answers asks with the number ---- */

struct receiver {
  struct run *run;
};

static actl_status receiver_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  ((struct receiver *)state)->run = pointer_in(args, 0);
  return ACTL_OK;
}

static actl_status receiver_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct run *run = ((struct receiver *)state)->run;
  int64_t sender = actl_msg_int(msg, 0, -1), number = actl_msg_int(msg, 1, -1);
  if (sender < 0 || sender >= SENDERS || number != run->handled[sender]) {
    run->misplaced++;
    return ACTL_OK;
  }
  run->handled[sender]++;
  actl_reply(ctx, ACTL_VALUES(actl_int(number))); /* ACTL_INVALID where it is no ask */
  return ACTL_OK;
}

static const actl_behavior receiver = {.name = "receiver",
                                       .state_size = sizeof(struct receiver),
                                       .init = receiver_init,
                                       .receive = receiver_receive};

/* ---- A sender: sends in bursts, and itself a message after each ---- */

struct sender {
  struct run *run;
  actl_pid to;
  int64_t id, next, self_next, self_expected;
};

static actl_status sender_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct sender *self = state;
  self->run = pointer_in(args, 0);
  self->to = actl_msg_pid(args, 1);
  self->id = actl_msg_int(args, 2, 0);
  self->run->self_sent[self->id]++;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(self->self_next++), actl_bool(true)));
}

static void sender_burst(actl_ctx *ctx, struct sender *self) {
  struct run *run = self->run;
  for (int64_t i = 0; i < run->burst && self->next < run->each; i++) {
    int64_t number = self->next++;
    actl_ask_id ask;
    if ((run->with & WITH_ASKS) && number % 3 == 1) {
      actl_ask(ctx, self->to, ACTL_VALUES(actl_int(self->id), actl_int(number)), &ask);
    } else {
      actl_send(ctx, self->to, ACTL_VALUES(actl_int(self->id), actl_int(number)));
    }
    run->sent[self->id]++;
    if (run->with & WITH_SELF_SENDS) {
      run->self_sent[self->id]++;
      actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(self->self_next++), actl_bool(false)));
    }
  }
}

static actl_status sender_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct sender *self = state;
  if (actl_msg_int(msg, 0, -1) != self->self_expected++) self->run->self_misplaced[self->id]++;
  if (actl_msg_value(msg, 1).type != ACTL_TRUE) return ACTL_OK;
  sender_burst(ctx, self);
  if (self->next == self->run->each) return ACTL_OK;
  self->run->self_sent[self->id]++;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(self->self_next++), actl_bool(true)));
}

static actl_status sender_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                const actl_msg *msg) {
  (void)ctx, (void)ask;
  struct sender *self = state;
  self->run->answered[self->id]++;
  if (status != ACTL_OK || actl_msg_int(msg, 0, -1) % 3 != 1) {
    self->run->wrong_answers[self->id]++;
  }
  return ACTL_OK;
}

static const actl_behavior sender = {.name = "sender",
                                     .state_size = sizeof(struct sender),
                                     .init = sender_init,
                                     .receive = sender_receive,
                                     .reply = sender_reply};

static void run_placed(const struct placement *place, uint32_t workers, struct run *run) {
  struct host host;
  host_open(&host, workers, VATS);
  actl_pid to = host_spawn(&host, place->receiver, &receiver, ACTL_VALUES(pointer(run)));
  for (int i = 0; i < SENDERS; i++) {
    host_spawn(&host, place->sender[i], &sender,
               ACTL_VALUES(pointer(run), actl_who(to), actl_int(i)));
  }
  host_run(&host);
  assert_int_equal(run->misplaced, 0);
  uint64_t sent = 0;
  for (int i = 0; i < SENDERS; i++) {
    assert_int_equal(run->handled[i], run->each);
    assert_int_equal(run->self_misplaced[i], 0);
    assert_int_equal(run->wrong_answers[i], 0);
    assert_int_equal(run->answered[i], run->with & WITH_ASKS ? (run->each + 1) / 3 : 0);
    sent += run->sent[i] + run->self_sent[i];
  }
  assert_int_equal(letters_of(&host.stats), 0);
  assert_accounted(&host, sent);
  host_close(&host);
}

static void run_everywhere(int64_t each, int64_t burst, unsigned with) {
  for (size_t w = 0; w < sizeof worker_counts / sizeof worker_counts[0]; w++) {
    for (int p = 0; p < PLACEMENTS; p++) {
      struct run run = {.each = each, .burst = burst, .with = with};
      run_placed(&placements[p], worker_counts[w], &run);
    }
  }
}

static void each_senders_order_is_kept_one_message_a_handler(void **state) {
  (void)state;
  run_everywhere(SIZED(20000, 200), 1, 0);
}

static void each_senders_order_is_kept_in_small_bursts(void **state) {
  (void)state;
  run_everywhere(SIZED(20000, 200), 7, 0);
}

static void each_senders_order_is_kept_in_chains_longer_than_a_batch(void **state) {
  (void)state;
  run_everywhere(SIZED(20000, 200), 65, 0);
  run_everywhere(SIZED(20000, 200), 193, 0);
}

static void each_senders_order_is_kept_in_a_flood_from_one_handler(void **state) {
  (void)state;
  run_everywhere(SIZED(50000, 300), INT64_MAX, 0);
}

static void each_senders_order_is_kept_among_messages_to_itself(void **state) {
  (void)state;
  run_everywhere(SIZED(20000, 200), 5, WITH_SELF_SENDS);
  run_everywhere(SIZED(20000, 200), 100, WITH_SELF_SENDS);
}

static void each_senders_order_is_kept_between_sends_and_asks(void **state) {
  (void)state;
  run_everywhere(SIZED(20000, 200), 4, WITH_ASKS);
  run_everywhere(SIZED(20000, 200), 150, WITH_ASKS | WITH_SELF_SENDS);
}

/* ---- A stop among the messages ---- */

struct ending {
  int64_t before, after;            /* messages sent before and after the stop */
  int64_t handled, misplaced;       /* the target's */
  int64_t handled_at_stop, stopped; /* the target's */
};

static actl_status target_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(struct ending **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static actl_status target_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  struct ending *ending = *(struct ending **)state;
  if (actl_msg_int(msg, 0, -1) != ending->handled++) ending->misplaced++;
  return ACTL_OK;
}

static void target_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  struct ending *ending = *(struct ending **)state;
  ending->handled_at_stop = ending->handled;
  ending->stopped++;
}

static const actl_behavior target = {.name = "target",
                                     .state_size = sizeof(struct ending *),
                                     .init = target_init,
                                     .receive = target_receive,
                                     .stop = target_stop};

static actl_status ender_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct ending *ending = pointer_in(args, 0);
  actl_pid to = actl_msg_pid(args, 1);
  for (int64_t i = 0; i < ending->before; i++) actl_send(ctx, to, ACTL_VALUES(actl_int(i)));
  actl_stop(ctx, to);
  for (int64_t i = 0; i < ending->after; i++) actl_send(ctx, to, ACTL_VALUES(actl_int(-1)));
  return ACTL_OK;
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior ender = {.name = "ender", .init = ender_init, .receive = nothing};

static void a_stop_comes_after_what_its_sender_sent_before(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 63, 64, 65, 1000, 5000};
  for (uint32_t workers = 1; workers <= 2; workers++) {
    for (uint32_t vat = 0; vat < 2; vat++) {
      for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct ending ending = {.before = counts[c], .after = 10};
        struct host host;
        host_open(&host, workers, 2);
        actl_pid to = host_spawn(&host, 0, &target, ACTL_VALUES(pointer(&ending)));
        host_spawn(&host, vat, &ender, ACTL_VALUES(pointer(&ending), actl_who(to)));
        host_run(&host);
        assert_int_equal(ending.stopped, 1);
        assert_int_equal(ending.handled_at_stop, ending.before);
        assert_int_equal(ending.handled, ending.before);
        assert_int_equal(ending.misplaced, 0);
        assert_int_equal(host.stats.dead_letters[ACTL_LETTER_STOPPED] +
                             host.stats.dead_letters[ACTL_LETTER_NO_ACTOR],
                         ending.after);
        assert_accounted(&host, (uint64_t)(ending.before + ending.after));
        assert_int_equal(host.stats.alive, 1);
        host_close(&host);
      }
    }
  }
}

/* ---- Relays: what one handler passes on keeps its order from hop to hop ---- */

static actl_status relay_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(actl_pid *)state = actl_msg_pid(args, 0);
  return ACTL_OK;
}

static actl_status relay_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  return actl_send(ctx, *(actl_pid *)state,
                   ACTL_VALUES(actl_msg_value(msg, 0), actl_msg_value(msg, 1)));
}

static const actl_behavior relay = {
    .name = "relay", .state_size = sizeof(actl_pid), .init = relay_init, .receive = relay_receive};

static void order_is_kept_through_a_line_of_relays_over_all_vats(void **state) {
  (void)state;
  enum { HOPS = 10 };
  for (size_t w = 0; w < sizeof worker_counts / sizeof worker_counts[0]; w++) {
    struct run run = {.each = SIZED(10000, 200), .burst = 30};
    struct host host;
    host_open(&host, worker_counts[w], VATS);
    actl_pid to = host_spawn(&host, 0, &receiver, ACTL_VALUES(pointer(&run)));
    for (uint32_t hop = 0; hop < HOPS; hop++) {
      to = host_spawn(&host, (hop * 3 + hop / 4) % VATS, &relay, ACTL_VALUES(actl_who(to)));
    }
    for (int i = 0; i < SENDERS; i++) {
      host_spawn(&host, (uint32_t)i, &sender,
                 ACTL_VALUES(pointer(&run), actl_who(to), actl_int(i)));
    }
    host_run(&host);
    assert_int_equal(run.misplaced, 0);
    for (int i = 0; i < SENDERS; i++) assert_int_equal(run.handled[i], run.each);
    assert_int_equal(letters_of(&host.stats), 0);
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(each_senders_order_is_kept_one_message_a_handler),
      WATCHED(each_senders_order_is_kept_in_small_bursts),
      WATCHED(each_senders_order_is_kept_in_chains_longer_than_a_batch),
      WATCHED(each_senders_order_is_kept_in_a_flood_from_one_handler),
      WATCHED(each_senders_order_is_kept_among_messages_to_itself),
      WATCHED(each_senders_order_is_kept_between_sends_and_asks),
      WATCHED(a_stop_comes_after_what_its_sender_sent_before),
      WATCHED(order_is_kept_through_a_line_of_relays_over_all_vats),
  };
  return seeds_main(tests);
}
