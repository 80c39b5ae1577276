/*
 * source.c - reads a file that is to be run.
 *
 * It is compiled once before there is an engine: a mistake is then said in one line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/source.h"

#include "command/find.h"

#include <lauxlib.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_stream(struct text *out, FILE *file) {
  char block[16384];
  size_t n = 0;
  while ((n = fread(block, 1, sizeof block, file)) > 0) actl__text_add(out, block, n);
  actl__text_add(out, "", 0);
  return ferror(file) == 0;
}

/* A byte order mark goes, and of a first line that begins with # only its end stays, so that the
 * numbers of the others are right. */
static void strip_first_line(struct text *text) {
  size_t skip = 0;
  if (strncmp(text->bytes, "\xEF\xBB\xBF", 3) == 0) skip = 3;
  if (text->bytes[skip] == '#') skip += strcspn(text->bytes + skip, "\n");
  text->size -= skip;
  memmove(text->bytes, text->bytes + skip, text->size + 1);
}

/* Why it cannot be read: `error` is an errno. */
static char *unreadable(const char *path, int error) {
  if (path[0] == '\0') return actl__text_format("a FILE's name is empty");
  char *similar = error == ENOENT ? actl__find_similar(path) : NULL;
  char *problem = similar != NULL ? actl__text_format("cannot read %s: %s; did you mean '%s'?",
                                                      path, strerror(error), similar)
                                  : actl__text_format("cannot read %s: %s", path, strerror(error));
  free(similar);
  return problem;
}

static char *read_file(struct text *out, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return unreadable(path, errno);
  struct stat info;
  char *problem = NULL;
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
    problem = actl__text_format("%s is a folder: give a file in it, or see 'actorlua list %s'",
                                path, path);
  } else if (!read_stream(out, file)) {
    problem = unreadable(path, errno);
  }
  fclose(file);
  return problem;
}

static char *check_syntax(const struct source *source) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return actl__text_format("%s: not enough memory", source->path);
  bool is_good = actl__source_load(L, source) == LUA_OK;
  char *problem = is_good ? NULL : actl__text_format("%s", lua_tostring(L, -1));
  lua_close(L);
  return problem;
}

char *actl__source_read(struct source *out, const char *path, bool *is_there) {
  *out = (struct source){.path = path};
  char *problem = read_file(&out->text, path);
  *is_there = problem == NULL;
  if (problem == NULL) {
    strip_first_line(&out->text);
    problem = check_syntax(out);
  }
  if (problem != NULL) actl__source_free(out);
  return problem;
}

void actl__source_free(struct source *source) { actl__text_free(&source->text); }

int actl__source_load(lua_State *L, const struct source *source) {
  lua_pushfstring(L, "@%s", source->path);
  const char *bytes = source->text.bytes;
  if (source->text.size > 0 && bytes[0] == LUA_SIGNATURE[0]) {
    lua_pop(L, 1);
    lua_pushfstring(L, "%s: is compiled Lua; give its source instead", source->path);
    return LUA_ERRSYNTAX;
  }
  int status = luaL_loadbufferx(L, bytes, source->text.size, lua_tostring(L, -1), "t");
  lua_remove(L, -2);
  return status;
}
