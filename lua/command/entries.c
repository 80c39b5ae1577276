/*
 * entries.c - keeps what is logged, and compares it with what was announced.
 *
 * That is done when all has ended: an announcement may come after what it announces.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/entries.h"

#include "command/console.h"
#include "command/text.h"

#include <lauxlib.h>
#include <lualib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ENTRIES = 1000, /* that are kept; those that come later are not looked at */
  SHOWN = 5       /* failures with their tracebacks */
};

void actl__entries_init(struct entries *out) {
  *out = (struct entries){.n = 0};
  pthread_mutex_init(&out->lock, NULL);
}

void actl__entries_fini(struct entries *entries) {
  for (size_t i = 0; i < entries->n; i++) free(entries->list[i].text);
  for (size_t i = 0; i < entries->n_announced; i++) free(entries->announced[i].pattern);
  free(entries->list);
  free(entries->announced);
  pthread_mutex_destroy(&entries->lock);
}

static struct entry make(actl_log_level level, actl_log_kind kind, const char *text) {
  bool is_failure = kind == ACTL_LOG_FAILURE || kind == ACTL_LOG_STUCK;
  return (struct entry){
      .text = is_failure ? actl__text_format("%s", text) : actl__console_entry(level, text),
      .is_failure = is_failure,
  };
}

size_t actl__entries_add(struct entries *entries, actl_log_level level, actl_log_kind kind,
                         const char *text) {
  pthread_mutex_lock(&entries->lock);
  size_t i = entries->n;
  if (i < ENTRIES) {
    entries->list = actl__text_room(entries->list, (i + 1) * sizeof *entries->list);
    entries->list[entries->n++] = make(level, kind, text);
  }
  pthread_mutex_unlock(&entries->lock);
  return i;
}

void actl__entries_announce(struct entries *entries, bool is_failure, const char *pattern) {
  pthread_mutex_lock(&entries->lock);
  size_t size = (entries->n_announced + 1) * sizeof *entries->announced;
  entries->announced = actl__text_room(entries->announced, size);
  entries->announced[entries->n_announced++] =
      (struct announced){.pattern = actl__text_format("%s", pattern), .is_failure = is_failure};
  pthread_mutex_unlock(&entries->lock);
}

/* ---- Comparing ---------------------------------------------------------------------------------- */

/* Protected: (text, pattern as light userdata): what string.find says first. */
static int find(lua_State *L) {
  const char *text = lua_touserdata(L, 1), *pattern = lua_touserdata(L, 2);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
  lua_getfield(L, -1, "find");
  lua_pushstring(L, text);
  lua_pushstring(L, pattern);
  lua_call(L, 2, 1);
  return 1;
}

/* `L` NULL: there is no memory for patterns. */
static bool has(lua_State *L, const char *text, const char *pattern) {
  if (strstr(text, pattern) != NULL) return true;
  if (L == NULL) return false;
  lua_settop(L, 0);
  lua_pushcfunction(L, find);
  lua_pushlightuserdata(L, (void *)(uintptr_t)text);
  lua_pushlightuserdata(L, (void *)(uintptr_t)pattern);
  return lua_pcall(L, 2, 1, 0) == LUA_OK && !lua_isnil(L, -1);
}

static void compare(lua_State *L, struct entry *entry, struct announced *announced) {
  if (announced->is_failure && !entry->is_failure) return;
  if (!has(L, entry->text, announced->pattern)) return;
  announced->has_come = true;
  entry->is_announced = true;
}

void actl__entries_compare(struct entries *entries) {
  if (entries->n_announced == 0) return;
  lua_State *L = luaL_newstate();
  for (size_t i = 0; i < entries->n; i++)
    for (size_t j = 0; j < entries->n_announced; j++)
      compare(L, &entries->list[i], &entries->announced[j]);
  if (L != NULL) lua_close(L);
}

static bool is_bad(const struct entry *entry) { return entry->is_failure && !entry->is_announced; }

size_t actl__entries_failure(const struct entries *entries) {
  size_t i = 0;
  while (i < entries->n && !is_bad(&entries->list[i])) i++;
  return i;
}

const struct announced *actl__entries_missing(const struct entries *entries) {
  for (size_t i = 0; i < entries->n_announced; i++)
    if (!entries->announced[i].has_come) return &entries->announced[i];
  return NULL;
}

/* ---- Showing ------------------------------------------------------------------------------------ */

char *actl__entries_failures(const struct entries *entries) {
  struct text text = {0};
  size_t n = 0;
  for (size_t i = 0; i < entries->n; i++) {
    if (!is_bad(&entries->list[i]) || n++ >= SHOWN) continue;
    actl__text_print(&text, "%s%s", text.size > 0 ? "\n" : "", entries->list[i].text);
  }
  if (n > SHOWN) actl__text_print(&text, "\n(and %zu more)", n - SHOWN);
  return text.bytes;
}

void actl__entries_print(const struct entries *entries) {
  for (size_t i = 0; i < entries->n; i++) {
    const struct entry *entry = &entries->list[i];
    if (!entry->is_failure && !entry->is_announced) puts(entry->text);
  }
}
