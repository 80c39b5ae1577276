/*
 * timer.c - timers of actors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/timer.h"

#include <stddef.h>

#include "actor/send.h"
#include "actor/trace.h"

enum { TIMERS, ASKS }; /* the tables of a vat's wheel */

enum timer_kind {
  TIMER_PLAIN, /* once; its message is in the entry */
  TIMER_NODE,  /* once; its message is a node */
  TIMER_EVERY, /* again and again; copies of a node */
  TIMER_WAIT,  /* the end of a handler's wait */
  TIMER_HOOK   /* the end of a stop hook that waits */
};

enum { TIMER_WAITS = 1 << 4 /* among the options: its message is in the mailbox */ };

enum { HOOK_MS = ACTL_TUNE(5000, 300) }; /* how long a stop hook may wait in all */

enum { PLAIN_VALUES = 2, TURN_WORK = ACTL_TUNE(500, 3) /* entries looked at in a turn */ };

static const uint64_t THOUSAND_YEARS_MS = UINT64_C(1000) * 366 * 24 * 3600 * 1000;

struct timer {
  struct slot slot;
  struct due due;
  actor_ref owner;
  due_ref next, prev; /* of the owner's timers, newest first; 0: none */
  uint8_t kind;       /* enum timer_kind */
  uint8_t options;    /* ACTL_TIMER_..., TIMER_... */
  uint8_t count;      /* of plain values */
  uint8_t types;      /* theirs, 4 bits each */
  union {
    uint64_t value[PLAIN_VALUES];
    struct {
      uint64_t period_ms;
      struct actl_msg *node;
    };
  };
};

static_assert(sizeof(struct timer) == 56, "a million timers take no more than they must");

static_assert(offsetof(struct timer, due) == sizeof(struct slot), "where the wheel looks for it");
static_assert(offsetof(struct owned, due) == sizeof(struct slot), "where the wheel looks for it");

static struct timer *timer_get(struct vat *vat, uint64_t id) {
  return actl__slots_get(&vat->timers, id);
}

static struct timer *timer_at(struct vat *vat, due_ref ref) {
  return actl__due_entry(&vat->wheel, ref);
}

/* The first millisecond that begins not before `ms` from now. */
static uint64_t due_in(uint64_t now_ns, uint64_t ms) { return (now_ns + 999999) / 1000000 + ms; }

static void add(struct vat *vat, struct timer *timer, uint64_t when_ms) {
  uint64_t now_ms = vat->turn_ns / 1000000;
  actl__wheel_add(&vat->wheel, actl__due_ref(&vat->wheel, TIMERS, timer), when_ms, now_ms);
}

/* ---- The owner's list ---- */

static due_ref newest(const struct actor *a) {
  const struct extra *extra = actl__extra_of(a);
  return extra != NULL ? extra->timers : (due_ref)(a->more >> 1);
}

static void set_newest(struct actor *a, due_ref ref) {
  struct extra *extra = actl__extra_of(a);
  if (extra != NULL) {
    extra->timers = ref;
  } else {
    a->more = ref != 0 ? (uintptr_t)ref << 1 | 1 : 0;
  }
}

static void link_to(struct vat *vat, struct actor *a, struct timer *timer) {
  due_ref ref = actl__due_ref(&vat->wheel, TIMERS, timer);
  timer->owner = actl__actor_ref(a);
  timer->next = newest(a);
  if (timer->next != 0) timer_at(vat, timer->next)->prev = ref;
  set_newest(a, ref);
}

static void unlink_from(struct vat *vat, struct actor *a, const struct timer *timer) {
  if (timer->prev != 0) {
    timer_at(vat, timer->prev)->next = timer->next;
  } else {
    set_newest(a, timer->next);
  }
  if (timer->next != 0) timer_at(vat, timer->next)->prev = timer->prev;
}

/* ---- Making and ending ---- */

static bool keeps_run(const struct timer *timer) {
  return (timer->options & ACTL_TIMER_BACKGROUND) == 0;
}

static bool is_pending(const struct timer *timer) {
  return timer->kind == TIMER_EVERY || (timer->options & TIMER_WAITS) == 0;
}

static ACTL_NOINLINE bool prepare(struct vat *vat) {
  return actl__wheel_prepare(&vat->wheel) &&
         (vat->alarm != NULL || vat->engine->get_alarm(vat->engine, vat));
}

