/*
 * test_outside.c - asks and sends of a host's own threads: each ask comes back, with its answer or
 * with the reason why there is none.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <sched.h>

#include "support/alloc.h"

enum { THREADS = 8, KEPT_MAX = 64, BIG = 100000 };

static char big[BIG];

/* ---- An actor that does as it is told ---- */

enum how {
  ECHO,      /* answers with all the values that come after */
  DOUBLE,    /* (n): answers with twice it */
  NOTHING,   /* answers by returning */
  COUNT,     /* (thread, n): is that thread's number n; answers with how many were out of order */
  KEEP,      /* (n): answered with twice it when RELEASE comes */
  RELEASE,   /* answers what is kept, and with how many that were */
  FAIL_KEPT, /* fails what is kept with ACTL_FULL */
  HOW_MANY,  /* answers with how many are kept */
  SENDER,    /* answers with the sender */
  UNHANDLED,
  FAIL,
  LEAVE,
  PLAY, /* sends itself this again, until it is told END */
  END,
  PASS_ON, /* (pid): tells the pid RELEASE */
  KNOCK    /* (pid): sends to it, asks it, stops and kills it; answers with how many succeeded */
};

struct server {
  actl_request kept[KEPT_MAX];
  int64_t kept_value[KEPT_MAX];
  int n_kept;
  int64_t next[THREADS], n_misplaced;
  bool is_over;
};

static int64_t release(actl_ctx *ctx, struct server *server, bool fails) {
  int64_t n = server->n_kept;
  for (int i = 0; i < n; i++) {
    actl_status status = fails
                             ? actl_request_fail(ctx, server->kept[i], ACTL_FULL)
                             : actl_request_reply(ctx, server->kept[i],
                                                  ACTL_VALUES(actl_int(server->kept_value[i] * 2)));
    if (status != ACTL_OK) return -1;
  }
  server->n_kept = 0;
  return n;
}

static actl_status keep(actl_ctx *ctx, struct server *server, int64_t value) {
  if (server->n_kept == KEPT_MAX) return ACTL_UNHANDLED;
  server->kept_value[server->n_kept] = value;
  return actl_later(ctx, &server->kept[server->n_kept++]);
}

static void echo(actl_ctx *ctx, const actl_msg *msg) {
  actl_value values[ACTL_VALUES_MAX];
  size_t n = actl_msg_count(msg) - 1;
  for (size_t i = 0; i < n; i++) values[i] = actl_msg_value(msg, i + 1);
  actl_reply(ctx, values, n); /* when that fails, the handler's end answers */
}

static int64_t knock(actl_ctx *ctx, actl_pid pid) {
  int64_t n = 0;
  actl_ask_id ask;
  n += actl_send(ctx, pid, ACTL_VALUES(actl_bytes(big, BIG))) == ACTL_OK;
  n += actl_ask(ctx, pid, ACTL_VALUES(actl_int(1)), &ask) == ACTL_OK;
  n += actl_stop(ctx, pid) == ACTL_OK;
  n += actl_stop_now(ctx, pid) == ACTL_OK;
  n += actl_kill(ctx, pid) == ACTL_OK;
  return n;
}

static void count(struct server *server, int64_t thread, int64_t n) {
  if (server->next[thread]++ != n) server->n_misplaced++;
}

static actl_status answer(actl_ctx *ctx, int64_t n) {
  return actl_reply(ctx, ACTL_VALUES(actl_int(n)));
}

