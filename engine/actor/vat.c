/*
 * vat.c - turns, and what goes in and out of a vat.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/vat.h"

#include <string.h>

#include "actor/family.h"
#include "actor/seeded.h"
#include "actor/timer.h"
#include "actor/trace.h"
#include "actor/vats.h"

/* ---- Making and freeing ---- */

/* What is the owner's alone, as it is at first and when the vat has ended. */
static void begin(struct vat *vat) {
  const size_t again = offsetof(struct vat, worker);
  uint64_t home = vat->home, door = vat->door;
  memset(vat, 0, offsetof(struct vat, records));
  memset((char *)vat + again, 0, offsetof(struct vat, number) - again);
  vat->home = home;
  vat->is_seeded = vat->engine->choices.is_on;
  vat->is_odd = vat->is_seeded || vat->engine->trace != NULL;
  vat->door = door;
  actl__arena_init(&vat->arena, &vat->engine->slabs);
  actl__pool_init(&vat->pool, &vat->engine->depot);
  for (int list = 0; list < OWNED_LISTS; list++)
    actl__slots_init(&vat->owned[list], sizeof(struct owned));
  actl__slots_init(&vat->far_children, sizeof(struct far_child));
  actl__timer_init(vat);
}

struct vat *actl__vat_new(struct actl_engine *engine) {
  struct vat *vat = actl__memory_new_aligned(&engine->mem, sizeof *vat);
  if (vat == NULL) return NULL;

  memset(vat, 0, sizeof *vat);
  vat->engine = engine;
  begin(vat);
  actl__inbox_init(&vat->inbox);
  atomic_init(&vat->newest, &vat->records);
  if (actl__records_init(&vat->records, 0, 0, &vat->arena, &engine->mem) != ACTL_OK) {
    actl__memory_free_aligned(&engine->mem, vat, sizeof *vat);
    return NULL;
  }
  return vat;
}

static void clear_node(struct vat *vat, struct actl_msg *m) {
  if (m != NULL) actl__node_clear(m, &vat->engine->mem);
}

/* Blocks behind messages come from the hook; everything else of an actor goes with the arena. */
static void clear_actor(struct vat *vat, struct actor *a) {
  for (struct actl_msg *m; (m = actl__mailbox_pop(a)) != NULL;) clear_node(vat, m);
  const struct extra *extra = actl__extra_of(a);
  if (extra == NULL) return;
  clear_node(vat, extra->held);
  clear_node(vat, extra->answer);
}

static void clear_records(struct vat *vat, struct records *records) {
  for (uint32_t slot = 0; slot < records->n_touched; slot++) {
    struct actor *a = actl__records_at(records, slot);
    if ((a->pid & PID_TOP) != 0) clear_actor(vat, a);
  }
  actl__records_fini(records);
}

static void clear_chain(struct vat *vat, struct chain chain) {
  for (struct actl_msg *m = chain.first, *next; m != NULL; m = next) {
    next = m == chain.last ? NULL : actl__node_next(m);
    clear_node(vat, m);
  }
}

void actl__vat_free(struct vat *vat) {
  struct actl_engine *engine = vat->engine;
  if (vat->machine != NULL) engine->driver->close(vat->machine);
  actl__timer_fini(vat);
  clear_chain(vat, actl__inbox_close(&vat->inbox));
  clear_records(vat, &vat->records);
  for (struct records *r = actl__vat_newest(vat), *next; r != &vat->records; r = next) {
    next = r->next;
    clear_records(vat, r);
    actl__memory_free(&engine->mem, r, sizeof *r);
  }
  for (uint32_t i = 0; i < VAT_CHAINS; i++)
    if ((vat->out_used >> i & 1) != 0) clear_chain(vat, vat->out[i].chain);
  clear_chain(vat, vat->returned);
  actl__pool_fini(&vat->pool);
  actl__arena_fini(&vat->arena);
  actl__region_free(vat->region, &engine->mem);
  actl__memory_free_aligned(&engine->mem, vat, sizeof *vat);
}

/* ---- The stack ---- */

bool actl__vat_stack_grow(struct vat *vat, uint64_t n_actors) {
  uint32_t size = vat->ring_size == 0 ? 8 : vat->ring_size;
  while (size < n_actors) size *= 2;
  struct actor **ring = actl__arena_new(&vat->arena, size * sizeof *ring);
  if (ring == NULL) return false;

  uint32_t n = vat->top - vat->bottom;
  for (uint32_t i = 0; i < n; i++) ring[i] = vat->ring[(vat->bottom + i) & (vat->ring_size - 1)];
  actl__arena_free(&vat->arena, vat->ring, vat->ring_size * sizeof *ring);
  vat->ring = ring;
  vat->ring_size = size;
  vat->bottom = 0;
  vat->top = n;
  return true;
}

