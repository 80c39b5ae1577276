/*
 * actl.h - actorlua's engine: the whole C contract and its manual.
 *
 * An engine runs actors. An actor is a pid, a mailbox, a behavior and a state; it handles one
 * message at a time. Actors live in vats: a vat is the single-threaded home of many actors, and
 * worker threads run vats, each vat on at most one worker at a time. A send inside one vat is
 * "near" and touches no lock and no atomic; a send to another vat is "far".
 *
 *   actl_engine *engine;
 *   actl_engine_new(&engine, NULL);                       NULL: every default
 *   actl_engine_spawn(engine, ACTL_VAT_ANY, &my_behavior, NULL, 0, &pid);
 *   actl_engine_send(engine, pid, ACTL_VALUES(actl_int(1)));
 *   actl_engine_run(engine);                              returns when nothing is left to do
 *   actl_engine_free(engine);
 *
 * Threads. A function that takes an `actl_ctx *` is called from inside a handler, on the thread
 * that runs the handler, with the ctx that the handler was given. A function that takes an
 * `actl_engine *` says which threads may call it. There is no global state: two engines in one
 * process do not know of each other.
 *
 * Memory. What a function is given (values and their bytes, texts, the config) is the caller's, and
 * copied where it is kept; only behaviors and drivers are kept by their address. Pids, names,
 * timers, ids and requests are numbers: they are copied freely, and stay safe after what they name
 * has ended.
 *
 * Errors. What can fail returns an `actl_status`: zero is success, failures are negative, and on
 * failure nothing has changed and `out` is untouched. The engine never prints, never exits and
 * never reads the environment; its one voice is the log callback. `out` must not be NULL unless it
 * is said that it may be. Times are milliseconds unless a name ends in another unit.
 *
 * Requires a 64-bit (LP64) platform.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_H
#define ACTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACTL_VERSION_MAJOR 0
#define ACTL_VERSION_MINOR 1
#define ACTL_VERSION_PATCH 0

#if defined(__GNUC__)
#define ACTL_API __attribute__((visibility("default")))
#else
#define ACTL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statuses ------------------------------------------------------------------------------ */

/* One table: code, name (the reason as Lua sees it) and text. */
#define ACTL_STATUSES(X)                                                                           \
  X(ACTL_OK, 0, "ok", "success")                                                                   \
  X(ACTL_NO_MEMORY, -1, "memory", "out of memory")                                                 \
  X(ACTL_INVALID, -2, "invalid", "an argument is not valid")                                       \
  X(ACTL_NO_ACTOR, -3, "no_actor", "the pid names no living actor")                                \
  X(ACTL_STOPPED, -4, "stopped", "the actor stopped")                                              \
  X(ACTL_FULL, -5, "full", "the mailbox is full")                                                  \
  X(ACTL_EXPIRED, -6, "expired", "nobody waits for the answer any more")                           \
  X(ACTL_UNHANDLED, -7, "unhandled", "the behavior has no handler for the message")                \
  X(ACTL_FAILED, -8, "failed", "the handler failed")                                               \
  X(ACTL_SHUTDOWN, -9, "shutdown", "the engine is shutting down")                                  \
  X(ACTL_ENCODING, -10, "encoding", "a value cannot be carried")                                   \
  X(ACTL_TIMEOUT, -11, "timeout", "no answer within the time")                                     \
  X(ACTL_DEADLOCK, -12, "deadlock", "nothing is left that could answer")                           \
  X(ACTL_RESTARTED, -13, "restarted", "the actor was restarted")                                   \
  X(ACTL_KILLED, -14, "killed", "the actor was killed")                                            \
  X(ACTL_INIT, -15, "init", "the actor's init failed")                                             \
  X(ACTL_SELF, -16, "self", "an actor cannot ask itself")                                          \
  X(ACTL_UNANSWERED, -17, "unanswered", "the request was dropped without an answer")               \
  X(ACTL_NO_VAT, -18, "no_vat", "there is no vat of that number")                                  \
  X(ACTL_LIMIT, -19, "limit", "a fixed limit of the engine is reached")                            \
  X(ACTL_NO_ROUTE, -20, "no_route", "the node cannot be reached")                                  \
  X(ACTL_BUSY, -21, "busy", "the engine is running")                                               \
  X(ACTL_SYSTEM, -22, "system", "the operating system refused a resource")

typedef enum actl_status {
#define ACTL_STATUS_CODE(code, number, name, text) code = number,
  ACTL_STATUSES(ACTL_STATUS_CODE)
#undef ACTL_STATUS_CODE
} actl_status;

/* The status's name, as Lua sees it: "no_actor"; "unknown" for a number that is none. Static; any
 * thread. */
ACTL_API const char *actl_status_name(actl_status status);

/* What the status means, in a few words: "the mailbox is full"; "unknown status" for a number that
 * is none. Static; any thread. */
ACTL_API const char *actl_status_text(actl_status status);

/* The version of the library that is linked, as "1.2.3". Static; any thread. */
ACTL_API const char *actl_version(void);

/* ---- Words ----------------------------------------------------------------------------------- */

