/*
 * test_running.c - run, start and step: whichever way an engine runs, and however often the ways
 * change, nothing is lost, nothing runs when it should not, and nobody sleeps or wakes for nothing.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

enum { THREADS = 4, VATS = 4, COUNTERS = 8 };
static const double PATIENCE = 20; /* seconds */

/* ---- Who counts ---- */

struct tally {
  struct host host;
  actl_pid counters[COUNTERS];
  atomic_uint handled, ended, wrong; /* relaxed */
  atomic_uint sent, finished;        /* senders that have ended: release, acquire */
  atomic_bool is_over;               /* relaxed */
  int64_t each;                      /* messages of one sender; constant while they send */
  unsigned others;                   /* messages to actors that are no counters */
};

/* (tally, left): passes it on to another counter while `left` lasts and it is not over. */
static actl_status counter_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct tally *tally = pointer_in(msg, 0);
  int64_t left = actl_msg_int(msg, 1, 0);
  tick(&tally->handled);
  if (left == 0 || atomic_load_explicit(&tally->is_over, memory_order_relaxed)) {
    tick(&tally->ended);
    return ACTL_OK;
  }
  return actl_send(ctx, tally->counters[left % COUNTERS],
                   ACTL_VALUES(pointer(tally), actl_int(left - 1)));
}

static const actl_behavior counter = {.name = "counter", .receive = counter_receive};

static void tally_open(struct tally *tally, uint32_t workers) {
  memset(tally, 0, sizeof *tally);
  host_open(&tally->host, workers, VATS);
  for (uint32_t i = 0; i < COUNTERS; i++)
    tally->counters[i] = host_spawn(&tally->host, i % VATS, &counter, NULL, 0);
}

static unsigned handled_by(struct tally *tally) {
  return atomic_load_explicit(&tally->handled, memory_order_relaxed);
}

/* Sends its messages, each to be passed on twice, and now and then waits for a moment. */
static void *send_each(void *arg) {
  struct tally *tally = arg;
  uint64_t seed = 1 + (uint64_t)tick(&tally->sent);
  for (int64_t i = 0; i < tally->each; i++) {
    actl_pid to = tally->counters[random_next(&seed) % COUNTERS];
    if (actl_engine_send(tally->host.engine, to, ACTL_VALUES(pointer(tally), actl_int(2))) !=
        ACTL_OK)
      tick(&tally->wrong);
    if (random_next(&seed) % 16 == 0) sched_yield();
  }
  atomic_fetch_add_explicit(&tally->finished, 1, memory_order_release);
  return NULL;
}

static bool are_finished(struct tally *tally) {
  return atomic_load_explicit(&tally->finished, memory_order_acquire) == THREADS;
}

static void senders_start(struct tally *tally, pthread_t *threads, int64_t each) {
  tally->each = each;
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, send_each, tally), 0);
}

static void senders_join(pthread_t *threads) {
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* Everything that was sent was handled, thrice. */
static void tally_close(struct tally *tally) {
  host_run(&tally->host);
  assert_int_equal(atomic_load(&tally->wrong), 0);
  assert_int_equal(handled_by(tally), 3 * THREADS * tally->each);
  assert_int_equal(tally->host.stats.messages, handled_by(tally) + tally->others);
  assert_int_equal(letters_of(&tally->host.stats), 0);
  host_close(&tally->host);
}

/* ---- Run and hold ---- */

/* Sends when the run has had time to end, and then lets go. */
static void *send_later(void *arg) {
  struct tally *tally = arg;
  struct timespec pause = {.tv_nsec = 3000000};
  for (int i = 0; i < 5; i++) {
    nanosleep(&pause, NULL);
    actl_engine_send(tally->host.engine, tally->counters[i], ACTL_VALUES(pointer(tally)));
  }
  actl_drop(tally->host.engine);
  return NULL;
}

static void a_run_goes_on_until_the_last_hold_is_dropped(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct tally tally;
    pthread_t threads[2];
    tally_open(&tally, workers);
    for (int i = 0; i < 2; i++) {
      actl_hold(tally.host.engine);
      assert_int_equal(pthread_create(&threads[i], NULL, send_later, &tally), 0);
    }
    host_run(&tally.host);
    assert_int_equal(handled_by(&tally), 10);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    host_close(&tally.host);
  }
}

