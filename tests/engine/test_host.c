/*
 * test_host.c - what a host program does: threads that send, spawn and shut down while it runs, runs
 * after runs, and engines beside and after one another.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <sched.h>

#include "support/alloc.h"

enum { THREADS = 4 };

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior idler = {.name = "idler", .receive = nothing};

static void thread_start(pthread_t *thread, void *(*body)(void *), void *arg) {
  if (pthread_create(thread, NULL, body, arg) != 0) abort();
}

/* ---- Threads that send ---- */

/* Counts each thread's messages in order; written by the receiver only. */
struct received {
  int64_t next[THREADS], misplaced, senders;
};

static actl_status receiver_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

static actl_status receiver_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct received *received = *(struct received **)state;
  int64_t thread = actl_msg_int(msg, 0, 0);
  if (actl_msg_int(msg, 1, -1) != received->next[thread]++) received->misplaced++;
  if (actl_sender(ctx).bits != 0) received->senders++;
  return ACTL_OK;
}

static const actl_behavior receiver = {.name = "receiver",
                                       .state_size = sizeof(void *),
                                       .init = receiver_init,
                                       .receive = receiver_receive};

/* A thread of the host. */
struct client {
  actl_engine *engine;
  actl_pid to[3];
  int64_t id, count;
  int64_t errors, spawned;
  atomic_uint *running; /* clients not done */
};

static void *client_sends(void *arg) {
  struct client *client = arg;
  for (int64_t i = 0; i < client->count; i++) {
    for (int to = 0; to < 3; to++) {
      actl_status status = actl_engine_send(client->engine, client->to[to],
                                            ACTL_VALUES(actl_int(client->id), actl_int(i)));
      if (status != ACTL_OK) client->errors++;
    }
  }
  atomic_fetch_sub_explicit(client->running, 1, memory_order_release);
  return NULL;
}

/* Runs again and again until the clients are done, and once more. */
static void run_beside(struct host *host, atomic_uint *running) {
  do host_run(host);
  while (atomic_load_explicit(running, memory_order_acquire) > 0);
  host_run(host);
}

static void each_threads_messages_arrive_in_order_while_it_runs(void **state) {
  (void)state;
  seeds_need_threads();
  static const uint32_t worker_counts[] = {1, 2, 4};
  for (int w = 0; w < 3; w++) {
    struct received received[3];
    memset(received, 0, sizeof received);
    atomic_uint running = THREADS;
    struct host host;
    host_open(&host, worker_counts[w], 3);
    struct client clients[THREADS];
    actl_pid to[3];
    for (uint32_t i = 0; i < 3; i++) {
      to[i] = host_spawn(&host, i, &receiver, ACTL_VALUES(pointer(&received[i])));
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      clients[i] = (struct client){
          .engine = host.engine, .id = i, .count = SCALED(100000), .running = &running};
      memcpy(clients[i].to, to, sizeof to);
      thread_start(&threads[i], client_sends, &clients[i]);
    }
    run_beside(&host, &running);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int r = 0; r < 3; r++) {
      assert_int_equal(received[r].misplaced, 0);
      assert_int_equal(received[r].senders, 0);
      for (int i = 0; i < THREADS; i++) assert_int_equal(received[r].next[i], clients[i].count);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(clients[i].errors, 0);
    assert_accounted(&host, (uint64_t)(3 * THREADS * clients[0].count));
    assert_int_equal(host.stats.far_messages, host.stats.messages);
    host_close(&host);
  }
}

/* ---- Threads that spawn ---- */

static actl_status counted_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)state;
  atomic_uint *counts = pointer_in(args, 0);
  tick(&counts[0]);
  if (actl_msg_int(args, 1, 0) % 2 == 0) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static actl_status counted_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  tick(&((atomic_uint *)pointer_in(msg, 0))[1]);
  return ACTL_OK;
}

static const actl_behavior counted = {
    .name = "counted", .init = counted_init, .receive = counted_receive};

static atomic_uint born_and_reached[2];