static actl_status server_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct server *server = state;
  int64_t value = actl_msg_int(msg, 1, 0);
  switch (actl_msg_int(msg, 0, -1)) {
  case ECHO: echo(ctx, msg); return ACTL_OK;
  case DOUBLE: return answer(ctx, value * 2);
  case COUNT:
    count(server, value, actl_msg_int(msg, 2, -1));
    answer(ctx, server->n_misplaced); /* or it is no ask */
    return ACTL_OK;
  case KEEP: return keep(ctx, server, value);
  case RELEASE: answer(ctx, release(ctx, server, false)); return ACTL_OK;
  case FAIL_KEPT: return answer(ctx, release(ctx, server, true));
  case HOW_MANY: return answer(ctx, server->n_kept);
  case SENDER: return actl_reply(ctx, ACTL_VALUES(actl_who(actl_sender(ctx))));
  case UNHANDLED: return ACTL_UNHANDLED;
  case FAIL: return actl_fail(ctx, "as it was told");
  case LEAVE: actl_exit(ctx, NULL); return ACTL_OK;
  case END: server->is_over = true; return ACTL_OK;
  case PLAY:
    return server->is_over ? ACTL_OK : actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(PLAY)));
  case PASS_ON: return actl_send(ctx, actl_msg_pid(msg, 1), ACTL_VALUES(actl_int(RELEASE)));
  case KNOCK: return answer(ctx, knock(ctx, actl_msg_pid(msg, 1)));
  default: return ACTL_OK;
  }
}

static const actl_behavior server = {
    .name = "server", .state_size = sizeof(struct server), .receive = server_receive};

static actl_status refuses(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state, (void)args;
  return actl_fail(ctx, "not today");
}

static const actl_behavior unborn = {.name = "unborn", .init = refuses, .receive = server_receive};

/* ---- An engine that another thread runs ---- */

struct site {
  struct host host;
  pthread_t runner;
  atomic_bool is_over; /* the runner ends when it is quiet */
  actl_pid server;     /* in vat 0 */
};

/* Again and again: it is often quiet, and then at once at work. */
static void *run_on(void *arg) {
  struct site *site = arg;
  while (!atomic_load_explicit(&site->is_over, memory_order_acquire))
    actl_engine_run(site->host.engine);
  return NULL;
}

static void site_run(struct site *site) {
  atomic_store(&site->is_over, false);
  if (pthread_create(&site->runner, NULL, run_on, site) != 0) abort();
}

static void site_open(struct site *site, uint32_t workers) {
  memset(site, 0, sizeof *site);
  host_open(&site->host, workers, 3);
  site->server = host_spawn(&site->host, 0, &server, NULL, 0);
  site_run(site);
}

/* The stats are in site->host.stats then. */
static void site_rest(struct site *site) {
  atomic_store_explicit(&site->is_over, true, memory_order_release);
  pthread_join(site->runner, NULL);
  host_run(&site->host);
}

static void site_close(struct site *site) {
  site_rest(site);
  host_close(&site->host);
}

static actl_status ask(struct site *site, actl_pid pid, actl_msg **out, uint64_t ms,
                       const actl_value *values, size_t n) {
  return actl_engine_ask(site->host.engine, pid, values, n, ms, out);
}

/* Asks for a number; what it fails with is negative. Any thread. */
static int64_t ask_number(struct site *site, actl_pid pid, int64_t how, int64_t value) {
  actl_msg *msg = NULL;
  actl_status status =
      ask(site, pid, &msg, ACTL_FOREVER, ACTL_VALUES(actl_int(how), actl_int(value)));
  if (status != ACTL_OK) return status;
  int64_t n = actl_msg_int(msg, 0, INT64_MIN);
  actl_msg_free(site->host.engine, msg);
  return n;
}

/* That an ask fails so, and leaves `out` alone. */
static void check_fails_within(struct site *site, actl_pid pid, int64_t how, uint64_t ms,
                               actl_status why) {
  actl_msg *msg = (actl_msg *)(void *)big;
  assert_int_equal(ask(site, pid, &msg, ms, ACTL_VALUES(actl_int(how))), why);
  assert_ptr_equal(msg, big);
  assert_int_equal(ask(site, pid, NULL, ms, ACTL_VALUES(actl_int(how))), why);
}

static void check_fails(struct site *site, actl_pid pid, int64_t how, actl_status why) {
  check_fails_within(site, pid, how, ACTL_FOREVER, why);
}

typedef void site_test(struct site *site);

static void on_sites(site_test *test) {
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct site site;
    site_open(&site, workers);
    test(&site);
    site_close(&site);
  }
}

