/*
 * report.c - error values as text.
 *
 * Making the text may run a __tostring and needs memory, so it happens on the main state under
 * lua_pcall, with the reserve that the allocator keeps for it. When even that fails the text is a
 * plain one from the machine itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

/* Pushes the text of the error value at 1. */
static void push_text(lua_State *L) {
  int type = lua_type(L, 1);
  if (type == LUA_TSTRING || type == LUA_TNUMBER) {
    lua_pushvalue(L, 1);
    lua_tostring(L, -1);
  } else if (luaL_callmeta(L, 1, "__tostring") && lua_isstring(L, -1)) {
    lua_tostring(L, -1);
  } else {
    lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
}

static size_t without(const char *text, size_t size, const char *end) {
  size_t end_size = strlen(end);
  bool has_it = size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
  return has_it ? size - end_size : size;
}

/* Takes off the last line, which is the runner's body and ours, and the title of an empty rest. */
static void push_traceback(lua_State *L, lua_State *from) {
  luaL_traceback(L, from, lua_tostring(L, -1), 0);
  size_t size;
  const char *text = lua_tolstring(L, -1, &size);
  size = without(text, size, "\n\t[C]: in ?");
  size = without(text, size, "\nstack traceback:");
  lua_pushlstring(L, text, size);
}

/* (error value, coroutine as light userdata): the text. */
static int make_report(lua_State *L) {
  lua_State *from = lua_touserdata(L, 2);
  push_text(L);
  if (from != NULL) push_traceback(L, from);
  return 1;
}

/* A text that needs no memory. The error value is at `index`. */
static const char *plain_text(struct machine *m, int status, int index) {
  if (lua_type(m->main, index) == LUA_TSTRING) return lua_tostring(m->main, index);
  snprintf(m->plain, sizeof m->plain, "(error object is a %s value)%s",
           lua_typename(m->main, lua_type(m->main, index)),
           status == LUA_ERRMEM ? "" : ", and its __tostring failed");
  return m->plain;
}

const char *actl__lua_report(struct machine *m, lua_State *from, bool traceback) {
  lua_State *L = m->main, *running = m->running;
  if (from != L) lua_xmove(from, L, 1);
  int value = lua_gettop(L);
  lua_pushcfunction(L, make_report);
  lua_pushvalue(L, value);
  lua_pushlightuserdata(L, traceback ? from : NULL);

  m->uses_reserve = true;
  m->running = L;
  int status = lua_pcall(L, 2, 1, 0);
  m->running = running;
  m->uses_reserve = false;
  return status == LUA_OK ? lua_tostring(L, -1) : plain_text(m, status, value);
}

void actl__lua_report_end(struct machine *m) { lua_pop(m->main, 2); }

void actl__lua_warn_error(struct machine *m, lua_State *from, const char *what) {
  char text[1024];
  snprintf(text, sizeof text, "%s: %s", what, actl__lua_report(m, from, false));
  actl__lua_report_end(m);
  actl_engine_log(m->binding->engine, ACTL_LOG_WARN, text);
}