static void *client_spawns(void *arg) {
  struct client *client = arg;
  for (int64_t i = 0; i < client->count; i++) {
    actl_pid pid;
    uint32_t vat = i % 5 == 4 ? ACTL_VAT_ANY : (uint32_t)(i % 3);
    actl_status status = actl_engine_spawn(
        client->engine, vat, &counted, ACTL_VALUES(pointer(born_and_reached), actl_int(i)), &pid);
    if (status != ACTL_OK) client->errors++;
    if (actl_engine_send(client->engine, pid, ACTL_VALUES(pointer(born_and_reached))) != ACTL_OK) {
      client->errors++;
    }
    actl_name name;
    char text[32];
    size_t size = (size_t)snprintf(text, sizeof text, "name %d", (int)i % 100);
    if (actl_name_intern(client->engine, text, size, &name) != ACTL_OK ||
        strcmp(actl_name_bytes(client->engine, name, NULL), text) != 0) {
      client->errors++;
    }
    actl_stats stats;
    if (i % 100 == 0) actl_engine_stats(client->engine, &stats);
  }
  atomic_fetch_sub_explicit(client->running, 1, memory_order_release);
  return NULL;
}

static void threads_may_spawn_and_name_while_it_runs(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t workers = 1; workers <= 2; workers++) {
    memset(born_and_reached, 0, sizeof born_and_reached);
    atomic_uint running = THREADS;
    struct host host;
    host_open(&host, workers, 3);
    struct client clients[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      clients[i] =
          (struct client){.engine = host.engine, .count = SCALED(20000), .running = &running};
      thread_start(&threads[i], client_spawns, &clients[i]);
    }
    run_beside(&host, &running);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    uint64_t all = (uint64_t)(THREADS * clients[0].count);
    for (int i = 0; i < THREADS; i++) assert_int_equal(clients[i].errors, 0);
    assert_int_equal(atomic_load(&born_and_reached[0]), all);
    assert_int_equal(atomic_load(&born_and_reached[1]), all / 2);
    assert_int_equal(host.stats.spawned, all);
    assert_int_equal(host.stats.alive, all / 2);
    assert_int_equal(letters_of(&host.stats), all / 2);
    assert_accounted(&host, all);
    host_close(&host);
  }
}

/* ---- Runs ---- */

static actl_status ball_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  ++*(int64_t *)state;
  int64_t left = actl_msg_int(msg, 1, 0);
  if (left == 0) {
    *(int64_t *)pointer_in(msg, 2) += 1;
    return ACTL_OK;
  }
  return actl_send(
      ctx, actl_msg_pid(msg, 0),
      ACTL_VALUES(actl_who(actl_self(ctx)), actl_int(left - 1), actl_msg_value(msg, 2)));
}

static const actl_behavior ball = {
    .name = "ball", .state_size = sizeof(int64_t), .receive = ball_receive};

struct game {
  struct host host;
  actl_pid first, second;
  int64_t ends;
  actl_status status;
};

static void game_open(struct game *game, int64_t count) {
  host_open(&game->host, 2, 2);
  game->ends = 0;
  actl_pid a = game->first = host_spawn(&game->host, 0, &ball, NULL, 0);
  actl_pid b = game->second = host_spawn(&game->host, 1, &ball, NULL, 0);
  host_send(&game->host, a, ACTL_VALUES(actl_who(b), actl_int(count), pointer(&game->ends)));
}

static void *run_game(void *arg) {
  struct game *game = arg;
  game->status = actl_engine_run(game->host.engine);
  return NULL;
}

static void a_later_run_continues(void **state) {
  (void)state;
  struct received received = {0};
  struct host host;
  host_open(&host, 2, 2);
  actl_pid to = host_spawn(&host, 1, &receiver, ACTL_VALUES(pointer(&received)));
  for (int64_t run = 0; run < 200; run++) {
    for (int64_t i = 0; i < 5; i++) {
      host_send(&host, to, ACTL_VALUES(actl_int(0), actl_int(run * 5 + i)));
    }
    host_run(&host);
    assert_int_equal(received.next[0], run * 5 + 5);
    assert_int_equal(host.stats.messages, run * 5 + 5);
  }
  assert_int_equal(received.misplaced, 0);
  host_run(&host);
  host_run(&host);
  assert_int_equal(host.stats.messages, 1000);
  host_close(&host);
}