static actl_pid spawn(struct site *site, uint32_t vat) {
  return host_spawn(&site->host, vat, &server, NULL, 0);
}

/* ---- Answers ---- */

static bool is_same(const actl_value *a, const actl_value *b) {
  if (a->type != b->type) return false;
  if (a->type != ACTL_STRING && a->type != ACTL_TABLE) return a->as.bits == b->as.bits;
  return a->size == b->size && memcmp(a->as.bytes, b->as.bytes, a->size) == 0;
}

static void check_echo(struct site *site, const actl_value *values, size_t n) {
  static actl_value all[ACTL_VALUES_MAX];
  all[0] = actl_int(ECHO);
  memcpy(&all[1], values, n * sizeof *values);
  actl_msg *msg = NULL;
  assert_int_equal(ask(site, site->server, &msg, 0, all, n + 1), ACTL_OK);
  assert_non_null(msg);
  assert_int_equal(actl_msg_count(msg), n);
  for (size_t i = 0; i < n; i++) {
    actl_value v = actl_msg_value(msg, i);
    assert_true(is_same(&v, &values[i]));
  }
  actl_msg_free(site->host.engine, msg);
  assert_int_equal(ask(site, site->server, NULL, 0, all, n + 1), ACTL_OK);
}

static void answers_of_every_kind(struct site *site) {
  memset(big, 'b', sizeof big);
  actl_name name;
  assert_int_equal(actl_name_intern(site->host.engine, "a name", 6, &name), ACTL_OK);
  actl_value table = actl_bytes(big, 5000);
  table.type = ACTL_TABLE;
  const actl_value values[] = {actl_nil(),
                               actl_bool(false),
                               actl_bool(true),
                               actl_int(INT64_MIN),
                               actl_float(-0.25),
                               actl_who(site->server),
                               actl_named(name),
                               actl_bytes("", 0),
                               actl_bytes("a\0b", 3),
                               actl_bytes(big, 23),
                               actl_bytes(big, 300),
                               actl_bytes(big, BIG),
                               table};
  size_t n = sizeof values / sizeof values[0];
  for (size_t i = 0; i < n; i++) check_echo(site, &values[i], 1);
  for (size_t i = 0; i <= n; i++) check_echo(site, values, i);
  actl_value many[ACTL_VALUES_MAX - 1];
  for (size_t i = 0; i < ACTL_VALUES_MAX - 1; i++) many[i] = actl_int((int64_t)i);
  check_echo(site, many, ACTL_VALUES_MAX - 1);

  actl_msg *msg = NULL;
  assert_int_equal(ask(site, site->server, &msg, 0, ACTL_VALUES(actl_int(NOTHING))), ACTL_OK);
  assert_int_equal(actl_msg_count(msg), 0);
  actl_msg_free(site->host.engine, msg);
  actl_msg_free(site->host.engine, NULL);
}

static void an_answer_has_values_of_every_kind(void **state) {
  (void)state;
  on_sites(answers_of_every_kind);
}

static void sender_of_an_ask(struct site *site) {
  actl_msg *msg = NULL;
  assert_int_equal(ask(site, site->server, &msg, 0, ACTL_VALUES(actl_int(SENDER))), ACTL_OK);
  actl_value who = actl_msg_value(msg, 0);
  assert_int_equal(who.type, ACTL_PID);
  assert_int_equal(who.as.pid.bits, 0);
  actl_msg_free(site->host.engine, msg);
}

static void nobody_is_the_sender_of_an_ask_from_outside(void **state) {
  (void)state;
  on_sites(sender_of_an_ask);
}

static void many_asks(struct site *site) {
  for (int64_t i = 0; i < SCALED(20000); i++)
    assert_int_equal(ask_number(site, site->server, DOUBLE, i), 2 * i);
  site_rest(site);
  assert_int_equal(site->host.stats.messages, SCALED(20000));
  assert_int_equal(site->host.stats.far_messages, SCALED(20000));
  assert_int_equal(site->host.stats.late_replies, 0);
  site_run(site);
}

