/*
 * drive.c - runs the deliveries of a vat's Lua actors.
 *
 * The body of a runner pulls one delivery after the other and calls its handler, so that a message
 * costs one call from C to Lua, and a turn one resume. What lua_resume returns tells what happened:
 *
 *   LUA_OK      the turn is over (or, for a runner that went on after a wait, its handler is)
 *   LUA_YIELD   the handler waits: the runner stays with it, another one pulls
 *   an error    the actor failed: it is reported, the runner is reset, another one pulls
 *
 * A handler that goes on is resumed by the pulling runner. Its body does not pull: the continuation
 * of its lua_callk ends the delivery and returns, so that runners nest two deep at most. A process
 * has a runner of its own from the beginning, in which nothing but its body is called.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drive.h"

#include "behavior.h"
#include "machine.h"
#include "preempt.h"
#include "values.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

/* ---- Pushing handlers ---- */

static void forget_blocks(struct body *b) {
  b->epoch = b->m->refs.epoch;
  for (int i = 0; i < CACHED; i++) b->blocks[i] = REF_NO_BLOCK;
}

static void load_block(struct body *b, uint32_t block) {
  actl__lua_ref_push_block(b->L, b->m, block);
  lua_replace(b->L, (int)(block % CACHED) + 1);
  b->blocks[block % CACHED] = block;
}

static inline void push_ref(struct body *b, uint32_t ref) {
  uint32_t block = ref / REF_SLOTS;
  if (b->blocks[block % CACHED] != block) load_block(b, block);
  lua_rawgeti(b->L, (int)(block % CACHED) + 1, (lua_Integer)(ref % REF_SLOTS) + 1);
}

/* From its block. One that is needed twice in a row is kept at SELF: its actor is likely to have more
 * messages. A ref that is dropped may come to stand for another actor's self. */
static void push_other_self(struct body *b, uint32_t ref) {
  push_ref(b, ref);
  if (ref == b->missed_ref) {
    lua_pushvalue(b->L, -1);
    lua_replace(b->L, SELF);
    b->self_ref = ref;
    b->self_drops = b->m->n_drops;
  }
  b->missed_ref = ref;
}

static void push_new_self(struct body *b, uint64_t word) {
  lua_newtable(b->L);
  lua_pushvalue(b->L, -1);
  uint32_t ref = actl__lua_ref(b->L, b->m);
  actl_turn_set_word(b->m->ctx, (word & UINT32_MAX) | (uint64_t)ref << 32);
}

/* Pushes `self`, made when first needed. */
static inline void push_self(struct body *b, uint64_t word) {
  uint32_t ref = (uint32_t)(word >> 32);
  if (ref == 0) {
    push_new_self(b, word);
  } else if (ref == b->self_ref && b->self_drops == b->m->n_drops) {
    lua_pushvalue(b->L, SELF);
  } else {
    push_other_self(b, ref);
  }
}

static inline int push_handler(struct body *b, uint32_t ref, uint64_t word) {
  push_ref(b, ref);
  push_self(b, word);
  return 1;
}

void actl__lua_body_init(struct body *b, lua_State *L, struct machine *m) {
  *b = (struct body){.L = L, .m = m};
  forget_blocks(b);
}

void actl__lua_body_push(struct body *b, uint32_t ref) { push_ref(b, ref); }

void actl__lua_body_push_handler(struct body *b, uint32_t ref, uint64_t word) {
  push_handler(b, ref, word);
}

/* ---- Ending a delivery ---- */

static void answer(lua_State *L, struct machine *m) {
  actl_value values[ACTL_VALUES_MAX];
  int n = lua_gettop(L) - BASE;
  actl__lua_read(L, m, BASE + 1, n, values, "result");
  m->in_delivery = false;
  actl_turn_done(m->ctx, values, (size_t)n);
}