/* ---- Start, wait, stop ---- */

static void a_started_engine_handles_what_four_threads_send(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct tally tally;
    pthread_t threads[THREADS];
    tally_open(&tally, workers);
    assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
    senders_start(&tally, threads, SCALED(20000));
    senders_join(threads);
    assert_int_equal(actl_engine_wait(tally.host.engine, ACTL_FOREVER), ACTL_OK);
    assert_int_equal(handled_by(&tally), 3 * THREADS * tally.each);
    actl_stats stats;
    actl_engine_stats(tally.host.engine, &stats);
    assert_int_equal(stats.messages, handled_by(&tally)); /* all of it has been published */
    assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
    tally_close(&tally);
  }
}

static void one_way_to_run_at_a_time(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 2, 2);
  assert_int_equal(actl_engine_stop(host.engine), ACTL_INVALID);
  assert_int_equal(actl_engine_wait(host.engine, 0), ACTL_INVALID);
  for (int i = 0; i < 2; i++) {
    actl_rest rest = ACTL_REST_MORE;
    assert_int_equal(actl_engine_start(host.engine), ACTL_OK);
    assert_int_equal(actl_engine_start(host.engine), ACTL_BUSY);
    assert_int_equal(actl_engine_run(host.engine), ACTL_BUSY);
    assert_int_equal(actl_engine_step(host.engine, 0, &rest), ACTL_BUSY);
    assert_int_equal(rest, ACTL_REST_MORE); /* untouched */
    assert_int_equal(actl_engine_stop(host.engine), ACTL_OK);
    assert_int_equal(actl_engine_stop(host.engine), ACTL_INVALID);
    assert_int_equal(actl_engine_wait(host.engine, ACTL_FOREVER), ACTL_INVALID);
    host_run(&host);
  }
  host_close(&host);
}

/* (statuses): tries all of them from a handler. */
static actl_status intruder_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_status *statuses = pointer_in(msg, 0);
  statuses[0] = actl_engine_run(actl_ctx_engine(ctx));
  statuses[1] = actl_engine_start(actl_ctx_engine(ctx));
  statuses[2] = actl_engine_step(actl_ctx_engine(ctx), 0, NULL);
  return ACTL_OK;
}

static const actl_behavior intruder = {.name = "intruder", .receive = intruder_receive};

static void a_handler_cannot_run_its_own_engine(void **state) {
  (void)state;
  for (int is_step = 0; is_step < 2; is_step++) {
    actl_status statuses[3] = {ACTL_OK, ACTL_OK, ACTL_OK};
    struct host host;
    host_open(&host, 2, 2);
    host_send(&host, host_spawn(&host, 0, &intruder, NULL, 0), ACTL_VALUES(pointer(statuses)));
    if (is_step) assert_int_equal(actl_engine_step(host.engine, 1000000, NULL), ACTL_OK);
    host_run(&host);
    for (int i = 0; i < 3; i++) assert_int_equal(statuses[i], ACTL_BUSY);
    host_close(&host);
  }
}