static void one_ask_after_the_other_gets_its_own_answer(void **state) {
  (void)state;
  on_sites(many_asks);
}

/* ---- Failures ---- */

static void failures(struct site *site) {
  actl_engine *engine = site->host.engine;
  static actl_value many[ACTL_VALUES_MAX + 1];
  static const actl_value strange = {.type = 77};
  actl_msg *msg = (actl_msg *)(void *)big;
  assert_int_equal(actl_engine_ask(engine, site->server, many, ACTL_VALUES_MAX + 1, 0, &msg),
                   ACTL_INVALID);
  assert_int_equal(actl_engine_ask(engine, site->server, &strange, 1, 0, &msg), ACTL_ENCODING);
  assert_ptr_equal(msg, big);
  check_fails(site, (actl_pid){0}, DOUBLE, ACTL_INVALID);
  check_fails(site, (actl_pid){12345}, DOUBLE, ACTL_INVALID);

  check_fails(site, site->server, UNHANDLED, ACTL_UNHANDLED);
  actl_pid leaver = spawn(site, 1);
  assert_int_equal(ask_number(site, leaver, LEAVE, 0), INT64_MIN); /* answered by returning */
  check_fails(site, leaver, DOUBLE, ACTL_NO_ACTOR);
  actl_pid failing = spawn(site, 2);
  assert_int_equal(ask_number(site, failing, FAIL, 0), ACTL_FAILED);
  check_fails(site, failing, DOUBLE, ACTL_NO_ACTOR);
  for (uint32_t i = 0; i < 50; i++) {
    actl_pid pid;
    assert_int_equal(actl_engine_spawn(engine, i % 3, &unborn, NULL, 0, &pid), ACTL_OK);
    int64_t status = ask_number(site, pid, DOUBLE, 0);
    assert_true(status == ACTL_INIT || status == ACTL_NO_ACTOR);
  }
  site_rest(site);
  assert_int_equal(site->host.stats.dead_letters[ACTL_LETTER_UNHANDLED], 2);
  assert_int_equal(site->host.stats.dead_letters[ACTL_LETTER_FAILED], 1);
  assert_int_equal(letters_of(&site->host.stats), 4 + 2 + 1 + 50);
  assert_int_equal(site->host.stats.late_replies, 0);
  site_run(site);
}

static void an_ask_that_cannot_be_answered_fails_with_its_reason(void **state) {
  (void)state;
  on_sites(failures);
}

/* Pids of vats that are not there, the last number among them, with and without the rest. */
static actl_pid stranger(const struct site *site, uint64_t vat, bool is_bare) {
  uint64_t vat_bits = (uint64_t)65535 << 22;
  uint64_t rest = is_bare ? (uint64_t)1 << 63 : site->server.bits & ~vat_bits;
  return (actl_pid){rest | vat << 22};
}

static void nowhere(struct site *site) {
  static const uint64_t vats[] = {3, 255, 256, 30000, 65534, 65535};
  enum { VATS = sizeof vats / sizeof vats[0] };
  actl_pid sender = spawn(site, 1);
  uint64_t letters = 0;
  for (int i = 0; i < 2 * VATS; i++) {
    actl_pid pid = stranger(site, vats[i / 2], i % 2 == 1);
    check_fails(site, pid, DOUBLE, ACTL_NO_ACTOR);
    host_send(&site->host, pid, ACTL_VALUES(actl_bytes(big, BIG)));
    actl_msg *msg = NULL;
    assert_int_equal(
        ask(site, sender, &msg, ACTL_FOREVER, ACTL_VALUES(actl_int(KNOCK), actl_who(pid))),
        ACTL_OK);
    assert_int_equal(actl_msg_int(msg, 0, 0), 5);
    actl_msg_free(site->host.engine, msg);
    letters += 2 + 1 + 2;
  }
  site_rest(site);
  assert_int_equal(site->host.stats.dead_letters[ACTL_LETTER_NO_ACTOR], letters);
  assert_int_equal(letters_of(&site->host.stats), letters);
  assert_int_equal(site->host.stats.late_replies, 0);
  assert_int_equal(site->host.stats.alive, 2);
  site_run(site);
  assert_int_equal(ask_number(site, sender, DOUBLE, 4), 8);
}

