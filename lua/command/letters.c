/*
 * letters.c - dead letters by their reason.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/letters.h"

#include <inttypes.h>
#include <string.h>

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

/* Whether the line that `at` begins with tells of a lost message: "... letter   no_actor  ...". */
static bool tells_of_loss(const char *at, size_t size) {
  static const char word[] = "  letter   ";
  for (size_t i = 0; i + strlen(word) < size; i++) {
    if (memcmp(at + i, word, strlen(word)) != 0) continue;
    const char *reason = at + i + strlen(word);
    for (int r = 0; r < ACTL_LETTER_REASONS; r++) {
      const char *name = actl__letters_name((actl_letter)r);
      if (is_lost(r) && strncmp(reason, name, strlen(name)) == 0) return true;
    }
  }
  return false;
}

size_t actl__letters_find(const char *trace, const char **line) {
  for (const char *at = trace; *at != '\0';) {
    size_t size = strcspn(at, "\n");
    if (tells_of_loss(at, size)) {
      size_t blanks = strspn(at, " ");
      *line = at + blanks;
      return size - blanks;
    }
    at += size + (at[size] == '\n');
  }
  return 0;
}