/* ---- Out ---- */

/* What is sent to nobody is buried at the end of the turn: an ask that fails while it is being sent
 * would find its actor half-way into its wait. */
static void take_back(struct vat *vat, struct chain chain) {
  if (vat->returned.first == NULL) {
    vat->returned.first = chain.first;
  } else {
    actl__node_link(vat->returned.last, chain.first);
  }
  vat->returned.last = chain.last;
}

static void bury(struct vat *vat, struct chain chain) {
  for (struct actl_msg *m = chain.first, *next; m != NULL; m = next) {
    next = m == chain.last ? NULL : actl__node_next(m);
    ACTL_INVARIANT(actl__node_kind(m) != NODE_SPAWN); /* no vat ends while one is on its way */
    actl__letter(vat, m, m->slot[NODE_TARGET_SLOT], vat->is_shut ? ACTL_SHUTDOWN : ACTL_NO_ACTOR);
  }
}

/* Hands a chain to a vat, from the worker that runs `vat`. */
static void hand_over(struct vat *vat, struct vat *to, struct chain chain) {
  struct chain back;
  enum inbox_push found = actl__inbox_push(&to->inbox, chain, &back);
  if (found == INBOX_WAKE) actl__sched_wake(vat->worker, &to->task);
  if (found == INBOX_CLOSED) take_back(vat, back);
}

/* What is back in the caller's hands: nothing, unless the vat is closed. */
static struct chain push_outside(struct vat *to, struct chain chain) {
  struct sched *sched = &to->engine->sched;
  struct chain back = {NULL, NULL};
  actl__sched_outside_begin(sched);
  if (actl__inbox_push(&to->inbox, chain, &back) == INBOX_WAKE)
    actl__sched_inject(sched, &to->task);
  actl__sched_outside_end(sched);
  return back;
}

void actl__vat_publish_outside(struct vat *to, struct chain chain) {
  if (actl__inbox_push_awake(&to->inbox, chain)) return;
  struct chain back = push_outside(to, chain);
  if (back.first != NULL) actl__outside_bury(to->engine, back);
}

void actl__vat_wake_outside(struct vat *vat) {
  struct sched *sched = &vat->engine->sched;
  actl__sched_outside_begin(sched);
  if (actl__inbox_wake(&vat->inbox)) actl__sched_inject(sched, &vat->task);
  actl__sched_outside_end(sched);
}

void actl__vat_ring(struct vat *vat) {
  /* seq_cst: see has_rung. */
  atomic_store_explicit(&vat->alarm_ms, 0, memory_order_seq_cst);
  actl__vat_wake_outside(vat);
}

static void publish(struct vat *vat, unsigned i) {
  struct out *out = &vat->out[i];
  vat->out_used &= ~((uint32_t)1 << i);
  out->n = 0;
  hand_over(vat, out->to, out->chain);
}

void actl__vat_flush(struct vat *vat) {
  while (vat->out_used != 0) publish(vat, (unsigned)__builtin_ctz(vat->out_used));
}

/* Nothing is left on its way or to be buried. */
static void flush_all(struct vat *vat) {
  actl__vat_flush(vat);
  while (ACTL_UNLIKELY(vat->returned.first != NULL)) {
    struct chain chain = vat->returned;
    vat->returned = (struct chain){NULL, NULL};
    bury(vat, chain);
    actl__vat_flush(vat);
  }
}

/* At the end of a turn with a seed: true: something goes out later, and the vat must come again. */
static bool flush_some(struct vat *vat) {
  if (!vat->is_seeded) {
    flush_all(vat);
    return false;
  }
  for (unsigned i = 0; i < VAT_CHAINS; i++)
    if ((vat->out_used >> i & 1) != 0 && !actl__seeded_holds_back(vat)) publish(vat, i);
  if (vat->returned.first != NULL) flush_all(vat);
  vat->n_held = vat->out_used != 0 ? vat->n_held + 1 : 0;
  return vat->out_used != 0;
}

