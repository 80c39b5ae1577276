/*
 * values.h - between Lua values and a message's values.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_VALUES_H
#define ACTL_LUA_VALUES_H

#include "machine.h"

/* The top bit is set in each pid and in no address, so this also tells pids from other userdata. */
static inline bool actl__lua_is_pid(uint64_t bits) { return bits >> 63 != 0; }

/* The pid at `index`, or {0}. */
static inline actl_pid actl__lua_pid_at(lua_State *L, int index) {
  uint64_t bits = (uint64_t)(uintptr_t)lua_touserdata(L, index);
  return (actl_pid){actl__lua_is_pid(bits) ? bits : 0};
}

/* The pid that is the first argument of a function; raises an error when it is none. */
actl_pid actl__lua_check_pid(lua_State *L, const char *function);

static inline void actl__lua_push_pid(lua_State *L, actl_pid pid) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)pid.bits); /* NOLINT: never dereferenced */
}

/* Reads the `n` values from stack index `first` on. Raises an error that begins with "`what` i: "
 * when value i cannot be sent, and when there are too many. Bytes stay valid until the next call
 * and as long as the values stay on the stack. */
void actl__lua_read(lua_State *L, struct machine *m, int first, int n, actl_value *out,
                    const char *what);

/* The same for a function and the values that follow it: out[0] is the function at stack index
 * `function` as carry.c writes it, out[1] on the `n` values from `first` on. */
void actl__lua_read_with(lua_State *L, struct machine *m, int function, int first, int n,
                         actl_value *out);

/* Pushes one value of a message. */
void actl__lua_push(lua_State *L, struct machine *m, const actl_value *value);

/* Pushes the values that are left and returns how many; makes room on the stack. */
int actl__lua_push_rest(lua_State *L, struct machine *m, actl_cursor *cursor);

/* "a function", "a userdata", "a request": the type of the value, for error messages. */
const char *actl__lua_type_phrase(lua_State *L, int index);

/* luaL_tolstring; with a seed the text has no address in it, see shown.c. */
const char *actl__lua_tolstring(lua_State *L, int index, size_t *size);

/* Pushes nil and the reason's name; returns 2. */
int actl__lua_push_failure(lua_State *L, actl_status status);

#endif
