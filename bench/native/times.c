/*
 * times.c - see times.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "times.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t actl_bench_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

actl_status actl_bench_times_init(struct actl_bench_times *out, int64_t room) {
  if (room < 0 || room > INT32_MAX / (int64_t)sizeof(int64_t)) return ACTL_INVALID;
  size_t size = (size_t)room * sizeof *out->ns;
  int64_t *ns = malloc(size + 1);
  if (ns == NULL) return ACTL_NO_MEMORY;
  memset(ns, 1, size);
  *out = (struct actl_bench_times){.ns = ns, .room = room};
  return ACTL_OK;
}

void actl_bench_times_fini(struct actl_bench_times *times) {
  free(times->ns);
  *times = (struct actl_bench_times){0};
}

actl_value actl_bench_times_value(const struct actl_bench_times *times) {
  return actl_bytes(times->ns, (uint32_t)((size_t)times->n * sizeof *times->ns));
}
