/*
 * footprint.c - what is resident is read from smaps_rollup: the counters of statm are not exact,
 * the kernel keeps a part of them for each processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/footprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void *actl__footprint_alloc(void *ud, void *ptr, size_t old_size, size_t new_size) {
  struct footprint *footprint = ud;
  void *result = NULL;
  if (new_size == 0) {
    free(ptr);
  } else {
    result = realloc(ptr, new_size);
    if (result == NULL) return NULL;
  }
  /* relaxed: a count that orders nothing. Unsigned, so that a difference below zero is right too.
   * */
  atomic_fetch_add_explicit(&footprint->held_bytes, new_size - (ptr != NULL ? old_size : 0),
                            memory_order_relaxed);
  return result;
}

uint64_t actl__footprint_resident(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) return 0;
  char line[256];
  uint64_t kilobytes = 0;
  while (fgets(line, sizeof line, file) != NULL && sscanf(line, "Rss: %" SCNu64, &kilobytes) != 1)
    continue;
  fclose(file);
  return kilobytes * 1024;
}