static void a_hold_keeps_who_waits(void **state) {
  (void)state;
  struct tally tally;
  tally_open(&tally, 2);
  assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
  assert_int_equal(actl_engine_wait(tally.host.engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(actl_engine_wait(tally.host.engine, 0), ACTL_OK);
  actl_hold(tally.host.engine);
  assert_int_equal(actl_engine_wait(tally.host.engine, 0), ACTL_TIMEOUT);
  double before = seconds_now();
  assert_int_equal(actl_engine_wait(tally.host.engine, 20), ACTL_TIMEOUT);
  assert_true(seconds_now() - before >= 0.02);
  actl_drop(tally.host.engine);
  assert_int_equal(actl_engine_wait(tally.host.engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
  host_close(&tally.host);
}

static void what_a_stop_leaves_is_kept_for_the_next_run(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct tally tally;
    tally_open(&tally, workers);
    for (int i = 0; i < COUNTERS; i++)
      host_send(&tally.host, tally.counters[i], ACTL_VALUES(pointer(&tally), actl_int(INT64_MAX)));
    for (unsigned i = 1; i <= 5; i++) {
      assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
      while (handled_by(&tally) < 1000 * i) sched_yield();
      assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
      unsigned before = handled_by(&tally);
      double end = seconds_now() + 0.01;
      while (seconds_now() < end) sched_yield();
      assert_int_equal(handled_by(&tally), before);
    }
    atomic_store(&tally.is_over, true);
    host_run(&tally.host);
    assert_int_equal(atomic_load(&tally.ended), COUNTERS);
    assert_accounted(&tally.host, handled_by(&tally));
    assert_int_equal(letters_of(&tally.host.stats), 0);
    host_close(&tally.host);
  }
}

static void a_thousand_starts_and_stops_lose_nothing(void **state) {
  (void)state;
  for (uint32_t workers = 1; workers <= 3; workers++) {
    struct tally tally;
    pthread_t threads[THREADS];
    uint64_t seed = workers;
    tally_open(&tally, workers);
    senders_start(&tally, threads, SCALED(10000));
    for (int i = 0; i < SCALED(1000) || !are_finished(&tally); i++) {
      assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
      if (random_next(&seed) % 4 == 0) (void)actl_engine_wait(tally.host.engine, 1);
      for (uint64_t n = random_next(&seed) % 8; n > 0; n--) sched_yield();
      assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
      if (i % 8 == 3) assert_int_equal(actl_engine_run(tally.host.engine), ACTL_OK);
      if (i % 8 == 6) assert_int_equal(actl_engine_step(tally.host.engine, 50, NULL), ACTL_OK);
    }
    senders_join(threads);
    tally_close(&tally);
  }
}

static void a_started_engine_may_be_freed(void **state) {
  (void)state;
  struct tally tally;
  pthread_t threads[THREADS];
  tally_open(&tally, 2);
  assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
  senders_start(&tally, threads, 100);
  senders_join(threads);
  host_close(&tally.host);
}

/* ---- Asks that nobody answers yet ---- */

struct owing {
  actl_request request;
  atomic_uint asked, answered, failed; /* relaxed */
  actl_status status;                  /* of the last answer; written before `failed` */
  actl_pid keeper;
};

static actl_status keeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct owing *owing = pointer_in(msg, 0);
  tick(&owing->asked);
  return actl_later(ctx, &owing->request);
}

static actl_status asker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct owing **owing = state;
  actl_ask_id ask;
  *owing = pointer_in(msg, 0);
  return actl_ask_within(ctx, (*owing)->keeper, ACTL_VALUES(pointer(*owing)), ACTL_FOREVER, &ask);
}

static actl_status asker_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ctx, (void)ask, (void)msg;
  struct owing *owing = *(struct owing **)state;
  owing->status = status;
  tick(status == ACTL_OK ? &owing->answered : &owing->failed);
  return ACTL_OK;
}

static const actl_behavior keeper = {.name = "keeper", .receive = keeper_receive};
static const actl_behavior asker = {.name = "asker",
                                    .state_size = sizeof(struct owing *),
                                    .receive = asker_receive,
                                    .reply = asker_reply};

static void only_a_run_fails_asks_that_can_never_be_answered(void **state) {
  (void)state;
  struct owing owing = {0};
  struct host host;
  host_open(&host, 2, 2);
  owing.keeper = host_spawn(&host, 0, &keeper, NULL, 0);
  actl_pid pid = host_spawn(&host, 1, &asker, NULL, 0);
  host_send(&host, pid, ACTL_VALUES(pointer(&owing)));
  assert_int_equal(actl_engine_start(host.engine), ACTL_OK);
  assert_int_equal(actl_engine_wait(host.engine, ACTL_FOREVER), ACTL_OK);
  assert_int_equal(actl_engine_stop(host.engine), ACTL_OK);
  actl_rest rest = ACTL_REST_MORE;
  assert_int_equal(actl_engine_step(host.engine, 0, &rest), ACTL_OK);
  assert_int_equal(atomic_load(&owing.asked), 1);
  assert_int_equal(atomic_load(&owing.failed), 0);

  host_run(&host);
  assert_int_equal(atomic_load(&owing.failed), 1);
  assert_int_equal(owing.status, ACTL_DEADLOCK);
  assert_int_equal(host.stats.deadlocks, 1);
  host_close(&host);
}

