/*
 * test_trace.c - the host is told what happens: each thing once, in an order that the run had, and
 * without changing it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/puppet.h"
#include "engine/story.h"
#include "support/alloc.h"
#include "support/race.h"

/* ---- One story, near and far ---- */

enum { GO = 1, HELLO, QUESTION, TICK, LATE, ANSWER = 33 };

struct tale { /* what its hero is told */
  uint32_t vat;
  actl_pid other;
};

static actl_status other_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  if (actl_msg_int(msg, 0, 0) != QUESTION) return ACTL_OK;
  return actl_reply(ctx, ACTL_VALUES(actl_int(ANSWER)));
}

static const actl_behavior other_behavior = {.name = "other", .receive = other_receive};

static actl_status hero_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct tale **place = state;
  if (actl_msg_int(msg, 0, 0) == GO) {
    struct tale *tale = *place = pointer_in(msg, 1);
    actl_ask_id ask;
    actl_spawn_on(ctx, tale->vat, &other_behavior, NULL, 0, &tale->other);
    actl_send(ctx, tale->other, ACTL_VALUES(actl_int(HELLO)));
    actl_ask(ctx, tale->other, ACTL_VALUES(actl_int(QUESTION)), &ask);
    return ACTL_OK;
  }
  actl_stop(ctx, (*place)->other);
  actl_send(ctx, (*place)->other, ACTL_VALUES(actl_int(LATE)));
  actl_exit(ctx, "all is told");
  return ACTL_OK;
}

static actl_status hero_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                              const actl_msg *msg) {
  (void)state, (void)ask, (void)status, (void)msg;
  return actl_after(ctx, 1, ACTL_VALUES(actl_int(TICK)), NULL);
}

static const actl_behavior hero_behavior = {
    .name = "hero", .state_size = sizeof(void *), .receive = hero_receive, .reply = hero_reply};

struct expected {
  actl_event_kind kind;
  int64_t first; /* -1: no message */
};

/* What the actor does, in its order, beside being born; and that it happens in `vat`. A message that comes
 * too late may do so before its end or after. */
static void assert_does(const struct story *story, actl_pid actor, uint32_t vat,
                        const struct expected *expected, size_t n) {
  size_t i = 0;
  for (size_t k = 0; k < story->n_told; k++) {
    const struct told *told = &story->told[k];
    if (told->actor.bits != actor.bits || told->kind == ACTL_EVENT_SPAWN) continue;
    if (i == n) {
      assert_true(told->kind == ACTL_EVENT_LETTER || told->kind == ACTL_EVENT_EXIT);
      continue;
    }
    assert_int_equal(told->kind, expected[i].kind);
    assert_int_equal(told->first, expected[i].first);
    assert_int_equal(told->vat, vat);
    i++;
  }
  assert_int_equal(i, n);
}

static const struct told *find(const struct story *story, actl_event_kind kind, actl_pid actor) {
  for (size_t k = 0; k < story->n_told; k++)
    if (story->told[k].kind == kind && story->told[k].actor.bits == actor.bits)
      return &story->told[k];
  fail_msg("no %s of that actor", actl_event_name(kind));
  return NULL;
}

