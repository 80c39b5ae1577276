/*
 * text.c - bytes that grow: room doubles, so adding n bytes one by one costs n.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *actl__text_room(void *ptr, size_t size) {
  void *room = realloc(ptr, size);
  if (room == NULL) {
    fputs("actorlua: out of memory\n", stderr);
    exit(EXIT_FAILURE);
  }
  return room;
}

static void text_reserve(struct text *text, size_t size) {
  size_t needed = text->size + size + 1;
  if (text->bytes != NULL && needed <= text->room) return;

  size_t room = text->room < 64 ? 64 : text->room;
  while (room < needed) room *= 2;
  text->bytes = actl__text_room(text->bytes, room);
  text->room = room;
}

void actl__text_add(struct text *text, const char *bytes, size_t size) {
  text_reserve(text, size);
  if (size > 0) memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
  text->bytes[text->size] = '\0';
}

void actl__text_print_list(struct text *text, const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  int size = vsnprintf(NULL, 0, format, values);
  if (size >= 0) {
    text_reserve(text, (size_t)size);
    vsnprintf(text->bytes + text->size, (size_t)size + 1, format, again);
    text->size += (size_t)size;
  }
  va_end(again);
}

void actl__text_print(struct text *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  actl__text_print_list(text, format, values);
  va_end(values);
}

void actl__text_free(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}

bool actl__text_read(struct text *text, FILE *file) {
  char block[16384];
  size_t n = 0;
  while ((n = fread(block, 1, sizeof block, file)) > 0) actl__text_add(text, block, n);
  actl__text_add(text, "", 0);
  return ferror(file) == 0;
}

bool actl__text_write(const struct text *text, int fd) {
  for (size_t at = 0; at < text->size;) {
    ssize_t n = write(fd, text->bytes + at, text->size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += (size_t)n;
  }
  return true;
}

char *actl__text_copy(const char *bytes, size_t size) {
  struct text text = {0};
  actl__text_add(&text, bytes, size);
  return text.bytes;
}

char *actl__text_format(const char *format, ...) {
  struct text text = {0};
  va_list values;
  va_start(values, format);
  actl__text_print_list(&text, format, values);
  va_end(values);
  if (text.bytes == NULL) actl__text_add(&text, "", 0);
  return text.bytes;
}

/* As RFC 3629 has them: without overlong forms, surrogates, and what lies beyond U+10FFFF. */
size_t actl__text_character(const char *bytes, size_t left) {
  const unsigned char *at = (const unsigned char *)bytes;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (at[0] < 0x80) return 1;

  size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  if (at[0] < 0xC2 || at[0] > 0xF4 || size > left) return 0;
  uint32_t code = at[0] & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xC0) != 0x80) return 0;
    code = code << 6 | (at[i] & 0x3F);
  }
  bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[size] || code > 0x10FFFF || is_surrogate ? 0 : size;
}

const char *actl__text_count(char *out, uint64_t value) {
  char digits[TEXT_COUNT_SIZE];
  int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
  char *at = out;
  for (int i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0) *at++ = ',';
    *at++ = digits[i];
  }
  *at = '\0';
  return out;
}