/* ---- Steps ---- */

static void a_step_with_nothing_to_do_returns(void **state) {
  (void)state;
  struct tally tally;
  tally_open(&tally, 2);
  actl_rest rest = ACTL_REST_MORE;
  assert_int_equal(actl_engine_step(tally.host.engine, 1000000, NULL), ACTL_OK);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(actl_engine_step(tally.host.engine, ACTL_FOREVER, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_QUIET);
  }
  actl_stats stats;
  actl_engine_stats(tally.host.engine, &stats);
  assert_int_equal(stats.parks + stats.wakes, 0);
  host_close(&tally.host);
}

/* (tally): sends to itself until it is over. */
static actl_status spinner_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct tally *tally = pointer_in(msg, 0);
  tick(&tally->handled);
  if (atomic_load_explicit(&tally->is_over, memory_order_relaxed)) return ACTL_OK;
  return actl_send(ctx, actl_self(ctx), ACTL_VALUES(pointer(tally)));
}

static const actl_behavior spinner = {.name = "spinner", .receive = spinner_receive};

static void a_step_ends_with_its_time_and_leaves_the_rest(void **state) {
  (void)state;
  struct tally tally;
  tally_open(&tally, 2);
  for (uint32_t i = 0; i < 3; i++)
    host_send(&tally.host, host_spawn(&tally.host, i, &spinner, NULL, 0),
              ACTL_VALUES(pointer(&tally)));
  for (int i = 0; i < 20; i++) {
    unsigned before = handled_by(&tally);
    actl_rest rest = ACTL_REST_QUIET;
    assert_int_equal(actl_engine_step(tally.host.engine, i % 2 == 0 ? 0 : 500, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_MORE);
    assert_true(handled_by(&tally) > before);
  }
  atomic_store(&tally.is_over, true);
  actl_rest rest = ACTL_REST_MORE;
  assert_int_equal(actl_engine_step(tally.host.engine, ACTL_FOREVER, &rest), ACTL_OK);
  assert_int_equal(rest, ACTL_REST_QUIET);
  host_close(&tally.host);
}

static bool is_readable(int fd, int timeout_ms) {
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  return poll(&poll_fd, 1, timeout_ms) == 1;
}

static void a_loop_that_polls_the_descriptor_misses_nothing(void **state) {
  (void)state;
  for (int is_early = 0; is_early < 2; is_early++) { /* whether the descriptor is made before */
    struct tally tally;
    pthread_t threads[THREADS];
    int fd = -1, again = -1;
    tally_open(&tally, 2);
    if (is_early) assert_int_equal(actl_engine_fd(tally.host.engine, &fd), ACTL_OK);
    senders_start(&tally, threads, SCALED(5000));
    if (!is_early) assert_int_equal(actl_engine_fd(tally.host.engine, &fd), ACTL_OK);
    bool is_missed = false;
    actl_rest rest = ACTL_REST_MORE;
    while (!is_missed && handled_by(&tally) < 3 * THREADS * tally.each) {
      is_missed = !is_readable(fd, (int)(1000 * PATIENCE));
      if (actl_engine_step(tally.host.engine, 20, &rest) != ACTL_OK) tick(&tally.wrong);
    }
    senders_join(threads);
    assert_false(is_missed);

    /* One more may be needed for a notice that came late; then nothing is left to read. */
    for (int i = 0; i < 10 && (rest != ACTL_REST_QUIET || is_readable(fd, 0)); i++)
      assert_int_equal(actl_engine_step(tally.host.engine, 1000000, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_QUIET);
    assert_false(is_readable(fd, 0));
    assert_int_equal(actl_engine_fd(tally.host.engine, &again), ACTL_OK);
    assert_int_equal(again, fd);
    tally_close(&tally);
  }
}

static void the_descriptor_tells_what_a_step_or_a_stop_has_left(void **state) {
  (void)state;
  struct tally tally;
  int fd = -1;
  actl_rest rest = ACTL_REST_QUIET;
  tally_open(&tally, 2);
  assert_int_equal(actl_engine_step(tally.host.engine, ACTL_FOREVER, NULL), ACTL_OK);
  actl_pid pid = host_spawn(&tally.host, 0, &spinner, NULL, 0);
  host_send(&tally.host, pid, ACTL_VALUES(pointer(&tally)));
  assert_int_equal(actl_engine_fd(tally.host.engine, &fd), ACTL_OK);
  assert_true(is_readable(fd, 0)); /* sent before there was one */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(actl_engine_step(tally.host.engine, 0, &rest), ACTL_OK);
    assert_int_equal(rest, ACTL_REST_MORE);
    assert_true(is_readable(fd, 0));
  }
  assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
  assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
  assert_true(is_readable(fd, 0));
  atomic_store(&tally.is_over, true);
  assert_int_equal(actl_engine_step(tally.host.engine, ACTL_FOREVER, &rest), ACTL_OK);
  assert_int_equal(rest, ACTL_REST_QUIET);
  assert_false(is_readable(fd, 0));
  host_send(&tally.host, pid, ACTL_VALUES(pointer(&tally)));
  assert_true(is_readable(fd, 0));
  host_close(&tally.host);
}

/* ---- Inside one long handler ---- */

struct long_turn {
  actl_pid other;
  atomic_uint answered;               /* relaxed */
  unsigned answers_seen, n_times_out; /* the long one's */
};

/* Tells the other, far from here, and computes until it has answered: without a flush, and when the
 * other worker sleeps. */
static actl_status long_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct long_turn *turn = pointer_in(msg, 0);
  actl_stats stats;
  double deadline = seconds_now() + PATIENCE;
  do {
    actl_engine_stats(actl_ctx_engine(ctx), &stats);
    sched_yield();
  } while (stats.parks - stats.wakes == 0 && seconds_now() < deadline);

  unsigned before = atomic_load_explicit(&turn->answered, memory_order_relaxed);
  actl_status status = actl_send(ctx, turn->other, ACTL_VALUES(pointer(turn)));
  unsigned after = before;
  while (after == before && seconds_now() < deadline)
    after = atomic_load_explicit(&turn->answered, memory_order_relaxed);
  if (after == before) turn->n_times_out++;
  turn->answers_seen++;
  return status;
}