/* Ends the delivery whose handler has returned; what it returned answers an ask. */
static void end_delivery(lua_State *L, struct machine *m, bool is_ask) {
  if (is_ask) {
    answer(L, m);
    lua_settop(L, BASE);
  } else {
    m->in_delivery = false;
    actl_turn_done(m->ctx, NULL, 0);
  }
}

/* The handler has returned after it had waited. This ends the body too. */
static int handler_finished(lua_State *L, int status, lua_KContext is_ask) {
  (void)status;
  end_delivery(L, actl__lua_machine(L), is_ask != 0);
  return 0;
}

/* Calls the handler on the stack. */
static void call_handler(struct body *b, int n_args, bool is_ask) {
  lua_callk(b->L, n_args, is_ask ? LUA_MULTRET : 0, is_ask, handler_finished);
  end_delivery(b->L, b->m, is_ask);
}

void actl__lua_body_call(struct body *b, int n_args) { call_handler(b, n_args, false); }

void actl__lua_body_end(struct body *b) {
  b->m->in_delivery = false;
  actl_turn_done(b->m->ctx, NULL, 0);
}

/* ---- Messages ---- */

/* The text of a message's name for a log: a string may be long and need not end with a zero. */
static void show_name(struct machine *m, const actl_value *value, char *out, size_t out_size) {
  if (value->type != ACTL_NAME && value->type != ACTL_STRING) {
    snprintf(out, out_size, "(a message without a name)");
    return;
  }
  size_t size = value->size;
  const char *name = value->as.bytes;
  if (value->type == ACTL_NAME) name = actl_name_bytes(m->binding->engine, value->as.name, &size);
  size_t shown = size < out_size - 4 ? size : out_size - 4;
  snprintf(out, out_size, "%.*s%s", (int)shown, name, shown < size ? "..." : "");
}

static void unhandled(struct body *b, struct behavior *behavior, const actl_value *name) {
  char text[80];
  show_name(b->m, name, text, sizeof text);
  bool is_first = actl__lua_behavior_note_unhandled(behavior, text, strlen(text));
  b->m->in_delivery = false;
  actl_turn_unhandled(b->m->ctx, text, is_first);
}

static uint32_t find_handler(struct body *b, const struct behavior *behavior,
                             const actl_value *name) {
  if (name->type == ACTL_NAME) return actl__lua_behavior_handler(behavior, name->as.name);
  if (name->type != ACTL_STRING) return 0;
  return actl__lua_behavior_handler_of(b->L, b->m, behavior, name->as.bytes, name->size);
}

static void message_to_behavior(struct body *b, const actl_delivery *d) {
  struct behavior *behavior = actl__lua_behavior_of(b->m, d->word);
  actl_cursor cursor = actl_msg_begin(d->msg);
  actl_value name = actl_nil();
  bool is_empty = !actl_msg_next(&cursor, &name);

  uint32_t ref = find_handler(b, behavior, &name);
  if (ref == 0 && behavior->other == 0) {
    unhandled(b, behavior, &name);
    return;
  }
  int n = push_handler(b, ref != 0 ? ref : behavior->other, d->word);
  if (ref == 0 && !is_empty) {
    actl__lua_push(b->L, b->m, &name);
    n++;
  }
  n += actl__lua_push_rest(b->L, b->m, &cursor);
  call_handler(b, n, d->is_ask);
}

static void message(struct body *b, const actl_delivery *d) {
  if ((d->word & WORD_BEHAVIOR) != 0) {
    message_to_behavior(b, d);
    return;
  }
  push_ref(b, (uint32_t)d->word);
  actl_cursor cursor = actl_msg_begin(d->msg);
  int n = actl__lua_push_rest(b->L, b->m, &cursor);
  call_handler(b, n, d->is_ask);
}

/* ---- Ends ---- */

