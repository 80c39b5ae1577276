/*
 * options.h - tables of options, as in actor.stop(pid, {now = true}).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_OPTIONS_H
#define ACTL_LUA_OPTIONS_H

#include <lua.h>
#include <stdbool.h>

/* Raises an error when the table at `index` has a key that is none of `names`, which NULL ends, and no
 * integer from 1 to `n_values`. */
void actl__lua_check_options(lua_State *L, int index, const char *function, lua_Integer n_values,
                             const char *const *names);

/* An option that is true or false; nil is false. */
bool actl__lua_check_flag(lua_State *L, int index, const char *function, const char *name);

#endif