typedef struct actl_engine actl_engine; /* one running instance */
typedef struct actl_ctx actl_ctx;       /* what a handler is given: itself, its vat, its message */
typedef struct actl_msg actl_msg; /* a message being handled; valid until the handler returns */

/* Names an actor. Never a pointer: a pid of a dead actor is recognised, never dereferenced, and
 * never reaches another actor. `bits` is 0 in no pid: {0} is "nobody". Safe to copy and to keep. */
typedef struct actl_pid {
  uint64_t bits;
} actl_pid;

/* An engine-wide interned string: two names of one engine are equal when their ids are. */
typedef struct actl_name {
  uint32_t id;
} actl_name;

/* Names one ask of one actor, so that its reply can be told from others. */
typedef struct actl_ask_id {
  uint64_t bits;
} actl_ask_id;

/* An ask whose answer is still owed, kept with actl_later. Used once, by the actor that kept it. */
typedef struct actl_request {
  uint64_t bits;
} actl_request;

/* Names one timer of one actor; safe to keep after it has ended. `bits` is 0 in none. */
typedef struct actl_timer {
  uint64_t bits;
} actl_timer;

/* Whether two pids name the same actor. Any thread. */
static inline bool actl_pid_equal(actl_pid a, actl_pid b) { return a.bits == b.bits; }

/* ---- Values ---------------------------------------------------------------------------------- */

/* What one value of a message is. The numbers are part of the wire form. */
typedef enum actl_type {
  ACTL_NIL = 0,
  ACTL_FALSE = 1,
  ACTL_TRUE = 2,
  ACTL_INTEGER = 3,
  ACTL_FLOAT = 4,
  ACTL_PID = 5,
  ACTL_NAME = 6,   /* an interned string; Lua sees a string */
  ACTL_STRING = 7, /* any bytes, zero bytes too */
  ACTL_TABLE = 10  /* a table in the binding's encoding: to C a value to keep or pass on */
} actl_type;

/* One value. ACTL_INTEGER: `as.integer`; ACTL_FLOAT: `as.number`; ACTL_PID: `as.pid`; ACTL_NAME:
 * `as.name`, of the same engine. For ACTL_STRING and ACTL_TABLE `as.bytes` points to `size` bytes,
 * without a zero byte behind them: as an argument they are copied before the call returns; read
 * from a message they are the message's. */
typedef struct actl_value {
  uint32_t type; /* enum actl_type */
  uint32_t size; /* bytes, for ACTL_STRING and ACTL_TABLE */
  union {
    int64_t integer;
    double number;
    actl_pid pid;
    actl_name name;
    const char *bytes;
    uint64_t bits;
  } as;
} actl_value;

/* Each makes one value. actl_bytes (any bytes; NULL where `size` is 0) and actl_text (up to its
 * zero byte, less than 4 GB) copy nothing: what they are given must live until the value has been
 * used. */
static inline actl_value actl_nil(void) {
  actl_value v = {ACTL_NIL, 0, {0}};
  return v;
}
static inline actl_value actl_bool(bool b) {
  actl_value v = {(uint32_t)(b ? ACTL_TRUE : ACTL_FALSE), 0, {0}};
  return v;
}
static inline actl_value actl_int(int64_t i) {
  actl_value v = {ACTL_INTEGER, 0, {0}};
  v.as.integer = i;
  return v;
}
static inline actl_value actl_float(double f) {
  actl_value v = {ACTL_FLOAT, 0, {0}};
  v.as.number = f;
  return v;
}
static inline actl_value actl_who(actl_pid pid) {
  actl_value v = {ACTL_PID, 0, {0}};
  v.as.pid = pid;
  return v;
}
static inline actl_value actl_named(actl_name name) {
  actl_value v = {ACTL_NAME, 0, {0}};
  v.as.name = name;
  return v;
}
static inline actl_value actl_bytes(const void *bytes, uint32_t size) {
  actl_value v = {ACTL_STRING, 0, {0}};
  v.size = size;
  v.as.bytes = (const char *)bytes;
  return v;
}
static inline actl_value actl_text(const char *text) {
  uint32_t n = 0;
  while (text[n] != '\0') n++;
  return actl_bytes(text, n);
}

/* A list of values for a call that takes `const actl_value *values, size_t n` (C only):
 *   actl_send(ctx, pid, ACTL_VALUES(actl_named(add), actl_int(5))); */
#define ACTL_VALUES(...)                                                                           \
  (const actl_value[]){__VA_ARGS__}, sizeof((actl_value[]){__VA_ARGS__}) / sizeof(actl_value)

enum { ACTL_VALUES_MAX = 255 }; /* values in one message */

/* ---- Reading a message ------------------------------------------------------------------------- */

/* By the handler that was given `msg`, until it returns; or by the thread that has it as an answer
 * of actl_engine_ask, until it frees it. */

/* How many values `msg` has. */
ACTL_API size_t actl_msg_count(const actl_msg *msg);

/* Value `i`, counted from 0; nil when there is none. Bytes in it live as long as `msg`. */
ACTL_API actl_value actl_msg_value(const actl_msg *msg, size_t i);

/* Value `i` where it is an integer; `otherwise` where it is none, or a float. */
ACTL_API int64_t actl_msg_int(const actl_msg *msg, size_t i, int64_t otherwise);

