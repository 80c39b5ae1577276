/*
 * source.c - reads and compiles a file that is to be run.
 *
 * That is done before there is an engine: a mistake is then said in one line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/source.h"

#include "command/find.h"

#include "actl_parts.h"

#include <lauxlib.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
  } else if (!actl__text_read(out, file)) {
    problem = unreadable(path, errno);
  } else {
    strip_first_line(out);
  }
  fclose(file);
  return problem;
}

static int add_piece(lua_State *L, const void *bytes, size_t size, void *out) {
  (void)L;
  actl__text_add(out, bytes, size);
  return 0;
}

/* Compiles `text`, which is called `name`, into `out`; otherwise a message is pushed. */
static bool compile(lua_State *L, struct text *out, const char *text, size_t size,
                    const char *name) {
  if (luaL_loadbufferx(L, text, size, name, "t") != LUA_OK) return false;
  lua_dump(L, add_piece, out, false);
  lua_pop(L, 1);
  return true;
}

/* Protected: (source, text as light userdata). */
static int compile_both(lua_State *L) {
  struct source *source = lua_touserdata(L, 1);
  const struct text *text = lua_touserdata(L, 2);
  const char *name = lua_pushfstring(L, "@%s", source->path);
  if (!compile(L, &source->compiled, text->bytes, text->size, name)) return lua_error(L);
  if (!compile(L, &source->runner, actl_part_runner, actl_part_runner_size, "=[actorlua]"))
    return lua_error(L);
  return 0;
}

static char *compile_all(struct source *source, struct text *text) {
  if (text->size > 0 && text->bytes[0] == LUA_SIGNATURE[0])
    return actl__text_format("%s: is compiled Lua; give its source instead", source->path);
  lua_State *L = luaL_newstate();
  if (L == NULL) return actl__text_format("%s: not enough memory", source->path);
  lua_pushcfunction(L, compile_both);
  lua_pushlightuserdata(L, source);
  lua_pushlightuserdata(L, text);
  bool is_good = lua_pcall(L, 2, 0, 0) == LUA_OK;
  char *problem = is_good ? NULL : actl__text_format("%s", lua_tostring(L, -1));
  lua_close(L);
  return problem;
}

char *actl__source_read(struct source *out, const char *path, bool *is_there) {
  *out = (struct source){.path = path};
  struct text text = {0};
  char *problem = read_file(&text, path);
  *is_there = problem == NULL;
  if (problem == NULL) problem = compile_all(out, &text);
  if (problem != NULL) actl__source_free(out);
  actl__text_free(&text);
  return problem;
}

void actl__source_free(struct source *source) {
  actl__text_free(&source->compiled);
  actl__text_free(&source->runner);
}

static void push(lua_State *L, const struct text *compiled) {
  if (luaL_loadbufferx(L, compiled->bytes, compiled->size, "=?", "b") != LUA_OK) lua_error(L);
}

void actl__source_push(lua_State *L, const struct source *source) { push(L, &source->compiled); }
void actl__source_push_runner(lua_State *L, const struct source *source) {
  push(L, &source->runner);
}