static void what_is_sent_to_a_pid_of_no_vat_is_a_dead_letter(void **state) {
  (void)state;
  on_sites(nowhere);
}

/* ---- Threads that ask at once ---- */

struct client {
  struct site *site;
  actl_pid shared, own;
  int64_t index, how, rounds, n_wrong, n_asked;
  int64_t result; /* of one ask, or of the last */
  pthread_t thread;
};

static void clients_start(struct client *clients, int n, struct site *site,
                          void *(*body)(void *arg)) {
  for (int i = 0; i < n; i++) {
    clients[i].site = site;
    clients[i].shared = site->server;
    clients[i].index = i;
    if (pthread_create(&clients[i].thread, NULL, body, &clients[i]) != 0) abort();
  }
}

static void clients_join(struct client *clients, int n) {
  for (int i = 0; i < n; i++) pthread_join(clients[i].thread, NULL);
}

static void *ask_both(void *arg) {
  struct client *client = arg;
  actl_engine *engine = client->site->host.engine;
  int64_t next = 0;
  for (int64_t i = 0; i < client->rounds; i++) {
    client->n_wrong += ask_number(client->site, client->own, DOUBLE, i) != 2 * i;
    /* Sends before and after an ask to the same actor keep their order. */
    for (int64_t k = 0; k < i % 4; k++) {
      actl_status status =
          actl_engine_send(engine, client->shared,
                           ACTL_VALUES(actl_int(COUNT), actl_int(client->index), actl_int(next++)));
      client->n_wrong += status != ACTL_OK;
    }
    actl_msg *msg = NULL;
    actl_status status = actl_engine_ask(
        engine, client->shared,
        ACTL_VALUES(actl_int(COUNT), actl_int(client->index), actl_int(next++)), 0, &msg);
    client->n_wrong += status != ACTL_OK || actl_msg_int(msg, 0, -1) != 0;
    actl_msg_free(engine, msg);
  }
  client->n_asked = client->rounds + next;
  return NULL;
}

static void crowd(struct site *site) {
  struct client clients[THREADS] = {{0}};
  uint64_t sent = 0;
  for (uint32_t i = 0; i < THREADS; i++)
    clients[i] = (struct client){.own = spawn(site, i % 3), .rounds = SCALED(3000)};
  clients_start(clients, THREADS, site, ask_both);
  clients_join(clients, THREADS);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(clients[i].n_wrong, 0);
    sent += (uint64_t)clients[i].n_asked;
  }
  site_rest(site);
  assert_int_equal(site->host.stats.messages, sent);
  assert_int_equal(site->host.stats.late_replies, 0);
  site_run(site);
}

static void threads_that_ask_at_once_get_each_its_answers_in_order(void **state) {
  (void)state;
  on_sites(crowd);
}

/* The same while each vat is busy. */
static void busy_crowd(struct site *site) {
  actl_pid players[3];
  for (uint32_t i = 0; i < 3; i++) {
    players[i] = spawn(site, i);
    host_send(&site->host, players[i], ACTL_VALUES(actl_int(PLAY)));
  }
  struct client clients[THREADS] = {{0}};
  for (uint32_t i = 0; i < THREADS; i++)
    clients[i] = (struct client){.own = players[i % 3], .rounds = SCALED(200)};
  clients_start(clients, THREADS, site, ask_both);
  clients_join(clients, THREADS);
  for (int i = 0; i < THREADS; i++) assert_int_equal(clients[i].n_wrong, 0);
  for (int i = 0; i < 3; i++) host_send(&site->host, players[i], ACTL_VALUES(actl_int(END)));
}

static void actors_that_are_busy_answer_too(void **state) {
  (void)state;
  on_sites(busy_crowd);
}

/* ---- Answers that take their time ---- */

static void *ask_once(void *arg) {
  struct client *client = arg;
  client->result = ask_number(client->site, client->shared, client->how, client->index);
  return NULL;
}

