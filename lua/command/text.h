/*
 * text.h - bytes that grow, and memory that is there.
 *
 * The command has nothing sensible to do without memory: these functions end the process with
 * status 1 and a line on stderr instead of failing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TEXT_H
#define ACTL_COMMAND_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* `bytes` ends in a zero byte that `size` does not count; all zeros is an empty text. */
struct text {
  char *bytes; /* NULL while nothing was added */
  size_t size, room;
};

void actl__text_add(struct text *text, const char *bytes, size_t size);
void actl__text_print(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void actl__text_print_list(struct text *text, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));
void actl__text_free(struct text *text); /* leaves it empty */

/* Adds all that is left of `file`; then `bytes` is not NULL. False: it could not be read to its end. */
bool actl__text_read(struct text *text, FILE *file);

/* Writes all of it to a descriptor; false: not all could be written. */
bool actl__text_write(const struct text *text, int fd);

/* The bytes of the UTF-8 character that `at` begins with; 0: it begins with none. */
size_t actl__text_character(const char *at, size_t left);

/* What `realloc` gives, for `size` above 0. Freed with `free`. */
void *actl__text_room(void *ptr, size_t size);

/* `size` bytes followed by a zero byte, to be freed. */
char *actl__text_copy(const char *bytes, size_t size);

/* 1234567 as 1,234,567 in `out`, of TEXT_COUNT_SIZE bytes, which it returns. */
enum { TEXT_COUNT_SIZE = 32 };
const char *actl__text_count(char *out, uint64_t value);

/* A printed text, to be freed. */
char *actl__text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