static void check_tale(const struct story *story, actl_pid hero, const struct tale *tale) {
  static const struct expected of_hero[] = {
      {ACTL_EVENT_RECEIVE, GO}, {ACTL_EVENT_SEND, HELLO}, {ACTL_EVENT_ASK, QUESTION},
      {ACTL_EVENT_HANDLED, -1}, {ACTL_EVENT_RESUME, -1},  {ACTL_EVENT_HANDLED, -1},
      {ACTL_EVENT_TIMER, TICK}, {ACTL_EVENT_STOP, -1},    {ACTL_EVENT_SEND, LATE},
      {ACTL_EVENT_HANDLED, -1}, {ACTL_EVENT_STOP, -1},    {ACTL_EVENT_EXIT, -1}};
  static const struct expected of_other[] = {{ACTL_EVENT_RECEIVE, HELLO},
                                             {ACTL_EVENT_HANDLED, -1},
                                             {ACTL_EVENT_RECEIVE, QUESTION},
                                             {ACTL_EVENT_REPLY, ANSWER},
                                             {ACTL_EVENT_HANDLED, -1}};
  assert_does(story, hero, 0, of_hero, sizeof of_hero / sizeof of_hero[0]);
  assert_does(story, tale->other, tale->vat, of_other, sizeof of_other / sizeof of_other[0]);

  const struct told *born = find(story, ACTL_EVENT_SPAWN, tale->other);
  assert_true(strncmp(born->text, "other <", 7) == 0 && actl_pid_equal(born->peer, hero));
  assert_int_equal(born->vat, 0);
  assert_true(actl_pid_equal(find(story, ACTL_EVENT_SEND, hero)->peer, tale->other));
  assert_true(actl_pid_equal(find(story, ACTL_EVENT_REPLY, tale->other)->peer, hero));
  assert_true(actl_pid_equal(find(story, ACTL_EVENT_RESUME, hero)->peer, tale->other));
  assert_true(actl_pid_equal(find(story, ACTL_EVENT_STOP, hero)->peer, tale->other));
  actl_status why = find(story, ACTL_EVENT_LETTER, tale->other)->status;
  assert_true(why == ACTL_STOPPED || why == ACTL_NO_ACTOR);
  (void)find(story, ACTL_EVENT_EXIT, tale->other);
  assert_string_equal(find(story, ACTL_EVENT_EXIT, hero)->text, "all is told");
  assert_int_equal(find(story, ACTL_EVENT_SPAWN, hero)->vat, ACTL_VAT_ANY);
  assert_int_equal(find(story, ACTL_EVENT_SEND, (actl_pid){0})->vat, ACTL_VAT_ANY);
}

/* The plain order, in which alone the tale is told. */
static uint32_t choose_plain(void *ud, actl_choice choice, uint32_t n, uint32_t drawn) {
  (void)ud, (void)choice, (void)n, (void)drawn;
  return 0;
}

static void tell_tale(uint32_t workers, uint32_t vat, bool is_seeded) {
  struct story story;
  story_init(&story, true);
  struct host host;
  actl_config config = {.workers = workers, .vats = 2, .trace = story_tell, .trace_ud = &story};
  config.is_seeded = is_seeded;
  config.choose = choose_plain;
  host_open_with(&host, &config);
  struct tale tale = {.vat = vat};
  actl_pid hero = host_spawn(&host, 0, &hero_behavior, NULL, 0);
  host_send(&host, hero, ACTL_VALUES(actl_int(GO), pointer(&tale)));
  host_run(&host);
  story_check(&story, &host.stats, true);
  check_tale(&story, hero, &tale);
  host_close(&host);
  story_fini(&story);
}

static void each_thing_is_told_once_and_in_its_order(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    tell_tale(1, vat, false);
    tell_tale(2, vat, false);
    tell_tale(1, vat, true);
  }
}

/* ---- Waits ---- */

/* The letters of what a puppet does, in its order. */
static void spell(const struct story *story, actl_pid actor, char *out, size_t size) {
  static const char letters[ACTL_EVENT_KINDS + 1] = "psartdywgkeLc";
  size_t n = 0;
  for (size_t k = 0; k < story->n_told && n + 1 < size; k++)
    if (story->told[k].actor.bits == actor.bits) out[n++] = letters[story->told[k].kind];
  out[n] = '\0';
}

