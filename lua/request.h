/*
 * request.h - what actor.later returns: an ask whose answer is still owed.
 *
 *   owed  --reply, fail-->  used            a second use returns nil, "expired"
 *   owed  --the collector finds it-->  its ask fails as unanswered
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_REQUEST_H
#define ACTL_LUA_REQUEST_H

#include "actl.h"

#include <lua.h>
#include <stdbool.h>

struct request {
  const void *mark; /* tells it from other userdata of the same size */
  actl_request request;
  actl_pid actor; /* who took it, and alone may answer it */
  bool is_used;
};

/* The request at `index`, or NULL. */
struct request *actl__lua_request_at(lua_State *L, int index);

#endif