static void runs_may_be_made_by_one_thread_after_another(void **state) {
  (void)state;
  struct game game;
  game_open(&game, 100);
  host_run(&game.host);
  for (int run = 1; run <= 20; run++) {
    host_send(&game.host, game.first,
              ACTL_VALUES(actl_who(game.second), actl_int(100), pointer(&game.ends)));
    pthread_t thread;
    thread_start(&thread, run_game, &game);
    pthread_join(thread, NULL);
    assert_int_equal(game.status, ACTL_OK);
    assert_int_equal(game.ends, 1 + run);
  }
  host_close(&game.host);
}

struct nested {
  actl_status status;
  atomic_uint entered, may_leave;
};

static actl_status nester_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct nested *nested = pointer_in(msg, 0);
  nested->status = actl_engine_run(actl_ctx_engine(ctx));
  atomic_store_explicit(&nested->entered, 1, memory_order_release);
  double deadline = seconds_now() + 30;
  while (!atomic_load_explicit(&nested->may_leave, memory_order_acquire)) {
    if (seconds_now() > deadline) return actl_fail(ctx, "nobody came");
  }
  return ACTL_OK;
}

static const actl_behavior nester = {.name = "nester", .receive = nester_receive};

struct second_run {
  actl_engine *engine;
  struct nested *nested;
  actl_status status;
};

static void *run_second(void *arg) {
  struct second_run *second = arg;
  while (!atomic_load_explicit(&second->nested->entered, memory_order_acquire)) sched_yield();
  second->status = actl_engine_run(second->engine);
  atomic_store_explicit(&second->nested->may_leave, 1, memory_order_release);
  return NULL;
}

static void the_peak_is_the_most_that_lived_at_once(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, 1);
  actl_pid pids[10];
  for (int i = 0; i < 10; i++) pids[i] = host_spawn(&host, 0, &ball, NULL, 0);
  host_run(&host);
  assert_int_equal(host.stats.peak_alive, 10);
  for (int i = 0; i < 5; i++) { /* a ball for nobody: they fail */
    host_send(&host, pids[i], ACTL_VALUES(actl_nil(), actl_int(1)));
  }
  for (int i = 0; i < 3; i++) host_spawn(&host, 0, &idler, NULL, 0);
  host_run(&host);
  assert_int_equal(host.stats.spawned, 13);
  assert_int_equal(host.stats.alive, 8);
  assert_in_range(host.stats.peak_alive, 10, 13);
  host_close(&host);
}

static void an_engine_that_runs_is_busy(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct nested nested = {0};
    struct host host;
    host_open(&host, workers, 2);
    host_send(&host, host_spawn(&host, 0, &nester, NULL, 0), ACTL_VALUES(pointer(&nested)));
    struct second_run second = {.engine = host.engine, .nested = &nested};
    pthread_t thread;
    thread_start(&thread, run_second, &second);
    host_run(&host);
    pthread_join(thread, NULL);
    assert_int_equal(nested.status, ACTL_BUSY);
    assert_int_equal(second.status, ACTL_BUSY);
    assert_int_equal(host.stats.failed, 0);
    host_run(&host);
    host_close(&host);
  }
}

/* ---- Shutdown ---- */

/* Two that play for ever; each has children. */
struct player {
  atomic_uint *counts; /* exchanges, stop hooks, refused spawns, wrong spawns */
};

static void child_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  atomic_uint *counts = ((struct player *)state)->counts;
  tick(&counts[1]);
  actl_pid pid;
  actl_status status = actl_spawn(ctx, &idler, NULL, 0, &pid);
  tick(status == ACTL_SHUTDOWN || status == ACTL_STOPPED ? &counts[2] : &counts[3]);
}

