/*
 * letters.c - dead letters by their reason.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/letters.h"

#include <inttypes.h>

static const actl_status statuses[ACTL_LETTER_REASONS] = {
#define LETTER_STATUS(reason) [ACTL_LETTER_##reason] = ACTL_##reason,
    ACTL_LETTERS(LETTER_STATUS)
#undef LETTER_STATUS
};

const char *actl__letters_name(actl_letter reason) { return actl_status_name(statuses[reason]); }

static bool is_lost(int reason) {
  return reason != ACTL_LETTER_FAILED && reason != ACTL_LETTER_SHUTDOWN;
}

static uint64_t count(const actl_stats *stats, bool only_lost) {
  uint64_t n = 0;
  for (int i = 0; i < ACTL_LETTER_REASONS; i++)
    if (!only_lost || is_lost(i)) n += stats->dead_letters[i];
  return n;
}

uint64_t actl__letters_total(const actl_stats *stats) { return count(stats, false); }
uint64_t actl__letters_lost(const actl_stats *stats) { return count(stats, true); }

void actl__letters_print(struct text *out, const actl_stats *stats, bool only_lost) {
  const char *between = "";
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) {
    if (stats->dead_letters[i] == 0 || (only_lost && !is_lost(i))) continue;
    actl__text_print(out, "%s%" PRIu64 " %s", between, stats->dead_letters[i],
                     actl__letters_name((actl_letter)i));
    between = ", ";
  }
}
