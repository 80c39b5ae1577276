/*
 * machine.h - the Lua machine of one vat, and what its parts share.
 *
 * The first word of each lua_State's extra space is the address of its machine, with three facts
 * about the coroutine in the low bits. Lua copies the main state's word into each new coroutine,
 * so the main state's own bits are always zero.
 *
 * Invariants
 *   - `main` runs only what is protected by lua_pcall: the opening, reports of failures, closing.
 *     Between these it stands at its base.
 *   - `store` never runs. Its stack holds the tables that C code reads and writes from anywhere;
 *     values move between it and a running state with lua_xmove, which cannot fail.
 *   - `running` is the lua_State whose code runs now.
 *   - whenever a handler waits there is an idle runner (see actl__lua_wait_prepare), so that the
 *     driver never has to make one where an error could not be reported.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_LUA_MACHINE_H
#define ACTL_LUA_MACHINE_H

#include "actl_driver.h"
#include "actl_lua.h"
#include "codec.h"
#include "names.h"
#include "refs.h"

#include <lua.h>
#include <stdint.h>

enum {
  TAG_STOPPED = 1, /* it stopped for the engine: to Lua it is neither suspended nor running */
  TAG_PINNED = 2,  /* some frame below it cannot yield, so a stop cannot pass */
  TAG_RUNNER = 4,  /* a runner: to scripts the main thread */
  TAG_BITS = 7
};

/* Places on the store's stack. */
enum { STORE_BLOCKS = 1, STORE_HOT_BLOCK, STORE_NAMES, STORE_FINALIZERS, STORE_TOP };

/* Light userdata that are keys: numbers, since where tables have them depends on what they are, and an
 * address of ours is another one in each process. No object is at these addresses. */
enum { KEY_DOWN = 1, KEY_OTHER, KEY_MACHINE };

static inline void *actl__lua_key(uintptr_t number) {
  return (void *)number; /* NOLINT: never dereferenced */
}

enum { RUNNERS_IDLE = 64 }; /* that are kept */

struct behavior;

/* A module of the host's (actl_lua_module). */
struct host_module {
  struct host_module *next;
  lua_CFunction open;
  char name[];
};

/* What actl_lua_open was given, and lives as long as the engine. Written before its first run. */
struct binding {
  actl_engine *engine;
  actl_lua_config config;
  struct host_module *modules;
  uint64_t start_ns; /* with a seed: what the clock showed when the first machine was made */
};

/* A coroutine in which handlers run; a process has one for its life, so it is small. While its handler waits, `stopped` lists the coroutines above
 * it that stopped in turn, from the innermost out. */
struct runner {
  lua_State *L;
  lua_State **stopped;
  uint32_t n_stopped, stopped_capacity;
  uint32_t ref;    /* keeps L from the collector */
  bool in_init;    /* the handler is an init: its failure has another reason */
  bool is_process; /* the handler is the body of a process */
};

struct machine {
  lua_State *main, *store, *running;
  actl_ctx *ctx;
  struct binding *binding;

  struct runner *runner; /* the one whose body or handler runs */
  struct runner *idle[RUNNERS_IDLE];
  uint32_t n_idle;
  uint32_t depth;        /* coroutines between the runner and `running` */
  actl_delivery resumed; /* what the handler that goes on waited for */
  bool sends_names;      /* the last message that was read began with a name */
  bool in_delivery;      /* a delivery is the current one: an error is its actor's failure */
  bool turn_is_over;     /* the engine has said so in this call of drive */
  bool has_hook;  /* debug.sethook was called: hooks end with the delivery; with a seed: always */
  bool has_begun; /* the body of the runner that drive has called did run */
  bool is_abandoning; /* __close methods of a failed or stopped handler run */
  bool is_closing;    /* the vat ends: nothing may be sent any more */
  bool warns;         /* warn("@on"), warn("@off") */
  bool is_seeded;     /* constant */
  bool scatters;      /* constant: a seed places every spawn */
  bool is_scattering; /* carry.c is asked whether a function can be placed elsewhere */
  bool is_spent;      /* with a seed: the run's steps are used up */
  unsigned hash_seed; /* of its strings, with a seed */

  struct refs refs;
  struct names names;
  struct codec codec;

  struct behavior **behaviors; /* by number */
  uint32_t n_behaviors, behaviors_capacity;
  uint32_t n_everywhere; /* of these, the first ones are in each vat: see scatter.c */

  uint32_t n_drops;      /* refs of actors that are gone may be used again */
  uint32_t n_finalizers; /* listed objects, see finalize.c */
  actl_request *dropped; /* requests that the collector found unanswered */
  uint32_t n_dropped, dropped_capacity;
  size_t tidy_bytes; /* idle steps begin above this, see actl__lua_tidy */

