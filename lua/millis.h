/*
 * millis.h - times, as scripts give them: milliseconds, integers or floats, which are rounded up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_MILLIS_H
#define ACTL_LUA_MILLIS_H

#include <lua.h>
#include <stdint.h>

/* How long a wait may last: 0 or more milliseconds, or ACTL_FOREVER for math.huge. Raises an error
 * that begins with `what` when the value at `index` is none. */
uint64_t actl__lua_check_wait(lua_State *L, int index, const char *what);

/* The time of a timer: at least `least`, and less than a thousand years. */
uint64_t actl__lua_check_time(lua_State *L, int index, const char *what, uint64_t least);

#endif
