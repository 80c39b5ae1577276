/*
 * host.c - see host.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "actl_driver.h"
#include "engine/story.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = IS_SANITIZED ? 200 : 60, SEEDED_SECONDS = IS_SANITIZED ? 60 : 20 };

static void watch_ended(int signal_number) {
  (void)signal_number;
  static const char text[] = "\nwatchdog: the test above hangs\n";
  seeds_tell();
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  _exit(3);
}

int watch_start(void **state) {
  (void)state;
  signal(SIGALRM, watch_ended);
  alarm(seeds_are_on() ? SEEDED_SECONDS : PATIENCE_SECONDS);
  return 0;
}

int watch_stop(void **state) {
  (void)state;
  alarm(0);
  return 0;
}

void journal_write(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  struct journal *journal = ud;
  pthread_mutex_lock(&journal->lock);
  journal->entries[kind]++;
  journal->level[kind] = level;
  snprintf(journal->text[kind], sizeof journal->text[kind], "%s", text);
  pthread_mutex_unlock(&journal->lock);
}

void host_open_with(struct host *host, const actl_config *config) {
  memset(host, 0, sizeof *host);
  pthread_mutex_init(&host->journal.lock, NULL);
  actl_config with_log = *config;
  with_log.log = journal_write;
  with_log.log_ud = &host->journal;
  if (getenv("ACTL_TEST_TRACED") != NULL && config->trace == NULL) {
    host->story = calloc(1, sizeof *host->story);
    assert_non_null(host->story);
    story_init(host->story, false);
    with_log.trace = story_tell;
    with_log.trace_ud = host->story;
  }
  seeds_put(&with_log);
  assert_int_equal(actl_engine_new(&host->engine, &with_log), ACTL_OK);
  assert_non_null(host->engine);
}

void host_open(struct host *host, uint32_t workers, uint32_t vats) {
  actl_config config = {.workers = workers, .vats = vats};
  host_open_with(host, &config);
}

void host_run(struct host *host) {
  assert_int_equal(actl_engine_run(host->engine), ACTL_OK);
  actl_engine_stats(host->engine, &host->stats);
  assert_int_equal(host->stats.spawned, host->stats.stopped + host->stats.alive);
  assert_true(host->stats.peak_alive >= host->stats.alive);
  assert_true(host->stats.far_messages <= host->stats.messages);
  assert_true(host->stats.failed <= host->stats.stopped);
}

static void end_story(struct host *host) {
  if (host->story == NULL) return;
  actl_stats stats;
  actl_engine_stats(host->engine, &stats);
  story_check(host->story, &stats, false);
  story_fini(host->story);
  free(host->story);
}

void host_close(struct host *host) {
  end_story(host);
  actl_engine_free(host->engine);
  host->engine = NULL;
  pthread_mutex_destroy(&host->journal.lock);
}

actl_pid host_spawn(struct host *host, uint32_t vat, const actl_behavior *behavior,
                    const actl_value *values, size_t n) {
  actl_pid pid = {0};
  assert_int_equal(actl_engine_spawn(host->engine, vat, behavior, values, n, &pid), ACTL_OK);
  assert_true(pid.bits != 0);
  return pid;
}

void host_send(struct host *host, actl_pid to, const actl_value *values, size_t n) {
  assert_int_equal(actl_engine_send(host->engine, to, values, n), ACTL_OK);
}

uint64_t letters_of(const actl_stats *stats) {
  uint64_t sum = 0;
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) sum += stats->dead_letters[i];
  return sum;
}

void assert_accounted(const struct host *host, uint64_t sent) {
  assert_int_equal(host->stats.messages + letters_of(&host->stats), sent);
}

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint64_t now_ns(actl_ctx *ctx) {
  if (ctx != NULL && actl_ctx_is_seeded(ctx)) return actl_now_ns(ctx);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void burn_until(actl_ctx *ctx, uint64_t ns) {
  while (now_ns(ctx) < ns)
    if (actl_ctx_is_seeded(ctx) && !actl_turn_tick(ctx)) return;
}