  lua_Alloc lua_realloc; /* Lua's memory: from the vat, with a seed at addresses that repeat */
  size_t bytes, limit;   /* with a memory limit only */
  bool uses_reserve;     /* our own code runs: it may go 32 kB beyond the limit */
  size_t n_warning;
  char warning[512]; /* the pieces of one that is being written */
  char plain[128];   /* what a failure's report says when there is no memory for it */
};

static inline uintptr_t *actl__lua_tag(lua_State *L) { return (uintptr_t *)lua_getextraspace(L); }

static inline struct machine *actl__lua_machine(lua_State *L) {
  return (struct machine *)(*actl__lua_tag(L) & ~(uintptr_t)TAG_BITS);
}

/* The machine of a lua_State of which nothing is known; NULL: it is none of ours. */
struct machine *actl__lua_machine_of(lua_State *L);

/* driver->open and driver->close. */
void *actl__lua_machine_open(void *ud, actl_ctx *ctx);
void actl__lua_machine_close(void *machine);

/* Memory that goes with the machine, not seen by Lua's collector; NULL when there is none. */
void *actl__lua_realloc(struct machine *m, void *ptr, size_t old_size, size_t new_size);

/* The same, raising Lua's memory error. */
void *actl__lua_grow(lua_State *L, struct machine *m, void *ptr, size_t old_size, size_t new_size);

/* Raises "not enough memory". */
int actl__lua_no_memory(lua_State *L);

/* The text of an error value: what it is when it is a string, what its __tostring makes of it, or
 * what type it has; with the traceback of `from` unless that is NULL. Takes the value from the top
 * of `from` (or of `main` when NULL). The text stays valid until actl__lua_report_end. Never fails
 * and raises nothing. */
const char *actl__lua_report(struct machine *m, lua_State *from, bool traceback);
void actl__lua_report_end(struct machine *m);

/* Logs "`what`: `the error value on top of from`" as a warning, and pops the value. */
void actl__lua_warn_error(struct machine *m, lua_State *from, const char *what);

/* Runners: made on L, which must be protected; parked in the idle list, at most so many. */
void actl__lua_runner_new(lua_State *L, struct machine *m);
struct runner *actl__lua_runner_take(struct machine *m);
void actl__lua_runner_give(struct machine *m, struct runner *r);
void actl__lua_runners_fini(struct machine *m);

/* Closes what a failed or stopped coroutine holds. Errors in that are logged, but not the one that
 * it failed with, which is at index `known` of main's stack (0: it did not fail). */
void actl__lua_coroutine_reset(struct machine *m, lua_State *co, int known);

/* driver->drive, ->drop and ->describe. */
void actl__lua_drive(void *machine, actl_ctx *ctx);
void actl__lua_drop(void *machine, uint64_t word);
void actl__lua_describe(void *machine, uint64_t word, void *waiter, char *name, size_t name_size,
                        char *where, size_t where_size);

/* finalize.c: calls the listed finalizers and fails the dropped requests; to be called between
 * deliveries, on a running state. */
void actl__lua_finalize(lua_State *L, struct machine *m);

/* finalize.c: lists a request to be failed as unanswered. */
void actl__lua_request_drop(struct machine *m, actl_request request);

/* finalize.c: counts memory from now on as new. */
void actl__lua_tidy_begin(struct machine *m);

/* finalize.c: bounded steps of the collector while the vat has nothing else to do. */
void actl__lua_tidy(lua_State *L, struct machine *m);

/* hash_seed.c: lua_newstate, but the strings' hash gets that seed; and whether it did, else an error. */
lua_State *actl__lua_newstate_seeded(lua_Alloc alloc, void *ud, unsigned seed);
void actl__lua_check_seed(lua_State *L, unsigned seed);

/* seeded.c: before strings of C of more than 40 bytes are given to Lua, with a seed. */
void actl__lua_forget_strings(lua_State *L);

/* Openers, run protected while the machine is made. */
void actl__lua_open_finalize(lua_State *L);  /* setmetatable, debug.setmetatable, collectgarbage */
void actl__lua_open_coroutine(lua_State *L); /* our coroutine library in place of Lua's */
void actl__lua_open_module(lua_State *L);    /* package.loaded.actor */
void actl__lua_open_pid(lua_State *L);       /* the metatable of light userdata */
void actl__lua_open_request(lua_State *L);   /* the metatable of requests */
void actl__lua_open_seeded(lua_State *L);    /* with a seed: what varies between runs is replaced */
void actl__lua_open_shown(lua_State *L);     /* a part of that: what shows values */
void actl__lua_open_preempt(lua_State *L);   /* the same: hooks */
void actl__lua_open_sort(lua_State *L);      /* the same: table.sort */
int actl__lua_settle_functions(lua_State *L); /* the same, again after the host has added its own */
void actl__lua_open_host(lua_State *L); /* what attach.c finds a machine by; the host's modules */

#endif