static actl_status other_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state;
  struct long_turn *turn = pointer_in(msg, 0);
  tick(&turn->answered);
  return ACTL_OK;
}

static const actl_behavior long_one = {.name = "long", .receive = long_receive};
static const actl_behavior other_one = {.name = "other", .receive = other_receive};

static void what_is_told_in_a_long_handler_is_handled_meanwhile(void **state) {
  (void)state;
  for (int is_started = 0; is_started < 2; is_started++) {
    struct long_turn turn = {0};
    struct host host;
    host_open(&host, 2, 2);
    actl_pid pid = host_spawn(&host, 0, &long_one, NULL, 0);
    turn.other = host_spawn(&host, 1, &other_one, NULL, 0);
    if (is_started) assert_int_equal(actl_engine_start(host.engine), ACTL_OK);
    for (unsigned i = 1; i <= 20; i++) {
      host_send(&host, pid, ACTL_VALUES(pointer(&turn)));
      if (is_started) {
        assert_int_equal(actl_engine_wait(host.engine, ACTL_FOREVER), ACTL_OK);
      } else {
        host_run(&host);
      }
      assert_int_equal(turn.answers_seen, i);
      assert_int_equal(turn.n_times_out, 0);
    }
    if (is_started) assert_int_equal(actl_engine_stop(host.engine), ACTL_OK);
    host_close(&host);
  }
}

/* ---- Idle is free ---- */

enum { TASKS_MAX = 64 };

struct threads { /* of this process, by number, and how often each was switched to */
  int n;
  long id[TASKS_MAX], switches[TASKS_MAX];
};

