/*
 * vat.h - the single-threaded home of many actors, and what all vats of an engine share.
 *
 *   idle      --a chain arrives: INBOX_WAKE-->  scheduled
 *   scheduled --a worker takes it-->            running     at most one worker at a time
 *   running   --verdict AGAIN-->                scheduled
 *   running   --try_idle-->                     idle
 *   running   --it is over: actl__vat_end-->    closed      see vats.c
 *
 * A turn takes in what came from outside, then runs ready actors. Two lists hold them: the queue has
 * what came from outside the turn, and those that used up their budget; the stack has what the
 * running actor woke or spawned, so that a tree of actors unfolds child first. Each turn serves the
 * queue first for at least a quarter of its messages, then one entry from the bottom of the stack,
 * then the stack from its top, then the queue again.
 *
 * Invariants
 *   - an actor is in at most one of the two lists, once, and then its phase is READY.
 *   - the stack's ring has room for every live actor: it grows when one is spawned, so that a send
 *     never fails for want of it.
 *   - everything but the inbox, the published counters and what is said to be constant is the running
 *     worker's alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_VAT_H
#define ACTL_ACTOR_VAT_H

#include <stddef.h>

#include "actl_driver.h"
#include "actor/outside.h"
#include "actor/records.h"
#include "actor/wheel.h"
#include "base/choice.h"
#include "base/clock.h"
#include "base/pipe.h"
#include "base/region.h"
#include "base/slots.h"
#include "msg/inbox.h"
#include "msg/names.h"
#include "msg/pool.h"
#include "sched/sched.h"

enum {
  VAT_BUDGET = ACTL_TUNE(100, 3),      /* messages and sends of one actor in a row */
  VAT_OVERDRAFT = ACTL_TUNE(1000, 20), /* sends after which a handler gives way */
  VAT_TURN = ACTL_TUNE(2000, 50),      /* messages and sends of one turn: 1,000 messages or so */
  VAT_DRAIN = ACTL_TUNE(250, 5),       /* messages taken in at a turn's start: the cache's worth */
  VAT_CHAINS = ACTL_TUNE(16, 2),       /* destinations with a chain under way */
  VAT_CHAIN = ACTL_TUNE(64, 3),        /* messages in a chain */
  VAT_CHECK = 64,                      /* deliveries between looks at the clock, at most */
  VAT_CHECK_FAR = 8,                   /* the same at a turn's start, and with chains under way */
  VAT_CHECK_NS = 50000,                /* between two looks, where deliveries take long */
  VAT_LINGER_NS = 20000, /* a chain goes out after so long; a turn shares its run-next */
  VAT_TURN_NS = 1000000,
  VAT_WAIT_NS = 10000, /* a vat that hears from others goes idle after so long */
  VAT_NUMBERS_CHUNK = 256,
  VAT_NUMBERS = PID_VATS - 1, /* the last one is no vat's */
  VATS_OPENED = 65000         /* at a time, beside those an engine begins with */
};

/* What struct vat's `incoming` has beside the number of far spawns. */
#define VAT_CLOSING ((uint64_t)1 << 63) /* its actors stop, and none is let in */
#define VAT_CLOSED ((uint64_t)1 << 62)  /* it has ended: it may be opened again */

enum doing { /* what the current delivery is */
             DOING_NOTHING,
             DOING_MESSAGE, /* a message or an ask, as the node says */
             DOING_INIT,
             DOING_REPLY, /* a native actor's reply function */
             DOING_STOP,
             DOING_ABANDON
};

struct vat;

/* An entry of one of an actor's two lists (life.h). */
struct owned {
  struct slot slot;
  union {
    struct due due; /* ask: when it ends */
    struct {
      uint64_t key;          /* request: the asker's id of it */
      struct actl_msg *node; /* request: the node that will carry a failure */
    };
  };
  struct actor *owner;
  uint64_t next, prev; /* ids of the same owner's entries, newest first; 0: none */
  uint64_t peer;       /* ask: the target; request: the asker */
};

enum owned_list { OWNED_ASKS, OWNED_REQUESTS, OWNED_LISTS };

struct out { /* a chain under way to one vat */
  struct vat *to;
  struct chain chain;
  uint32_t n;
};

struct vat_number { /* which vat and which of its tables a number stands for */
  struct vat *vat;
  struct records *records;
};

