/*
 * spawn.c - new actors, near and far.
 *
 * A near actor is made at once. A far one is a message: it takes its pid from the target's reserve and
 * goes out at once, so that it is ahead of whatever anybody sends to the pid. Its node, kept with the
 * child, will tell the parent of its end, so that an end never needs memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/family.h"
#include "actor/send.h"
#include "actor/trace.h"
#include "actor/vats.h"

#include <string.h>

/* What a spawn makes: a C behavior, or a driver's word. */
struct kind {
  const actl_behavior *behavior; /* NULL: driven */
  uint64_t word;
  uint16_t flags;
  bool has_init;
  bool may_scatter; /* with a seed it may be anywhere */
};

static const actl_behavior driven = {.name = "actor"};

/* ---- The record ---- */

static struct records *records_of(struct vat *vat, uint64_t pid) {
  return actl__number(vat->engine, actl__pid_vat(pid)).records;
}

static bool reserve_room(struct vat *vat) {
  return actl__vat_stack_reserve(vat, vat->stats.alive + 1);
}

static void count_birth(struct vat *vat) {
  vat->stats.spawned++;
  if (++vat->stats.alive > vat->stats.peak_alive) vat->stats.peak_alive = vat->stats.alive;
}

static bool is_small(const actl_behavior *behavior) {
  return behavior->state_size <= sizeof(uint64_t);
}

static bool make_state(struct vat *vat, struct actor *a, const actl_behavior *behavior) {
  if (is_small(behavior)) return true;
  void *state = actl__arena_new(&vat->arena, behavior->state_size);
  if (state == NULL) return false;
  memset(state, 0, behavior->state_size);
  a->word = (uint64_t)(uintptr_t)state;
  return true;
}

static bool become(struct vat *vat, struct actor *a, const struct kind *kind) {
  if (kind->behavior == NULL) {
    a->behavior = &driven;
    a->word = kind->word;
    a->flags = kind->flags;
    return true;
  }
  a->behavior = kind->behavior;
  a->flags = kind->behavior->stop == NULL ? ACTOR_HOOKED : 0;
  return make_state(vat, a, kind->behavior);
}

/* ---- Near ---- */

/* From the further tables, the newest first; where all are used up, from one more. */
static ACTL_NOINLINE struct actor *take_further(struct vat *vat, bool *is_used_up) {
  struct records *newest = actl__vat_newest(vat);
  struct actor *a = NULL;
  for (struct records *r = newest; a == NULL && r != &vat->records; r = r->next) {
    *is_used_up = false;
    a = actl__records_new(r, is_used_up);
    if (a == NULL && !*is_used_up) return NULL;
  }
  if (a != NULL) return a;
  struct records *more = actl__vat_more(vat, newest);
  return more != NULL ? actl__records_new(more, is_used_up) : NULL;
}

static actl_status take_record(struct vat *vat, struct actor **out) {
  bool is_used_up = false;
  struct actor *a = actl__records_new(&vat->records, &is_used_up);
  if (ACTL_UNLIKELY(a == NULL && is_used_up)) a = take_further(vat, &is_used_up);
  if (a == NULL) return is_used_up ? ACTL_LIMIT : ACTL_NO_MEMORY;
  *out = a;
  return ACTL_OK;
}