/* More threads wait than there are processors to spin on: some of them sleep. */
static void keep_and_release(struct site *site, int64_t how, actl_pid other) {
  struct client clients[THREADS] = {{0}};
  for (int i = 0; i < THREADS; i++) clients[i].how = KEEP;
  clients_start(clients, THREADS, site, ask_once);
  while (ask_number(site, site->server, HOW_MANY, 0) < THREADS) sched_yield();
  if (how == PASS_ON) {
    host_send(&site->host, other, ACTL_VALUES(actl_int(PASS_ON), actl_who(site->server)));
  } else {
    assert_int_equal(ask_number(site, site->server, how, 0), THREADS);
  }
  clients_join(clients, THREADS);
  for (int64_t i = 0; i < THREADS; i++)
    assert_int_equal(clients[i].result, how == FAIL_KEPT ? ACTL_FULL : 2 * i);
}

static void keeping(struct site *site) {
  actl_pid other = spawn(site, 2);
  for (int i = 0; i < 10; i++) {
    keep_and_release(site, RELEASE, other);
    keep_and_release(site, FAIL_KEPT, other);
    keep_and_release(site, PASS_ON, other);
  }
}

static void kept_requests_are_answered_or_failed_later(void **state) {
  (void)state;
  on_sites(keeping);
}

static void dropping(struct site *site) {
  struct client clients[THREADS] = {{0}};
  actl_pid keeper = site->server;
  for (int i = 0; i < THREADS; i++) clients[i].how = KEEP;
  clients_start(clients, THREADS, site, ask_once);
  while (ask_number(site, keeper, HOW_MANY, 0) < THREADS) sched_yield();
  host_send(&site->host, keeper, ACTL_VALUES(actl_int(LEAVE)));
  clients_join(clients, THREADS);
  for (int i = 0; i < THREADS; i++) assert_int_equal(clients[i].result, ACTL_STOPPED);
}

static void a_request_that_its_keeper_drops_fails(void **state) {
  (void)state;
  on_sites(dropping);
}

static void late(struct site *site) {
  enum { ROUNDS = 10 };
  int64_t kept = 0;
  for (int round = 0; round < 3; round++) {
    double start = seconds_now();
    for (int i = 0; i < ROUNDS; i++) check_fails_within(site, site->server, KEEP, 3, ACTL_TIMEOUT);
    assert_true(seconds_now() - start >= 2 * ROUNDS * 0.003);
    /* The late answers come while the same thread waits for another one, in the same place. */
    kept += ask_number(site, site->server, RELEASE, 0);
    assert_int_equal(ask_number(site, site->server, DOUBLE, 21), 42);
  }
  site_rest(site);
  /* What its turn had not come for within the time was not handled. */
  assert_int_equal(site->host.stats.late_replies, kept);
  int64_t expired = (int64_t)site->host.stats.dead_letters[ACTL_LETTER_EXPIRED];
  assert_int_equal(kept + expired, 3 * 2 * ROUNDS);
  assert_true(kept > 0);
  assert_int_equal(site->host.stats.timeouts, 3 * 2 * ROUNDS);
  site_run(site);
}

static void an_answer_after_the_time_is_counted_as_late_and_dropped(void **state) {
  (void)state;
  on_sites(late);
}

static void long_times(struct site *site) {
  static const uint64_t times[] = {1000, (uint64_t)1 << 27, (uint64_t)1 << 40, ACTL_FOREVER - 1,
                                   ACTL_FOREVER};
  for (int i = 0; i < 5; i++) {
    actl_msg *msg = NULL;
    assert_int_equal(
        ask(site, site->server, &msg, times[i], ACTL_VALUES(actl_int(DOUBLE), actl_int(i))),
        ACTL_OK);
    assert_int_equal(actl_msg_int(msg, 0, -1), 2 * i);
    actl_msg_free(site->host.engine, msg);
  }
}

static void an_ask_may_wait_very_long(void **state) {
  (void)state;
  on_sites(long_times);
}

/* ---- Before the first run, and the end ---- */

