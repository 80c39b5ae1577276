/*
 * source.h - a file that is to be run, read and compiled.
 *
 * Many machines may run it, one after the other or at once: each gets the compiled form, and that of
 * runner.lua, since compiling is most of what a small run costs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SOURCE_H
#define ACTL_COMMAND_SOURCE_H

#include "command/text.h"

#include <lua.h>
#include <stdbool.h>

struct source {
  const char *path;             /* as messages name it; outlives the source */
  struct text compiled, runner; /* as lua_dump has them, with all names and lines */
};

/* Reads and compiles the file. NULL: all is well, and `out` is to be freed; otherwise what is
 * wrong, in one line, to be freed, and `is_there` says whether the file could be read. */
char *actl__source_read(struct source *out, const char *path, bool *is_there);
void actl__source_free(struct source *source);

/* Pushes the file, or runner.lua, as a function. Errors as Lua has them. [0, +1] */
void actl__source_push(lua_State *L, const struct source *source);
void actl__source_push_runner(lua_State *L, const struct source *source);

#endif