struct number { /* the same as any thread reads it; written once, under the engine's lock */
  _Atomic(struct vat *) vat;
  _Atomic(struct records *) records;
};

struct registered; /* engine.c */
struct io;         /* io/io.h */
struct alarm;      /* the same */

enum mode { MODE_RUN, MODE_START, MODE_STEP }; /* how an engine runs */

/* What makes a spawn something else than it mostly is: one look tells. All but the first are constant. */
enum { ENGINE_SHUT = 1, ENGINE_TRACED = 2, ENGINE_SCATTERS = 4 };

struct actl_engine {
  struct memory mem; /* constant after the start, as all up to `sched` */
  struct slabs slabs;
  struct depot depot;
  struct names names;
  actl_log_fn log;
  void *log_ud;
  const actl_driver *driver;
  void *driver_ud;
  struct vat **vats; /* those an engine begins with, by number */
  uint32_t n_vats;
  struct sched sched;

  /* Has actl__vat_ring(vat) called, by another thread, when the clock shows `due_ms` milliseconds; an
   * earlier alarm of the vat may be forgotten. From the worker that runs the vat; set by running.c. */
  void (*arm)(struct actl_engine *engine, struct vat *vat, uint64_t due_ms);

  /* Gives the vat its alarm, before it has anything that needs one. false: no memory. */
  bool (*get_alarm)(struct actl_engine *engine, struct vat *vat);

  uint64_t ask_timeout_ms; /* constant */
  struct clock clock;
  struct choices choices; /* with a seed: the thread that runs it, as what follows */
  uint64_t seed;          /* constant, as the next two */
  uint64_t max_steps;     /* 0: no limit */
  uint64_t n_steps;
  uint64_t until_ns;   /* when a step ends, or the last one did; UINT64_MAX: never, or it is none.
                        * running.c's, as the next two */
  uint64_t alarm_ms;   /* no alarm of a vat is due before */
  uint32_t n_last;     /* at the end of a step: turns that are left; 0: it has not come to that */
  bool is_spent;       /* a run has used up its steps */
  actl_trace_fn trace; /* constant; NULL: nobody is told */
  void *trace_ud;
  struct io *io;  /* constant after the start; running.c's, as the rest up to `is_running` */
  enum mode mode; /* who runs the engine, before it does */
  _Atomic(bool) is_started; /* actl_engine_start's; any thread */
  struct pipe pipe;         /* constant once it has been made */
  _Atomic(bool) has_pipe;   /* written under `lock` */

  _Atomic(bool) is_running;
  _Atomic(uint8_t) state;     /* a sum of ENGINE_...; any thread */
  _Atomic(uint32_t) rotation; /* where "any" looks first */

  actl__lock lock; /* numbers, vats, behaviors, and places of askers */
  _Atomic(struct number *) numbers[PID_VATS / VAT_NUMBERS_CHUNK]; /* written under `lock` */
  uint32_t n_numbers;                                             /* under `lock` */
  _Atomic(struct vat *) newest;  /* of all vats ever made; written under `lock` */
  struct vat *closed;            /* to be opened again; under `lock` */
  uint32_t n_opened;             /* by actl_vat_open or as isolates, and not ended; under `lock` */
  struct registered *registered; /* under `lock` */
  struct outside outside;
};

/* Those of the statistics that a vat counts; the scheduler counts the rest. */
enum { VAT_COUNTERS = offsetof(actl_stats, steals) / sizeof(uint64_t) };