static void *ask_and_tell(void *arg) {
  struct client *client = arg;
  ask_once(client);
  atomic_store_explicit(&client->site->is_over, true, memory_order_release);
  return NULL;
}

static void an_ask_before_any_run_is_answered_by_the_run(void **state) {
  (void)state;
  int n_before = 0;
  double deadline = seconds_now() + 50;
  while (n_before < 10 && seconds_now() < deadline) {
    struct site site = {0};
    host_open(&site.host, 1 + (uint32_t)n_before % 2, 2);
    site.server = host_spawn(&site.host, 1, &server, NULL, 0);
    struct client client = {.how = DOUBLE};
    clients_start(&client, 1, &site, ask_and_tell);
    for (int i = 0; i < 100; i++) sched_yield();
    host_run(&site.host);
    n_before += site.host.stats.messages == 1;
    while (!atomic_load_explicit(&site.is_over, memory_order_acquire)) host_run(&site.host);
    clients_join(&client, 1);
    assert_int_equal(client.result, 0);
    host_close(&site.host);
  }
  assert_int_equal(n_before, 10);
}

static void *ask_until_it_fails(void *arg) {
  struct client *client = arg;
  while ((client->result = ask_number(client->site, client->own, DOUBLE, 4)) == 8)
    client->n_asked++;
  return NULL;
}

/* Dropped with its actor, or given up by a thread that had just sent it. */
static bool is_end(int64_t status) { return status == ACTL_STOPPED || status == ACTL_SHUTDOWN; }

static void shutting(struct site *site) {
  struct client keepers[THREADS / 2] = {{0}}, others[THREADS / 2] = {{0}};
  for (uint32_t i = 0; i < THREADS / 2; i++) {
    keepers[i].how = KEEP;
    others[i].own = spawn(site, i % 3);
  }
  clients_start(keepers, THREADS / 2, site, ask_once);
  clients_start(others, THREADS / 2, site, ask_until_it_fails);
  while (ask_number(site, site->server, HOW_MANY, 0) < THREADS / 2) sched_yield();
  actl_engine_shutdown(site->host.engine);
  check_fails(site, site->server, DOUBLE, ACTL_SHUTDOWN);
  clients_join(keepers, THREADS / 2);
  clients_join(others, THREADS / 2);
  for (int i = 0; i < THREADS / 2; i++) {
    assert_true(is_end(keepers[i].result));
    assert_true(is_end(others[i].result));
  }
  site_rest(site);
  assert_int_equal(site->host.stats.alive, 0);
  check_fails(site, site->server, DOUBLE, ACTL_SHUTDOWN);
  site_run(site);
}

static void a_shutdown_ends_every_wait(void **state) {
  (void)state;
  for (int i = 0; i < SCALED(100); i++) on_sites(shutting);
}

/* ---- Memory ---- */

static void site_open_with(struct site *site, struct test_alloc *alloc) {
  memset(site, 0, sizeof *site);
  actl_config config = {.workers = 1, .vats = 1, .alloc = test_alloc, .alloc_ud = alloc};
  host_open_with(&site->host, &config);
  site->server = host_spawn(&site->host, 0, &server, NULL, 0);
  host_run(&site->host);
}

/* What an ask for a long string came to; false: it broke a promise. */
static bool is_sound(actl_status status, const actl_msg *msg) {
  if (status != ACTL_OK) return status == ACTL_NO_MEMORY && msg == (actl_msg *)(void *)big;
  /* The handler could not answer with all of it: then it has answered by returning. */
  return actl_msg_count(msg) == 0 ||
         (actl_msg_count(msg) == 1 && actl_msg_value(msg, 0).size == 5000);
}