static actl_status child_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  ((struct player *)state)->counts = pointer_in(args, 0);
  return ACTL_OK;
}

static const actl_behavior child = {.name = "child",
                                    .state_size = sizeof(struct player),
                                    .init = child_init,
                                    .receive = nothing,
                                    .stop = child_stop};

enum { CHILDREN = 20 };

static actl_status player_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  child_init(ctx, state, args);
  for (uint32_t i = 0; i < CHILDREN; i++) {
    actl_pid pid;
    actl_status status =
        actl_spawn_on(ctx, i % 2, &child, ACTL_VALUES(actl_msg_value(args, 0)), &pid);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static actl_status player_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  tick(&((struct player *)state)->counts[0]);
  actl_pid other = actl_msg_pid(msg, 0);
  return actl_send(ctx, other, ACTL_VALUES(actl_who(actl_self(ctx))));
}

static const actl_behavior player = {.name = "player",
                                     .state_size = sizeof(struct player),
                                     .init = player_init,
                                     .receive = player_receive,
                                     .stop = child_stop};

struct ending {
  actl_engine *engine;
  atomic_uint *counts;
  actl_status spawned;
};

static void *end_it(void *arg) {
  struct ending *ending = arg;
  while (atomic_load_explicit(&ending->counts[0], memory_order_relaxed) < 1000) sched_yield();
  actl_engine_shutdown(ending->engine);
  actl_pid pid;
  ending->spawned = actl_engine_spawn(ending->engine, 0, &idler, NULL, 0, &pid);
  return NULL;
}

static void a_shutdown_from_another_thread_ends_a_run_that_would_not_end(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    for (uint32_t far = 0; far < 2; far++) {
      atomic_uint counts[4] = {0};
      struct host host;
      host_open(&host, workers, 2);
      actl_pid a = host_spawn(&host, 0, &player, ACTL_VALUES(pointer(counts)));
      actl_pid b = host_spawn(&host, far, &player, ACTL_VALUES(pointer(counts)));
      host_run(&host);
      assert_int_equal(host.stats.alive, 2 + 2 * CHILDREN);
      host_send(&host, a, ACTL_VALUES(actl_who(b)));
      struct ending ending = {.engine = host.engine, .counts = counts};
      pthread_t thread;
      thread_start(&thread, end_it, &ending);
      host_run(&host);
      pthread_join(thread, NULL);
      assert_int_equal(ending.spawned, ACTL_SHUTDOWN);
      assert_int_equal(host.stats.alive, 0);
      assert_int_equal(host.stats.failed, 0);
      assert_int_equal(host.stats.spawned, 2 + 2 * CHILDREN);
      /* A child whose init had not run has no stop hook to run either. */
      assert_in_range(atomic_load(&counts[1]), 2, 2 + 2 * CHILDREN);
      assert_int_equal(atomic_load(&counts[2]), atomic_load(&counts[1]));
      assert_int_equal(atomic_load(&counts[3]), 0);
      assert_true(atomic_load(&counts[0]) >= 1000);
      assert_int_equal(host.stats.messages, atomic_load(&counts[0]));
      assert_int_equal(letters_of(&host.stats), 1); /* the ball */
      host_close(&host);
    }
  }
}

/* Makes children near and far for ever: counts[0] inits, [1] stop hooks, [2] refused, [3] made. */
static actl_status breeder_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  child_init(ctx, state, args);
  tick(&((struct player *)state)->counts[0]);
  return ACTL_OK;
}

static void breeder_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx, (void)reason;
  tick(&((struct player *)state)->counts[1]);
}

static const actl_behavior breeder;

