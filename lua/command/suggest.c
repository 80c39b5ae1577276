/*
 * suggest.c - edit distance by dynamic programming over three rows (Wagner and Fischer, 1974, with
 * the transposition of Damerau, 1964, restricted to letters that stand side by side).
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 63 };

static bool is_same(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t actl__suggest_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > WORD_MAX || m > WORD_MAX) return SIZE_MAX;

  size_t rows[3][WORD_MAX + 1]; /* rows[i % 3][j]: from the first i letters of a to j of b */
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t exchanged = above[j - 1] + (is_same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = smaller(exchanged, smaller(above[j], row[j - 1]) + 1);
      bool is_swap = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
      if (is_swap) row[j] = smaller(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

/* Whether `name` goes on where `word` ends: what was typed may be its beginning. */
static bool is_beginning(const char *word, const char *name) {
  size_t n = strlen(word);
  return n >= 3 && strncmp(word, name, n) == 0;
}

const char *actl__suggest_name(const char *word, const char *const *names, size_t n) {
  /* A third of the letters may be wrong: with more the guess is no better than none. */
  size_t size = strlen(word);
  size_t best = size < 2 ? 0 : size < 6 ? 2 : size / 3 + 1; /* the first distance that is too far */
  const char *found = NULL;
  for (size_t i = 0; i < n; i++) {
    bool goes_on = is_beginning(word, names[i]);
    size_t distance = goes_on ? 1 : actl__suggest_distance(word, names[i]);
    bool is_shorter = goes_on && found != NULL && strlen(names[i]) < strlen(found);
    if (distance < best || (distance == best && is_shorter)) {
      best = distance;
      found = names[i];
    }
  }
  return found;
}
