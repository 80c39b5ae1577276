/*
 * actl_driver.h - for bindings of a scripting language: how its actors are run.
 *
 * A driven actor has a word of 64 bits in place of a C state, and its deliveries are handled by a
 * driver. The driver pulls: when a vat's turn reaches a driven actor, the engine calls `drive`, and
 *
 *   while (actl_turn_next(ctx, &delivery)) {      native actors that come before have run in here
 *     ... call the handler ...
 *     actl_turn_done(ctx, values, n);             or actl_turn_fail, actl_turn_unhandled
 *   }
 *
 * handles deliveries until the turn is over. A handler that has to wait calls actl_ask_wait (or
 * actl_turn_give_way): its actor is then parked with a `waiter` of the binding's choice, the
 * delivery is no longer the current one, and the driver goes on pulling; the delivery comes back as
 * ACTL_DELIVER_RESUME. Between these calls the engine keeps no frame, no lock and no half-made
 * state, so a driver may leave a handler by longjmp.
 *
 * Every function here that takes a ctx is called on the thread that runs the vat. So are the driver's
 * own, or, while nothing runs, on the thread that found the engine quiet or frees it. What texts and
 * values point to is the caller's, and copied where it is kept.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_DRIVER_H
#define ACTL_DRIVER_H

#include "actl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum actl_delivery_kind {
  ACTL_DELIVER_MESSAGE, /* `msg`; `is_ask`: what actl_turn_done is given answers it */
  ACTL_DELIVER_INIT,    /* `msg` has the values given to spawn */
  ACTL_DELIVER_BORN, /* spawned from elsewhere: the first value of `msg` describes the behavior, the
                         * others are the values given to spawn; set the word (actl_turn_set_word) */
  ACTL_DELIVER_RESUME,  /* what `waiter` waited for: `status` and, when that is ACTL_OK, `msg` (NULL
                         * after actl_turn_give_way) */
  ACTL_DELIVER_ABANDON, /* `waiter` must not go on: close what it holds. Ends with actl_turn_done */
  ACTL_DELIVER_STOP     /* the stop hook, with `status` and `text` as the reason */
} actl_delivery_kind;

typedef struct actl_delivery {
  actl_delivery_kind kind;
  actl_status status;
  bool is_ask;
  uint64_t word;
  const actl_msg *msg; /* valid until done, failed, or parked */
  void *waiter;
  const char *text;
} actl_delivery;

typedef struct actl_driver {
  /* Makes the vat's machine when its first driven actor is run. NULL on failure, having logged. */
  void *(*open)(void *ud, actl_ctx *ctx);
  void (*close)(void *machine);
  /* Pulls deliveries until actl_turn_next says that the turn is over. */
  void (*drive)(void *machine, actl_ctx *ctx);
  /* A driven actor is gone: forget what `word` stands for. Must not fail. */
  void (*drop)(void *machine, uint64_t word);
  /* Writes what a log calls the actor, and (waiter not NULL) where it waits, as "file:line". */
  void (*describe)(void *machine, uint64_t word, void *waiter, char *name, size_t name_size,
                   char *where, size_t where_size);
  /* The engine is being freed, every machine is closed: frees `ud`. NULL: nothing to free. */
  void (*detach)(void *ud);
} actl_driver;

/* Attaches the one driver an engine may have, from any thread, before its first run. `driver` is
 * kept by its address and must outlive the engine; `ud` is handed to `open` and `detach`.
 * ACTL_INVALID: it has one. */
ACTL_API actl_status actl_engine_drive(actl_engine *engine, const actl_driver *driver, void *ud);

/* The `ud` that this driver was attached with; NULL: the engine has none, or another. Any thread. */
ACTL_API void *actl_engine_driver(const actl_engine *engine, const actl_driver *driver);

/* The next delivery for a driven actor, which is the current one until it is done, failed,
 * unhandled or parked; false: the turn is over, and `drive` returns. */
ACTL_API bool actl_turn_next(actl_ctx *ctx, actl_delivery *out);

