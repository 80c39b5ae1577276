/*
 * json.h - writes one JSON value (RFC 8259) onto a text.
 *
 * Commas come by themselves. Inside an object every call is given a key, inside an array NULL.
 * What is written is valid whatever is put in: bytes that are not UTF-8 become \u00XX, numbers
 * that JSON has not become null, and the locale changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_JSON_H
#define ACTL_COMMAND_JSON_H

#include "command/text.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
  struct text *out;
  bool has_value; /* the innermost object or array has a value, so the next needs a comma */
};

void actl__json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void actl__json_close(struct json *json, char bracket);                 /* '}' or ']' */
void actl__json_null(struct json *json, const char *key);
void actl__json_bool(struct json *json, const char *key, bool value);
void actl__json_integer(struct json *json, const char *key, int64_t value);
void actl__json_count(struct json *json, const char *key, uint64_t value);
void actl__json_bytes(struct json *json, const char *key, const char *bytes, size_t size);

/* `value` NULL: null. */
void actl__json_string(struct json *json, const char *key, const char *value);

/* With `digits` significant digits; 0: as many as say the number exactly. */
void actl__json_number(struct json *json, const char *key, double value, int digits);

#endif
