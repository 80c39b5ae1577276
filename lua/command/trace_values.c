/*
 * trace_values.c - the values of a message as text.
 *
 * A table is in the binding's encoding (codec.h), which is walked here without a Lua machine: there is
 * none on the thread that tells of an event. The bytes may be anything that C code has sent as a table,
 * so every size is checked, and what is none is shown as its size.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trace_values.h"

#include "codec.h"
#include "command/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  STRING_MAX = 60, /* bytes of a string that are shown */
  SHOWN_MAX = 240, /* bytes of a message, beyond which no further value is begun */
  ENTRIES_MAX = 8, /* of a table */
  DEPTH_MAX = 4    /* of tables in tables */
};

/* ---- Strings ---- */

static void add_text(struct text *out, const char *text) {
  actl__text_add(out, text, strlen(text));
}

static void escape_byte(struct text *out, unsigned char byte) {
  if (byte == '\n') {
    add_text(out, "\\n");
  } else if (byte == '\t') {
    add_text(out, "\\t");
  } else if (byte == '\r') {
    add_text(out, "\\r");
  } else {
    actl__text_print(out, "\\x%02X", byte);
  }
}

void actl__trace_values_escape(struct text *out, const char *bytes, size_t size) {
  for (size_t i = 0; i < size;) {
    unsigned char byte = (unsigned char)bytes[i];
    size_t n = actl__text_character(bytes + i, size - i);
    if (n == 0 || byte < 0x20 || byte == 0x7F) {
      escape_byte(out, byte);
      n = 1;
    } else {
      actl__text_add(out, bytes + i, n);
    }
    i += n;
  }
}

/* No character is cut in two. */
static size_t cut(const char *bytes, size_t size) {
  if (size <= STRING_MAX) return size;
  size_t n = STRING_MAX;
  while (n > STRING_MAX - 4 && ((unsigned char)bytes[n] & 0xC0) == 0x80) n--;
  return n;
}

static void add_quoted(struct text *out, const char *bytes, size_t size) {
  size_t shown = cut(bytes, size), from = 0;
  add_text(out, "\"");
  for (size_t i = 0; i <= shown; i++) {
    bool is_special = i < shown && (bytes[i] == '"' || bytes[i] == '\\');
    if (i < shown && !is_special) continue;
    actl__trace_values_escape(out, bytes + from, i - from);
    if (is_special) actl__text_print(out, "\\%c", bytes[i]);
    from = i + 1;
  }
  add_text(out, "\"");
  if (shown < size) actl__text_print(out, "... (%zu bytes)", size);
}

/* A word that nobody takes for something else. */
static bool is_word(const char *bytes, size_t size) {
  static const char *const taken[] = {"nil", "true", "false", "nothing", "inf", "nan"};
  if (size == 0 || size > STRING_MAX || (!isalpha((unsigned char)bytes[0]) && bytes[0] != '_'))
    return false;
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte >= 0x80 || (!isalnum(byte) && strchr("_.:-", byte) == NULL) || byte == 0) return false;
  }
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strlen(taken[i]) == size && memcmp(taken[i], bytes, size) == 0) return false;
  return true;
}

/* ---- Numbers ---- */

