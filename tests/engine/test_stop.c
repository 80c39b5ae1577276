/*
 * test_stop.c - how actors end: in order, now, killed, by themselves; children before their parent,
 * the last born first.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

/* What one actor did; written by that actor only. */
struct trace {
  int64_t handled, stops;
  unsigned stopped_at; /* the place of its stop hook among all, from 1 */
  actl_status status;
  char text[64];
  actl_pid self;
};

static atomic_uint stop_order; /* stop hooks run so far */

static void trace_stop(struct trace *trace, const actl_reason *reason) {
  trace->stops++;
  trace->stopped_at = tick(&stop_order) + 1;
  trace->status = reason->status;
  snprintf(trace->text, sizeof trace->text, "%s", reason->text ? reason->text : "");
}

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

/* ---- One target and one that ends it ---- */

static actl_status target_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct trace *trace = pointer_in(args, 0);
  *(struct trace **)state = trace;
  trace->self = actl_self(ctx);
  return ACTL_OK;
}

static actl_status target_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)msg;
  (*(struct trace **)state)->handled++;
  return ACTL_OK;
}

static void target_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  trace_stop(*(struct trace **)state, reason);
}

static const actl_behavior target = {.name = "target",
                                     .state_size = sizeof(struct trace *),
                                     .init = target_init,
                                     .receive = target_receive,
                                     .stop = target_stop};

enum end { STOP, STOP_NOW, KILL };

static actl_status end_actor(actl_ctx *ctx, enum end end, actl_pid pid) {
  if (end == STOP) return actl_stop(ctx, pid);
  if (end == STOP_NOW) return actl_stop_now(ctx, pid);
  return actl_kill(ctx, pid);
}

/* Sends ten messages, ends the target, and sends ten more. */
static actl_status ender_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_pid pid = actl_msg_pid(msg, 0);
  enum end end = (enum end)actl_msg_int(msg, 1, 0);
  for (int i = 0; i < 10; i++) actl_send(ctx, pid, NULL, 0);
  if (end_actor(ctx, end, pid) != ACTL_OK) return actl_fail(ctx, "could not end it");
  for (int i = 0; i < 10; i++) actl_send(ctx, pid, NULL, 0);
  return ACTL_OK;
}

static const actl_behavior ender = {.name = "ender", .receive = ender_receive};

/* Ends a target that is at rest, from vat `vat`. */
static void end_one(enum end end, uint32_t workers, uint32_t vat, struct trace *trace) {
  struct host host;
  host_open(&host, workers, 2);
  actl_pid pid = host_spawn(&host, 0, &target, ACTL_VALUES(pointer(trace)));
  host_run(&host);
  actl_pid by = host_spawn(&host, vat, &ender, NULL, 0);
  host_send(&host, by, ACTL_VALUES(actl_who(pid), actl_int(end)));
  host_run(&host);
  assert_int_equal(host.stats.stopped, 1);
  assert_int_equal(host.stats.failed, 0);
  assert_int_equal(host.journal.entries[ACTL_LOG_FAILURE], 0);
  assert_accounted(&host, 21);
  assert_int_equal(letters_of(&host.stats), host.stats.dead_letters[ACTL_LETTER_STOPPED] +
                                                host.stats.dead_letters[ACTL_LETTER_NO_ACTOR]);
  host_close(&host);
}

static void a_stop_in_order_lets_what_came_before_be_handled(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct trace trace = {0};
    end_one(STOP, 1 + i / 2, i % 2, &trace);
    assert_int_equal(trace.handled, 10);
    assert_int_equal(trace.stops, 1);
    assert_int_equal(trace.status, ACTL_OK);
  }
}

static void a_stop_now_goes_ahead_of_the_queue(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct trace trace = {0};
    end_one(STOP_NOW, 1 + i / 2, i % 2, &trace);
    if (i % 2 == 0) assert_int_equal(trace.handled, 0);
    assert_in_range(trace.handled, 0, 10);
    assert_int_equal(trace.stops, 1);
    assert_int_equal(trace.status, ACTL_OK);
  }
}