static void every_allocation_of_an_ask_may_fail(void **state) {
  (void)state;
  memset(big, 'b', sizeof big);
  struct test_alloc alloc = {0};
  unsigned n_failed = 0;
  for (size_t n = 1;; n++) {
    struct site site;
    site_open_with(&site, &alloc);
    site_run(&site);
    test_alloc_fail_from(&alloc, n);
    actl_msg *msg = (actl_msg *)(void *)big;
    actl_status status = ask(&site, site.server, &msg, ACTL_FOREVER,
                             ACTL_VALUES(actl_int(ECHO), actl_bytes(big, 5000)));
    bool did_fail = test_alloc_heal(&alloc);
    assert_true(is_sound(status, msg));
    if (status == ACTL_OK) actl_msg_free(site.host.engine, msg);
    n_failed += status == ACTL_NO_MEMORY;
    assert_int_equal(ask_number(&site, site.server, DOUBLE, 4), 8);
    site_close(&site);
    assert_true(test_alloc_is_clean(&alloc));
    if (!did_fail) break;
  }
  assert_true(n_failed >= 2);
}

static void *ask_a_few(void *arg) {
  struct client *client = arg;
  for (int64_t i = 0; i < 5; i++)
    client->n_wrong += ask_number(client->site, client->shared, DOUBLE, i) != 2 * i;
  return NULL;
}

static void threads_that_come_and_go_leave_no_memory_behind(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  struct site site;
  site_open_with(&site, &alloc);
  site_run(&site);
  size_t warm = 0;
  for (int round = 0; round < 100; round++) {
    struct client clients[THREADS] = {{0}};
    clients_start(clients, THREADS, &site, ask_a_few);
    clients_join(clients, THREADS);
    for (int i = 0; i < THREADS; i++) assert_int_equal(clients[i].n_wrong, 0);
    if (round == 50) warm = atomic_load(&alloc.live_bytes);
  }
  assert_true(atomic_load(&alloc.live_bytes) <= warm + 65536);
  site_close(&site);
  assert_true(test_alloc_is_clean(&alloc));
}

/* Answers that the host keeps, and an engine that is freed with asks in it. */
static void many_answers_may_be_kept(void **state) {
  (void)state;
  enum { ANSWERS = 3000 };
  static actl_msg *answers[ANSWERS];
  struct test_alloc alloc = {0};
  struct site site;
  site_open_with(&site, &alloc);
  site_run(&site);
  for (int64_t i = 0; i < ANSWERS; i++) {
    actl_status status = ask(&site, site.server, &answers[i], 0,
                             ACTL_VALUES(actl_int(ECHO), actl_int(i), actl_bytes(big, 200)));
    assert_int_equal(status, ACTL_OK);
  }
  for (int64_t i = 0; i < ANSWERS; i++) {
    assert_int_equal(actl_msg_int(answers[i], 0, -1), i);
    actl_msg_free(site.host.engine, answers[i]);
  }
  site_rest(&site);
  actl_msg *msg = (actl_msg *)(void *)big;
  assert_int_equal(
      ask(&site, site.server, &msg, 1, ACTL_VALUES(actl_int(ECHO), actl_bytes(big, BIG))),
      ACTL_TIMEOUT);
  assert_ptr_equal(msg, big);
  host_close(&site.host);
  assert_true(test_alloc_is_clean(&alloc));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(an_answer_has_values_of_every_kind),
      WATCHED(nobody_is_the_sender_of_an_ask_from_outside),
      WATCHED(one_ask_after_the_other_gets_its_own_answer),
      WATCHED(an_ask_that_cannot_be_answered_fails_with_its_reason),
      WATCHED(what_is_sent_to_a_pid_of_no_vat_is_a_dead_letter),
      WATCHED(threads_that_ask_at_once_get_each_its_answers_in_order),
      WATCHED(actors_that_are_busy_answer_too),
      WATCHED(kept_requests_are_answered_or_failed_later),
      WATCHED(a_request_that_its_keeper_drops_fails),
      WATCHED(an_answer_after_the_time_is_counted_as_late_and_dropped),
      WATCHED(an_ask_may_wait_very_long),
      WATCHED(an_ask_before_any_run_is_answered_by_the_run),
      WATCHED(a_shutdown_ends_every_wait),
      WATCHED(every_allocation_of_an_ask_may_fail),
      WATCHED(threads_that_come_and_go_leave_no_memory_behind),
      WATCHED(many_answers_may_be_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