static void a_handler_that_waits_is_told_of(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct story story;
    story_init(&story, true);
    const actl_config config = {.trace = story_tell, .trace_ud = &story};
    struct stage *stage = stage_open_with(1, &config);
    actl_pid one = stage_enter(stage, 0, 0), two = stage_enter(stage, 1, vat);
    stage_ask(stage, one, actl_int(WAIT), actl_who(two), actl_int(2));
    stage_ask(stage, two, actl_int(GIVE_WAY), actl_int(1));
    stage_ask(stage, one, actl_int(SLEEP), actl_int(2), actl_int(1));
    host_run(&stage->host);
    assert_int_equal(stage->answers.ok, 3);
    char text[100];
    spell(&story, one, text, sizeof text);
    /* Born; asks twice and waits; answers; then sleeps. */
    assert_string_equal(text, "prawgawgydrwgyd");
    const struct told *wait = find(&story, ACTL_EVENT_WAIT, one);
    assert_true(actl_pid_equal(wait->peer, two));
    assert_int_equal(story.n[ACTL_EVENT_WAIT], 4);
    story_check(&story, &stage->host.stats, true);
    stage_close(stage);
    story_fini(&story);
  }
}

static void what_never_goes_on_is_told_as_an_end(void **state) {
  (void)state;
  struct story story;
  story_init(&story, true);
  const actl_config config = {.trace = story_tell, .trace_ud = &story};
  struct stage *stage = stage_open_with(1, &config);
  actl_pid one = stage_enter(stage, 0, 0);
  stage_ask(stage, one, actl_int(SLEEP), actl_int(60000), actl_int(1), actl_who(stage->ender),
            actl_int(2));
  host_run(&stage->host);
  char text[100];
  spell(&story, one, text, sizeof text);
  assert_string_equal(text, "prswLye");
  assert_int_equal(find(&story, ACTL_EVENT_EXIT, one)->status, ACTL_KILLED);
  assert_int_equal(find(&story, ACTL_EVENT_REPLY, one)->status, ACTL_STOPPED);
  story_check(&story, &stage->host.stats, true);
  stage_close(stage);
  story_fini(&story);
}

/* ---- Ends ---- */

static actl_status fail_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  return actl_fail(ctx, "no such luck");
}

static actl_status fail_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  return actl_fail(ctx, "it broke");
}

static const actl_behavior stillborn = {
    .name = "stillborn", .init = fail_init, .receive = fail_receive};
static const actl_behavior breaker = {.name = "breaker", .receive = fail_receive};

static void an_end_says_why(void **state) {
  (void)state;
  struct story story;
  story_init(&story, true);
  struct host host;
  const actl_config config = {.workers = 1, .trace = story_tell, .trace_ud = &story};
  host_open_with(&host, &config);
  actl_pid first = host_spawn(&host, 0, &stillborn, NULL, 0);
  actl_pid second = host_spawn(&host, 0, &breaker, NULL, 0);
  actl_pid third = host_spawn(&host, 0, &breaker, NULL, 0);
  host_send(&host, first, NULL, 0);
  host_send(&host, second, NULL, 0);
  host_run(&host);
  actl_engine_shutdown(host.engine);
  host_run(&host);
  const struct told *end = find(&story, ACTL_EVENT_EXIT, first);
  assert_int_equal(end->status, ACTL_INIT);
  assert_string_equal(end->text, "no such luck");
  end = find(&story, ACTL_EVENT_EXIT, second);
  assert_int_equal(end->status, ACTL_FAILED);
  assert_string_equal(end->text, "it broke");
  assert_int_equal(find(&story, ACTL_EVENT_EXIT, third)->status, ACTL_SHUTDOWN);
  story_check(&story, &host.stats, true);
  host_close(&host);
  story_fini(&story);
}

/* ---- Values ---- */

struct reading { /* what the callback read */
  unsigned n, wrong;
  actl_name name;
  char text[3000];
};

static void read_event(void *ud, const actl_event *event) {
  struct reading *reading = ud;
  if (event->msg == NULL) return;
  reading->n++;
  actl_value text = actl_msg_value(event->msg, 1), name = actl_msg_value(event->msg, 0);
  bool is = actl_msg_count(event->msg) == 9 && name.type == ACTL_NAME &&
            name.as.name.id == reading->name.id && text.type == ACTL_STRING &&
            text.size == sizeof reading->text &&
            memcmp(text.as.bytes, reading->text, text.size) == 0 &&
            actl_msg_int(event->msg, 8, 0) == 8;
  if (!is) reading->wrong++;
}

