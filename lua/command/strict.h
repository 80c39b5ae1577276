/*
 * strict.h - globals that cannot be assigned to once a file has been loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_STRICT_H
#define ACTL_COMMAND_STRICT_H

#include "actl.h"

#include <lua.h>
#include <stdbool.h>

/* From now on an assignment to a global of this machine is an error: of any global, new or not. While
 * `is_loaded` is false the actor `loader` may still assign; NULL: nobody may. Both must outlive the
 * machine, and are read by the thread that runs it. Errors as Lua has them. [0, 0] */
void actl__strict_seal(lua_State *L, const bool *is_loaded, const actl_pid *loader);

#endif
