/*
 * host.h - what the Lua machines of a run are given.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_HOST_H
#define ACTL_COMMAND_HOST_H

#include <lua.h>

/* The run actor's behavior, and what it understands; see runner.lua. */
#define ACTL_HOST_ACTOR "actorlua.run"
#define ACTL_HOST_LOAD "load"
#define ACTL_HOST_RUN "run"
#define ACTL_HOST_QUIET "quiet"

/* For actl_lua_config.open, with the `struct run` as `ud`. */
int actl__host_open(lua_State *L);

/* The module that test files require. */
#define ACTL_HOST_KIT "actor.test"

struct run;

/* Gives a new machine what any script of ours has: package.path, `arg` and os.exit. [0, 0] */
void actl__host_prepare(lua_State *L, const struct run *run);

#endif
