/*
 * birth.c - the first delivery of an actor.
 *
 * A near actor has its word from the start: with a behavior the delivery is its init, with a function
 * it is the body of a process. What was made elsewhere, or by a host, says what it is by the first
 * values of its first delivery; the others are the user's:
 *
 *   a string                     the behavior of that name
 *   a function                   a function that handles messages, as carry.c writes it
 *   true, a function             a process and its body
 *   nil, a name, a source        Lua source, which is run here and returns the behavior
 *
 * SPDX-License-Identifier: MIT
 */
#include "behavior.h"
#include "drive.h"
#include "machine.h"
#include "preempt.h"
#include "values.h"

#include <lauxlib.h>

static actl_value next(actl_cursor *cursor) {
  actl_value value = actl_nil();
  actl_msg_next(cursor, &value);
  return value;
}

static void become_behavior(struct body *b, const struct behavior *behavior) {
  actl_turn_set_word(b->m->ctx, WORD_BEHAVIOR | behavior->number);
  actl_turn_set_hooks(b->m->ctx, actl__lua_behavior_hooks(behavior));
}

/* Takes the function on top. */
static void become_function(struct body *b, unsigned hooks) {
  actl_turn_set_word(b->m->ctx, actl__lua_ref(b->L, b->m));
  actl_turn_set_hooks(b->m->ctx, hooks);
}

/* ---- Behaviors ---- */

static void init(struct body *b, const struct behavior *behavior, uint64_t word,
                 actl_cursor *cursor) {
  if (behavior->init == 0 && cursor->left > 0) {
    luaL_error(b->L, "behavior \"%s\" has no init to take arguments", behavior->name);
  }
  if (behavior->init == 0) {
    actl__lua_body_end(b);
    return;
  }
  actl__lua_body_push_handler(b, behavior->init, word);
  int n = actl__lua_push_rest(b->L, b->m, cursor);
  actl__lua_body_call(b, n + 1);
}

static void born_as_behavior(struct body *b, const actl_value *name, actl_cursor *cursor) {
  actl__lua_push(b->L, b->m, name);
  const char *text = lua_tostring(b->L, -1);
  const struct behavior *behavior = actl__lua_behavior_find(b->m, text);
  if (behavior == NULL) {
    luaL_error(b->L,
               "no behavior is called \"%s\" in this vat; what makes it must be loaded here too",
               text);
    return; /* luaL_error does not come back */
  }
  lua_pop(b->L, 1);
  become_behavior(b, behavior);
  init(b, behavior, WORD_BEHAVIOR | behavior->number, cursor);
}

/* ---- Functions and processes ---- */

static void push_carried(struct body *b, const actl_value *what) {
  if (what->type != ACTL_TABLE || !actl__lua_is_carried(what->as.bytes, what->size)) {
    luaL_error(b->L, "an actor of Lua needs the name of a behavior");
  }
  actl__lua_uncarry(b->L, b->m, what->as.bytes, what->size);
  if (lua_type(b->L, -1) != LUA_TFUNCTION) luaL_error(b->L, "a function expected");
}

static void born_as_function(struct body *b, const actl_value *what) {
  push_carried(b, what);
  become_function(b, 0);
  actl__lua_body_end(b);
}

/* Calls the body on top of the stack in a runner of its own, which has nothing else on its stack: a
 * million processes are a million runners. */
static void start_process(struct body *b, actl_cursor *cursor) {
  struct machine *m = b->m;
  b->m->runner->in_init = false;
  int n = actl__lua_push_rest(b->L, m, cursor);
  if (m->n_idle == 0) actl__lua_runner_new(b->L, m);
  struct runner *r = actl__lua_runner_take(m);
  if (!lua_checkstack(r->L, n + 1)) {
    actl__lua_runner_give(m, r);
    actl__lua_no_memory(b->L);
    return; /* it does not come back */
  }
  r->is_process = true;
  if (m->is_seeded) actl__lua_preempt_arm(r->L, m);
  lua_xmove(b->L, r->L, n + 1);
  actl__lua_body_run(b, r, n);
}

static void born_as_process(struct body *b, actl_cursor *cursor) {
  actl_value what = next(cursor);
  push_carried(b, &what);
  lua_pushvalue(b->L, -1);
  become_function(b, ACTL_IS_PROCESS);
  start_process(b, cursor);
}