static actl_status breeder_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)msg;
  atomic_uint *counts = ((struct player *)state)->counts;
  for (uint32_t i = 0; i < 3; i++) {
    actl_pid pid;
    if (actl_spawn_on(ctx, i, &breeder, ACTL_VALUES(pointer(counts)), &pid) != ACTL_OK) {
      tick(&counts[2]);
      continue;
    }
    tick(&counts[3]);
    if (i == 0) actl_send(ctx, pid, NULL, 0);
    if (i == 1) actl_stop(ctx, pid);
  }
  return actl_send(ctx, actl_self(ctx), NULL, 0);
}

static const actl_behavior breeder = {.name = "breeder",
                                      .state_size = sizeof(struct player),
                                      .init = breeder_init,
                                      .receive = breeder_receive,
                                      .stop = breeder_stop};

static void a_shutdown_among_births_leaves_nobody_and_skips_no_stop_hook(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint32_t round = 0; round < 12; round++) {
    atomic_uint counts[4] = {0};
    struct host host;
    host_open(&host, 1 + round % 3, 3);
    for (uint32_t i = 0; i < 3; i++) {
      actl_pid pid = host_spawn(&host, i, &breeder, ACTL_VALUES(pointer(counts)));
      host_send(&host, pid, NULL, 0);
    }
    struct ending ending = {.engine = host.engine, .counts = counts};
    pthread_t thread;
    thread_start(&thread, end_it, &ending);
    host_run(&host);
    pthread_join(thread, NULL);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(host.stats.failed, 0);
    assert_true(atomic_load(&counts[0]) >= 1000);
    assert_int_equal(atomic_load(&counts[0]), atomic_load(&counts[1]));
    assert_in_range(host.stats.spawned, atomic_load(&counts[0]), 3 + atomic_load(&counts[3]));
    host_close(&host);
  }
}

static actl_status closer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_engine_shutdown(actl_ctx_engine(ctx));
  actl_status *statuses = pointer_in(msg, 0);
  actl_pid pid = {77};
  statuses[0] = actl_spawn(ctx, &idler, NULL, 0, &pid);
  statuses[1] = actl_spawn_on(ctx, 1, &idler, NULL, 0, &pid);
  statuses[2] = actl_spawn_on(ctx, ACTL_VAT_ANY, &idler, NULL, 0, &pid);
  statuses[3] = pid.bits == 77 ? ACTL_OK : ACTL_INVALID;
  return ACTL_OK;
}

static const actl_behavior closer = {.name = "closer", .receive = closer_receive};

static void a_handler_may_shut_down_its_engine(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    actl_status statuses[4] = {0};
    atomic_uint counts[4] = {0};
    struct host host;
    host_open(&host, workers, 2);
    for (uint32_t i = 0; i < 10; i++)
      host_spawn(&host, i % 2, &player, ACTL_VALUES(pointer(counts)));
    host_run(&host);
    host_send(&host, host_spawn(&host, 0, &closer, NULL, 0), ACTL_VALUES(pointer(statuses)));
    host_run(&host);
    for (int i = 0; i < 3; i++) assert_int_equal(statuses[i], ACTL_SHUTDOWN);
    assert_int_equal(statuses[3], ACTL_OK);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(atomic_load(&counts[1]), 10 * (1 + CHILDREN));
    host_close(&host);
  }
}

static void a_shutdown_before_the_run_turns_what_is_queued_into_letters(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    struct received received = {0};
    atomic_uint counts[4] = {0};
    struct host host;
    host_open(&host, workers, 2);
    actl_pid to = host_spawn(&host, 1, &receiver, ACTL_VALUES(pointer(&received)));
    host_spawn(&host, 1, &player, ACTL_VALUES(pointer(counts)));
    host_run(&host);
    for (int64_t i = 0; i < 500; i++) host_send(&host, to, ACTL_VALUES(actl_int(0), actl_int(i)));
    actl_engine_shutdown(host.engine);
    actl_engine_shutdown(host.engine);
    actl_pid pid = {77};
    assert_int_equal(actl_engine_spawn(host.engine, 0, &idler, NULL, 0, &pid), ACTL_SHUTDOWN);
    assert_int_equal(pid.bits, 77);
    assert_int_equal(host.stats.alive, 2 + CHILDREN);
    host_run(&host);
    assert_int_equal(host.stats.alive, 0);
    assert_int_equal(received.next[0], 0);
    assert_int_equal(host.stats.dead_letters[ACTL_LETTER_SHUTDOWN], 500);
    assert_accounted(&host, 500);
    assert_int_equal(atomic_load(&counts[1]), 1 + CHILDREN);
    host_send(&host, to, NULL, 0);
    host_run(&host);
    assert_accounted(&host, 501);
    host_close(&host);
  }
}