/* What has a time needs the wheel, and must be able to wake its vat, however little memory is left
 * then. The wheel goes with a vat that ends, its alarm stays. */
static inline bool is_prepared(struct vat *vat) {
  return ACTL_LIKELY(vat->wheel.slots != NULL && vat->alarm != NULL) || prepare(vat);
}

/* A new one of actor `a`, pending but not in the wheel; NULL: no memory. */
static struct timer *timer_new(struct vat *vat, struct actor *a, enum timer_kind kind,
                               unsigned options, uint64_t *id) {
  if (!is_prepared(vat)) return NULL;
  struct timer *timer = actl__slots_new(&vat->timers, &vat->arena, id);
  if (timer == NULL) return NULL;
  timer->kind = (uint8_t)kind;
  timer->options = (uint8_t)options;
  link_to(vat, a, timer);
  vat->stats.timers++;
  if (keeps_run(timer)) vat->n_keeping++;
  return timer;
}

/* A timer that will not fire again is not pending any more. */
static void count_out(struct vat *vat, const struct timer *timer) {
  vat->stats.timers--;
  if (keeps_run(timer)) vat->n_keeping--;
}

static bool has_node(const struct timer *timer) {
  bool is_sent = timer->kind == TIMER_NODE && (timer->options & TIMER_WAITS) != 0;
  return (timer->kind == TIMER_NODE || timer->kind == TIMER_EVERY) && !is_sent;
}

static void timer_free(struct vat *vat, struct timer *timer) {
  if (is_pending(timer)) count_out(vat, timer);
  actl__wheel_remove(&vat->wheel, actl__due_ref(&vat->wheel, TIMERS, timer));
  unlink_from(vat, actl__vat_at(vat, timer->owner), timer);
  if (has_node(timer)) actl__vat_free_node(vat, timer->node);
  actl__slots_free(&vat->timers, timer);
}

void actl__timer_end(struct vat *vat, uint64_t id) {
  struct timer *timer = timer_get(vat, id);
  if (timer != NULL) timer_free(vat, timer);
}

void actl__timer_end_all(struct vat *vat, struct actor *a) {
  for (due_ref ref; (ref = newest(a)) != 0;) timer_free(vat, timer_at(vat, ref));
}

void actl__timer_fini(struct vat *vat) {
  for (uint32_t i = 0; i < vat->timers.n_touched; i++) {
    struct slot *slot = actl__slots_at(&vat->timers, i);
    struct timer *timer = (struct timer *)(void *)slot;
    if ((slot->serial & 1) != 0 && has_node(timer))
      actl__node_clear(timer->node, &vat->engine->mem);
  }
}

void actl__timer_init(struct vat *vat) {
  actl__slots_init(&vat->timers, sizeof(struct timer));
  actl__wheel_init(&vat->wheel, &vat->arena, &vat->timers, &vat->owned[OWNED_ASKS]);
}

uint64_t actl__timer_new_wait(struct vat *vat, struct actor *a, uint64_t ms) {
  uint64_t id;
  struct timer *timer = timer_new(vat, a, TIMER_WAIT, 0, &id);
  if (timer == NULL) return 0;
  if (ms > THOUSAND_YEARS_MS) ms = THOUSAND_YEARS_MS;
  add(vat, timer, due_in(actl__vat_now(vat), ms));
  return id;
}

static struct timer *hook_timer(struct vat *vat, const struct actor *a) {
  due_ref ref = newest(a);
  while (ref != 0 && timer_at(vat, ref)->kind != TIMER_HOOK) ref = timer_at(vat, ref)->next;
  return ref != 0 ? timer_at(vat, ref) : NULL;
}

/* Where there is no memory for the timer the hook takes its time. */
void actl__timer_bound_hook(struct vat *vat, struct actor *a, bool keeps) {
  struct timer *timer = hook_timer(vat, a);
  if (timer == NULL) {
    uint64_t id;
    timer = timer_new(vat, a, TIMER_HOOK, 0, &id);
    if (timer == NULL) return;
    add(vat, timer, due_in(actl__vat_now(vat), HOOK_MS));
  }
  if (keeps == keeps_run(timer)) return;
  timer->options ^= ACTL_TIMER_BACKGROUND;
  vat->n_keeping += keeps ? 1 : (uint64_t)-1;
}

