/*
 * verdict.c - what came of one run of a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/verdict.h"

#include "command/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text) {
  return text == NULL ? NULL : actl__text_copy(text, strlen(text));
}

void actl__verdict_copy(struct verdict *out, const struct verdict *verdict) {
  *out = (struct verdict){.kind = verdict->kind,
                          .text = copy_of(verdict->text),
                          .check = copy_of(verdict->check),
                          .n_choices = verdict->n_choices};
}

void actl__verdict_free(struct verdict *verdict) {
  free(verdict->text);
  free(verdict->check);
  *verdict = (struct verdict){.kind = VERDICT_DONE};
}

const char *actl__verdict_name(enum verdict_kind kind) {
  static const char *const names[] = {
#define NAME(code, name, several) name,
      ACTL_VERDICTS(NAME)
#undef NAME
  };
  return names[kind];
}

const char *actl__verdict_several(enum verdict_kind kind) {
  static const char *const names[] = {
#define SEVERAL(code, name, several) several,
      ACTL_VERDICTS(SEVERAL)
#undef SEVERAL
  };
  return names[kind];
}

static bool is_in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The end of the number that begins at `at`: digits, or 0x and what follows. */
static const char *skip_number(const char *at) {
  if (at[0] == '0' && at[1] == 'x') {
    at += 2;
    while (isxdigit((unsigned char)*at)) at++;
    return at;
  }
  while (isdigit((unsigned char)*at)) at++;
  return at;
}

/* The first line with a # for each number, except for what stands in a name, as in vat2, and a line of
 * a file, as in x.lua:12. */
static char *plain_line(const char *text) {
  struct text out = {0};
  actl__text_add(&out, "", 0);
  for (const char *at = text; *at != '\0' && *at != '\n';) {
    bool is_digit = isdigit((unsigned char)*at) != 0;
    bool is_line = is_digit && at > text + 1 && at[-1] == ':' && is_in_word(at[-2]);
    bool is_number = is_digit && !is_line && !(at > text && is_in_word(at[-1]));
    const char *end = is_digit ? skip_number(at) : at + 1;
    actl__text_add(&out, is_number ? "#" : at, is_number ? 1 : (size_t)(end - at));
    at = end;
  }
  return out.bytes;
}

static bool is_same_line(const char *a, const char *b) {
  char *first = plain_line(a), *second = plain_line(b);
  bool is_same = strcmp(first, second) == 0;
  free(first);
  free(second);
  return is_same;
}

bool actl__verdict_is_same(const struct verdict *a, const struct verdict *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
  case VERDICT_DONE:
  case VERDICT_LOST:
  case VERDICT_STEPS:
  case VERDICT_HUNG: return true;
  case VERDICT_CHECK: return strcmp(a->check, b->check) == 0;
  default: return is_same_line(a->text, b->text);
  }
}