/* ---- Source ---- */

/* The behavior at index BASE + n + 1, below which are the `n` values for its init. */
static void become_returned_behavior(struct body *b, const struct behavior *behavior, int n) {
  become_behavior(b, behavior);
  if (behavior->init == 0) {
    actl__lua_body_end(b);
    return;
  }
  luaL_checkstack(b->L, n + 8, NULL);
  actl__lua_body_push_handler(b, behavior->init, WORD_BEHAVIOR | behavior->number);
  for (int i = 1; i <= n; i++) lua_pushvalue(b->L, BASE + i);
  actl__lua_body_call(b, n + 1);
}

/* The stack has what the source returned above the `n` values that it was given. */
static void become_returned(struct body *b, int n) {
  lua_State *L = b->L;
  int returned = BASE + n + 1;
  const struct behavior_object *object = actl__lua_behavior_at(L, returned);
  if (object != NULL && object->behavior != NULL) {
    become_returned_behavior(b, object->behavior, n);
    return;
  }
  if (lua_isfunction(L, returned)) {
    lua_settop(L, returned);
    become_function(b, 0);
  } else if (lua_isnoneornil(L, returned)) {
    actl_exit(b->m->ctx, NULL);
  } else {
    const char *what = object != NULL ? "a native behavior" : actl__lua_type_phrase(L, returned);
    luaL_error(L, "the source of an actor returned %s; a behavior, a function or nothing expected",
               what);
  }
  actl__lua_body_end(b);
}

/* The source has returned after it had waited. This ends the runner's body too. */
static int source_continue(lua_State *L, int status, lua_KContext n) {
  (void)status;
  struct body b;
  actl__lua_body_init(&b, L, actl__lua_machine(L));
  become_returned(&b, (int)n);
  return 0;
}

/* Pushes the compiled source. */
static void load(struct body *b, actl_cursor *cursor) {
  actl_value chunk = next(cursor), source = next(cursor);
  if (chunk.type != ACTL_STRING || source.type != ACTL_STRING) {
    luaL_error(b->L, "an actor of Lua needs a source");
  }
  if (b->m->is_seeded) actl__lua_forget_strings(b->L);
  lua_pushlstring(b->L, chunk.as.bytes, chunk.size);
  const char *name = lua_tostring(b->L, -1);
  if (luaL_loadbufferx(b->L, source.as.bytes, source.size, name, "t") != LUA_OK) lua_error(b->L);
  lua_remove(b->L, -2);
}

/* The values stay below the source, which gets copies, for the init of what it returns. */
static void born_of_source(struct body *b, actl_cursor *cursor) {
  lua_State *L = b->L;
  load(b, cursor);
  luaL_checkstack(L, 2 * (int)cursor->left + 8, NULL);
  int n = actl__lua_push_rest(L, b->m, cursor);
  lua_rotate(L, BASE + 1, -1);
  for (int i = 1; i <= n; i++) lua_pushvalue(L, BASE + i);
  lua_callk(L, n, LUA_MULTRET, n, source_continue);
  become_returned(b, n);
  lua_settop(L, BASE);
}

/* ---- Deliveries ---- */

void actl__lua_birth_near(struct body *b, const actl_delivery *d) {
  actl_cursor cursor = actl_msg_begin(d->msg);
  if ((d->word & WORD_BEHAVIOR) == 0) {
    actl__lua_body_push(b, (uint32_t)d->word);
    start_process(b, &cursor);
    return;
  }
  b->m->runner->in_init = true;
  init(b, actl__lua_behavior_of(b->m, d->word), d->word, &cursor);
  b->m->runner->in_init = false;
}

void actl__lua_birth_placed(struct body *b, const actl_delivery *d) {
  b->m->runner->in_init = true;
  actl_cursor cursor = actl_msg_begin(d->msg);
  actl_value what = next(&cursor);
  switch (what.type) {
  case ACTL_NAME:
  case ACTL_STRING: born_as_behavior(b, &what, &cursor); break;
  case ACTL_TRUE: born_as_process(b, &cursor); break;
  case ACTL_NIL: born_of_source(b, &cursor); break;
  default: born_as_function(b, &what); break;
  }
  b->m->runner->in_init = false;
}
