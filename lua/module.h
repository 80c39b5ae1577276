/*
 * module.h - the functions of the module `actor`, as far as other files have them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_MODULE_H
#define ACTL_LUA_MODULE_H

#include "machine.h"

/* The machine, when an actor is running; raises an error that names the function otherwise. */
struct machine *actl__lua_acting(lua_State *L, const char *function);

/* The machine, unless it is being closed. */
struct machine *actl__lua_open_machine(lua_State *L, const char *function);

int actl__lua_send(lua_State *L);
int actl__lua_ask(lua_State *L);
int actl__lua_later(lua_State *L);
int actl__lua_reply(lua_State *L);
int actl__lua_sleep(lua_State *L);
int actl__lua_receive(lua_State *L);
int actl__lua_after(lua_State *L);
int actl__lua_every(lua_State *L);
int actl__lua_cancel(lua_State *L);
int actl__lua_stop(lua_State *L);
int actl__lua_kill(lua_State *L);
int actl__lua_spawn(lua_State *L);
int actl__lua_spawn_on(lua_State *L);
int actl__lua_process(lua_State *L);
int actl__lua_process_on(lua_State *L);
int actl__lua_native(lua_State *L);
int actl__lua_behavior(lua_State *L);

#endif