/* Value `i` where it is a pid; {0} where it is none. */
ACTL_API actl_pid actl_msg_pid(const actl_msg *msg, size_t i);

/* Whether value `i` is the string `name` stands for, sent as a name or as a string. For handlers.
 * */
ACTL_API bool actl_msg_is(actl_ctx *ctx, const actl_msg *msg, size_t i, actl_name name);

/* ---- Behaviors --------------------------------------------------------------------------------- */

/* Why an actor stops: `status` is ACTL_OK for an ordinary stop. `text` may be NULL, and lives as
 * long as the call that it is passed to. */
typedef struct actl_reason {
  actl_status status;
  const char *text;
} actl_reason;

/*
 * What an actor does. All functions are optional but `receive`. They run on a worker thread, one at
 * a time for one actor; they may take their time but hold up their vat. `state` points to
 * `state_size` bytes that begin as zeros and are freed after the actor's end.
 *
 * The struct and what it points to must outlive the engine; it is never written.
 */
typedef struct actl_behavior {
  const char *name;  /* for logs, and for Lua's actor.native; NULL: "actor" */
  size_t state_size; /* bytes of zeroed state for each actor; 0: `state` is NULL */

  /* The first delivery: `args` are the values given to spawn. A failure is the actor's end with the
   * reason ACTL_INIT. */
  actl_status (*init)(actl_ctx *ctx, void *state, const actl_msg *args);

  /* One message. ACTL_OK: handled; when it was an ask and neither actl_reply nor actl_later was
   * called, it is answered with no values. ACTL_UNHANDLED: the message becomes a dead letter of that
   * reason and an ask fails with it. Any other failure ends the actor (see actl_fail). */
  actl_status (*receive)(actl_ctx *ctx, void *state, const actl_msg *msg);

  /* The answer to an earlier actl_ask. `status` ACTL_OK: `msg` has the values; otherwise `msg` is
   * NULL and `status` says why there is none. NULL function: answers are dropped. */
  actl_status (*reply)(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                       const actl_msg *msg);

  /* The last delivery, after the children have ended; not called after a kill or a failed init.
   * Messages may be sent from it. */
  void (*stop)(actl_ctx *ctx, void *state, const actl_reason *reason);
} actl_behavior;

/* ---- Inside a handler --------------------------------------------------------------------------- */

/* The functions of this section and the next belong to the thread that runs the handler. */

ACTL_API actl_engine *actl_ctx_engine(actl_ctx *ctx); /* the engine of this vat */
ACTL_API actl_pid actl_self(actl_ctx *ctx);           /* the running actor */
ACTL_API uint32_t actl_ctx_vat(actl_ctx *ctx);        /* the number of this vat, counted from 0 */

/* Who sent what is being handled: in `init` the spawner, in `reply` who answered, for a timer's
 * message the actor itself. {0}: somebody outside, or (in `stop`) nobody. */
ACTL_API actl_pid actl_sender(actl_ctx *ctx);

/* Makes a near actor, a child of the running one. Its `init` is given the `n` values (NULL where
 * `n` is 0), and runs later, before anything that is sent to the pid from now on. ACTL_NO_MEMORY;
 * ACTL_LIMIT: pids are used up; ACTL_INVALID: more than ACTL_VALUES_MAX values, values for a
 * behavior without init, no `receive`, or no actor is running; ACTL_ENCODING: a value of no type
 * that a message has; ACTL_STOPPED: the spawner is itself stopping; ACTL_SHUTDOWN. */
ACTL_API actl_status actl_spawn(actl_ctx *ctx, const actl_behavior *behavior,
                                const actl_value *values, size_t n, actl_pid *out);

/* In place of a vat's number: of the vats that the engine began with the one with the fewest actors. */
#define ACTL_VAT_ANY UINT32_MAX
/* In place of a vat's number: a new vat, which ends when its last actor has ended. */
#define ACTL_VAT_NEW (UINT32_MAX - 1)

/* The same in vat number `vat`, in ACTL_VAT_ANY or in ACTL_VAT_NEW. Also ACTL_NO_VAT. Where something
 * is amiss only once the vat makes the actor (no memory there, a shutdown meanwhile), the actor ends
 * at once, and what was sent to it becomes dead letters. */
ACTL_API actl_status actl_spawn_on(actl_ctx *ctx, uint32_t vat, const actl_behavior *behavior,
                                   const actl_value *values, size_t n, actl_pid *out);

/* Sends a message of `n` values, by copy; it may have none (NULL, 0). ACTL_OK also when the target
 * is gone: the message is then a dead letter. ACTL_INVALID: `to` is no pid, or more than
 * ACTL_VALUES_MAX values; ACTL_ENCODING: a value of no type that a message has; ACTL_NO_MEMORY. */
ACTL_API actl_status actl_send(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n);

#define ACTL_FOREVER UINT64_MAX   /* as a time: without end */
#define ACTL_ASK_TIMEOUT_MS 5000u /* how long an ask waits unless it says otherwise */