static void stop(struct body *b, const actl_delivery *d) {
  bool is_behavior = (d->word & WORD_BEHAVIOR) != 0;
  uint32_t hook = is_behavior ? actl__lua_behavior_of(b->m, d->word)->stop : 0;
  if (hook == 0) {
    actl__lua_body_end(b);
    return;
  }
  int n = push_handler(b, hook, d->word);
  const char *reason = d->status == ACTL_OK ? "normal" : actl_status_name(d->status);
  const char *text = d->text != NULL ? d->text : reason;
  lua_pushlstring(b->L, text, strlen(text)); /* lua_pushstring looks at where the text is */
  call_handler(b, n + 1, false);
}

/* Its coroutines are closed from the innermost out. */
static void close_runner(struct machine *m, struct runner *r) {
  for (uint32_t i = 0; i < r->n_stopped; i++) actl__lua_coroutine_reset(m, r->stopped[i], 0);
  actl__lua_coroutine_reset(m, r->L, 0);
  actl__lua_runner_give(m, r);
}

/* The handler will not go on. */
static void abandon(struct machine *m, struct runner *r) {
  close_runner(m, r);
  m->in_delivery = false;
  actl_turn_done(m->ctx, NULL, 0);
}

/* The error value is on top of the runner's stack. */
static void fail(struct machine *m, struct runner *r, int status) {
  actl_status why = status == LUA_ERRMEM ? ACTL_NO_MEMORY : ACTL_FAILED;
  if (r->in_init) why = ACTL_INIT;
  const char *text = actl__lua_report(m, r->L, true);
  actl__lua_coroutine_reset(m, r->L, lua_gettop(m->main) - 1);
  if (m->in_delivery) {
    m->in_delivery = false;
    actl_turn_fail(m->ctx, why, text);
  } else {
    actl_engine_log(m->binding->engine, ACTL_LOG_ERROR, text);
  }
  actl__lua_report_end(m);
}

/* ---- Runners ---- */

/* The body of a process has returned, and what it returned is nobody's answer. */
static void end_process(struct machine *m, struct runner *r) {
  lua_settop(r->L, 0);
  m->in_delivery = false;
  actl_exit(m->ctx, NULL);
  actl_turn_done(m->ctx, NULL, 0);
}

/* Lets a runner run, called from `from`, until it ends, fails or waits. */
static void run(struct machine *m, struct runner *r, lua_State *from, int n_args) {
  struct runner *caller = m->runner;
  uint32_t depth = m->depth;
  m->runner = r;
  m->running = r->L;
  m->depth = 0;
  int n_results;
  int status = lua_resume(r->L, from, n_args, &n_results);
  m->running = from;
  m->depth = depth;

  if (status != LUA_OK && status != LUA_YIELD) fail(m, r, status);
  if (status == LUA_OK && r->is_process) end_process(m, r);
  m->runner = caller;
  if (status != LUA_YIELD) actl__lua_runner_give(m, r);
}

void actl__lua_body_run(struct body *b, struct runner *r, int n_args) {
  run(b->m, r, b->L, n_args);
}

static void go_on(struct body *b, const actl_delivery *d) {
  struct runner *r = d->waiter;
  b->m->resumed = *d;
  r->n_stopped = 0;
  run(b->m, r, b->L, 0);
}

static void deliver(struct body *b, const actl_delivery *d) {
  switch (d->kind) {
  case ACTL_DELIVER_MESSAGE: message(b, d); break;
  case ACTL_DELIVER_RESUME: go_on(b, d); break;
  case ACTL_DELIVER_INIT: actl__lua_birth_near(b, d); break;
  case ACTL_DELIVER_BORN: actl__lua_birth_placed(b, d); break;
  case ACTL_DELIVER_ABANDON: abandon(b->m, d->waiter); break;
  case ACTL_DELIVER_STOP: stop(b, d); break;
  }
}

/* The next actor's handler runs in the same coroutine. */
static void forget_hook(lua_State *L, struct machine *m) {
  if (m->is_seeded) {
    actl__lua_preempt_arm(L, m);
    return;
  }
  lua_sethook(L, NULL, 0, 0);
  m->has_hook = false;
}