static void a_kill_skips_the_queue_and_the_stop_hook(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct trace trace = {0};
    end_one(KILL, 1 + i / 2, i % 2, &trace);
    if (i % 2 == 0) assert_int_equal(trace.handled, 0);
    assert_in_range(trace.handled, 0, 10);
    assert_int_equal(trace.stops, 0);
  }
}

/* The queue is full of messages when the stop comes: each becomes a letter `stopped`. */
static actl_status filler_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_pid pid = actl_msg_pid(msg, 0);
  for (int i = 0; i < 1000; i++) actl_send(ctx, pid, NULL, 0);
  return end_actor(ctx, (enum end)actl_msg_int(msg, 1, 0), pid);
}

static const actl_behavior filler = {.name = "filler", .receive = filler_receive};

static void what_is_queued_at_a_stop_now_becomes_dead_letters(void **state) {
  (void)state;
  for (int end = STOP_NOW; end <= KILL; end++) {
    struct trace trace = {0};
    struct host host;
    host_open(&host, 1, 1);
    actl_pid pid = host_spawn(&host, 0, &target, ACTL_VALUES(pointer(&trace)));
    actl_pid by = host_spawn(&host, 0, &filler, NULL, 0);
    host_run(&host);
    host_send(&host, by, ACTL_VALUES(actl_who(pid), actl_int(end)));
    host_run(&host);
    assert_int_equal(trace.handled, 0);
    assert_int_equal(host.stats.dead_letters[ACTL_LETTER_STOPPED], 1000);
    assert_int_equal(letters_of(&host.stats), 1000);
    assert_int_equal(host.stats.alive, 1);
    host_close(&host);
  }
}

/* ---- By itself ---- */

enum self_end { EXIT, EXIT_WITHOUT_TEXT, STOP_SELF, STOP_SELF_NOW, KILL_SELF };

/* Sends itself three messages, ends in one of the ways, and sends itself three more. */
static actl_status leaver_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct trace *trace = *(struct trace **)state;
  int64_t how = actl_msg_int(msg, 0, -1);
  trace->handled++;
  if (how < 0) return ACTL_OK;
  char text[] = "enough";
  for (int i = 0; i < 3; i++) actl_send(ctx, actl_self(ctx), NULL, 0);
  switch (how) {
  case EXIT: actl_exit(ctx, text); break;
  case EXIT_WITHOUT_TEXT: actl_exit(ctx, NULL); break;
  case STOP_SELF: actl_stop(ctx, actl_self(ctx)); break;
  case STOP_SELF_NOW: actl_stop_now(ctx, actl_self(ctx)); break;
  default: actl_kill(ctx, actl_self(ctx)); break;
  }
  memset(text, 'x', sizeof text - 1);
  for (int i = 0; i < 3; i++) actl_send(ctx, actl_self(ctx), NULL, 0);
  trace->handled += 100; /* the handler goes on to its end */
  return ACTL_OK;
}

static const actl_behavior leaver = {.name = "leaver",
                                     .state_size = sizeof(struct trace *),
                                     .init = target_init,
                                     .receive = leaver_receive,
                                     .stop = target_stop};

static void an_actor_ends_itself_when_its_handler_has_returned(void **state) {
  (void)state;
  for (int how = EXIT; how <= KILL_SELF; how++) {
    struct trace trace = {0};
    struct host host;
    host_open(&host, 1, 1);
    actl_pid pid = host_spawn(&host, 0, &leaver, ACTL_VALUES(pointer(&trace)));
    host_send(&host, pid, ACTL_VALUES(actl_int(how)));
    host_run(&host);
    assert_int_equal(trace.handled, how == STOP_SELF ? 104 : 101);
    assert_int_equal(trace.stops, how == KILL_SELF ? 0 : 1);
    assert_int_equal(trace.status, ACTL_OK);
    assert_string_equal(trace.text, how == EXIT ? "enough" : "");
    assert_int_equal(letters_of(&host.stats), how == STOP_SELF ? 3 : 6);
    assert_accounted(&host, 7);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(host.stats.failed, 0);
    host_close(&host);
  }
}

static actl_status quitter_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  target_init(ctx, state, args);
  actl_exit(ctx, "born to stop");
  return ACTL_OK;
}

static const actl_behavior quitter = {.name = "quitter",
                                      .state_size = sizeof(struct trace *),
                                      .init = quitter_init,
                                      .receive = target_receive,
                                      .stop = target_stop};