/* ---- Setting ---- */

static actl_status write_message(struct vat *vat, const actl_value *values, size_t n,
                                 struct actl_msg **out) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;
  actl_status status =
      actl__node_write(m, actl__node_head(NODE_TIMER), values, n, NODE_ASK_SLOT, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  m->from = vat->current->pid;
  *out = m;
  return ACTL_OK;
}

static bool is_plain(const struct actl_msg *m) {
  return actl__node_count(m) <= PLAIN_VALUES && (m->header & NODE_CARE) == 0;
}

/* Takes the node; of a plain message it is not needed until the timer fires. */
static void keep_message(struct vat *vat, struct timer *timer, struct actl_msg *m) {
  if (timer->kind != TIMER_PLAIN) {
    timer->node = m;
    return;
  }
  timer->count = (uint8_t)actl__node_count(m);
  timer->types = (uint8_t)(m->header >> NODE_TYPES_SHIFT);
  for (unsigned i = 0; i < timer->count; i++) timer->value[i] = m->slot[i];
  actl__vat_give_blank(vat, m);
}

/* `period_ms` 0: once. */
static actl_status set(struct vat *vat, uint64_t ms, uint64_t period_ms, unsigned options,
                       const actl_value *values, size_t n, actl_timer *out) {
  if (vat->current == NULL || ms > THOUSAND_YEARS_MS) return ACTL_INVALID;
  struct actl_msg *m;
  actl_status status = write_message(vat, values, n, &m);
  if (status != ACTL_OK) return status;

  uint64_t id;
  enum timer_kind once = is_plain(m) ? TIMER_PLAIN : TIMER_NODE;
  struct timer *timer =
      timer_new(vat, vat->current, period_ms != 0 ? TIMER_EVERY : once, options, &id);
  if (timer == NULL) {
    actl__vat_free_node(vat, m);
    return ACTL_NO_MEMORY;
  }
  if (period_ms != 0) timer->period_ms = period_ms;
  keep_message(vat, timer, m);
  add(vat, timer, due_in(actl__vat_now(vat), ms));
  if (out != NULL) out->bits = id;
  return ACTL_OK;
}

actl_status actl_after(actl_ctx *ctx, uint64_t ms, const actl_value *values, size_t n,
                       actl_timer *out) {
  return set(actl__vat(ctx), ms, 0, 0, values, n, out);
}

actl_status actl_every(actl_ctx *ctx, uint64_t ms, unsigned options, const actl_value *values,
                       size_t n, actl_timer *out) {
  const unsigned known = ACTL_TIMER_DELAY | ACTL_TIMER_BACKGROUND;
  if (ms == 0 || (options & ~known) != 0) return ACTL_INVALID;
  return set(actl__vat(ctx), ms, ms, options, values, n, out);
}

actl_status actl_cancel(actl_ctx *ctx, actl_timer id) {
  struct vat *vat = actl__vat(ctx);
  struct timer *timer = timer_get(vat, id.bits);
  bool is_own = timer != NULL && vat->current != NULL && timer->kind != TIMER_WAIT &&
                timer->kind != TIMER_HOOK && timer->owner == actl__actor_ref(vat->current);
  if (!is_own) return ACTL_EXPIRED;
  timer_free(vat, timer);
  return ACTL_OK;
}

/* ---- Firing ---- */

/* The node of the message that is to be sent now; NULL: no memory. */
static struct actl_msg *message_of(struct vat *vat, struct timer *timer) {
  if (timer->kind == TIMER_NODE) return timer->node;

  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return NULL;
  if (timer->kind == TIMER_EVERY) {
    if (actl__node_copy(m, timer->node, &vat->engine->mem) == ACTL_OK) return m;
    actl__vat_give_blank(vat, m);
    return NULL;
  }
  m->header =
      actl__node_head(NODE_TIMER) | timer->count | (uint64_t)timer->types << NODE_TYPES_SHIFT;
  m->from = actl__vat_at(vat, timer->owner)->pid;
  for (unsigned i = 0; i < timer->count; i++) m->slot[i] = timer->value[i];
  return m;
}

