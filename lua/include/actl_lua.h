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

#ifdef __cplusplus
extern "C" {
#endif

#include <lua.h> /* which says nothing of C++ itself */

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

/* Attaches Lua to an engine, from any thread, before its first run; the config is copied, NULL:
 * every default. ACTL_INVALID: it has a driver; ACTL_NO_MEMORY. The Lua side is freed with the
 * engine. */
ACTL_API actl_status actl_lua_open(actl_engine *engine, const actl_lua_config *config);

/* Makes an actor of the behavior that scripts call `behavior` (actor.behavior(name, ...)), without
 * a parent, from any thread; the values go to its init. Where no script of that vat's machine has
 * such a behavior the actor ends with the reason ACTL_INIT. `behavior` is copied. The errors are
 * those of actl_engine_spawn; ACTL_INVALID also: no actl_lua_open before, or the values leave no
 * room for the name (254 at most). */
ACTL_API actl_status actl_lua_spawn(actl_engine *engine, uint32_t vat, const char *behavior,
                                    const actl_value *values, size_t n, actl_pid *out);

/* Makes a C module known to every machine: there `require name` calls `open` as Lua's own loaders
 * do, and gives what it returns. From one thread at a time, before the engine's first run; `name`
 * is copied. `open` and what it gives are called by the worker that runs the machine, of several
 * vats at once. ACTL_INVALID: the name is taken, also by a library of Lua's, or no actl_lua_open
 * before; ACTL_NO_MEMORY. */
ACTL_API actl_status actl_lua_module(actl_engine *engine, const char *name, lua_CFunction open);

/* Makes an actor, without a parent, of Lua source, from any thread. The source is run in the new
 * actor as its first delivery, with the values as its `...`, and may wait there. What it returns
 * becomes the actor's behavior: a function, which handles the messages, or a behavior, whose init
 * then gets the values too. Where it returns nothing the actor ends when the source has. An error
 * in it, or in compiling it, is the actor's end with the reason ACTL_INIT. `chunk` names the source
 * in error messages, as Lua's luaL_loadbuffer has it ("=name" or "@file.lua"). Both are copied. A
 * vat runs the source once for each of its actors: a behavior that it names, as in
 * actor.behavior("cart", ...), has to be kept by the first one, in a global for example, since a
 * name is given once. The errors are those of actl_engine_spawn; ACTL_INVALID also: no
 * actl_lua_open before, more than 252 values, or 4 GB of source. */
ACTL_API actl_status actl_lua_spawn_string(actl_engine *engine, uint32_t vat, const char *chunk,
                                           const char *source, size_t size,
                                           const actl_value *values, size_t n, actl_pid *out);

/* The same with the contents of a file, read by the calling thread; a first line that begins with #
 * is left out. Also ACTL_SYSTEM: it cannot be read. */
ACTL_API actl_status actl_lua_spawn_file(actl_engine *engine, uint32_t vat, const char *path,
                                         const actl_value *values, size_t n, actl_pid *out);

/* For a seed that places every spawn (actl_config.scatters): says that each machine of the engine has,
 * or gets when it is made, what this one has loaded up to now, so that actors of its behaviors, and
 * functions that use its globals, may be placed anywhere. Without it only functions that need nothing
 * but Lua's own globals and modules are. Called in `open` or later, by code that runs in the machine;
 * a Lua error is raised where memory is short. Does nothing without such a seed. */
ACTL_API void actl_lua_everywhere(lua_State *L);

/* To call into a Lua actor from a host thread and get the answer: actl_engine_ask. */

/* The engine and the ctx that a C function called from Lua runs in, for host modules; the ctx is
 * valid until the function returns, or waits. NULL: not a machine of ours, or (the ctx) no handler
 * is running: a machine is being made. */
ACTL_API actl_engine *actl_lua_engine(lua_State *L);
ACTL_API actl_ctx *actl_lua_ctx(lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