struct vat {
  struct task task;
  uint64_t home; /* the pid bits of its first number; constant */
  uint64_t door; /* `home`, where what is sent there is sent as fast as can be; traced: no pid has
                  * that; constant */
  struct actor *current;
  struct actl_msg *msg;    /* of the current delivery; NULL: none */
  struct actl_msg *answer; /* what a resumed handler waited for; NULL: none */
  uint64_t age;            /* of nodes sent now, in place in the header; with NODE_TRACED */
  int32_t budget;          /* of the current actor; falls with each message and each send */
  uint8_t doing;           /* enum doing */
  bool is_gone_through;    /* the bottom of the stack has been served in this turn */
  bool is_shut;            /* its actors have been told of the shutdown */
  bool is_seeded;          /* constant, as the next */
  bool is_odd;             /* it has a seed or is traced, so that turns are not as ever */
  int32_t turn_left;       /* messages and sends until the turn is over */
  int32_t queue_until;     /* while `turn_left` is above it the queue is served first */
  struct pool pool;
  struct actor *hand;  /* the top of the stack, apart from the others; NULL: the ring has all */
  struct actor **ring; /* the stack: a ring of its entries */
  uint32_t ring_size, bottom, top;
  struct actor *queue, *queue_last;
  uint64_t n_keeping;  /* timers that keep a run alive */
  uint32_t out_used;   /* bit i: out[i] has a chain */
  uint32_t out_begun;  /* bit i: something was sent there since the last look at the clock */
  int32_t check_in;    /* deliveries until the clock is read */
  int32_t check_every; /* so many between two looks, as long as these take now */

  struct records records;     /* of the first number; all before it, but `home`, begins as zero */
  struct actl_engine *engine; /* constant */
  struct worker *worker;      /* from here to `number` all begins as zero */
  void *machine;
  bool is_machine_broken;
  uint64_t drawn;         /* with a seed: the vat's own generator; 0: not used yet */
  struct region *region;  /* the same: a driver's memory; NULL: not used yet */
  int32_t cut_in;         /* the same: deliveries until the turn ends */
  uint32_t n_cut, n_held; /* the same: turns that were cut; those in a row that held chains back */
  uint64_t heard_ns;      /* when something last came from another thread */
  uint64_t turn_ns, flush_ns; /* when the turn, and the oldest chain, began */
  uint64_t check_ns;          /* when the clock was read last */
  struct arena arena;
  struct slots owned[OWNED_LISTS];
  struct slots timers;
  struct wheel wheel;        /* of the timers and the asks */
  due_ref fresh_asks;        /* those opened since the clock was last read, a ring */
  struct slots far_children; /* family.h */
  struct out out[VAT_CHAINS];
  struct chain returned; /* what could not be delivered, until the end of the turn */
  const char *fail_text; /* given by actl_fail, until the handler has returned; arena's */
  size_t fail_size;

  uint32_t number;         /* constant */
  bool is_isolate;         /* ends when it is empty; constant while it is open */
  struct vat *made_before; /* constant */
  struct vat *next_closed; /* under the engine's lock */
  struct actl_stats stats; /* this vat's part, of all its lives */

  struct inbox inbox;

  alignas(ACTL__CACHE_LINE) _Atomic(uint64_t) alive; /* owner writes; any thread reads */
  _Atomic(uint64_t)
      incoming; /* far spawns on their way, and the vat's state (vats.c); any thread */
  _Atomic(uint64_t) alarm_ms; /* when the engine's alarm wakes this vat; 0: it does not. The owner
                               * sets it, who rings clears it */
  struct alarm *alarm;        /* running.c's; NULL until the vat first has a timer or an ask */
  _Atomic(struct records *) newest; /* table: far spawns take slots there; written under the
                                     * engine's lock, any thread reads */
  _Atomic(uint64_t) published[VAT_COUNTERS]; /* copies of `stats`, for others; owner writes */
};

static_assert(sizeof(struct vat) <= 2560, "an empty vat stays below 4 kB");

static inline bool actl__engine_is_shut(const struct actl_engine *engine) {
  /* seq_cst: see actl__vats_is_wanted. */
  return (atomic_load_explicit(&engine->state, memory_order_seq_cst) & ENGINE_SHUT) != 0;
}

static inline struct vat *actl__vat(actl_ctx *ctx) { return (struct vat *)(void *)ctx; }

/* Nanoseconds of the engine's clock. */
static inline uint64_t actl__vat_now(const struct vat *vat) {
  return ACTL_UNLIKELY(vat->is_seeded) ? vat->engine->clock.now_ns : actl__clock_ns();
}
static inline actl_ctx *actl__ctx(struct vat *vat) { return (actl_ctx *)(void *)vat; }

/* ---- vat.c ---- */

/* Made by vats.c, which gives it its number. */
struct vat *actl__vat_new(struct actl_engine *engine);
void actl__vat_free(struct vat *vat); /* with all its actors; no hook runs */
enum verdict actl__vat_run(struct task *task, struct worker *worker);
void actl__vat_flush(struct vat *vat);