static void an_exit_in_init_is_an_ordinary_stop(void **state) {
  (void)state;
  struct trace trace = {0};
  struct host host;
  host_open(&host, 1, 1);
  actl_pid pid = host_spawn(&host, 0, &quitter, ACTL_VALUES(pointer(&trace)));
  host_send(&host, pid, NULL, 0);
  host_run(&host);
  assert_int_equal(trace.handled, 0);
  assert_int_equal(trace.stops, 1);
  assert_string_equal(trace.text, "born to stop");
  assert_int_equal(letters_of(&host.stats), 1);
  assert_int_equal(host.stats.failed, 0);
  host_close(&host);
}

/* ---- Families ---- */

/* A tree is an array of traces; each actor makes its own children. */
struct family {
  struct trace *traces;
  int64_t n_children, depth; /* of each actor; levels below the root */
  uint32_t vats;             /* children go round these; 0: all near */
  atomic_uint *born;
};

static int64_t family_size(int64_t n_children, int64_t depth) {
  int64_t size = 1, level = 1;
  for (int64_t i = 0; i < depth; i++) size += level *= n_children;
  return size;
}

/* Actor `at` of a level-order array has the children at * n + 1 .. at * n + n. */
static actl_status member_init(actl_ctx *ctx, void *state, const actl_msg *args);

static actl_status member_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)msg;
  (*(struct trace **)state)->handled++;
  return ACTL_OK;
}

static const actl_behavior member = {.name = "member",
                                     .state_size = sizeof(struct trace *),
                                     .init = member_init,
                                     .receive = member_receive,
                                     .stop = target_stop};

static actl_status member_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  const struct family *family = pointer_in(args, 0);
  int64_t at = actl_msg_int(args, 1, 0), depth = actl_msg_int(args, 2, 0);
  struct trace *trace = &family->traces[at];
  *(struct trace **)state = trace;
  trace->self = actl_self(ctx);
  if (depth == 0) return ACTL_OK;
  for (int64_t i = 1; i <= family->n_children; i++) {
    int64_t child = at * family->n_children + i;
    uint32_t vat = family->vats == 0 ? actl_ctx_vat(ctx) : (uint32_t)child % family->vats;
    actl_pid pid;
    actl_status status =
        actl_spawn_on(ctx, vat, &member,
                      ACTL_VALUES(pointer(family), actl_int(child), actl_int(depth - 1)), &pid);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

/* Every actor's stop hook ran once, after those of its children; among these the last born first,
 * where `siblings` is set. */
static void assert_order(const struct family *family, int64_t size, bool siblings) {
  int64_t misplaced = 0, siblings_misplaced = 0;
  for (int64_t at = 0; at < size; at++) {
    const struct trace *trace = &family->traces[at];
    if (trace->stops != 1) misplaced++;
    for (int64_t i = 1; i <= family->n_children; i++) {
      int64_t child = at * family->n_children + i;
      if (child >= size) break;
      if (family->traces[child].stopped_at >= trace->stopped_at) misplaced++;
      if (i > 1 && family->traces[child].stopped_at >= family->traces[child - 1].stopped_at) {
        siblings_misplaced++;
      }
    }
  }
  assert_int_equal(misplaced, 0);
  if (siblings) assert_int_equal(siblings_misplaced, 0);
}

enum root_end { ROOT_STOP, ROOT_STOP_NOW, ROOT_KILL, ROOT_SHUTDOWN, ROOT_ENDS };

/* Grows a tree, ends its root and checks. */
static void end_siblings(int64_t n_children, int64_t depth, uint32_t vats, uint32_t workers,
                         enum root_end how, bool siblings) {
  int64_t size = family_size(n_children, depth);
  struct family family = {.n_children = n_children, .depth = depth, .vats = vats};
  family.traces = calloc((size_t)size, sizeof family.traces[0]);
  assert_non_null(family.traces);
  atomic_store(&stop_order, 0);
  struct host host;
  host_open(&host, workers, vats > 0 ? vats : 1);
  actl_pid root =
      host_spawn(&host, 0, &member, ACTL_VALUES(pointer(&family), actl_int(0), actl_int(depth)));
  host_run(&host);
  assert_int_equal(host.stats.alive, size);
  if (how == ROOT_SHUTDOWN) {
    actl_engine_shutdown(host.engine);
  } else {
    actl_pid by = host_spawn(&host, 0, &ender, NULL, 0);
    host_send(&host, by, ACTL_VALUES(actl_who(root), actl_int(how)));
  }
  host_run(&host);
  assert_int_equal(host.stats.alive, how == ROOT_SHUTDOWN ? 0 : 1);
  assert_int_equal(host.stats.stopped, size);
  assert_int_equal(host.stats.failed, 0);
  if (how == ROOT_KILL) {
    assert_int_equal(atomic_load(&stop_order), 0);
  } else {
    assert_int_equal(atomic_load(&stop_order), size);
    assert_order(&family, size, siblings);
  }
  host_close(&host);
  free(family.traces);
}

static void end_family(int64_t n_children, int64_t depth, uint32_t vats, uint32_t workers,
                       enum root_end how) {
  end_siblings(n_children, depth, vats, workers, how, vats == 0);
}

static void children_stop_before_their_parent_the_last_born_first(void **state) {
  (void)state;
  for (int how = 0; how < ROOT_ENDS; how++) {
    end_family(5, 1, 0, 1, (enum root_end)how);
    end_family(3, 5, 0, 1, (enum root_end)how);
  }
}

static void children_in_other_vats_stop_the_last_born_first(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    for (int how = 0; how < ROOT_ENDS; how++) {
      end_siblings(5, 1, 2, workers, (enum root_end)how, true);
      end_siblings(3, 5, 3, workers, (enum root_end)how, true);
    }
  }
}