/* ---- Engines beside one another ---- */

static void two_engines_do_not_know_of_each_other(void **state) {
  (void)state;
  struct game games[2];
  game_open(&games[0], 1000);
  game_open(&games[1], 3000);
  actl_pid stranger = host_spawn(&games[1].host, 1, &idler, NULL, 0);
  host_run(&games[0].host);
  assert_int_equal(games[0].ends, 1);
  assert_int_equal(games[0].host.stats.messages, 1001);
  assert_int_equal(games[1].ends, 0);
  host_run(&games[1].host);
  assert_int_equal(games[1].host.stats.messages, 3001);
  actl_name a, b;
  assert_int_equal(actl_name_intern(games[0].host.engine, "only here", 9, &a), ACTL_OK);
  assert_int_equal(actl_name_intern(games[1].host.engine, "only there", 10, &b), ACTL_OK);
  assert_string_equal(actl_name_bytes(games[0].host.engine, a, NULL), "only here");
  assert_string_equal(actl_name_bytes(games[1].host.engine, b, NULL), "only there");
  host_close(&games[0].host);
  host_send(&games[1].host, stranger, NULL, 0);
  host_run(&games[1].host);
  assert_int_equal(games[1].host.stats.messages, 3002);
  host_close(&games[1].host);
}

static void engines_run_at_the_same_time_on_two_threads(void **state) {
  (void)state;
  seeds_need_threads();
  for (int round = 0; round < 10; round++) {
    struct game games[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) game_open(&games[i], SCALED(20000));
    for (int i = 0; i < 2; i++) thread_start(&threads[i], run_game, &games[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(games[i].status, ACTL_OK);
      assert_int_equal(games[i].ends, 1);
      host_run(&games[i].host);
      assert_int_equal(games[i].host.stats.messages, SCALED(20000) + 1);
      host_close(&games[i].host);
    }
  }
}

/* An engine inside a handler of another. */
static actl_status outer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  struct game *game = pointer_in(msg, 0);
  run_game(game);
  return actl_send(ctx, actl_self(ctx), NULL, 0) == ACTL_OK && game->status == ACTL_OK
             ? ACTL_OK
             : actl_fail(ctx, "the inner engine");
}

static actl_status outer_once(actl_ctx *ctx, void *state, const actl_msg *msg) {
  if (actl_msg_count(msg) == 0) return ACTL_OK;
  return outer_receive(ctx, state, msg);
}

static const actl_behavior outer = {.name = "outer", .receive = outer_once};

static void an_engine_may_run_inside_a_handler_of_another(void **state) {
  (void)state;
  struct game inner;
  game_open(&inner, 2000);
  struct host host;
  host_open(&host, 2, 2);
  host_send(&host, host_spawn(&host, 1, &outer, NULL, 0), ACTL_VALUES(pointer(&inner)));
  host_run(&host);
  assert_int_equal(inner.ends, 1);
  assert_int_equal(host.stats.failed, 0);
  assert_int_equal(host.stats.messages, 2);
  host_close(&host);
  host_close(&inner.host);
}

static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
  fclose(file);
  return resident;
}