/* Ends the current delivery; the values answer it if it was an ask not answered yet. ACTL_ENCODING,
 * ACTL_INVALID and ACTL_NO_MEMORY end it too, and the ask fails with that. */
ACTL_API actl_status actl_turn_done(actl_ctx *ctx, const actl_value *values, size_t n);

/* Ends the current delivery and with it the actor, with `status` (not ACTL_OK) and `text`, message
 * and traceback, as the reason; its failure is logged. */
ACTL_API void actl_turn_fail(actl_ctx *ctx, actl_status status, const char *text);

/* Ends the current delivery: the behavior has no handler for it. Logged once for each behavior and
 * name: the driver passes `log` true the first time. */
ACTL_API void actl_turn_unhandled(actl_ctx *ctx, const char *name, bool log);

/* The running actor's word and hooks (a sum of ACTL_HAS_..., below). An actor that was born
 * elsewhere has no word before it is set, and the stop hook until actl_turn_set_hooks says
 * otherwise. */
ACTL_API void actl_turn_set_word(actl_ctx *ctx, uint64_t word);
ACTL_API uint64_t actl_turn_word(actl_ctx *ctx);
ACTL_API void actl_turn_set_hooks(actl_ctx *ctx, unsigned hooks);

/* For code that a vat runs for itself between two deliveries: until actl_turn_step_in no actor is
 * running, and what is sent has nobody as its sender. Returns what step_in is to be given. */
ACTL_API void *actl_turn_step_out(actl_ctx *ctx);
ACTL_API void actl_turn_step_in(actl_ctx *ctx, void *actor);

/* Whether an actor is running: false in code that a vat runs for itself, a finalizer for example. */
ACTL_API bool actl_turn_has_actor(actl_ctx *ctx);

/* Whether the running handler may wait: it is a delivery of a message, birth, init, resume or stop.
 * Where its actor has been told to stop meanwhile a wait is allowed, and never ends: nothing is
 * sent, and the handler comes back as ACTL_DELIVER_ABANDON. */
ACTL_API bool actl_turn_may_wait(actl_ctx *ctx);

/* Sends an ask and parks the running handler with `waiter` until the answer, for at most `timeout_ms`
 * milliseconds (0: the engine's default; or ACTL_FOREVER); then it comes back with ACTL_TIMEOUT. On
 * any failure nothing was sent and nothing is parked: ACTL_SELF, ACTL_NO_ACTOR (known dead), and those
 * of actl_send. */
ACTL_API actl_status actl_ask_wait(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                                   uint64_t timeout_ms, void *waiter);

/* Parks the running handler with `waiter` for `ms` milliseconds (or ACTL_FOREVER). It comes back with
 * ACTL_OK and no `msg`. ACTL_NO_MEMORY: it is not parked. */
ACTL_API actl_status actl_sleep_wait(actl_ctx *ctx, uint64_t ms, void *waiter);

/* For a process (ACTL_IS_PROCESS): ends the current message, an ask among them that was not answered
 * fails as ACTL_UNANSWERED, and takes the next one, which is the current one from then on; NULL:
 * nothing is there, or the actor has to do something else first: actl_receive_wait. */
ACTL_API const actl_msg *actl_receive_next(actl_ctx *ctx);

/* Parks a process, after actl_receive_next had nothing, until its next message comes, which is `msg`
 * then and the current one, or for `timeout_ms` milliseconds (or ACTL_FOREVER): ACTL_TIMEOUT. 0 lets
 * others run once. ACTL_NO_MEMORY: it is not parked. */
ACTL_API actl_status actl_receive_wait(actl_ctx *ctx, uint64_t timeout_ms, void *waiter);

/* Whether the running delivery has sent so much that it should give way (1,000 messages). */
ACTL_API bool actl_turn_is_overdrawn(actl_ctx *ctx);

/* Parks the running handler with `waiter` at the back of the vat's queue. ACTL_NO_MEMORY: it is not
 * parked, and goes on. */
ACTL_API actl_status actl_turn_give_way(actl_ctx *ctx, void *waiter);