/* false: no memory. */
static bool send_message(struct vat *vat, struct timer *timer) {
  struct actor *a = actl__vat_at(vat, timer->owner);
  struct actl_msg *m = message_of(vat, timer);
  if (m == NULL) return false;

  m->header |= vat->age;
  m->slot[NODE_ASK_SLOT] = actl__slots_id(&vat->timers, timer);
  if (timer->kind != TIMER_EVERY) count_out(vat, timer);
  timer->options |= TIMER_WAITS;
  if (actl__mailbox_push(a, m)) actl__ready_last(vat, a);
  return true;
}

static void end_wait(struct vat *vat, struct timer *timer) {
  struct actor *a = actl__vat_at(vat, timer->owner);
  bool receives = actl__extra_of(a)->wait == WAIT_MESSAGE;
  timer_free(vat, timer);
  actl__wait_answer(vat, a, receives ? ACTL_TIMEOUT : ACTL_OK, NULL);
}

/* From here on the actor is one that was killed while it stopped. */
static void end_hook(struct vat *vat, struct timer *timer) {
  struct actor *a = actl__vat_at(vat, timer->owner);
  char name[160];
  actl__describe(vat, a, name, sizeof name, NULL, 0);
  actl__log(vat->engine, ACTL_LOG_WARN, ACTL_LOG_NOTE,
            "%s is ended: its stop hook waited for more than %d ms", name, HOOK_MS);
  timer_free(vat, timer);
  actl__life_tell(vat, a, ACTOR_KILL);
}

/* The next time of its phase that is not over. */
static uint64_t next_phase(const struct timer *timer, uint64_t now_ms) {
  uint64_t when_ms = timer->due.when_ms, period = timer->period_ms;
  uint64_t behind = now_ms > when_ms ? (now_ms - when_ms) / period : 0;
  return when_ms + (behind + 1) * period;
}

static void fire(struct vat *vat, struct timer *timer, uint64_t now_ms) {
  if (timer->kind == TIMER_WAIT || timer->kind == TIMER_HOOK) {
    (timer->kind == TIMER_WAIT ? end_wait : end_hook)(vat, timer);
    return;
  }
  /* What missed its time for want of memory tries again; one that repeats has its next time. */
  uint64_t again_ms = timer->kind == TIMER_EVERY ? next_phase(timer, now_ms) : now_ms + 1;
  bool is_delayed = (timer->options & ACTL_TIMER_DELAY) != 0;
  bool has_sent = (timer->options & TIMER_WAITS) != 0 || send_message(vat, timer);
  if (!has_sent || (timer->kind == TIMER_EVERY && !is_delayed)) add(vat, timer, again_ms);
}

/* ---- Which one fires first, with a seed ---- */

enum { PEERS_MAX = 8, LOOKS_MAX = 32 }; /* whatever number there is, the next is found soon */

static actor_ref owner_of(struct vat *vat, due_ref ref) {
  if (actl__due_table(ref) == TIMERS) return timer_at(vat, ref)->owner;
  const struct owned *ask = actl__due_entry(&vat->wheel, ref);
  return actl__actor_ref(ask->owner);
}

static bool has(const actor_ref *owners, uint32_t n, actor_ref owner) {
  for (uint32_t i = 0; i < n; i++)
    if (owners[i] == owner) return true;
  return false;
}

/* Of those due in the same millisecond any may be the next; those of one actor keep their order. */
static void choose_next(struct vat *vat, uint64_t now_ms) {
  struct wheel *wheel = &vat->wheel;
  if (!actl__wheel_look(wheel, now_ms)) return;
  due_ref first = wheel->looked_at, peers[PEERS_MAX], ref = first;
  actor_ref owners[PEERS_MAX];
  uint64_t when_ms = actl__due_at(wheel, first)->when_ms;
  if (when_ms > wheel->now_ms) return; /* it only moves down */
  uint32_t n = 0;
  for (int i = 0; i < LOOKS_MAX && n < PEERS_MAX && (i == 0 || ref != first); i++) {
    actor_ref owner = owner_of(vat, ref);
    if (actl__due_at(wheel, ref)->when_ms == when_ms && !has(owners, n, owner)) {
      owners[n] = owner;
      peers[n++] = ref;
    }
    ref = actl__due_at(wheel, ref)->next;
  }
  uint32_t i = actl__choose_if_on(&vat->engine->choices, ACTL_CHOICE_TIMER, n);
  if (i != 0) actl__wheel_prefer(wheel, peers[i]);
}