static void children_in_other_vats_stop_before_their_parent(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    for (int how = 0; how < ROOT_ENDS; how++) {
      for (uint32_t vats = 2; vats <= 5; vats++) {
        end_family(5, 1, vats, workers, (enum root_end)how);
        end_family(3, 5, vats, workers, (enum root_end)how);
      }
    }
  }
}

static void a_deep_line_of_actors_stops_from_its_end(void **state) {
  (void)state;
  for (int how = 0; how < ROOT_ENDS; how++) {
    end_family(1, SIZED(100000, 100), 0, 1, (enum root_end)how);
    end_family(1, SIZED(100000, 100), 3, 2, (enum root_end)how);
  }
}

static void a_wide_family_stops(void **state) {
  (void)state;
  for (int how = 0; how < ROOT_ENDS; how++) {
    end_family(SIZED(100000, 100), 1, 0, 1, (enum root_end)how);
    end_family(SIZED(100000, 100), 1, 3, 2, (enum root_end)how);
  }
}

static void children_that_ended_before_leave_no_trace(void **state) {
  (void)state;
  struct family family = {.n_children = 10, .depth = 1, .vats = 2};
  family.traces = calloc(11, sizeof family.traces[0]);
  assert_non_null(family.traces);
  atomic_store(&stop_order, 0);
  struct host host;
  host_open(&host, 2, 2);
  actl_pid root =
      host_spawn(&host, 0, &member, ACTL_VALUES(pointer(&family), actl_int(0), actl_int(1)));
  host_run(&host);
  actl_pid by = host_spawn(&host, 0, &ender, NULL, 0);
  for (int i = 1; i <= 10; i += 3) {
    host_send(&host, by, ACTL_VALUES(actl_who(family.traces[i].self), actl_int(i % 2)));
  }
  host_run(&host);
  assert_int_equal(host.stats.alive, 11 + 1 - 4);
  unsigned before = atomic_load(&stop_order);
  assert_int_equal(before, 4);
  host_send(&host, by, ACTL_VALUES(actl_who(root), actl_int(STOP)));
  host_run(&host);
  assert_int_equal(host.stats.alive, 1);
  for (int i = 0; i <= 10; i++) assert_int_equal(family.traces[i].stops, 1);
  assert_int_equal(family.traces[0].stopped_at, 11);
  host_close(&host);
  free(family.traces);
}

/* ---- What a stop hook may do ---- */

struct last_words {
  actl_pid collector;
  actl_status near, far, any, send, after_stop;
  bool untouched;
};