static void begin_chain(struct vat *vat, unsigned i, struct vat *to, struct actl_msg *m) {
  /* A vat that sleeps is woken at once. The first message in a while goes out at once, too: its
   * handler may go on for long, and never get to the next look at the clock. */
  bool is_first = (vat->out_begun >> i & 1) == 0;
  bool is_held = vat->is_seeded && actl__seeded_holds_back(vat);
  if ((is_first || actl__inbox_is_idle(&to->inbox)) && !is_held) {
    vat->out_begun |= (uint32_t)1 << i;
    hand_over(vat, to, (struct chain){m, m});
    return;
  }
  if (vat->out_used == 0 && vat->check_in > VAT_CHECK_FAR) vat->check_in = VAT_CHECK_FAR;
  vat->out_used |= (uint32_t)1 << i;
  vat->out[i] = (struct out){.to = to, .chain = {m, m}, .n = 1};
}

void actl__vat_post(struct vat *vat, struct actl_msg *m) {
  uint64_t pid = m->slot[NODE_TARGET_SLOT];
  struct vat *to = actl__number(vat->engine, actl__pid_vat(pid)).vat;
  if (to == NULL || (pid >> PID_NODE_SHIFT & 255) != 0) {
    if (!actl__outside_answer(vat->engine, m)) take_back(vat, (struct chain){m, m});
    return;
  }
  if (to == vat) {
    actl__vat_deliver(vat, m);
    return;
  }

  /* By the pid: what `to` has beside its inbox is its own worker's, and in that one's cache. */
  unsigned i = actl__pid_vat(pid) % VAT_CHAINS;
  struct out *out = &vat->out[i];
  bool is_used = (vat->out_used >> i & 1) != 0;
  if (is_used && out->to != to) {
    publish(vat, i);
    is_used = false;
  }
  if (!is_used) {
    begin_chain(vat, i, to, m);
    return;
  }
  actl__node_link(out->chain.last, m);
  out->chain.last = m;
  if (++out->n >= VAT_CHAIN) publish(vat, i);
}

void actl__vat_post_now(struct vat *vat, struct actl_msg *m) {
  unsigned i = actl__pid_vat(m->slot[NODE_TARGET_SLOT]) % VAT_CHAINS;
  uint32_t begun = vat->out_begun;
  actl__vat_post(vat, m);
  if ((vat->out_used >> i & 1) != 0) publish(vat, i);
  vat->out_begun = begun;
}

/* ---- In ---- */

static void deliver_to(struct vat *vat, struct actor *a, struct actl_msg *m) {
  unsigned kind = actl__node_kind(m);
  if (kind == NODE_STOP_NOW || kind == NODE_KILL) {
    actl__life_tell(vat, a, kind == NODE_KILL ? ACTOR_KILL : ACTOR_STOP_NOW);
    actl__vat_free_node(vat, m);
    return;
  }
  if (kind == NODE_ASK && (a->flags & ACTOR_STOPPING) != 0) {
    actl__letter(vat, m, a->pid, ACTL_STOPPED);
    return;
  }
  if (actl__mailbox_push(a, m)) actl__ready_last(vat, a);
  if (kind == NODE_STOP) actl__life_heed_stop(vat, a);
}

void actl__vat_deliver(struct vat *vat, struct actl_msg *m) {
  switch (actl__node_kind(m)) {
  case NODE_REPLY:
  case NODE_FAILURE: actl__ask_resolve(vat, m); return;
  case NODE_SPAWN: actl__spawn_arrive(vat, m); return;
  case NODE_CHILD_GONE: actl__life_child_gone(vat, m); return;
  default: break;
  }

  struct actor *a = NULL;
  uint64_t to = m->slot[NODE_TARGET_SLOT];
  if (actl__vat_find(vat, to, &a) && a != NULL) {
    deliver_to(vat, a, m);
  } else {
    actl__letter(vat, m, to, vat->is_shut ? ACTL_SHUTDOWN : ACTL_NO_ACTOR);
  }
}

static void drain(struct vat *vat) {
  struct actl_msg *m = actl__inbox_pop(&vat->inbox);
  if (m != NULL) vat->heard_ns = vat->turn_ns;
  int most = vat->is_seeded ? actl__seeded_drain(vat) : VAT_DRAIN;
  for (int n = 1; m != NULL; n++) {
    actl__vat_deliver(vat, m);
    m = n < most ? actl__inbox_pop(&vat->inbox) : NULL;
  }
}

/* Two vats that send to each other across workers had better stay where they are: one that has just
 * heard from another waits a little for more, if its worker has nothing else to do. */