/* Hands a chain to a vat. Any thread. */
void actl__vat_publish_outside(struct vat *to, struct chain chain);

/* Has a vat take a turn though nothing was sent to it. Any thread. */
void actl__vat_wake_outside(struct vat *vat);

/* The alarm that `arm` was asked for: has the vat take a turn. Any thread. */
void actl__vat_ring(struct vat *vat);

/* Puts one far node on its way: its target is in slot 4. */
void actl__vat_post(struct vat *vat, struct actl_msg *m);

/* The same at once, with all that is on its way there. */
void actl__vat_post_now(struct vat *vat, struct actl_msg *m);

/* Takes in one node from outside. */
void actl__vat_deliver(struct vat *vat, struct actl_msg *m);

/* Looks at the clock: chains, sharing, the end of the turn. */
void actl__vat_check(struct vat *vat);

/* Makes room on the stack for so many actors; false: no memory. */
bool actl__vat_stack_grow(struct vat *vat, uint64_t n_actors);
static inline bool actl__vat_stack_reserve(struct vat *vat, uint64_t n_actors) {
  return ACTL_LIKELY(n_actors <= vat->ring_size) || actl__vat_stack_grow(vat, n_actors);
}

/* Frees what a node holds, and sets its timer anew; a message that was begun has been handled. */
void actl__vat_clear_node(struct vat *vat, struct actl_msg *m);

/* ---- number.c ---- */

/* Which vat and table a number stands for; NULL vat: none. Any thread. */
struct vat_number actl__number(struct actl_engine *engine, uint32_t number);

/* Gives a vat that nobody knows yet its first number; under the engine's lock. ACTL_LIMIT,
 * ACTL_NO_MEMORY. */
actl_status actl__number_first(struct vat *vat);

/* The newest table; from there `next` leads to the first, &vat->records. Any thread. */
static inline struct records *actl__vat_newest(const struct vat *vat) {
  /* acquire: pairs with actl__vat_more. */
  return atomic_load_explicit(&vat->newest, memory_order_acquire);
}

/* Another table, with a further number, now that `full`, the newest, has no slot left (or the one
 * that another thread has made meanwhile); NULL: no number is left, or no memory. Any thread. */
struct records *actl__vat_more(struct vat *vat, struct records *full);

struct records *actl__vat_table(const struct vat *vat, uint32_t table);

/* ---- turn.c ---- */

/* Runs native actors until a driven one is current (true) or the turn is over. */
bool actl__turn_natives(struct vat *vat);

/* ---- log.c ---- */

/* "name <vat.slot.generation>", and where it waits. */
void actl__describe_as(const char *name, uint64_t pid, char *out, size_t size);
void actl__describe(struct vat *vat, struct actor *a, char *out, size_t size, char *where,
                    size_t where_size);