/* Sends a message that asks for an answer, which comes to the behavior's `reply`, in a later
 * delivery, with the id that is put in `out`. The errors are those of actl_send, and ACTL_SELF;
 * ACTL_INVALID also where no actor is running. An ask that cannot be answered comes back with its
 * reason, one that is not answered within actl_config.ask_timeout_ms with ACTL_TIMEOUT. What comes
 * later is dropped and counted; an ask whose time is over before its turn has come is not handled,
 * but a dead letter ACTL_EXPIRED. A vat looks at the clock between its turns, and in a turn after 64
 * messages at the latest: a time is over when it has been seen to be. */
ACTL_API actl_status actl_ask(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                              actl_ask_id *out);

/* The same with a time of its own: `timeout_ms` milliseconds (0: the engine's default), or
 * ACTL_FOREVER. */
ACTL_API actl_status actl_ask_within(actl_ctx *ctx, actl_pid to, const actl_value *values, size_t n,
                                     uint64_t timeout_ms, actl_ask_id *out);

/* Answers the ask being handled. The first answer counts: ACTL_EXPIRED for later ones, and after
 * actl_later. ACTL_INVALID: what is being handled is no ask, or more than ACTL_VALUES_MAX values;
 * ACTL_ENCODING, ACTL_NO_MEMORY: the ask is still open. */
ACTL_API actl_status actl_reply(actl_ctx *ctx, const actl_value *values, size_t n);

/* Keeps the ask being handled, to be answered after the handler has returned. When the actor ends
 * first, the ask fails with ACTL_STOPPED. ACTL_INVALID: what is being handled is no ask;
 * ACTL_EXPIRED: it has been answered or kept already; ACTL_NO_MEMORY. */
ACTL_API actl_status actl_later(actl_ctx *ctx, actl_request *out);

/* Answers a kept ask, or fails it with `status` (ACTL_INVALID where that is ACTL_OK), from any
 * handler of the actor that kept it. ACTL_EXPIRED: it was answered before. ACTL_INVALID (more than
 * ACTL_VALUES_MAX values), ACTL_ENCODING and ACTL_NO_MEMORY: the ask is still open. Whether the
 * asker still waits is not told. */
ACTL_API actl_status actl_request_reply(actl_ctx *ctx, actl_request request,
                                        const actl_value *values, size_t n);
ACTL_API actl_status actl_request_fail(actl_ctx *ctx, actl_request request, actl_status status);

/* Stop in order: after what this actor sent to `pid` before; at once where a handler waits and
 * nothing is queued before it. The actor's children stop first, ahead of their queues, then its stop
 * hook runs; one whose init was not called yet ends without it and without the hook. Stopping
 * something dead is no error; ACTL_INVALID: `pid` is no pid; ACTL_NO_MEMORY. */
ACTL_API actl_status actl_stop(actl_ctx *ctx, actl_pid pid);

/* Stop ahead of the queue: what is queued becomes dead letters. The errors are those of actl_stop.
 * */
ACTL_API actl_status actl_stop_now(actl_ctx *ctx, actl_pid pid);

/* Stop ahead of the queue and without the stop hook; the children are killed too. The errors are
 * those of actl_stop. */
ACTL_API actl_status actl_kill(actl_ctx *ctx, actl_pid pid);

/* The running actor stops when its handler has returned, and what is queued becomes dead letters.
 * `text`, the reason that its stop hook is given, is copied; NULL: none. Nothing where no actor is
 * running, or it is stopping already. */
ACTL_API void actl_exit(actl_ctx *ctx, const char *text);

/* Says why the handler is about to return a failure: `text` (not NULL) is copied into the log
 * entry; the last one counts. Returns ACTL_FAILED, so that a handler can `return actl_fail(ctx,
 * "...")`. */
ACTL_API actl_status actl_fail(actl_ctx *ctx, const char *text);

/* Publishes the far messages sent so far, which otherwise leave in batches, and has a sleeping worker
 * look after them: for a handler that goes on for a while. */
ACTL_API void actl_flush(actl_ctx *ctx);

/* ---- Timers ------------------------------------------------------------------------------------- */

/* A timer belongs to the actor that made it and ends with it. Its message comes to that actor, with
 * the actor itself as the sender, never early, and in its turn: behind what was queued before. The
 * resolution is a millisecond, the range years. A pending timer keeps actl_engine_run from
 * returning, unless it is ACTL_TIMER_BACKGROUND. */

/* The message comes once, `ms` milliseconds from now. `out` may be NULL. The errors are those of
 * actl_send; ACTL_INVALID also where no actor runs, or for more than a thousand years. */
ACTL_API actl_status actl_after(actl_ctx *ctx, uint64_t ms, const actl_value *values, size_t n,
                                actl_timer *out);

enum {
  ACTL_TIMER_DELAY = 1,     /* the next period begins when the message has been handled */
  ACTL_TIMER_BACKGROUND = 2 /* it does not keep a run alive */
};

/* The message comes every `ms` milliseconds (1 or more), for the first time `ms` from now. At most
 * one is waiting: a time at which the last one has not been handled yet is skipped, and so are the
 * times that passed while the process was suspended. The times keep their phase: they are `ms` apart
 * however late a message was handled; with ACTL_TIMER_DELAY each begins anew. `options` is a sum of
 * these, 0: none. `out` may be NULL. The errors are those of actl_after; ACTL_INVALID also for 0
 * milliseconds, or another option. */