/* One engine's whole life. */
static void live_once(struct test_alloc *alloc) {
  actl_config config = {.workers = 2, .vats = 2};
  if (alloc != NULL) {
    config.alloc = test_alloc;
    config.alloc_ud = alloc;
  }
  struct host host;
  host_open_with(&host, &config);
  int64_t ends = 0;
  actl_pid a = host_spawn(&host, 0, &ball, NULL, 0), b = host_spawn(&host, 1, &ball, NULL, 0);
  for (uint32_t i = 0; i < 50; i++) host_spawn(&host, i % 2, &idler, NULL, 0);
  host_send(&host, a, ACTL_VALUES(actl_who(b), actl_int(50), pointer(&ends)));
  host_run(&host);
  assert_int_equal(ends, 1);
  host_close(&host);
}

static void a_thousand_engines_leave_nothing_behind(void **state) {
  (void)state;
  struct test_alloc alloc = {0};
  for (int i = 0; i < SIZED(1000, 6) / 2; i++) {
    live_once(&alloc);
    assert_true(test_alloc_is_clean(&alloc));
  }
  for (int i = 0; i < 50; i++) live_once(NULL);
  long before = resident_pages();
  for (int i = 0; i < SIZED(1000, 6) / 2; i++) live_once(NULL);
  long pages = resident_pages() - before;
  if (!IS_SANITIZED) assert_true(pages < 1024); /* 4 MB; a leak of 10 kB an engine would be 5 */
}

/* ---- A published message arrives while its sender still works ---- */

struct flushing {
  atomic_uint arrived;
  bool was_seen;
};

static actl_status flag_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  struct flushing *flushing = pointer_in(msg, 0);
  atomic_store_explicit(&flushing->arrived, 1, memory_order_release);
  return ACTL_OK;
}

static const actl_behavior flag = {.name = "flag", .receive = flag_receive};

static actl_status flusher_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct flushing *flushing = pointer_in(msg, 0);
  double start = seconds_now() + (double)actl_msg_int(msg, 2, 0) * 1e-3;
  while (seconds_now() < start) {} /* long enough for the other worker to have gone to sleep */
  actl_send(ctx, actl_msg_pid(msg, 1), ACTL_VALUES(actl_msg_value(msg, 0)));
  actl_flush(ctx);
  double deadline = seconds_now() + 10;
  while (!flushing->was_seen && seconds_now() < deadline) {
    flushing->was_seen = atomic_load_explicit(&flushing->arrived, memory_order_acquire) != 0;
  }
  return ACTL_OK;
}

static const actl_behavior flusher = {.name = "flusher", .receive = flusher_receive};

static void a_flushed_message_arrives_while_its_sender_works_on(void **state) {
  (void)state;
  seeds_need_threads();
  for (int round = 0; round < 10; round++) {
    struct flushing flushing = {0};
    struct host host;
    host_open(&host, 2, 2);
    actl_pid to = host_spawn(&host, 1, &flag, NULL, 0);
    actl_pid from = host_spawn(&host, 0, &flusher, NULL, 0);
    host_send(&host, from, ACTL_VALUES(pointer(&flushing), actl_who(to), actl_int(round % 2 * 10)));
    host_run(&host);
    assert_true(flushing.was_seen);
    host_close(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(each_threads_messages_arrive_in_order_while_it_runs),
      WATCHED(threads_may_spawn_and_name_while_it_runs),
      WATCHED(a_later_run_continues),
      WATCHED(runs_may_be_made_by_one_thread_after_another),
      WATCHED(the_peak_is_the_most_that_lived_at_once),
      WATCHED(an_engine_that_runs_is_busy),
      WATCHED(a_shutdown_from_another_thread_ends_a_run_that_would_not_end),
      WATCHED(a_shutdown_among_births_leaves_nobody_and_skips_no_stop_hook),
      WATCHED(a_handler_may_shut_down_its_engine),
      WATCHED(a_shutdown_before_the_run_turns_what_is_queued_into_letters),
      WATCHED(two_engines_do_not_know_of_each_other),
      WATCHED(engines_run_at_the_same_time_on_two_threads),
      WATCHED(an_engine_may_run_inside_a_handler_of_another),
      WATCHED(a_thousand_engines_leave_nothing_behind),
      WATCHED(a_flushed_message_arrives_while_its_sender_works_on),
  };
  return seeds_main(tests);
}
