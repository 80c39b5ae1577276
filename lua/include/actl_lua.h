/*
 * actl_lua.h - actors written in Lua 5.4, in an engine of actl.h.
 *
 * Each vat makes one Lua machine when its first Lua actor runs. Actors of one vat share its globals
 * and modules, never their messages; actors of different vats share nothing.
 *
 *   actl_engine_new(&engine, NULL);
 *   actl_lua_open(engine, &(actl_lua_config){.open = load_my_script});
 *   actl_lua_spawn(engine, 0, "account", NULL, 0, &pid);      a behavior that the script names
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_H
#define ACTL_LUA_H

#include "actl.h"

#include <lua.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means the default, for every field. */
typedef struct actl_lua_config {
  /* Called once in each new machine, protected, with the standard libraries and `require "actor"`
   * in place: registers host modules and loads scripts. A Lua error in it is logged, and the vat's
   * Lua actors end with the reason ACTL_INIT. The function's first argument is `ud` as light
   * userdata, its second the vat's number. NULL: nothing more. */
  lua_CFunction open;
  void *ud;
  size_t
      memory_limit; /* bytes of one machine; 0: no limit. Past it Lua raises "not enough memory" */
} actl_lua_config;

/* Attaches Lua to an engine, before its first run; the config is copied. ACTL_INVALID: it has a
 * driver; ACTL_NO_MEMORY. The Lua side is freed with the engine. */
ACTL_API actl_status actl_lua_open(actl_engine *engine, const actl_lua_config *config);

/* Makes an actor of the behavior that scripts call `behavior` (actor.behavior(name, ...)), without
 * a parent, from any thread; the values go to its init. Where no script of that vat's machine has
 * such a behavior the actor ends with the reason ACTL_INIT. The errors are those of
 * actl_engine_spawn. */
ACTL_API actl_status actl_lua_spawn(actl_engine *engine, uint32_t vat, const char *behavior,
                                    const actl_value *values, size_t n, actl_pid *out);

/* The engine and the ctx that a C function called from Lua runs in, for host modules; the ctx is
 * valid until the function returns. NULL: not a machine of ours, or no actor is running. */
ACTL_API actl_engine *actl_lua_engine(lua_State *L);
ACTL_API actl_ctx *actl_lua_ctx(lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