ACTL_API actl_status actl_every(actl_ctx *ctx, uint64_t ms, unsigned options,
                                const actl_value *values, size_t n, actl_timer *out);

/* Ends a timer of the running actor for good: also one whose message waits already, which is not
 * handled then. ACTL_EXPIRED: it has ended before, or is none of this actor's. */
ACTL_API actl_status actl_cancel(actl_ctx *ctx, actl_timer timer);

/* ---- Names -------------------------------------------------------------------------------------- */

/* Interns `size` bytes (any bytes, copied); at most 65,536 names an engine, kept until it is freed.
 * The same bytes give the same name. Any thread. ACTL_NO_MEMORY; ACTL_LIMIT: no name is left;
 * ACTL_INVALID: 4 GB or more. */
ACTL_API actl_status actl_name_intern(actl_engine *engine, const char *bytes, size_t size,
                                      actl_name *out);

/* The bytes of a name, followed by a zero byte, until the engine is freed; NULL: the engine has no
 * such name. `size` may be NULL. Any thread, without a lock. */
ACTL_API const char *actl_name_bytes(actl_engine *engine, actl_name name, size_t *size);

/* ---- Runs that can be repeated ------------------------------------------------------------------- */

/*
 * With a seed (actl_config.is_seeded) an engine runs on the calling thread alone, its clock is
 * virtual, and whatever it is free to do is decided by numbers drawn from the seed: the same host,
 * behaviors and seed give the same run. The clock begins at a fixed time, goes on a little with each
 * turn, and jumps to the next timer when nothing is ready. What the engine promises holds with every
 * seed. Outside of this are host threads that send, and what behaviors take from elsewhere.
 */

/* What is free: code, name, and what is decided, 0 being the plain order. */
#define ACTL_CHOICES(X)                                                                            \
  X(VAT, "vat", "which vat takes the next turn; 0: the one that has waited longest")               \
  X(TURN, "turn", "whether a turn ends early, after how much; 0: it does not")                     \
  X(ACTOR, "actor", "which ready actor comes next; 0: the one whose turn it is")                   \
  X(CHAIN, "chain", "whether what is sent to a vat waits a turn more; 0: it does not")             \
  X(TIMER, "timer", "which of the timers due in one millisecond fires first; 0: the first")        \
  X(PLACE, "place", "where an actor is placed; 0: where it would be without a seed")               \
  X(PREEMPT, "preempt", "after how many instructions a handler gives way; 0: it does not")         \
  X(CLOCK, "clock", "how much time passes beside the work; 0: none")

typedef enum actl_choice {
#define ACTL_CHOICE_INDEX(code, name, text) ACTL_CHOICE_##code,
  ACTL_CHOICES(ACTL_CHOICE_INDEX)
#undef ACTL_CHOICE_INDEX
      ACTL_CHOICE_KINDS
} actl_choice;

/* Its name, and what it decides, as in the table above; "unknown" and "unknown choice" for a number that
 * is none. Static; any thread. */
ACTL_API const char *actl_choice_name(actl_choice choice);
ACTL_API const char *actl_choice_text(actl_choice choice);

/* Decides in place of the seed: returns a number below `n`, which is 2 or more; `drawn` is the one
 * that the seed would have taken. Called on the thread that runs the engine; must not call it. */
typedef uint32_t (*actl_choose_fn)(void *ud, actl_choice choice, uint32_t n, uint32_t drawn);

/* ---- Traces --------------------------------------------------------------------------------------- */

/* What is told of a run, in the order in which it happens. `actor` and `peer` are: */
#define ACTL_EVENTS(X)                                                                             \
  X(SPAWN, "spawn")     /* the new actor; who made it. `text`: its name, as logs have it */        \
  X(SEND, "send")       /* who sends; to whom. `msg` */                                            \
  X(ASK, "ask")         /* who asks; whom. `msg` */                                                \
  X(RECEIVE, "receive") /* who begins to handle a message or an ask; whose. `msg` */               \
  X(TIMER, "timer")     /* who begins to handle a timer's message; the same. `msg` */              \
  X(HANDLED, "handled") /* who has done with what it began; nobody */                              \
  X(REPLY, "reply")     /* who answers an ask; who asked. `status`, `msg` where that is ACTL_OK */ \
  X(WAIT, "wait")       /* whose handler waits, or gives way; for whom, where it has asked */      \
  X(RESUME, "resume")   /* whose handler goes on. `status` */                                      \
  X(STOP, "stop")       /* who tells another to stop, or kills it; whom */                         \
  X(EXIT, "exit")       /* who has ended; nobody. `status`, `text`: why */                         \
  X(LETTER, "letter")   /* who should have had a message; whose. `status`: why it is a dead one */ \
  X(CLOCK, "clock")     /* nobody: the virtual clock jumps to `time_ns` */

typedef enum actl_event_kind {
#define ACTL_EVENT_INDEX(code, name) ACTL_EVENT_##code,
  ACTL_EVENTS(ACTL_EVENT_INDEX)
#undef ACTL_EVENT_INDEX
      ACTL_EVENT_KINDS
} actl_event_kind;

