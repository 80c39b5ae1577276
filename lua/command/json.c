/*
 * json.c - the JSON writer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_quoted(struct text *out, const char *bytes, size_t size) {
  const unsigned char *at = (const unsigned char *)bytes;
  actl__text_add(out, "\"", 1);
  for (size_t i = 0; i < size;) {
    size_t n = actl__text_character(bytes + i, size - i);
    if (at[i] == '"' || at[i] == '\\') {
      actl__text_print(out, "\\%c", at[i]);
    } else if (at[i] == '\n') {
      actl__text_add(out, "\\n", 2);
    } else if (n == 0 || at[i] < 0x20 || at[i] == 0x7F) {
      actl__text_print(out, "\\u%04x", at[i]);
    } else {
      actl__text_add(out, bytes + i, n);
    }
    i += n == 0 ? 1 : n;
  }
  actl__text_add(out, "\"", 1);
}

static void write_key(struct json *json, const char *key) {
  if (json->has_value) actl__text_add(json->out, ",", 1);
  json->has_value = true;
  if (key == NULL) return;
  write_quoted(json->out, key, strlen(key));
  actl__text_add(json->out, ":", 1);
}

void actl__json_open(struct json *json, const char *key, char bracket) {
  write_key(json, key);
  actl__text_add(json->out, &bracket, 1);
  json->has_value = false;
}

void actl__json_close(struct json *json, char bracket) {
  actl__text_add(json->out, &bracket, 1);
  json->has_value = true;
}

void actl__json_null(struct json *json, const char *key) {
  write_key(json, key);
  actl__text_add(json->out, "null", 4);
}

void actl__json_bool(struct json *json, const char *key, bool value) {
  write_key(json, key);
  actl__text_print(json->out, "%s", value ? "true" : "false");
}

void actl__json_integer(struct json *json, const char *key, int64_t value) {
  write_key(json, key);
  actl__text_print(json->out, "%" PRId64, value);
}

void actl__json_count(struct json *json, const char *key, uint64_t value) {
  write_key(json, key);
  actl__text_print(json->out, "%" PRIu64, value);
}

void actl__json_bytes(struct json *json, const char *key, const char *bytes, size_t size) {
  write_key(json, key);
  write_quoted(json->out, bytes, size);
}

void actl__json_string(struct json *json, const char *key, const char *value) {
  if (value == NULL) {
    actl__json_null(json, key);
  } else {
    actl__json_bytes(json, key, value, strlen(value));
  }
}

/* A script may have set a locale whose decimal point is another character, of any size. */
static void write_with_point(struct text *out, const char *number) {
  bool in_point = false;
  for (const char *at = number; *at != '\0'; at++) {
    bool is_plain = strchr("0123456789+-e", *at) != NULL;
    if (is_plain) {
      actl__text_add(out, at, 1);
    } else if (!in_point) {
      actl__text_add(out, ".", 1);
    }
    in_point = !is_plain;
  }
}

void actl__json_number(struct json *json, const char *key, double value, int digits) {
  if (!isfinite(value)) {
    actl__json_null(json, key);
    return;
  }
  char number[64];
  int most = digits == 0 ? 17 : digits;
  for (int n = digits == 0 ? 15 : digits; n <= most; n++) {
    snprintf(number, sizeof number, "%.*g", n, value);
    /* The one place where sameness is meant: the shortest text that reads back as `value`. */
    if (strtod(number, NULL) == value) break;
  }
  write_key(json, key);
  write_with_point(json->out, number);
}
