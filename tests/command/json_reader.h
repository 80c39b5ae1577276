/*
 * json_reader.h - reads JSON strictly (RFC 8259), so that what passes here passes anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_JSON_READER_H
#define ACTL_TESTS_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is one JSON value and nothing but white space around it. */
bool json_is_valid(const char *text);

/* The text of the value at `path` ("engine.spawned", "checks.0.ok") as it stands in valid `text`,
 * strings with their quotes; "" when there is none. Valid until the fourth call from now. */
const char *json_at(const char *text, const char *path);

#endif