void actl__log(struct actl_engine *engine, actl_log_level level, actl_log_kind kind,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- Small things on hot paths ---- */

static inline struct actor *actl__vat_at(const struct vat *vat, actor_ref ref) {
  uint32_t table = ref >> PID_SLOT_BITS;
  const struct records *records =
      ACTL_LIKELY(table == 0) ? &vat->records : actl__vat_table(vat, table);
  return actl__records_at(records, ref & (PID_SLOTS - 1));
}

struct actor *actl__vat_find_further(struct vat *vat, uint64_t pid, bool *is_near);

/* Whether `pid` has this vat's first number. */
static inline bool actl__vat_is_home(const struct vat *vat, uint64_t pid) {
  return ((pid ^ vat->home) & (PID_TOP | PID_HOME_MASK)) == 0;
}

/* Whether what is sent to `pid` needs no more than its actor, if it lives. */
static inline bool actl__vat_is_open(const struct vat *vat, uint64_t pid) {
  return ((pid ^ vat->door) & (PID_TOP | PID_HOME_MASK)) == 0;
}

/* Whether who is not there is far: there is no further table, and no trace. */
static inline bool actl__vat_door_tells(const struct vat *vat) {
  return ACTL_LIKELY(vat->door == vat->home && actl__vat_newest(vat) == &vat->records);
}

/* Whether the host is told what happens. */
static inline bool actl__vat_is_traced(const struct vat *vat) {
  return ACTL_UNLIKELY((vat->age & NODE_TRACED) != 0);
}

/* Whether `pid` is in this vat, and (`out`) its live actor or NULL. */
static inline bool actl__vat_find(struct vat *vat, uint64_t pid, struct actor **out) {
  bool is_near = actl__vat_is_home(vat, pid);
  if (ACTL_LIKELY(is_near)) {
    *out = actl__records_find(&vat->records, pid);
  } else {
    *out = actl__vat_find_further(vat, pid, &is_near);
  }
  return is_near;
}

/* The current actor is not running any more: what it spent is the turn's. */
static inline void actl__vat_leave(struct vat *vat) {
  vat->turn_left -= VAT_BUDGET - vat->budget;
  vat->current = NULL;
}

/* What a C behavior's functions are given as the state. */
static inline void *actl__actor_state(struct actor *a) {
  size_t size = a->behavior->state_size;
  if (size == 0) return NULL;
  return size <= sizeof a->word ? (void *)&a->word : (void *)(uintptr_t)a->word;
}

/* Whether the vat has been told to end. Any thread. */
static inline bool actl__vat_is_closing(const struct vat *vat) {
  /* seq_cst: see actl__vats_is_wanted. */
  return (atomic_load_explicit(&vat->incoming, memory_order_seq_cst) & VAT_CLOSING) != 0;
}

static inline bool actl__vat_has_stack(const struct vat *vat) {
  return vat->hand != NULL || vat->top != vat->bottom;
}

/* From the running actor: to the top of the stack. Two actors that wake each other in turn do not
 * touch the ring: the way from the one to the other is then as short as it can be. */
static inline void actl__ready_top(struct vat *vat, struct actor *a) {
  struct actor *old = vat->hand;
  a->phase = ACTOR_READY;
  vat->hand = a;
  if (old != NULL) vat->ring[vat->top++ & (vat->ring_size - 1)] = old;
}

/* From outside the turn, or out of budget: to the end of the queue. */
static inline void actl__ready_last(struct vat *vat, struct actor *a) {
  a->phase = ACTOR_READY;
  a->ready = NULL;
  if (vat->queue == NULL) {
    vat->queue = a;
  } else {
    vat->queue_last->ready = a;
  }
  vat->queue_last = a;
}

/* Each takes one off: the first of the queue, the top of the stack, its bottom. NULL: none is there. */
static inline struct actor *actl__ready_pop_first(struct vat *vat) {
  struct actor *a = vat->queue;
  if (a != NULL) vat->queue = a->ready;
  return a;
}

static inline struct actor *actl__ready_pop_top(struct vat *vat) {
  struct actor *a = vat->hand;
  if (ACTL_LIKELY(a != NULL)) {
    vat->hand = NULL;
    return a;
  }
  if (vat->top == vat->bottom) return NULL;
  return vat->ring[--vat->top & (vat->ring_size - 1)];
}

static inline struct actor *actl__ready_pop_bottom(struct vat *vat) {
  if (vat->top == vat->bottom) return actl__ready_pop_top(vat);
  return vat->ring[vat->bottom++ & (vat->ring_size - 1)];
}

/* true: the mailbox was empty and the actor idle, so it must be made ready. */
static inline bool actl__mailbox_push(struct actor *a, struct actl_msg *m) {
  actl__node_link(m, NULL);
  struct actl_msg *last = a->last;
  a->last = m;
  a->depth++;
  if (a->head != NULL) {
    actl__node_link(last, m);
    return false;
  }
  a->head = m;
  return a->phase == ACTOR_IDLE;
}

static inline struct actl_msg *actl__mailbox_pop(struct actor *a) {
  struct actl_msg *m = a->head;
  if (m != NULL) {
    a->head = actl__node_next(m);
    a->depth--;
  }
  return m;
}

/* A node that was taken and holds nothing. */
static inline void actl__vat_give_blank(struct vat *vat, struct actl_msg *m) {
  m->header = 0;
  actl__pool_give(&vat->pool, m);
}

static inline void actl__vat_free_node(struct vat *vat, struct actl_msg *m) {
  const uint64_t odd = NODE_CARE | NODE_DELAYED | NODE_TRACED;
  if (ACTL_UNLIKELY((m->header & odd) != 0)) actl__vat_clear_node(vat, m);
  actl__pool_give(&vat->pool, m);
}

#endif