/* Parks the running handler like actl_turn_give_way, in the middle of what it computes: it does not
 * wait, so that a stop takes effect only when it has returned, or waits; a kill at once.
 * ACTL_NO_MEMORY: it is not parked, and goes on. */
ACTL_API actl_status actl_turn_preempt(actl_ctx *ctx, void *waiter);

/* For a handler that computes: counts one of actl_config.max_steps, and lets the virtual clock go on.
 * false: they are used up, and the handler is to fail. */
ACTL_API bool actl_turn_tick(actl_ctx *ctx);

/* Whether the vat has nothing else to do now, so that the machine may tidy up. */
ACTL_API bool actl_turn_is_idle(actl_ctx *ctx);

/* Which hooks a driven actor has: the deliveries that it has no hook for are not made. */
enum {
  ACTL_HAS_INIT = 1, /* the first delivery is ACTL_DELIVER_INIT (otherwise spawn takes no values) */
  ACTL_HAS_STOP = 2, /* the last delivery is ACTL_DELIVER_STOP */
  ACTL_IS_PROCESS =
      4 /* its first delivery is a body that receives messages itself: an error in it is
                       * no failed init */
};

/* Makes a near driven actor with its word and hooks (ACTL_HAS_INIT | ACTL_HAS_STOP). The errors are
 * those of actl_spawn. */
ACTL_API actl_status actl_driven_spawn(actl_ctx *ctx, uint64_t word, unsigned hooks,
                                       const actl_value *values, size_t n, actl_pid *out);

/* Makes a driven actor elsewhere (or here): its first delivery is ACTL_DELIVER_BORN, with
 * `values[0]` as the description; where that is a string, traces call the actor so. The errors are
 * those of actl_spawn_on. */
ACTL_API actl_status actl_driven_spawn_on(actl_ctx *ctx, uint32_t vat, const actl_value *values,
                                          size_t n, actl_pid *out);

/* The same from any thread. */
ACTL_API actl_status actl_engine_driven_spawn(actl_engine *engine, uint32_t vat,
                                              const actl_value *values, size_t n, actl_pid *out);

/* Memory of the vat, without a lock, counted; the same type as lua_Alloc with the ctx as `ud`.
 * Everything left is given back when the vat ends. */
ACTL_API void *actl_vat_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size);

/* Bytes that actl_vat_realloc has given out and not got back. */
ACTL_API size_t actl_vat_bytes(actl_ctx *ctx);

/* With a seed only: the same from a range of addresses that is the vat's own and begins at a multiple
 * of 4 GB. The same calls give blocks at the same places in it: the lower 32 bits of their addresses
 * are the same in every process. It is mapped by the engine, at most 4 GB, not taken from the host's
 * hook, and given back when the vat ends. */
ACTL_API void *actl_vat_realloc_placed(void *ctx, void *ptr, size_t old_size, size_t new_size);

/* Whether the engine has a seed; whether it places every spawn; a number of this vat's that comes
 * from the seed alone, the next one with each call. */
ACTL_API bool actl_ctx_is_seeded(actl_ctx *ctx);
ACTL_API bool actl_ctx_scatters(actl_ctx *ctx);
ACTL_API uint64_t actl_ctx_draw(actl_ctx *ctx);

/* A choice of the driver's, with a seed only: a number below `n`, 2 or more; 0 is the plain order. */
ACTL_API uint32_t actl_ctx_choose(actl_ctx *ctx, actl_choice choice, uint32_t n);

/* Reads values one after the other, which is faster than actl_msg_value for long messages. */
typedef struct actl_cursor {
  const actl_msg *msg;
  const void *at;
  uint32_t left, slot;
} actl_cursor;
ACTL_API actl_cursor actl_msg_begin(const actl_msg *msg);
ACTL_API bool actl_msg_next(actl_cursor *cursor, actl_value *out);

/* Nanoseconds of the engine's clock: monotonic, and since 1970 in UTC. Each reading of a virtual one
 * takes a microsecond, so that a loop that waits for a time comes to its end. */
ACTL_API uint64_t actl_now_ns(actl_ctx *ctx);
ACTL_API uint64_t actl_wall_ns(actl_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