/* Its name, as in the table above; "unknown" for a number that is none. Static; any thread. */
ACTL_API const char *actl_event_name(actl_event_kind kind);

/*
 * What is begun (RECEIVE, TIMER) ends as HANDLED, or, where its actor failed, did not handle it or was
 * stopped meanwhile, as a LETTER. Between them come WAIT and RESUME; a process that goes on with a message
 * has that one's RECEIVE in place of a RESUME. An answer that a behavior's `reply` is called with is a
 * RESUME and a HANDLED. An actor's init is part of its SPAWN. A LETTER without `msg` is an ask that was not
 * even sent, since its target was known to be gone.
 *
 * What it points to is valid during the call.
 */
typedef struct actl_event {
  actl_event_kind kind;
  uint32_t vat;     /* where it happened; ACTL_VAT_ANY: in a thread of the host */
  uint64_t time_ns; /* the engine's clock */
  actl_pid actor, peer;
  actl_status status;
  const actl_msg *msg; /* NULL: none */
  const char *text;    /* NULL: none */
} actl_event;

/* Called on the thread on which it happens, on several at once unless there is a seed; must not call
 * the engine, except for actl_msg_..., actl_name_bytes and the names of tables. */
typedef void (*actl_trace_fn)(void *ud, const actl_event *event);

/* ---- Configuration ------------------------------------------------------------------------------ */

typedef enum actl_log_level {
  ACTL_LOG_DEBUG = 0,
  ACTL_LOG_INFO = 1,
  ACTL_LOG_WARN = 2,
  ACTL_LOG_ERROR = 3
} actl_log_level;

/* One log entry. `text` is one or more lines without a newline at the end, valid during the call.
 * Called on any worker thread, on several at once, with no lock held. `kind` tells entries apart:
 * see below. */
typedef enum actl_log_kind {
  ACTL_LOG_NOTE = 0,      /* written by a script or a host */
  ACTL_LOG_FAILURE = 1,   /* an actor failed: message and traceback */
  ACTL_LOG_STUCK = 2,     /* a handler waited for what could not come: who, for whom, from where */
  ACTL_LOG_UNANSWERED = 3 /* a message nobody handles, once for each behavior and name */
} actl_log_kind;
typedef void (*actl_log_fn)(void *ud, actl_log_level level, actl_log_kind kind, const char *text);

/* Gives, resizes (`ptr` not NULL) and frees (`new_size` 0) memory; the same type as lua_Alloc.
 * Sizes are bytes; `old_size` is what was asked for. NULL: there is none, and the old block is as
 * it was. Freeing must not fail. Called on any thread that calls into the engine, on several at
 * once. Memory that it gives must be aligned for any type. */
typedef void *(*actl_alloc_fn)(void *ud, void *ptr, size_t old_size, size_t new_size);

/* Zero means the default, for every field. */
typedef struct actl_config {
  uint32_t workers;    /* threads that run vats; 0: one for each processor. At most 256 */
  uint32_t vats;       /* vats made at the start; 0: one for each worker. At most 60,000 */
  actl_log_fn log;     /* NULL: entries are dropped */
  void *log_ud;        /* handed to `log` */
  actl_alloc_fn alloc; /* all the engine's memory; NULL: malloc */
  void *alloc_ud;      /* handed to `alloc` */

  /* Milliseconds that an ask waits unless it says otherwise; 0: ACTL_ASK_TIMEOUT_MS */
  uint64_t ask_timeout_ms;

  /* See "Runs that can be repeated". With a seed there is one worker, and 4 vats where `vats` is 0;
   * actl_engine_start is refused. */
  bool is_seeded;        /* false: threads and the real clock, and what follows up to `max_steps` is
                          * not used */
  uint64_t seed;         /* any number */
  actl_choose_fn choose; /* decides in place of the seed; NULL: the seed does */
  void *choose_ud;       /* handed to `choose` */
  bool scatters;         /* places every spawn, near ones too: actl_spawn is then actl_spawn_on with
                          * a place that the seed draws */
  uint64_t
      max_steps; /* deliveries, turns and slices after which a run ends as ACTL_LIMIT; 0: none */

  actl_trace_fn trace; /* told of all that happens; NULL: nobody, and it costs nothing */
  void *trace_ud;      /* handed to `trace` */
} actl_config;

/* ---- An engine ---------------------------------------------------------------------------------- */

/* Makes an engine; `config` (copied) NULL: every default. It starts no thread. ACTL_NO_MEMORY;
 * ACTL_INVALID: more workers or vats than there may be; ACTL_SYSTEM. Any thread. */
ACTL_API actl_status actl_engine_new(actl_engine **out, const actl_config *config);

/* Frees it with all its actors: their stop hooks do not run (see actl_engine_shutdown). NULL is
 * ignored. Not while it runs, in whichever way, and not while another thread is in a call with it;
 * answers of actl_engine_ask are freed before. Any thread. */
ACTL_API void actl_engine_free(actl_engine *engine);

/*
 * Three ways to run an engine, one at a time:
 *
 *   run            on the calling thread and workers - 1 more, until nothing is left to do
 *   start, stop    on `workers` threads of the engine's own, until it is told to stop
 *   step           a little at a time, on the calling thread alone, which is never blocked
 *
 * Beside these the engine has one more thread, made when first needed, which sleeps until a timer of
 * an idle vat is due.
 */