static actl_status pass_on(actl_ctx *ctx, void *state, const actl_msg *msg) {
  actl_pid *to = state, given = actl_msg_pid(msg, 2);
  if (given.bits == 0) return ACTL_OK;
  *to = given;
  actl_value values[9];
  for (size_t i = 0; i < 9; i++) values[i] = actl_msg_value(msg, i);
  values[2] = actl_nil();
  actl_send(ctx, *to, values, 9);
  return actl_after(ctx, 0, values, 9, NULL);
}

static const actl_behavior passer = {
    .name = "passer", .state_size = sizeof(actl_pid), .receive = pass_on};

static void values_can_be_read_wherever_a_message_is_told(void **state) {
  (void)state;
  for (uint32_t vat = 0; vat < 2; vat++) {
    struct reading reading = {0};
    memset(reading.text, 'x', sizeof reading.text);
    struct host host;
    const actl_config config = {.workers = 1, .vats = 2, .trace = read_event, .trace_ud = &reading};
    host_open_with(&host, &config);
    assert_int_equal(actl_name_intern(host.engine, "pass", 4, &reading.name), ACTL_OK);
    actl_pid one = host_spawn(&host, 0, &passer, NULL, 0);
    actl_pid two = host_spawn(&host, vat, &passer, NULL, 0);
    actl_value values[9];
    for (int i = 0; i < 9; i++) values[i] = actl_int(i);
    values[0] = actl_named(reading.name);
    values[1] = actl_bytes(reading.text, sizeof reading.text);
    values[2] = actl_who(two);
    host_send(&host, one, values, 9);
    host_send(&host, (actl_pid){one.bits + 1000}, values, 9);
    host_run(&host);
    /* Twice sent and begun, a timer, and a letter with its send. */
    assert_int_equal(reading.n, 7);
    assert_int_equal(reading.wrong, 0);
    host_close(&host);
  }
}

/* ---- Chatter ---- */

enum { TALKERS = 12, HOSTS = 2 };

struct crowd {
  actl_pid pids[TALKERS];
  atomic_uint next_id;
  uint64_t hash; /* with one worker: of who handled what, in order */
  actl_engine *engine;
  unsigned failed; /* of what the host's threads sent; each adds at its end */
};

struct talker {
  struct crowd *crowd;
  int64_t index;
  uint64_t random;
};

static actl_status talker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct talker *talker = state;
  talker->crowd = pointer_in(args, 0);
  talker->index = actl_msg_int(args, 1, 0);
  talker->random = (uint64_t)talker->index * 77 + 1;
  return ACTL_OK;
}

static int64_t new_id(struct crowd *crowd) { return tick(&crowd->next_id); }

static void talk(actl_ctx *ctx, struct talker *talker, int64_t left) {
  struct crowd *crowd = talker->crowd;
  uint64_t draw = random_next(&talker->random);
  actl_pid to = crowd->pids[draw % TALKERS];
  actl_ask_id ask;
  const actl_value values[] = {actl_int(new_id(crowd)), actl_int(left - 1)};
  if (draw >> 8 & 1) {
    actl_ask(ctx, to, values, 2, &ask);
  } else if (draw >> 9 & 1) {
    actl_send(ctx, to, values, 2);
  } else {
    actl_after(ctx, draw >> 10 & 1, values, 2, NULL);
  }
}

/* (id, rounds left) */
static actl_status talker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct talker *talker = state;
  int64_t id = actl_msg_int(msg, 0, 0), left = actl_msg_int(msg, 1, 0);
  uint64_t *hash = &talker->crowd->hash;
  if (talker->crowd->engine == NULL) *hash = (*hash ^ (uint64_t)(id * 100 + talker->index)) * 31;
  if (left <= 0) return id % 7 == 0 ? ACTL_UNHANDLED : ACTL_OK;
  talk(ctx, talker, left);
  if (id % 11 == 0) talk(ctx, talker, left / 2);
  if (id % (talker->crowd->engine == NULL ? 50 : 2000) == 49) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static const actl_behavior talker_behavior = {.name = "talker",
                                              .state_size = sizeof(struct talker),
                                              .init = talker_init,
                                              .receive = talker_receive};

