/*
 * drive.h - the body of a runner that pulls deliveries, between drive.c and birth.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_DRIVE_H
#define ACTL_LUA_DRIVE_H

#include "machine.h"

/* Tables of the blocks used last are kept on the body's stack, at block % CACHED + 1. So few that,
 * with a handler and short messages, the 20 places that Lua gives each C function are enough: the
 * body itself needs no memory, and goes on where there is none. */
enum { CACHED = 8, SELF, BASE = SELF };

struct body {
  lua_State *L;
  struct machine *m;
  uint32_t epoch; /* of the refs when the cache was filled */
  uint32_t blocks[CACHED];
  uint32_t self_ref, self_drops; /* whose self is at SELF, and after how many drops */
  uint32_t missed_ref;           /* whose self was pushed last from its block */
};

/* A body whose caches are empty, for code that goes on in a runner after a wait. */
void actl__lua_body_init(struct body *b, lua_State *L, struct machine *m);

/* Pushes what `ref` stands for. */
void actl__lua_body_push(struct body *b, uint32_t ref);

/* Pushes the handler and `self`. */
void actl__lua_body_push_handler(struct body *b, uint32_t ref, uint64_t word);

/* Calls the handler below its `n_args` arguments, and ends the delivery when it has returned. */
void actl__lua_body_call(struct body *b, int n_args);

/* Ends the delivery without a handler. */
void actl__lua_body_end(struct body *b);

/* Lets a runner run until it ends, fails or waits. Its stack has a function and `n_args` arguments,
 * or is where it stopped. */
void actl__lua_body_run(struct body *b, struct runner *r, int n_args);

/* birth.c: ACTL_DELIVER_INIT and ACTL_DELIVER_BORN. */
void actl__lua_birth_near(struct body *b, const actl_delivery *d);
void actl__lua_birth_placed(struct body *b, const actl_delivery *d);

#endif
