/*
 * seeds.c - see seeds.h.
 *
 * What cmocka says goes to its standard output, in lines of TAP; where many seeds are played that is a
 * file without a name, which is begun anew with each of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  bool is_on;
  uint64_t seed;
  int said; /* the file; 0: what is said is printed at once */
} seeds;

bool seeds_are_on(void) { return seeds.is_on; }

uint64_t seeds_number(void) { return seeds.is_on ? seeds.seed : 0; }

void seeds_put(actl_config *config) {
  if (!seeds.is_on || config->is_seeded) return;
  config->is_seeded = true;
  config->seed = seeds.seed;
}

uint32_t seeds_workers(void) { return seeds.is_on ? 1 : 2; }

void seeds_need_threads(void) {
  if (seeds.is_on) skip();
}

void seeds_need_time(unsigned n) {
  if (seeds.is_on && seeds.seed % n != 0) skip();
}

static void say(const char *text) {
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

/* By calls that a signal handler may make. */
void seeds_tell(void) {
  char some[4096], program[512], line[640];
  if (seeds.said != 0) {
    off_t at = 0;
    for (ssize_t n; (n = pread(seeds.said, some, sizeof some, at)) > 0; at += n)
      if (write(STDERR_FILENO, some, (size_t)n) != n) break;
  }
  if (!seeds.is_on) return;
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = '\0';
  snprintf(line, sizeof line, "\nseed %" PRIu64 " failed: ACTL_SEED=%" PRIu64 " %s\n", seeds.seed,
           seeds.seed, program);
  say(line);
}

static int run_quietly(const char *name, const struct CMUnitTest *tests, size_t n) {
  fflush(stdout);
  if (ftruncate(seeds.said, 0) != 0 || lseek(seeds.said, 0, SEEK_SET) != 0) return 1;
  int n_failed = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
  fflush(stdout);
  return n_failed;
}

static int run_many(const char *name, const struct CMUnitTest *tests, size_t n, uint64_t n_seeds) {
  FILE *file = tmpfile();
  int out = dup(STDOUT_FILENO);
  if (file == NULL || out < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) return 1;
  cmocka_set_message_output(CM_OUTPUT_TAP);
  seeds.said = fileno(file);

  int n_failed = 0;
  uint64_t first = seeds.seed;
  for (; n_failed == 0 && seeds.seed - first < n_seeds; seeds.seed++) {
    n_failed = run_quietly(name, tests, n);
    if (n_failed != 0) seeds_tell();
  }
  fflush(stdout);
  dup2(out, STDOUT_FILENO);
  close(out);
  fclose(file);
  seeds.said = 0;
  if (n_failed == 0) printf("%s: %" PRIu64 " seeds from %" PRIu64 "\n", name, n_seeds, first);
  return n_failed;
}

static uint64_t number_in(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

int seeds_run(const char *name, const struct CMUnitTest *tests, size_t n) {
  uint64_t n_seeds = number_in("ACTL_SEEDS", 0);
  seeds.is_on = n_seeds != 0 || number_in("ACTL_SEED", 0) != 0;
  seeds.seed = number_in("ACTL_SEED", 1);
  if (n_seeds != 0) return run_many(name, tests, n, n_seeds);
  return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}