static void gather(struct host *host, struct crowd *crowd, int64_t rounds) {
  for (int i = 0; i < TALKERS; i++)
    crowd->pids[i] = host_spawn(host, (uint32_t)i % 4, &talker_behavior,
                                ACTL_VALUES(pointer(crowd), actl_int(i)));
  for (int i = 0; i < TALKERS; i++)
    host_send(host, crowd->pids[i], ACTL_VALUES(actl_int(new_id(crowd)), actl_int(rounds)));
}

/* Each id was sent once, and after that begun once, or set as a timer and begun, or is a letter. */
static void check_ids(const struct story *story, unsigned n_ids) {
  struct life {
    bool is_sent, is_taken;
  } *lives = calloc(n_ids, sizeof *lives);
  assert_non_null(lives);
  unsigned wrong = 0;
  for (size_t k = 0; k < story->n_told; k++) {
    const struct told *told = &story->told[k];
    if (!told->has_msg || told->kind == ACTL_EVENT_REPLY) continue;
    struct life *life = &lives[told->first];
    bool is_send = told->kind == ACTL_EVENT_SEND || told->kind == ACTL_EVENT_ASK;
    bool is_begun = told->kind == ACTL_EVENT_RECEIVE || told->kind == ACTL_EVENT_TIMER;
    if (is_send && life->is_sent) wrong++;
    if (told->kind == ACTL_EVENT_RECEIVE && !life->is_sent) wrong++;
    if (is_begun && life->is_taken) wrong++;
    if (is_send) life->is_sent = true;
    if (is_begun || told->kind == ACTL_EVENT_LETTER) life->is_taken = true;
  }
  for (unsigned i = 0; i < n_ids; i++)
    if (lives[i].is_sent && !lives[i].is_taken) wrong++;
  free(lives);
  assert_int_equal(wrong, 0);
}

static void chatter_in(void *arg) {
  struct crowd *crowd = arg;
  unsigned failed = 0;
  for (int i = 0; i < SCALED(2000); i++) {
    actl_pid to = crowd->pids[(unsigned)i % TALKERS];
    const actl_value values[] = {actl_int(new_id(crowd)), actl_int(i % 10 == 0 ? 3 : 0)};
    actl_status status = i % 3 != 0 ? actl_engine_send(crowd->engine, to, values, 2)
                                    : actl_engine_ask(crowd->engine, to, values, 2, 20000, NULL);
    bool is_well = status == ACTL_OK || status == ACTL_NO_ACTOR || status == ACTL_STOPPED ||
                   status == ACTL_UNHANDLED;
    if (!is_well) failed++;
  }
  __atomic_fetch_add(&crowd->failed, failed, __ATOMIC_RELAXED);
}

static void what_threads_send_is_told_before_it_is_received(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    struct story story;
    story_init(&story, true);
    struct host host;
    const actl_config config = {
        .workers = workers, .vats = 4, .trace = story_tell, .trace_ud = &story};
    host_open_with(&host, &config);
    struct crowd crowd = {.engine = host.engine};
    gather(&host, &crowd, SCALED(500));
    assert_int_equal(actl_engine_start(host.engine), ACTL_OK);
    struct test_racer racers[HOSTS] = {{chatter_in, &crowd}, {chatter_in, &crowd}};
    test_race(racers, HOSTS);
    assert_int_equal(actl_engine_wait(host.engine, 60000), ACTL_OK);
    assert_int_equal(actl_engine_stop(host.engine), ACTL_OK);
    host_run(&host);
    assert_int_equal(crowd.failed, 0);
    assert_true(story.n[ACTL_EVENT_RECEIVE] > SCALED(2000));
    story_check(&story, &host.stats, true);
    check_ids(&story, crowd.next_id);
    host_close(&host);
    story_fini(&story);
  }
}

/* ---- With a seed ---- */

