/*
 * values.c - between Lua values and a message's values.
 *
 * Tables are written one after the other to the machine's buffer, which may move while it grows: a
 * table's value holds an offset until all values have been read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "values.h"

#include "behavior.h"
#include "request.h"

#include <lauxlib.h>

const char *actl__lua_type_phrase(lua_State *L, int index) {
  switch (lua_type(L, index)) {
  case LUA_TNONE: return "nothing";
  case LUA_TNIL: return "nil";
  case LUA_TBOOLEAN: return "a boolean";
  case LUA_TNUMBER: return "a number";
  case LUA_TSTRING: return "a string";
  case LUA_TTABLE: return "a table";
  case LUA_TFUNCTION: return "a function";
  case LUA_TTHREAD: return "a coroutine";
  case LUA_TLIGHTUSERDATA:
    return actl__lua_pid_at(L, index).bits != 0 ? "a pid" : "a light userdata";
  default: break;
  }
  if (actl__lua_behavior_at(L, index) != NULL) return "a behavior";
  if (actl__lua_request_at(L, index) != NULL) return "a request";
  return "a userdata";
}

actl_pid actl__lua_check_pid(lua_State *L, const char *function) {
  actl_pid pid = actl__lua_pid_at(L, 1);
  if (pid.bits == 0) {
    luaL_error(L, "%s: a pid expected, got %s", function, actl__lua_type_phrase(L, 1));
  }
  return pid;
}

int actl__lua_push_failure(lua_State *L, actl_status status) {
  lua_pushnil(L);
  lua_pushstring(L, actl_status_name(status));
  return 2;
}

/* A string is a name only as a message's first value. */
static actl_value read_string(lua_State *L, struct machine *m, int index, const char *what,
                              int number) {
  size_t size;
  const char *bytes = lua_tolstring(L, index, &size);
  if (number == 1 && size <= NAME_BYTES_MAX) {
    actl_name name;
    m->sends_names = true;
    if (actl__lua_name_find(&m->names, lua_topointer(L, index), &name)) return actl_named(name);
    if (actl__lua_name_count(L, m, index, &name)) return actl_named(name);
  }
  if (size > UINT32_MAX) {
    struct place place = {what, number};
    actl__lua_refuse(L, &place, "a string of more than 4 GB");
  }
  return actl_bytes(bytes, (uint32_t)size);
}

/* A table or what cannot be sent. The value gets the table's offset in the buffer. */
static actl_value read_other(lua_State *L, struct machine *m, int index, const char *what,
                             int number) {
  struct place place = {what, number};
  if (lua_type(L, index) != LUA_TTABLE) {
    actl__lua_refuse(L, &place, actl__lua_type_phrase(L, index));
  }
  actl_value value = {ACTL_TABLE, 0, {0}};
  value.as.bits = m->codec.size;
  actl__lua_encode(L, m, index, &place);
  size_t size = m->codec.size - value.as.bits;
  if (size > UINT32_MAX) actl__lua_refuse(L, &place, "a table of more than 4 GB");
  value.size = (uint32_t)size;
  return value;
}

static void place_tables(const struct machine *m, actl_value *values, int n) {
  for (int i = 0; i < n; i++) {
    if (values[i].type == ACTL_TABLE) values[i].as.bytes = m->codec.bytes + values[i].as.bits;
  }
}

void actl__lua_read(lua_State *L, struct machine *m, int first, int n, actl_value *out,
                    const char *what) {
  if (n > ACTL_VALUES_MAX) {
    luaL_error(L, "%d values cannot be sent in one message, %d at most", n, ACTL_VALUES_MAX);
  }
  bool has_tables = false;
  int i = 0;
  /* Where the last message began with a name this one most likely does. */
  if (m->sends_names && n > 0) {
    actl_name name;
    m->sends_names = actl__lua_name_find(&m->names, lua_topointer(L, first), &name);
    if (m->sends_names) out[i++] = actl_named(name);
  }
  for (; i < n; i++) {
    int index = first + i;
    if (lua_isinteger(L, index)) {
      out[i] = actl_int(lua_tointegerx(L, index, NULL));
      continue;
    }
    actl_pid pid;
    switch (lua_type(L, index)) {
    case LUA_TSTRING: out[i] = read_string(L, m, index, what, i + 1); continue;
    case LUA_TNIL: out[i] = actl_nil(); continue;
    case LUA_TBOOLEAN: out[i] = actl_bool(lua_toboolean(L, index)); continue;
    case LUA_TNUMBER: out[i] = actl_float(lua_tonumberx(L, index, NULL)); continue;
    case LUA_TLIGHTUSERDATA:
      pid = actl__lua_pid_at(L, index);
      if (pid.bits == 0) break;
      out[i] = actl_who(pid);
      continue;
    default: break;
    }
    if (!has_tables) actl__lua_codec_begin(m);
    has_tables = true;
    out[i] = read_other(L, m, index, what, i + 1);
  }
  if (has_tables) place_tables(m, out, n);
}

void actl__lua_read_with(lua_State *L, struct machine *m, int function, int first, int n,
                         actl_value *out) {
  bool has_tables = false;
  actl__lua_read(L, m, first, n, out + 1, "argument");
  for (int i = 1; i <= n; i++) {
    if (out[i].type != ACTL_TABLE) continue;
    has_tables = true;
    out[i].as.bits = (uint64_t)(out[i].as.bytes - m->codec.bytes); /* the buffer may move */
  }
  if (!has_tables) actl__lua_codec_begin(m);

  size_t start = m->codec.size;
  actl__lua_carry(L, m, function);
  size_t size = m->codec.size - start;
  if (size > UINT32_MAX) luaL_error(L, "a function of more than 4 GB cannot be sent");
  out[0] = (actl_value){ACTL_TABLE, (uint32_t)size, {0}};
  out[0].as.bits = start;
  place_tables(m, out, n + 1);
}

void actl__lua_push(lua_State *L, struct machine *m, const actl_value *value) {
  switch (value->type) {
  case ACTL_INTEGER: lua_pushinteger(L, value->as.integer); break;
  case ACTL_PID: actl__lua_push_pid(L, value->as.pid); break;
  case ACTL_NAME: actl__lua_name_push(L, m, value->as.name); break;
  case ACTL_STRING: lua_pushlstring(L, value->as.bytes, value->size); break;
  case ACTL_FLOAT: lua_pushnumber(L, value->as.number); break;
  case ACTL_FALSE: lua_pushboolean(L, 0); break;
  case ACTL_TRUE: lua_pushboolean(L, 1); break;
  case ACTL_TABLE: actl__lua_decode(L, m, value->as.bytes, value->size); break;
  default: lua_pushnil(L); break;
  }
}

int actl__lua_push_rest(lua_State *L, struct machine *m, actl_cursor *cursor) {
  /* Each body and each C function has 20 free places to begin with. */
  if (cursor->left > 8) luaL_checkstack(L, (int)cursor->left + 8, NULL);
  actl_value value;
  int n = 0;
  for (; actl_msg_next(cursor, &value); n++) actl__lua_push(L, m, &value);
  return n;
}