static long switches_of(const char *task) {
  char path[64], line[128];
  long sum = 0, n = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.16s/status", task);
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    const char *at = strstr(line, "ctxt_switches:");
    if (at != NULL && sscanf(at, "ctxt_switches: %ld", &n) == 1) sum += n;
  }
  fclose(file);
  return sum;
}

static void threads_read(struct threads *out) {
  out->n = 0;
  DIR *dir = opendir("/proc/self/task");
  assert_non_null(dir);
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL && out->n < TASKS_MAX;) {
    if (entry->d_name[0] == '.') continue;
    out->id[out->n] = strtol(entry->d_name, NULL, 10);
    out->switches[out->n++] = switches_of(entry->d_name);
  }
  closedir(dir);
}

static int place_of(const struct threads *threads, long id) {
  for (int i = 0; i < threads->n; i++)
    if (threads->id[i] == id) return i;
  return -1;
}

/* The switches, from `a` to `b`, of those threads that are not in `old`. */
static long switches_between(const struct threads *old, const struct threads *a,
                             const struct threads *b, int *n_threads) {
  long sum = 0;
  *n_threads = 0;
  for (int i = 0; i < b->n; i++) {
    if (place_of(old, b->id[i]) >= 0) continue;
    int before = place_of(a, b->id[i]);
    sum += before < 0 ? 1 : b->switches[i] - a->switches[before];
    ++*n_threads;
  }
  return sum;
}

/* Has a timer that does not keep anybody. */
static actl_status dozer_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state, (void)msg;
  return actl_every(ctx, 3600000, ACTL_TIMER_BACKGROUND, NULL, 0, NULL);
}

static const actl_behavior dozer = {.name = "dozer", .receive = dozer_receive};

static void an_idle_engine_makes_no_context_switch(void **state) {
  (void)state;
  static struct threads old, before, after;
  struct tally tally;
  pthread_t threads[THREADS];
  threads_read(&old);
  tally_open(&tally, 3);
  assert_int_equal(actl_engine_start(tally.host.engine), ACTL_OK);
  senders_start(&tally, threads, 1000);
  senders_join(threads);
  host_send(&tally.host, host_spawn(&tally.host, 1, &dozer, NULL, 0), NULL, 0);
  tally.others = 1;
  assert_int_equal(actl_engine_wait(tally.host.engine, ACTL_FOREVER), ACTL_OK);
  actl_stats stats;
  actl_engine_stats(tally.host.engine, &stats);
  assert_int_equal(stats.timers, 1);

  /* A thread that has been told late, on a busy machine, may have a tick left; then half a second
   * passes without any. */
  struct timespec pause = {.tv_nsec = 500 * 1000000l};
  double deadline = seconds_now() + PATIENCE;
  long switches;
  int n_threads;
  do {
    threads_read(&before);
    nanosleep(&pause, NULL);
    threads_read(&after);
    switches = switches_between(&old, &before, &after, &n_threads);
  } while (switches != 0 && seconds_now() < deadline);
  assert_int_equal(switches, 0);
  assert_int_equal(n_threads, 4); /* the workers, and the one that sleeps until timers are due */
  assert_int_equal(actl_engine_stop(tally.host.engine), ACTL_OK);
  tally_close(&tally);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_run_goes_on_until_the_last_hold_is_dropped),
      WATCHED(a_started_engine_handles_what_four_threads_send),
      WATCHED(one_way_to_run_at_a_time),
      WATCHED(a_handler_cannot_run_its_own_engine),
      WATCHED(a_hold_keeps_who_waits),
      WATCHED(what_a_stop_leaves_is_kept_for_the_next_run),
      WATCHED(a_thousand_starts_and_stops_lose_nothing),
      WATCHED(a_started_engine_may_be_freed),
      WATCHED(only_a_run_fails_asks_that_can_never_be_answered),
      WATCHED(a_step_with_nothing_to_do_returns),
      WATCHED(a_step_ends_with_its_time_and_leaves_the_rest),
      WATCHED(a_loop_that_polls_the_descriptor_misses_nothing),
      WATCHED(the_descriptor_tells_what_a_step_or_a_stop_has_left),
      WATCHED(what_is_told_in_a_long_handler_is_handled_meanwhile),
      WATCHED(an_idle_engine_makes_no_context_switch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