static bool waits_for_more(const struct vat *vat) {
  return vat->turn_ns - vat->heard_ns < VAT_WAIT_NS && actl__sched_may_linger(vat->worker);
}

void actl__vat_clear_node(struct vat *vat, struct actl_msg *m) {
  if ((m->header & NODE_DELAYED) != 0) actl__timer_handled(vat, m);
  if ((m->header & NODE_TRACED) != 0) actl__trace_end(vat, m);
  actl__node_clear(m, &vat->engine->mem);
}

/* ---- Alarms ---- */

/* Has this vat woken when its next timer is due. false: that is now. The alarm may ring before the vat
 * has gone idle: see has_rung. */
static bool set_alarm(struct vat *vat, uint64_t due_ms) {
  if (due_ms <= vat->turn_ns / 1000000) return false;
  /* relaxed: the owner's own, or cleared by who rang: then it is set anew. */
  uint64_t alarm_ms = atomic_load_explicit(&vat->alarm_ms, memory_order_relaxed);
  if (alarm_ms != 0 && alarm_ms <= due_ms) return true;
  atomic_store_explicit(&vat->alarm_ms, due_ms, memory_order_relaxed);
  vat->engine->arm(vat->engine, vat, due_ms);
  return true;
}

/* Who rings clears the alarm and then wakes the vat if it is idle; the worker has made the vat idle and
 * then looks at the alarm. Both are sequentially consistent, so that one of them sees the other. The
 * vat may be another worker's by now. */
static bool has_rung(const struct vat *vat) {
  return atomic_load_explicit(&vat->alarm_ms, memory_order_seq_cst) == 0;
}

/* ---- A turn ---- */

static void set_age(struct vat *vat, uint64_t now) { vat->age = (now / 1000000) << NODE_AGE_SHIFT; }

/* A turn is bounded in time however long a delivery takes: slow ones are timed one by one. */
static void set_pace(struct vat *vat, uint64_t now) {
  uint64_t took_ns = now - vat->check_ns;
  vat->check_ns = now;
  set_age(vat, now);
  if (took_ns > VAT_CHECK_NS) {
    vat->check_every = vat->check_every > 4 ? vat->check_every / 4 : 1;
  } else if (took_ns < VAT_CHECK_NS / 4 && vat->check_every < VAT_CHECK) {
    vat->check_every *= 2;
  }
  vat->check_in = vat->check_every;
  if (vat->out_used != 0 && vat->check_in > VAT_CHECK_FAR) vat->check_in = VAT_CHECK_FAR;
}

static inline void check(struct vat *vat) {
  uint64_t now = actl__vat_now(vat);
  if (vat->out_used != 0) {
    if (now - vat->flush_ns > VAT_LINGER_NS) actl__vat_flush(vat);
  } else {
    vat->flush_ns = now;
  }
  vat->out_begun = 0;
  if (now - vat->turn_ns > VAT_LINGER_NS) actl__sched_share(vat->worker);
  if (now - vat->turn_ns > VAT_TURN_NS) {
    vat->turn_left = 0;
    vat->budget = 0;
  }
  set_pace(vat, now);
}

/* The clock has been read, and with it the age. */
static void trace_age(struct vat *vat) {
  if (vat->engine->trace != NULL) vat->age |= NODE_TRACED;
}

static ACTL_NOINLINE void check_odd(struct vat *vat) {
  if (vat->is_seeded) {
    actl__seeded_check(vat);
    set_age(vat, actl__vat_now(vat));
  } else {
    check(vat);
  }
  trace_age(vat);
}

void actl__vat_check(struct vat *vat) {
  if (ACTL_UNLIKELY(vat->is_odd)) {
    check_odd(vat);
  } else {
    check(vat);
  }
}

static inline void start_turn(struct vat *vat) {
  uint64_t now = actl__vat_now(vat);
  vat->turn_ns = vat->flush_ns = vat->check_ns = now;
  set_age(vat, now);
  if (vat->check_every == 0 || vat->check_every > VAT_CHECK_FAR) vat->check_every = VAT_CHECK_FAR;
  vat->check_in = vat->check_every;
  vat->out_begun = 0;
  vat->turn_left = VAT_TURN;
  vat->queue_until = VAT_TURN - VAT_TURN / 4;
  vat->is_gone_through = false;
}

static ACTL_NOINLINE void start_odd_turn(struct vat *vat) {
  if (vat->is_seeded) actl__seeded_begin(vat);
  start_turn(vat);
  if (vat->is_seeded) vat->check_in = 1;
  trace_age(vat);
}

