/*
 * source.h - a file that is to be run, read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SOURCE_H
#define ACTL_COMMAND_SOURCE_H

#include "command/text.h"

#include <lua.h>
#include <stdbool.h>

struct source {
  const char *path; /* as messages name it; outlives the source */
  struct text text; /* without a byte order mark and a first line that begins with # */
};

/* Reads the file and compiles it once. NULL: all is well, and `out` is to be freed; otherwise what is
 * wrong, in one line, to be freed, and `is_there` says whether the file could be read. */
char *actl__source_read(struct source *out, const char *path, bool *is_there);
void actl__source_free(struct source *source);

/* Pushes the compiled file and returns LUA_OK, or a message and another status. [0, +1] */
int actl__source_load(lua_State *L, const struct source *source);

#endif