/* Runs the actors, with the calling thread as the first worker, until the engine is quiet: no actor
 * has anything to handle, no timer is pending but those in the background, and the host holds
 * nothing (actl_hold). Handlers that wait for an answer then can never go on: their asks fail with
 * ACTL_DEADLOCK, which is logged, and the run goes on until it is quiet again. Actors stay, and a
 * later call, on this thread or another, continues. ACTL_BUSY: it is running; ACTL_SYSTEM: a thread
 * could not be started, and nothing was run; ACTL_LIMIT: actl_config.max_steps are used up, and it is
 * not quiet. Any thread, but not from a handler. */
ACTL_API actl_status actl_engine_run(actl_engine *engine);

/* Runs the actors on threads of the engine's own, and returns. The engine goes on when it is quiet:
 * the host may send at any time, so no ask fails with ACTL_DEADLOCK, and each waits for its time.
 * ACTL_BUSY: it is running; ACTL_SYSTEM: a thread could not be started, and none runs. Any thread.
 * */
ACTL_API actl_status actl_engine_start(actl_engine *engine);

/* Ends what actl_engine_start began: each worker finishes its turn, and the threads end. Actors,
 * what is queued and timers stay, and a later run, start or step continues. For a graceful end call
 * actl_engine_shutdown and actl_engine_wait before. ACTL_INVALID: it was not started. Any thread,
 * but not from a handler. */
ACTL_API actl_status actl_engine_stop(actl_engine *engine);

/* Waits until a started engine has nothing to do: no actor has anything to handle, no timer is
 * pending but those in the background, and the host holds nothing. ACTL_TIMEOUT: not within
 * `timeout_ms` milliseconds (or ACTL_FOREVER); ACTL_INVALID: it is not started. Any thread, but not
 * from a handler. */
ACTL_API actl_status actl_engine_wait(actl_engine *engine, uint64_t timeout_ms);

/* What actl_engine_step has left. */
typedef enum actl_rest {
  ACTL_REST_MORE = 0,  /* the time was up, and there is more to do now */
  ACTL_REST_TIMER = 1, /* nothing to do now; a timer is pending, or an ask that has a time */
  ACTL_REST_QUIET = 2  /* nothing to do until the host sends something */
} actl_rest;

/* Runs what can be run on this thread, for about `for_us` microseconds (it ends with a vat's turn,
 * at most a millisecond later, and no handler is interrupted), and returns without ever waiting.
 * Timers that are due are among it. As in a started engine, no ask fails with ACTL_DEADLOCK. With a
 * seed the time is virtual, and all of it passes, with the timers that are due by its end, however
 * little there is to do; what handlers take beyond it is taken from the next step. `out` may be NULL.
 * ACTL_BUSY: it is running otherwise, or on another thread. Any thread, one after the other, but not
 * from a handler. */
ACTL_API actl_status actl_engine_step(actl_engine *engine, uint64_t for_us, actl_rest *out);

/* A file descriptor that is readable when a step would find something to do, for the poll or epoll
 * of a host's own loop; with a seed a timer is not among that, since time passes in steps alone. It
 * belongs to the engine: do not read or close it. Made at the first call; ACTL_SYSTEM. Any thread. */
ACTL_API actl_status actl_engine_fd(actl_engine *engine, int *out);

/* Has `fn(ud, number)` called each time the process gets that signal, SIGTERM say, on a thread of the
 * engine's own, from when this returns until the engine is freed: a place to call
 * actl_engine_shutdown, and to be done soon, since timers wait for it. Several engines may take one
 * signal. ACTL_INVALID: no such signal, or this engine has taken it; ACTL_NO_MEMORY; ACTL_SYSTEM: no
 * thread is to be had. Any thread, but not from `fn`. */
ACTL_API actl_status actl_engine_on_signal(actl_engine *engine, int number,
                                           void (*fn)(void *ud, int number), void *ud);

/* Keeps the engine from being quiet, for a host that will send something: each hold is undone by one
 * drop. With a seed the clock jumps to timers that keep a run meanwhile, and waits for the host with
 * what else there is, the times of asks too. Any thread. */
ACTL_API void actl_hold(actl_engine *engine);
ACTL_API void actl_drop(actl_engine *engine);

/* Asks every actor to stop, children before parents, from any thread, at any time: no actor is
 * spawned from now on, what is queued becomes dead letters, and stop hooks run;
 * actl_engine_run returns when all have ended. What a stop hook sends to an actor that has not
 * stopped yet is still handled. Called while nothing runs, it takes effect in the next run. */
ACTL_API void actl_engine_shutdown(actl_engine *engine);

/* Makes an actor without a parent, from any thread, at any time. The errors are those of
 * actl_spawn_on, but ACTL_STOPPED. */
ACTL_API actl_status actl_engine_spawn(actl_engine *engine, uint32_t vat,
                                       const actl_behavior *behavior, const actl_value *values,
                                       size_t n, actl_pid *out);

/* Sends from any thread, with nobody as the sender. One thread's messages to one actor arrive in
 * the order sent. The errors are those of actl_send. */