static inline void begin_turn(struct vat *vat) {
  if (ACTL_UNLIKELY(vat->is_odd)) {
    start_odd_turn(vat);
  } else {
    start_turn(vat);
  }
}

/* Fails the driven actors that no machine can be made for. */
static bool has_machine(struct vat *vat) {
  if (vat->machine == NULL && !vat->is_machine_broken) {
    const struct actl_engine *engine = vat->engine;
    vat->machine = engine->driver->open(engine->driver_ud, actl__ctx(vat));
    vat->is_machine_broken = vat->machine == NULL;
  }
  return vat->machine != NULL;
}

static void fail_without_machine(struct vat *vat) {
  struct actor *a = vat->current;
  actl_delivery none;
  if ((a->flags & ACTOR_STOPPING) == 0) {
    vat->doing = DOING_INIT;
    actl__life_fail(vat, a, ACTL_INIT, "the vat's machine could not be made");
  }
  bool is_delivery = actl__life_step(vat, a, &none);
  ACTL_INVARIANT(!is_delivery);
}

static void run_ready(struct vat *vat) {
  while (actl__turn_natives(vat)) {
    if (has_machine(vat)) {
      vat->engine->driver->drive(vat->machine, actl__ctx(vat));
      return;
    }
    fail_without_machine(vat);
  }
}

/* The counters that others may read are copies. */
static void publish_stats(struct vat *vat) {
  const uint64_t *from = (const uint64_t *)(const void *)&vat->stats;
  /* relaxed: each number for itself. */
  for (size_t i = 0; i < VAT_COUNTERS; i++)
    atomic_store_explicit(&vat->published[i], from[i], memory_order_relaxed);
  atomic_store_explicit(&vat->alive, vat->stats.alive, memory_order_relaxed);
}

/* ---- The end ---- */

static bool renew_tables(struct vat *vat) {
  bool is_used_up = false;
  for (struct records *r = actl__vat_newest(vat); r != NULL; r = r->next)
    if (!actl__records_renew(r)) is_used_up = true;
  return !is_used_up;
}

/* No actor is left, and none is on its way. Whoever pushes a chain from here on gets it back. */
static void end(struct vat *vat) {
  ACTL_INVARIANT(vat->far_children.n_used == 0);
  if (vat->machine != NULL) vat->engine->driver->close(vat->machine);
  bury(vat, actl__inbox_close(&vat->inbox));
  flush_all(vat);
  publish_stats(vat);

  bool is_used_up = !renew_tables(vat);
  actl__pool_fini(&vat->pool);
  actl__arena_fini(&vat->arena);
  actl__region_free(vat->region, &vat->engine->mem);
  begin(vat);
  /* relaxed: the engine's lock publishes it, with all the rest. */
  atomic_store_explicit(&vat->incoming, VAT_CLOSED, memory_order_relaxed);
  actl__vats_put_aside(vat, is_used_up);
}

/* ---- A turn of the scheduler ---- */

enum verdict actl__vat_run(struct task *task, struct worker *worker) {
  struct vat *vat = ACTL_CONTAINER(task, struct vat, task);
  vat->worker = worker;
  begin_turn(vat);
  actl__records_fill_reserve(actl__vat_newest(vat));
  drain(vat);
  actl__timer_turn(vat, vat->turn_ns);
  bool is_shut = actl__life_is_shut(vat);
  run_ready(vat);
  bool has_more = flush_some(vat);
  publish_stats(vat);

  uint64_t due_ms = actl__timer_next(vat);
  if (vat->queue != NULL || actl__vat_has_stack(vat) || has_more) return TASK_AGAIN;
  if (actl__vats_is_over(vat)) {
    end(vat);
    return TASK_IDLE;
  }
  struct farewell farewell = {is_shut, vat->stats.alive == 0, vat->is_isolate};
  bool has_due = due_ms != WHEEL_NEVER;
  if (waits_for_more(vat) || (has_due && !set_alarm(vat, due_ms))) return TASK_AGAIN;
  if (!actl__inbox_try_idle(&vat->inbox)) return TASK_AGAIN;
  /* true: the vat is this worker's again. */
  bool is_awake = (actl__vats_is_wanted(vat, farewell) || (has_due && has_rung(vat))) &&
                  actl__inbox_wake(&vat->inbox);
  return is_awake ? TASK_AGAIN : TASK_IDLE;
}