/* As Lua prints it, in whatever locale. */
static void add_float(struct text *out, double number) {
  char text[64];
  if (isnan(number) || isinf(number)) {
    add_text(out, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
    return;
  }
  snprintf(text, sizeof text, "%.14g", number);
  bool is_integer = true;
  for (char *at = text; *at != '\0'; at++) {
    if (strchr("-0123456789", *at) != NULL) continue;
    is_integer = false;
    if (strchr("+e", *at) == NULL) *at = '.';
  }
  add_text(out, text);
  if (is_integer) add_text(out, ".0");
}

/* ---- Tables ---- */

struct walk {
  const struct trace_writer *to;
  const char *at, *end;
  size_t begin; /* where it began to be written */
  int depth;
};

static bool take(struct walk *walk, void *out, size_t size) {
  if ((size_t)(walk->end - walk->at) < size) return false;
  memcpy(out, walk->at, size);
  walk->at += size;
  return true;
}

static bool take_string(struct walk *walk, unsigned tag, const char **bytes, size_t *size) {
  uint8_t shorter = 0;
  uint32_t longer = 0;
  bool is_short = tag == CODE_SHORT_STRING;
  if (is_short ? !take(walk, &shorter, 1) : !take(walk, &longer, sizeof longer)) return false;
  *size = is_short ? shorter : longer;
  if ((size_t)(walk->end - walk->at) < *size) return false;
  *bytes = walk->at;
  walk->at += *size;
  return true;
}

static bool walk_value(struct walk *walk, bool is_shown, bool is_key);

static bool walk_entry(struct walk *walk, uint32_t i, uint32_t n_elements, bool is_shown) {
  if (is_shown && i > 0) add_text(walk->to->out, ", ");
  if (i < n_elements) return walk_value(walk, is_shown, false);
  if (!walk_value(walk, is_shown, true)) return false;
  if (is_shown) add_text(walk->to->out, " = ");
  return walk_value(walk, is_shown, false);
}

static bool walk_table(struct walk *walk, bool is_shown) {
  uint32_t counts[2];
  if (!take(walk, counts, sizeof counts) || ++walk->depth > CODEC_DEPTH_MAX) return false;
  struct text *out = walk->to->out;
  uint64_t n = (uint64_t)counts[0] + counts[1];
  bool is_deep = walk->depth > DEPTH_MAX;
  if (is_shown) add_text(out, "{");
  bool was_cut = false;
  for (uint64_t i = 0; i < n; i++) {
    bool shows = is_shown && !is_deep && i < ENTRIES_MAX && out->size - walk->begin < SHOWN_MAX;
    if (is_shown && !shows && !was_cut) {
      add_text(out, i > 0 ? ", ..." : "...");
      was_cut = true;
    }
    if (!walk_entry(walk, (uint32_t)i, counts[0], shows)) return false;
  }
  if (is_shown) add_text(out, "}");
  walk->depth--;
  return true;
}

static void show_string(struct walk *walk, const char *bytes, size_t size, bool is_key) {
  struct text *out = walk->to->out;
  if (is_key && is_word(bytes, size)) {
    actl__text_add(out, bytes, size);
    return;
  }
  if (is_key) add_text(out, "[");
  add_quoted(out, bytes, size);
  if (is_key) add_text(out, "]");
}

static bool walk_number(struct walk *walk, unsigned tag, bool is_shown) {
  uint64_t word;
  if (!take(walk, &word, sizeof word)) return false;
  if (!is_shown) return true;
  if (tag == CODE_PID) {
    actl__trace_names_print(walk->to->names, (actl_pid){word}, walk->to->out);
  } else if (tag == CODE_FLOAT) {
    double number;
    memcpy(&number, &word, sizeof number);
    add_float(walk->to->out, number);
  } else {
    actl__text_print(walk->to->out, "%" PRId64, (int64_t)word);
  }
  return true;
}

static bool walk_value(struct walk *walk, bool is_shown, bool is_key) {
  static const char *const words[] = {"nil", "false", "true"};
  uint8_t tag;
  uint32_t seen;
  const char *bytes;
  size_t size;
  if (!take(walk, &tag, 1)) return false;
  switch (tag) {
  case CODE_NIL:
  case CODE_FALSE:
  case CODE_TRUE:
    if (is_shown) add_text(walk->to->out, words[tag]);
    return true;
  case CODE_INTEGER:
  case CODE_FLOAT:
  case CODE_PID: return walk_number(walk, tag, is_shown);
  case CODE_SHORT_STRING:
  case CODE_LONG_STRING:
    if (!take_string(walk, tag, &bytes, &size)) return false;
    if (is_shown) show_string(walk, bytes, size, is_key);
    return true;
  case CODE_TABLE: return walk_table(walk, is_shown);
  case CODE_SEEN:
    if (!take(walk, &seen, sizeof seen)) return false;
    if (is_shown) actl__text_print(walk->to->out, "(table %" PRIu32 ")", seen + 1);
    return true;
  default: return false;
  }
}

static void add_table(const struct trace_writer *to, const char *bytes, size_t size) {
  size_t before = to->out->size;
  struct walk walk = {.to = to, .at = bytes, .end = bytes + size, .begin = before};
  uint8_t has_seen;
  if (size >= 2 && take(&walk, &has_seen, 1) && walk_value(&walk, true, false) &&
      walk.at == walk.end)
    return;
  to->out->size = before;
  actl__text_print(to->out, "(%zu bytes)", size);
}

/* ---- Messages ---- */

/* The bytes of a name or a string; false: `value` is neither. */
static bool get_string(const struct trace_writer *to, const actl_value *value, const char **bytes,
                       size_t *size) {
  if (value->type == ACTL_STRING) {
    *bytes = value->as.bytes;
    *size = value->size;
    return true;
  }
  if (value->type != ACTL_NAME || to->engine == NULL) return false;
  *bytes = actl_name_bytes(to->engine, value->as.name, size);
  return *bytes != NULL;
}

static void add_value(const struct trace_writer *to, const actl_value *value, bool is_name) {
  const char *bytes;
  size_t size;
  if (get_string(to, value, &bytes, &size)) {
    if (is_name && is_word(bytes, size)) {
      actl__text_add(to->out, bytes, size);
    } else {
      add_quoted(to->out, bytes, size);
    }
    return;
  }
  switch (value->type) {
  case ACTL_NIL: add_text(to->out, "nil"); break;
  case ACTL_FALSE: add_text(to->out, "false"); break;
  case ACTL_TRUE: add_text(to->out, "true"); break;
  case ACTL_INTEGER: actl__text_print(to->out, "%" PRId64, value->as.integer); break;
  case ACTL_FLOAT: add_float(to->out, value->as.number); break;
  case ACTL_PID: actl__trace_names_print(to->names, value->as.pid, to->out); break;
  case ACTL_TABLE: add_table(to, value->as.bytes, value->size); break;
  default: actl__text_print(to->out, "(a value of type %" PRIu32 ")", value->type); break;
  }
}

void actl__trace_values_print(const struct trace_writer *to, const actl_msg *msg, bool is_named) {
  size_t n = actl_msg_count(msg), begin = to->out->size;
  if (n == 0) add_text(to->out, "nothing");
  for (size_t i = 0; i < n; i++) {
    if (i > 0) add_text(to->out, " ");
    if (to->out->size - begin > SHOWN_MAX) {
      actl__text_print(to->out, "... (%zu more)", n - i);
      return;
    }
    actl_value value = actl_msg_value(msg, i);
    add_value(to, &value, is_named && i == 0);
  }
}

void actl__trace_values_name(const struct trace_writer *to, const actl_msg *msg) {
  actl_value value = actl_msg_value(msg, 0);
  const char *bytes;
  size_t size;
  if (get_string(to, &value, &bytes, &size)) {
    actl__trace_values_escape(to->out, bytes, cut(bytes, size));
  } else {
    add_text(to->out, "message");
  }
}