static int pull(lua_State *L) {
  struct machine *m = actl__lua_machine(L);
  struct body b;
  m->has_begun = true;
  lua_settop(L, BASE);
  actl__lua_body_init(&b, L, m);
  if (m->is_seeded) actl__lua_preempt_arm(L, m);

  actl_delivery d;
  while (actl_turn_next(m->ctx, &d)) {
    if (b.epoch != m->refs.epoch) forget_blocks(&b);
    m->in_delivery = true;
    deliver(&b, &d);
    if (m->has_hook) forget_hook(L, m);
    if (m->n_finalizers + m->n_dropped > 0) actl__lua_finalize(L, m);
  }
  m->turn_is_over = true;
  if (actl_turn_is_idle(m->ctx)) actl__lua_tidy(L, m);
  if (m->n_finalizers + m->n_dropped > 0) actl__lua_finalize(L, m);
  return 0;
}

/* There is not even the memory to call a runner's body: the next actor fails of that, so that the
 * turn gets on. */
static void fail_next(struct machine *m) {
  actl_delivery d;
  if (!actl_turn_next(m->ctx, &d)) {
    m->turn_is_over = true;
    return;
  }
  if (d.kind == ACTL_DELIVER_ABANDON) {
    abandon(m, d.waiter);
    return;
  }
  if (d.kind == ACTL_DELIVER_RESUME) close_runner(m, d.waiter);
  actl_turn_fail(m->ctx, ACTL_NO_MEMORY, "not enough memory");
}

void actl__lua_drive(void *machine, actl_ctx *ctx) {
  struct machine *m = machine;
  m->ctx = ctx;
  m->turn_is_over = false;
  while (!m->turn_is_over) {
    struct runner *r = actl__lua_runner_take(m);
    m->has_begun = false;
    lua_pushcfunction(r->L, pull);
    run(m, r, m->main, 0);
    if (!m->has_begun) fail_next(m);
  }
}

/* ---- What the engine asks ---- */

void actl__lua_drop(void *machine, uint64_t word) {
  struct machine *m = machine;
  m->n_drops++;
  if ((word & WORD_BEHAVIOR) == 0) actl__lua_unref(m, (uint32_t)word);
  actl__lua_unref(m, (uint32_t)(word >> 32));
}

static void describe_function(struct machine *m, uint32_t ref, char *name, size_t size) {
  lua_Debug info;
  actl__lua_ref_push(m->store, m, ref);
  lua_getinfo(m->store, ">S", &info);
  snprintf(name, size, "function <%s:%d>", info.short_src, info.linedefined);
}

/* The first line of a script, from the innermost function out. */
static void describe_place(lua_State *co, char *where, size_t size) {
  lua_Debug info;
  for (int level = 0; lua_getstack(co, level, &info); level++) {
    lua_getinfo(co, "Sl", &info);
    if (info.currentline > 0) {
      snprintf(where, size, "%s:%d", info.short_src, info.currentline);
      return;
    }
  }
}

void actl__lua_describe(void *machine, uint64_t word, void *waiter, char *name, size_t name_size,
                        char *where, size_t where_size) {
  struct machine *m = machine;
  const struct runner *r = waiter;
  if (name_size > 0) {
    uint32_t ref = (uint32_t)word;
    if ((word & WORD_BEHAVIOR) != 0) {
      snprintf(name, name_size, "%s", actl__lua_behavior_of(m, word)->name);
    } else if (ref != 0) {
      describe_function(m, ref, name, name_size);
    } else {
      snprintf(name, name_size, "actor");
    }
  }
  if (where_size == 0) return;
  where[0] = '\0';
  if (r != NULL) describe_place(r->n_stopped > 0 ? r->stopped[0] : r->L, where, where_size);
}
