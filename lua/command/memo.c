/*
 * memo.c - named texts in a file: "key\0text\0", one after the other.
 *
 * A text is one without zero bytes; that is for who writes it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/memo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int actl__memo_open(void) {
  FILE *file = tmpfile();
  if (file == NULL) return -1;
  int fd = dup(fileno(file));
  int error = errno;
  fclose(file);
  errno = error;
  return fd;
}

void actl__memo_write(int fd, const char *key, const char *bytes) {
  if (bytes == NULL) return;
  struct text text = {0};
  actl__text_add(&text, key, strlen(key) + 1);
  actl__text_add(&text, bytes, strlen(bytes) + 1);
  (void)actl__text_write(&text, fd);
  actl__text_free(&text);
}

void actl__memo_number(int fd, const char *key, uint64_t number) {
  char bytes[24];
  snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)number);
  actl__memo_write(fd, key, bytes);
}

struct text actl__memo_read(int fd) {
  struct text text = {0};
  char block[16384];
  ssize_t n = 0;
  lseek(fd, 0, SEEK_SET);
  while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) actl__text_add(&text, block, (size_t)n);
  }
  actl__text_add(&text, "", 0);
  return text;
}

bool actl__memo_next(struct text *text, size_t *at, struct memo *out) {
  if (*at >= text->size) return false;
  const char *key = text->bytes + *at;
  size_t value = *at + strlen(key) + 1;
  /* Not written to its end. */
  if (value >= text->size) return false;
  *out = (struct memo){key, text->bytes + value};
  *at = value + strlen(out->bytes) + 1;
  return true;
}

uint64_t actl__memo_value(const struct memo *memo) { return strtoull(memo->bytes, NULL, 10); }
