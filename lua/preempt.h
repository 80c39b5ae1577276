/*
 * preempt.h - with a seed: handlers that compute give way.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_PREEMPT_H
#define ACTL_LUA_PREEMPT_H

#include "machine.h"

/* Has the code on L interrupted after a drawn number of instructions. Only with a seed. */
void actl__lua_preempt_arm(lua_State *L, struct machine *m);

#endif