ACTL_API actl_status actl_engine_send(actl_engine *engine, actl_pid to, const actl_value *values,
                                      size_t n);

/* Asks from any thread that runs no handler, and waits for the answer: for `timeout_ms` milliseconds,
 * ACTL_FOREVER, or 0 for the engine's default. The engine must be running, or be run by another
 * thread meanwhile. ACTL_OK: `out` has the answer, to be read with actl_msg_value and freed with
 * actl_msg_free; `out` may be NULL. Otherwise there is none, and the status says why: ACTL_TIMEOUT,
 * ACTL_NO_ACTOR, ACTL_STOPPED, ACTL_FAILED and whatever else the ask failed with; ACTL_SHUTDOWN, at
 * once, when the engine is shutting down. With the errors of actl_send, ACTL_LIMIT (65,000 threads
 * wait already) and ACTL_SYSTEM nothing was sent. It spins for a few microseconds and then sleeps. */
ACTL_API actl_status actl_engine_ask(actl_engine *engine, actl_pid to, const actl_value *values,
                                     size_t n, uint64_t timeout_ms, actl_msg **out);

/* Frees an answer of actl_engine_ask; NULL is ignored. Any thread, before the engine is freed. */
ACTL_API void actl_msg_free(actl_engine *engine, actl_msg *msg);

/* Makes a vat beside those that the engine began with: it has a number of its own for actl_spawn_on
 * and actl_engine_spawn, and gets no actors of ACTL_VAT_ANY. An empty one costs less than 4 kB.
 * Any thread. ACTL_NO_MEMORY, ACTL_LIMIT (65,000 at a time), ACTL_SHUTDOWN. */
ACTL_API actl_status actl_vat_open(actl_engine *engine, uint32_t *out);

/* Ends a vat that was made with actl_vat_open: its actors stop, children before parents, with the
 * reason ACTL_SHUTDOWN, no actor can be spawned there any more, and its memory is given back. What is
 * sent to its actors from then on becomes dead letters, asks fail. Returns at once. ACTL_NO_VAT: no
 * vat of that number, or one that the engine began with. Any thread. */
ACTL_API actl_status actl_vat_close(actl_engine *engine, uint32_t vat);

/* Makes `behavior` known under its name, for Lua's actor.native. Any thread, before the first run.
 * It must outlive the engine. ACTL_INVALID: no name, no `receive`, or the name is taken;
 * ACTL_NO_MEMORY. */
ACTL_API actl_status actl_engine_register(actl_engine *engine, const actl_behavior *behavior);

/* The behavior that was registered under that name; NULL: none. Any thread. */
ACTL_API const actl_behavior *actl_engine_behavior(actl_engine *engine, const char *name);

/* Writes a log entry of kind ACTL_LOG_NOTE: calls the log callback, on this thread. Any thread. */
ACTL_API void actl_engine_log(actl_engine *engine, actl_log_level level, const char *text);

/* How many worker threads it has, and how many vats it began with. Any thread. */
ACTL_API uint32_t actl_engine_workers(const actl_engine *engine);
ACTL_API uint32_t actl_engine_vats(const actl_engine *engine);

/* ---- Statistics --------------------------------------------------------------------------------- */

/* The reasons a message becomes a dead letter, in the order of actl_stats.dead_letters. */
#define ACTL_LETTERS(X)                                                                            \
  X(NO_ACTOR)                                                                                      \
  X(STOPPED) X(FULL) X(EXPIRED) X(UNHANDLED) X(FAILED) X(NO_MEMORY) X(SHUTDOWN) X(ENCODING)

typedef enum actl_letter {
#define ACTL_LETTER_INDEX(reason) ACTL_LETTER_##reason,
  ACTL_LETTERS(ACTL_LETTER_INDEX)
#undef ACTL_LETTER_INDEX
      ACTL_LETTER_REASONS
} actl_letter;

/* Totals since the engine was made. While it runs, what other vats did since the end of their last
 * turn is not in it; after a run it is exact. `peak_alive` is the sum of the vats' own peaks. */
typedef struct actl_stats {
  uint64_t spawned, stopped, alive, peak_alive; /* actors */
  uint64_t failed;                              /* actors that ended by an error */
  uint64_t messages, far_messages;              /* handled; of these, from another vat or a host */
  uint64_t dead_letters[ACTL_LETTER_REASONS];   /* by reason */
  uint64_t late_replies;                        /* answers that came after their ask had ended */
  uint64_t timeouts;                            /* asks that were not answered in time */
  uint64_t deadlocks;                           /* asks failed because nothing could answer them */
  uint64_t timers;                              /* pending: set, and not fired or cancelled yet */
  uint64_t fired;                               /* timer messages handled */
  uint64_t steals, parks, turns;                /* vats taken from another worker; sleeps; turns */
  uint64_t wakes;                               /* workers woken from their sleep */
} actl_stats;

/* The totals, from any thread; and from inside a handler, where what this vat did is exact. */
ACTL_API void actl_engine_stats(actl_engine *engine, actl_stats *out);
ACTL_API void actl_ctx_stats(actl_ctx *ctx, actl_stats *out);

#ifdef __cplusplus
}
#endif
#endif