static actl_status speaker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(struct last_words **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static void speaker_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  struct last_words *words = *(struct last_words **)state;
  (void)reason;
  actl_pid pid = {77};
  words->near = actl_spawn(ctx, &ender, NULL, 0, &pid);
  words->far = actl_spawn_on(ctx, 1, &ender, NULL, 0, &pid);
  words->any = actl_spawn_on(ctx, ACTL_VAT_ANY, &ender, NULL, 0, &pid);
  words->untouched = pid.bits == 77;
  for (int i = 0; i < 100; i++) {
    words->send = actl_send(ctx, words->collector, ACTL_VALUES(actl_int(i)));
  }
  actl_send(ctx, actl_self(ctx), NULL, 0);
  words->after_stop = actl_stop(ctx, actl_self(ctx));
}

static const actl_behavior speaker = {.name = "speaker",
                                      .state_size = sizeof(struct last_words *),
                                      .init = speaker_init,
                                      .receive = nothing,
                                      .stop = speaker_stop};

static void a_stop_hook_may_send_and_may_not_spawn(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    struct trace trace = {0};
    struct host host;
    host_open(&host, 1 + i / 2, 2);
    actl_pid collector = host_spawn(&host, i % 2, &target, ACTL_VALUES(pointer(&trace)));
    struct last_words words = {.collector = collector};
    actl_pid pid = host_spawn(&host, 0, &speaker, ACTL_VALUES(pointer(&words)));
    actl_pid by = host_spawn(&host, i % 2, &ender, NULL, 0);
    host_send(&host, by, ACTL_VALUES(actl_who(pid), actl_int(STOP)));
    host_run(&host);
    assert_int_equal(words.near, ACTL_STOPPED);
    assert_int_equal(words.far, ACTL_STOPPED);
    assert_int_equal(words.any, ACTL_STOPPED);
    assert_true(words.untouched);
    assert_int_equal(words.send, ACTL_OK);
    assert_int_equal(words.after_stop, ACTL_OK);
    assert_int_equal(trace.handled, 100);
    assert_int_equal(letters_of(&host.stats), 11);
    assert_accounted(&host, 1 + 20 + 100 + 1);
    assert_int_equal(host.stats.alive, 2);
    host_close(&host);
  }
}

/* A child whose stop hook sends to its parent, which is stopping and handles nothing more. */
static void clinger_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  actl_pid parent = *(actl_pid *)state;
  for (int i = 0; i < 3; i++) actl_send(ctx, parent, NULL, 0);
  actl_stop(ctx, parent);
  actl_stop_now(ctx, parent);
}

static actl_status clinger_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(actl_pid *)state = actl_msg_pid(args, 0);
  return ACTL_OK;
}

static const actl_behavior clinger = {.name = "clinger",
                                      .state_size = sizeof(actl_pid),
                                      .init = clinger_init,
                                      .receive = nothing,
                                      .stop = clinger_stop};

static actl_status mother_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  target_init(ctx, state, args);
  for (int i = 0; i < 8; i++) {
    actl_pid pid;
    actl_spawn_on(ctx, (uint32_t)i % 2, &clinger, ACTL_VALUES(actl_who(actl_self(ctx))), &pid);
  }
  return ACTL_OK;
}

static const actl_behavior mother = {.name = "mother",
                                     .state_size = sizeof(struct trace *),
                                     .init = mother_init,
                                     .receive = target_receive,
                                     .stop = target_stop};

static void a_stopping_parent_handles_nothing_that_its_children_send(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct trace trace = {0};
    struct host host;
    host_open(&host, workers, 2);
    actl_pid pid = host_spawn(&host, 0, &mother, ACTL_VALUES(pointer(&trace)));
    host_run(&host);
    actl_pid by = host_spawn(&host, 1, &ender, NULL, 0);
    host_send(&host, by, ACTL_VALUES(actl_who(pid), actl_int(STOP_NOW)));
    host_run(&host);
    assert_in_range(trace.handled, 0, 10);
    assert_int_equal(trace.stops, 1);
    assert_int_equal(host.stats.alive, 1);
    assert_accounted(&host, 1 + 20 + 8 * 3);
    host_close(&host);
  }
}

/* ---- What is dead, and what is no pid ---- */

struct errors {
  actl_pid dead;
  actl_status statuses[9];
};