/* The first delivery, written but not linked; `out` NULL: the actor has none. */
static actl_status write_init(struct vat *vat, const struct kind *kind, enum node_kind node_kind,
                              const actl_value *values, size_t n, struct actl_msg **out) {
  *out = NULL;
  if (!kind->has_init) return n == 0 ? ACTL_OK : ACTL_INVALID;

  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;
  actl_status status = actl__node_write(m, actl__node_head(node_kind) | vat->age, values, n,
                                        NODE_SLOTS, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  m->from = actl__vat_self(vat);
  *out = m;
  return ACTL_OK;
}

static actl_status check_spawner(struct vat *vat) {
  if (vat->current == NULL) return ACTL_INVALID;
  if (vat->current->flags & ACTOR_STOPPING || vat->doing == DOING_ABANDON) return ACTL_STOPPED;
  return ACTL_OK;
}

/* Whether a spawn is refused, told of, or put elsewhere: see spawn_oddly. */
static inline bool is_odd(struct vat *vat) {
  /* seq_cst: see actl__vats_is_wanted. */
  return ACTL_UNLIKELY(atomic_load_explicit(&vat->engine->state, memory_order_seq_cst) != 0 ||
                       actl__vat_is_closing(vat));
}

ACTL_INLINE actl_status make_near(struct vat *vat, const struct kind *kind,
                                  enum node_kind node_kind, const actl_value *values, size_t n,
                                  actl_pid *out) {
  if (ACTL_UNLIKELY(!reserve_room(vat))) return ACTL_NO_MEMORY;

  struct actl_msg *init;
  actl_status status = write_init(vat, kind, node_kind, values, n, &init);
  if (ACTL_UNLIKELY(status != ACTL_OK)) return status;

  struct actor *a;
  status = take_record(vat, &a);
  if (ACTL_UNLIKELY(status != ACTL_OK)) goto fail_record;
  if (ACTL_UNLIKELY(!become(vat, a, kind))) goto fail_state;

  actl__family_add_near(vat, vat->current, a);
  count_birth(vat);
  vat->budget--;
  if (init != NULL) {
    actl__mailbox_push(a, init);
    actl__ready_top(vat, a);
  }
  out->bits = a->pid;
  return ACTL_OK;

fail_state:
  actl__records_free(records_of(vat, a->pid), a);
  status = ACTL_NO_MEMORY;
fail_record:
  if (init != NULL) actl__vat_free_node(vat, init);
  return status;
}

static actl_status spawn_on(struct vat *vat, uint32_t number, const struct kind *kind,
                            const actl_value *values, size_t n, actl_pid *out);

/* Where the seed puts an actor; ACTL_VAT_ANY: where it would be. */
static uint32_t draw_vat(struct vat *vat) {
  struct actl_engine *engine = vat->engine;
  uint32_t i = actl__choose_if_on(&engine->choices, ACTL_CHOICE_PLACE, engine->n_vats + 1);
  return i != 0 ? engine->vats[i - 1]->number : ACTL_VAT_ANY;
}

static ACTL_NOINLINE actl_status spawn_oddly(struct vat *vat, const struct kind *kind,
                                             enum node_kind node_kind, const actl_value *values,
                                             size_t n, actl_pid *out) {
  if (actl__life_is_shut(vat)) return ACTL_SHUTDOWN;
  bool scatters = kind->may_scatter && actl_ctx_scatters(actl__ctx(vat));
  uint32_t number = scatters ? draw_vat(vat) : ACTL_VAT_ANY;
  if (number != ACTL_VAT_ANY) {
    struct kind placed = *kind;
    placed.may_scatter = false;
    return spawn_on(vat, number, &placed, values, n, out);
  }
  actl_status status = make_near(vat, kind, node_kind, values, n, out);
  if (status == ACTL_OK && actl__vat_is_traced(vat)) actl__trace_spawn(vat, out->bits);
  return status;
}

static actl_status spawn_near(struct vat *vat, const struct kind *kind, enum node_kind node_kind,
                              const actl_value *values, size_t n, actl_pid *out) {
  actl_status status = check_spawner(vat);
  if (ACTL_UNLIKELY(status != ACTL_OK)) return status;
  if (is_odd(vat)) return spawn_oddly(vat, kind, node_kind, values, n, out);
  return make_near(vat, kind, node_kind, values, n, out);
}

/* ---- Far ---- */

/* The newest table first: the others are used up, unless this is not the vat's first life. 0: no slot
 * is left. */
static uint64_t reserve_slot(struct vat *to) {
  struct records *newest = actl__vat_newest(to);
  for (; newest != NULL; newest = actl__vat_more(to, newest)) {
    for (struct records *r = newest; r != NULL; r = r->next) {
      uint64_t pid = actl__records_reserve(r);
      if (pid != 0) return pid;
    }
  }
  return 0;
}

/* Takes a pid in vat `to` (NULL: in a new one), which waits for the spawn from then on. */
static actl_status reserve_pid(struct actl_engine *engine, struct vat *to, uint64_t *out) {
  actl_status status = ACTL_OK;
  if (to == NULL) {
    status = actl__vats_enter_new(engine, &to);
  } else if (!actl__vats_enter(to)) {
    status = ACTL_NO_VAT;
  }
  if (status != ACTL_OK) return status;

  uint64_t pid = reserve_slot(to);
  if (pid == 0) {
    actl__vats_leave(to);
    return ACTL_LIMIT;
  }
  *out = pid;
  return ACTL_OK;
}

static void unreserve_pid(struct actl_engine *engine, uint64_t pid) {
  struct vat_number number = actl__number(engine, actl__pid_vat(pid));
  actl__records_unreserve(number.records, pid);
  actl__vats_leave(number.vat);
}

static actl_status write_spawn(struct vat *vat, uint64_t behavior, const actl_value *values,
                               size_t n, struct actl_msg **out) {
  struct actl_msg *m = actl__pool_take(&vat->pool);
  if (m == NULL) return ACTL_NO_MEMORY;

  uint64_t head = actl__node_head(NODE_SPAWN) | vat->age | NODE_FAR;
  actl_status status = actl__node_write(m, head, values, n, NODE_WORD_SLOT, &vat->engine->mem);
  if (status != ACTL_OK) {
    actl__vat_give_blank(vat, m);
    return status;
  }
  m->from = vat->current->pid;
  m->slot[NODE_WORD_SLOT] = behavior;
  *out = m;
  return ACTL_OK;
}

static actl_status spawn_far(struct vat *vat, struct vat *to, const struct kind *kind,
                             const actl_value *values, size_t n, actl_pid *out) {
  actl_status status = check_spawner(vat);
  if (status != ACTL_OK) return status;
  if (actl__life_is_shut(vat)) return ACTL_SHUTDOWN;

  struct actl_msg *m;
  status = write_spawn(vat, (uint64_t)(uintptr_t)kind->behavior, values, n, &m);
  if (status != ACTL_OK) return status;

  uint64_t id;
  struct far_child *child = actl__family_add_far(vat, vat->current, &id);
  status = ACTL_NO_MEMORY;
  if (child == NULL) goto fail_child;
  child->stop = actl__pool_take(&vat->pool);
  if (child->stop == NULL) goto fail_stop;
  status = reserve_pid(vat->engine, to, &child->pid);
  if (status != ACTL_OK) goto fail_pid;

  m->slot[NODE_ASK_SLOT] = id;
  m->slot[NODE_TARGET_SLOT] = child->pid;
  out->bits = child->pid;
  vat->budget--;
  if (actl__vat_is_traced(vat)) actl__trace_spawn_far(vat, child->pid, m);
  actl__vat_post_now(vat, m);
  return ACTL_OK;

fail_pid:
  actl__vat_give_blank(vat, child->stop);
fail_stop:
  actl__family_remove_far(vat, child);
fail_child:
  actl__vat_free_node(vat, m);
  return status;
}

/* The vat that `number` says; NULL: a new one. */
static actl_status find_vat(struct actl_engine *engine, uint32_t number, struct vat **out) {
  *out = number == ACTL_VAT_NEW ? NULL : actl__vats_find(engine, number);
  return *out == NULL && number != ACTL_VAT_NEW ? ACTL_NO_VAT : ACTL_OK;
}

static actl_status spawn_on(struct vat *vat, uint32_t number, const struct kind *kind,
                            const actl_value *values, size_t n, actl_pid *out) {
  if (number == ACTL_VAT_ANY) number = draw_vat(vat); /* with a seed "any" is any */
  /* What this vat has now is more than it has published. */
  atomic_store_explicit(&vat->alive, vat->stats.alive, memory_order_relaxed);
  struct vat *to;
  actl_status status = find_vat(vat->engine, number, &to);
  if (status != ACTL_OK) return status;
  if (to == vat)
    return spawn_near(vat, kind, kind->behavior != NULL ? NODE_INIT : NODE_SPAWN, values, n, out);
  return spawn_far(vat, to, kind, values, n, out);
}

/* ---- Arriving ---- */

static void arrive_failed(struct vat *vat, struct actl_msg *m, actl_status status) {
  uint64_t pid = m->slot[NODE_TARGET_SLOT];
  actl__records_lose(records_of(vat, pid), pid);
  actl__node_clear(m, &vat->engine->mem);
  vat->stats.spawned++;
  vat->stats.stopped++;
  if (actl__vat_is_traced(vat)) actl__trace_stillborn(vat, pid, status);
  if (status != ACTL_SHUTDOWN) {
    vat->stats.failed++;
    actl__log(vat->engine, ACTL_LOG_ERROR, ACTL_LOG_FAILURE, "an actor could not be made: %s",
              actl_status_text(status));
  }
  if (m->from != 0) {
    actl__family_prepare_gone(m, m->from, m->slot[NODE_ASK_SLOT]);
    actl__family_tell_gone(vat, m, pid);
  } else {
    actl__pool_give(&vat->pool, m);
  }
}

static struct actor *adopt(struct vat *vat, struct actl_msg *m, const struct kind *kind) {
  struct actl_msg *gone = NULL;
  if (!reserve_room(vat)) return NULL;
  if (m->from != 0 && (gone = actl__pool_take(&vat->pool)) == NULL) return NULL;

  uint64_t pid = m->slot[NODE_TARGET_SLOT];
  struct actor *a = actl__records_adopt(records_of(vat, pid), pid);
  if (a == NULL || !become(vat, a, kind)) goto fail;
  if (gone != NULL) {
    struct extra *extra = actl__extra(vat, a);
    if (extra == NULL) goto fail;
    a->flags |= ACTOR_FAR_PARENT;
    actl__family_prepare_gone(gone, m->from, m->slot[NODE_ASK_SLOT]);
    extra->gone = gone;
  }
  return a;

fail:
  if (a != NULL) {
    if (kind->behavior != NULL && !is_small(kind->behavior))
      actl__arena_free(&vat->arena, (void *)(uintptr_t)a->word, kind->behavior->state_size);
    actl__records_free(records_of(vat, pid), a);
  }
  if (gone != NULL) {
    actl__vat_give_blank(vat, gone);
  }
  return NULL;
}

void actl__spawn_arrive(struct vat *vat, struct actl_msg *m) {
  const actl_behavior *behavior = (const actl_behavior *)(uintptr_t)m->slot[NODE_WORD_SLOT];
  struct kind kind = {.behavior = behavior,
                      .flags = ACTOR_DRIVEN | ACTOR_UNBORN,
                      .has_init = behavior == NULL || behavior->init != NULL};

  actl__vats_arrive(vat);
  if (actl__life_is_shut(vat)) {
    arrive_failed(vat, m, ACTL_SHUTDOWN);
    return;
  }
  struct actor *a = adopt(vat, m, &kind);
  if (a == NULL) {
    arrive_failed(vat, m, ACTL_NO_MEMORY);
    return;
  }
  count_birth(vat);
  if (!kind.has_init) {
    actl__vat_free_node(vat, m);
    return;
  }
  if (behavior != NULL) {
    uint64_t kind_bits = (uint64_t)15 << NODE_KIND_SHIFT;
    m->header = (m->header & ~kind_bits) | actl__node_head(NODE_INIT);
  }
  actl__mailbox_push(a, m);
  actl__ready_last(vat, a);
}

/* ---- The contract ---- */

static struct kind native(const actl_behavior *behavior) {
  return (struct kind){.behavior = behavior, .has_init = behavior->init != NULL};
}

static bool takes(const actl_behavior *behavior, size_t n) {
  return behavior != NULL && behavior->receive != NULL && (n == 0 || behavior->init != NULL);
}

actl_status actl_spawn(actl_ctx *ctx, const actl_behavior *behavior, const actl_value *values,
                       size_t n, actl_pid *out) {
  if (!takes(behavior, n)) return ACTL_INVALID;
  struct kind kind = native(behavior);
  kind.may_scatter = true;
  return spawn_near(actl__vat(ctx), &kind, NODE_INIT, values, n, out);
}

actl_status actl_spawn_on(actl_ctx *ctx, uint32_t vat, const actl_behavior *behavior,
                          const actl_value *values, size_t n, actl_pid *out) {
  if (!takes(behavior, n)) return ACTL_INVALID;
  struct kind kind = native(behavior);
  return spawn_on(actl__vat(ctx), vat, &kind, values, n, out);
}

actl_status actl_driven_spawn(actl_ctx *ctx, uint64_t word, unsigned hooks,
                              const actl_value *values, size_t n, actl_pid *out) {
  uint16_t unhooked = (hooks & ACTL_HAS_STOP) != 0 ? 0 : ACTOR_HOOKED;
  uint16_t process = (hooks & ACTL_IS_PROCESS) != 0 ? ACTOR_PROCESS : 0;
  struct kind kind = {.word = word,
                      .flags = (uint16_t)(ACTOR_DRIVEN | unhooked | process),
                      .has_init = (hooks & ACTL_HAS_INIT) != 0};
  return spawn_near(actl__vat(ctx), &kind, NODE_INIT, values, n, out);
}

actl_status actl_driven_spawn_on(actl_ctx *ctx, uint32_t vat, const actl_value *values, size_t n,
                                 actl_pid *out) {
  if (n == 0) return ACTL_INVALID;
  struct kind kind = {.flags = ACTOR_DRIVEN | ACTOR_UNBORN, .has_init = true};
  return spawn_on(actl__vat(ctx), vat, &kind, values, n, out);
}

static actl_status spawn_outside(actl_engine *engine, uint32_t number, uint64_t behavior,
                                 const actl_value *values, size_t n, actl_pid *out) {
  if (actl__engine_is_shut(engine)) return ACTL_SHUTDOWN;
  struct vat *to;
  actl_status status = find_vat(engine, number, &to);
  if (status != ACTL_OK) return status;
  uint64_t pid;
  status = reserve_pid(engine, to, &pid);
  if (status != ACTL_OK) return status;

  status = actl__outside_send(engine, pid, actl__node_head(NODE_SPAWN), behavior, values, n);
  if (status == ACTL_OK) {
    out->bits = pid;
  } else {
    unreserve_pid(engine, pid);
  }
  return status;
}

actl_status actl_engine_spawn(actl_engine *engine, uint32_t vat, const actl_behavior *behavior,
                              const actl_value *values, size_t n, actl_pid *out) {
  if (!takes(behavior, n)) return ACTL_INVALID;
  return spawn_outside(engine, vat, (uint64_t)(uintptr_t)behavior, values, n, out);
}

actl_status actl_engine_driven_spawn(actl_engine *engine, uint32_t vat, const actl_value *values,
                                     size_t n, actl_pid *out) {
  if (n == 0 || engine->driver == NULL) return ACTL_INVALID;
  return spawn_outside(engine, vat, 0, values, n, out);
}