struct outcome {
  actl_stats stats;
  uint64_t hash;
};

static struct outcome run_seed(uint64_t seed, bool scatters, struct story *story) {
  struct host host;
  const actl_config config = {.vats = 4,
                              .is_seeded = true,
                              .seed = seed,
                              .scatters = scatters,
                              .trace = story != NULL ? story_tell : NULL,
                              .trace_ud = story};
  host_open_with(&host, &config);
  struct crowd crowd = {0};
  gather(&host, &crowd, 20);
  host_run(&host);
  if (story != NULL) {
    story_check(story, &host.stats, true);
    check_ids(story, crowd.next_id);
  }
  actl_engine_shutdown(host.engine);
  host_run(&host);
  struct outcome outcome = {host.stats, crowd.hash};
  host_close(&host);
  return outcome;
}

static void a_trace_does_not_change_the_run_of_a_seed(void **state) {
  (void)state;
  uint64_t first = 0;
  bool differs = false;
  for (uint64_t seed = 1; seed <= SCALED(200); seed++) {
    struct story story;
    story_init(&story, true);
    struct outcome told = run_seed(seed, seed % 2, &story);
    struct outcome untold = run_seed(seed, seed % 2, NULL);
    if (told.hash != untold.hash) print_error("seed %u\n", (unsigned)seed);
    assert_true(told.hash == untold.hash);
    assert_memory_equal(&told.stats, &untold.stats, sizeof told.stats);
    assert_true(told.stats.messages > TALKERS);
    if (seed == 1) first = told.hash;
    differs |= told.hash != first;
    story_fini(&story);
  }
  assert_true(differs);
}

static void without_a_trace_nobody_is_told(void **state) {
  (void)state;
  struct story story;
  story_init(&story, true);
  struct host host;
  const actl_config config = {.workers = 2, .vats = 4, .trace_ud = &story};
  host_open_with(&host, &config);
  struct crowd crowd = {.engine = host.engine};
  gather(&host, &crowd, 100);
  host_run(&host);
  assert_true(host.stats.messages > TALKERS);
  assert_int_equal(story.n_told, 0);
  host_close(&host);
  story_fini(&story);
}

/* ---- Memory that runs out ---- */

static void a_story_is_true_however_little_memory_there_is(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  for (size_t n = 1;; n++) {
    struct story story;
    story_init(&story, false);
    const actl_config config = {.vats = 2,
                                .is_seeded = true,
                                .alloc = test_alloc,
                                .alloc_ud = &alloc,
                                .trace = story_tell,
                                .trace_ud = &story};
    test_alloc_fail_from(&alloc, n);
    actl_engine *engine;
    actl_stats stats = {0};
    if (actl_engine_new(&engine, &config) == ACTL_OK) {
      struct tale tale = {.vat = (uint32_t)n % 2};
      actl_pid hero = {0};
      if (actl_engine_spawn(engine, 0, &hero_behavior, NULL, 0, &hero) == ACTL_OK)
        actl_engine_send(engine, hero, ACTL_VALUES(actl_int(GO), pointer(&tale)));
      actl_engine_run(engine);
      actl_engine_shutdown(engine);
      actl_engine_run(engine);
      actl_engine_stats(engine, &stats);
      actl_engine_free(engine);
    }
    bool did_fail = test_alloc_heal(&alloc);
    story_check(&story, &stats, true);
    assert_true(test_alloc_is_clean(&alloc));
    story_fini(&story);
    if (!did_fail) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(each_thing_is_told_once_and_in_its_order),
      WATCHED(a_handler_that_waits_is_told_of),
      WATCHED(what_never_goes_on_is_told_as_an_end),
      WATCHED(an_end_says_why),
      WATCHED(values_can_be_read_wherever_a_message_is_told),
      WATCHED(what_threads_send_is_told_before_it_is_received),
      WATCHED(a_trace_does_not_change_the_run_of_a_seed),
      WATCHED(without_a_trace_nobody_is_told),
      WATCHED(a_story_is_true_however_little_memory_there_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
