/*
 * wait.h - how a handler waits, wherever in its coroutines it is.
 *
 * The innermost coroutine stops first, with a continuation that fetches the result. The resume
 * below it sees TAG_STOPPED and stops in turn, down to the runner. When the engine lets the handler
 * go on, each of these continuations resumes the coroutine above it. No value travels on the way.
 *
 *   actl__lua_wait_check      may the code here wait? raises an error that says why not
 *   actl__lua_wait_prepare    makes what is needed, so that nothing fails after
 *   actl_ask_wait             parks the actor
 *   actl__lua_wait_stop       return this
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_WAIT_H
#define ACTL_LUA_WAIT_H

#include "machine.h"

/* Whether the code on L may wait. */
bool actl__lua_wait_is_possible(lua_State *L, const struct machine *m);

/* Raises "`function` cannot wait here: ...". */
void actl__lua_wait_check(lua_State *L, struct machine *m, const char *function);

void actl__lua_wait_prepare(lua_State *L, struct machine *m);

/* Notes that L stops for the engine, which it does next. */
void actl__lua_wait_mark(lua_State *L, struct machine *m);

/* Stops L for the engine; `k` is called when it goes on. */
int actl__lua_wait_stop(lua_State *L, struct machine *m, lua_KFunction k);

#endif