static due_ref pop(struct vat *vat, uint64_t now_ms, int *work) {
  if (ACTL_UNLIKELY(vat->is_seeded)) choose_next(vat, now_ms);
  return actl__wheel_pop(&vat->wheel, now_ms, work);
}

void actl__timer_turn(struct vat *vat, uint64_t now_ns) {
  uint64_t now_ms = now_ns / 1000000;
  if (ACTL_LIKELY(vat->wheel.next_ms > now_ms)) return;

  int work = TURN_WORK;
  for (due_ref ref; (ref = pop(vat, now_ms, &work)) != 0;) {
    if (actl__due_table(ref) == TIMERS) {
      fire(vat, timer_at(vat, ref), now_ms);
    } else if (!actl__ask_time_out(vat, actl__due_entry(&vat->wheel, ref))) {
      actl__wheel_add(&vat->wheel, ref, now_ms + 1, now_ms);
    }
  }
}

/* ---- Its message's turn ---- */

/* What came while the last message was waiting is skipped, also where the wheel has not been looked at
 * since. */
static void skip_missed(struct vat *vat, struct timer *timer) {
  uint64_t now_ms = actl__vat_now(vat) / 1000000;
  if (timer->due.when_ms > now_ms) return;
  actl__wheel_remove(&vat->wheel, actl__due_ref(&vat->wheel, TIMERS, timer));
  add(vat, timer, next_phase(timer, now_ms));
}

bool actl__timer_arrives(struct vat *vat, struct actl_msg *m) {
  struct timer *timer = timer_get(vat, m->slot[NODE_ASK_SLOT]);
  if (timer == NULL) {
    actl__vat_free_node(vat, m);
    return false;
  }
  if (ACTL_UNLIKELY((m->header & NODE_TRACED) != 0)) actl__trace_begin(vat, m);
  const uint64_t kind_bits = (uint64_t)15 << NODE_KIND_SHIFT;
  m->header = (m->header & ~kind_bits) | actl__node_head(NODE_MESSAGE);
  vat->stats.fired++;
  if (timer->kind != TIMER_EVERY) {
    timer_free(vat, timer);
    return true;
  }
  timer->options &= (uint8_t)~TIMER_WAITS;
  if ((timer->options & ACTL_TIMER_DELAY) != 0) {
    m->header |= NODE_DELAYED;
  } else {
    skip_missed(vat, timer);
  }
  return true;
}

void actl__timer_handled(struct vat *vat, const struct actl_msg *m) {
  struct timer *timer = timer_get(vat, m->slot[NODE_ASK_SLOT]);
  if (timer != NULL) add(vat, timer, due_in(actl__vat_now(vat), timer->period_ms));
}

/* ---- Asks ---- */

enum { PLACE_FRESH = UINT16_MAX };

bool actl__timer_watch_ask(struct vat *vat, struct owned *ask, uint64_t timeout_ms) {
  if (timeout_ms > WHEEL_MAX / 2) return true;
  if (!is_prepared(vat)) return false;
  ask->due.when_ms = timeout_ms & 0xFFFFFFFFFFFF;
  actl__due_append(&vat->wheel, &vat->fresh_asks, actl__due_ref(&vat->wheel, ASKS, ask),
                   PLACE_FRESH);
  return true;
}

void actl__timer_forget_ask(struct vat *vat, struct owned *ask) {
  due_ref ref = actl__due_ref(&vat->wheel, ASKS, ask);
  if (ask->due.place == PLACE_FRESH) {
    actl__due_unlink(&vat->wheel, &vat->fresh_asks, ref);
  } else {
    actl__wheel_remove(&vat->wheel, ref);
  }
}

uint64_t actl__timer_next(struct vat *vat) {
  if (vat->fresh_asks != 0) {
    uint64_t now_ns = actl__vat_now(vat);
    for (due_ref ref; (ref = vat->fresh_asks) != 0;) {
      uint64_t timeout_ms = actl__due_at(&vat->wheel, ref)->when_ms;
      actl__due_unlink(&vat->wheel, &vat->fresh_asks, ref);
      actl__wheel_add(&vat->wheel, ref, due_in(now_ns, timeout_ms), now_ns / 1000000);
    }
  }
  return vat->wheel.next_ms == WHEEL_NEVER ? WHEEL_NEVER : actl__wheel_next(&vat->wheel);
}
