/*
 * json_reader.c - a JSON reader by recursive descent: each function takes the place where its rule
 * begins and returns the place where it ends, or NULL.
 *
 * SPDX-License-Identifier: MIT
 */
#include "json_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value(const char *at);

static const char *blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *utf8(const char *at) {
  const unsigned char *c = (const unsigned char *)at;
  int more = c[0] < 0x80                   ? 0
             : c[0] >= 0xC2 && c[0] < 0xE0 ? 1
             : (c[0] & 0xF0) == 0xE0       ? 2
             : c[0] >= 0xF0 && c[0] < 0xF5 ? 3
                                           : -1;
  if (more < 0) return NULL;
  for (int i = 1; i <= more; i++) {
    if ((c[i] & 0xC0) != 0x80) return NULL;
  }
  bool is_overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
  bool is_beyond = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
  return is_overlong || is_beyond ? NULL : at + 1 + more;
}

static const char *escape(const char *at) {
  if (*at != '\0' && strchr("\"\\/bfnrt", *at) != NULL) return at + 1;
  if (*at != 'u') return NULL;
  for (int i = 1; i <= 4; i++) {
    if (!isxdigit((unsigned char)at[i])) return NULL;
  }
  return at + 5;
}

static const char *string(const char *at) {
  if (*at++ != '"') return NULL;
  while (at != NULL && *at != '"') {
    if ((unsigned char)*at < 0x20) return NULL;
    at = *at == '\\' ? escape(at + 1) : utf8(at);
  }
  return at == NULL ? NULL : at + 1;
}

static const char *digits(const char *at) {
  size_t n = strspn(at, "0123456789");
  return n == 0 ? NULL : at + n;
}

static const char *number(const char *at) {
  if (*at == '-') at++;
  at = *at == '0' ? at + 1 : digits(at);
  if (at != NULL && *at == '.') at = digits(at + 1);
  if (at != NULL && (*at == 'e' || *at == 'E')) {
    at++;
    at = digits(*at == '+' || *at == '-' ? at + 1 : at);
  }
  return at;
}

/* [ value, value ] or { string: value, ... } */
static const char *list(const char *at, char end) {
  at = blanks(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (end == '}') {
      at = string(at);
      if (at == NULL) return NULL;
      at = blanks(at);
      if (*at++ != ':') return NULL;
    }
    at = value(blanks(at));
    if (at == NULL) return NULL;
    at = blanks(at);
    if (*at == end) return at + 1;
    if (*at++ != ',') return NULL;
    at = blanks(at);
  }
}

static const char *word(const char *at) {
  static const char *const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
  }
  return NULL;
}

static const char *value(const char *at) {
  switch (*at) {
  case '{': return list(at, '}');
  case '[': return list(at, ']');
  case '"': return string(at);
  case 't':
  case 'f':
  case 'n': return word(at);
  default: return number(at);
  }
}

bool json_is_valid(const char *text) {
  const char *end = value(blanks(text));
  return end != NULL && *blanks(end) == '\0';
}

/* The value of `key` (`size` bytes) in the object or array at `at`. */
static const char *member(const char *at, const char *key, size_t size) {
  char end = *at == '{' ? '}' : ']';
  if (*at != '{' && *at != '[') return NULL;
  size_t wanted = end == ']' ? (size_t)strtoul(key, NULL, 10) : 0;
  at = blanks(at + 1);
  for (size_t i = 0; *at != end; i++) {
    bool is_it = end == ']' && i == wanted;
    if (end == '}') {
      const char *after = string(at);
      is_it = (size_t)(after - at) == size + 2 && memcmp(at + 1, key, size) == 0;
      at = blanks(blanks(after) + 1);
    }
    if (is_it) return at;
    at = blanks(value(at));
    if (*at == ',') at = blanks(at + 1);
  }
  return NULL;
}

const char *json_at(const char *text, const char *path) {
  static char found[4][4096];
  static unsigned turn;
  const char *at = blanks(text);
  while (at != NULL && *path != '\0') {
    size_t size = strcspn(path, ".");
    at = member(at, path, size);
    path += size + (path[size] == '.');
  }
  char *out = found[turn++ % 4];
  snprintf(out, sizeof found[0], "%.*s", at == NULL ? 0 : (int)(value(at) - at),
           at == NULL ? "" : at);
  return out;
}
