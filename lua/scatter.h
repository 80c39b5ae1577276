/*
 * scatter.h - with a seed that places every spawn (actl_config.scatters): where near actors may be.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_SCATTER_H
#define ACTL_LUA_SCATTER_H

#include "machine.h"

/* Lua's own globals are everywhere: once the machine has them. */
void actl__lua_scatter_begin(lua_State *L);

/* true: an actor of the function at index 1, or of the behavior there, is to be placed in `vat`, with the
 * values that follow. */
bool actl__lua_scatter_function(lua_State *L, struct machine *m, uint32_t *vat);
bool actl__lua_scatter_behavior(lua_State *L, const struct machine *m,
                                const struct behavior *behavior, uint32_t *vat);

/* Whether a function's code, as lua_dump has written it, names globals that other vats need not have. */
bool actl__lua_scatter_lacks(lua_State *L, const char *code, size_t size);

#endif