static actl_status stopper_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  struct errors *errors = pointer_in(args, 0);
  for (int end = STOP; end <= KILL; end++) {
    errors->statuses[end] = end_actor(ctx, (enum end)end, errors->dead);
    errors->statuses[3 + end] = end_actor(ctx, (enum end)end, (actl_pid){0});
    errors->statuses[6 + end] = end_actor(ctx, (enum end)end, errors->dead);
  }
  return ACTL_OK;
}

static const actl_behavior stopper = {.name = "stopper", .init = stopper_init, .receive = nothing};

static void stopping_something_dead_is_no_error(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct trace trace = {0};
    struct errors errors = {0};
    struct host host;
    host_open(&host, 2, 2);
    errors.dead = host_spawn(&host, 0, &quitter, ACTL_VALUES(pointer(&trace)));
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    host_spawn(&host, vat, &stopper, ACTL_VALUES(pointer(&errors)));
    host_run(&host);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(errors.statuses[i], ACTL_OK);
      assert_int_equal(errors.statuses[3 + i], ACTL_INVALID);
      assert_int_equal(errors.statuses[6 + i], ACTL_OK);
    }
    assert_int_equal(trace.stops, 1);
    assert_int_equal(letters_of(&host.stats), 0);
    host_close(&host);
  }
}

/* ---- A stop that meets a birth: the parent is stopped while its far children are on their way ---- */

static actl_status breeder_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  atomic_uint *counts = pointer_in(msg, 0);
  if (counts == NULL) return ACTL_OK; /* from who ends it */
  int64_t left = actl_msg_int(msg, 1, 0);
  for (int i = 0; i < 20; i++) {
    actl_pid pid;
    if (actl_spawn_on(ctx, (uint32_t)i % 3, &clinger, ACTL_VALUES(actl_who(actl_self(ctx))),
                      &pid) == ACTL_OK) {
      tick(&counts[0]);
    }
  }
  if (left == 0) {
    actl_exit(ctx, NULL);
  } else {
    actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(counts), actl_int(left - 1)));
  }
  return ACTL_OK;
}

static const actl_behavior breeder = {.name = "breeder", .receive = breeder_receive};

static void children_born_elsewhere_just_before_the_end_end_too(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    atomic_uint counts[1] = {0};
    struct host host;
    host_open(&host, workers, 3);
    for (uint32_t i = 0; i < 30; i++) {
      actl_pid pid = host_spawn(&host, i % 3, &breeder, NULL, 0);
      host_send(&host, pid, ACTL_VALUES(pointer(counts), actl_int(i % 4)));
      if (i % 5 == 0) {
        actl_pid by = host_spawn(&host, (i + 1) % 3, &ender, NULL, 0);
        host_send(&host, by, ACTL_VALUES(actl_who(pid), actl_int(i % 3)));
      }
    }
    host_run(&host);
    assert_int_equal(host.stats.spawned, 30 + 6 + atomic_load(&counts[0]));
    assert_int_equal(host.stats.alive, 6); /* who ended some of them */
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_stop_in_order_lets_what_came_before_be_handled),
      WATCHED(a_stop_now_goes_ahead_of_the_queue),
      WATCHED(a_kill_skips_the_queue_and_the_stop_hook),
      WATCHED(what_is_queued_at_a_stop_now_becomes_dead_letters),
      WATCHED(an_actor_ends_itself_when_its_handler_has_returned),
      WATCHED(an_exit_in_init_is_an_ordinary_stop),
      WATCHED(children_stop_before_their_parent_the_last_born_first),
      WATCHED(children_in_other_vats_stop_before_their_parent),
      WATCHED(children_in_other_vats_stop_the_last_born_first),
      WATCHED(a_deep_line_of_actors_stops_from_its_end),
      WATCHED(a_wide_family_stops),
      WATCHED(children_that_ended_before_leave_no_trace),
      WATCHED(a_stop_hook_may_send_and_may_not_spawn),
      WATCHED(a_stopping_parent_handles_nothing_that_its_children_send),
      WATCHED(stopping_something_dead_is_no_error),
      WATCHED(children_born_elsewhere_just_before_the_end_end_too),
  };
  return seeds_main(tests);
}
