/*
 * vats.c - all vats of an engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/vats.h"

/* ---- All of them ---- */

/* A vat with a number, in no list yet that others walk. Under the engine's lock. */
static actl_status enlist(struct vat *vat) {
  struct actl_engine *engine = vat->engine;
  vat->made_before = atomic_load_explicit(&engine->newest, memory_order_relaxed);
  actl_status status = actl__number_first(vat);
  /* release: pairs with actl__vats_next. */
  if (status == ACTL_OK) atomic_store_explicit(&engine->newest, vat, memory_order_release);
  return status;
}

static actl_status make(struct actl_engine *engine, bool is_isolate, uint64_t n_incoming,
                        struct vat **out) {
  struct vat *vat = actl__vat_new(engine);
  if (vat == NULL) return ACTL_NO_MEMORY;
  vat->is_isolate = is_isolate;
  atomic_store_explicit(&vat->incoming, n_incoming, memory_order_relaxed);

  actl__lock_take(&engine->lock);
  actl_status status = enlist(vat);
  actl__lock_drop(&engine->lock);
  if (status == ACTL_OK) {
    *out = vat;
  } else {
    actl__vat_free(vat);
  }
  return status;
}

actl_status actl__vats_make(struct actl_engine *engine, struct vat **out) {
  return make(engine, false, 0, out);
}

struct vat *actl__vats_next(struct actl_engine *engine, const struct vat *vat) {
  if (vat != NULL) return vat->made_before;
  /* acquire: pairs with enlist. */
  return atomic_load_explicit(&engine->newest, memory_order_acquire);
}

static uint64_t load_of(const struct vat *v) {
  /* relaxed: a number that may be a little old. */
  return atomic_load_explicit(&v->alive, memory_order_relaxed) +
         atomic_load_explicit(&v->incoming, memory_order_relaxed);
}

/* Of those the engine began with, which are always open; equal ones take turns. */
static struct vat *least_loaded(struct actl_engine *engine) {
  uint32_t start = atomic_fetch_add_explicit(&engine->rotation, 1, memory_order_relaxed);
  struct vat *best = NULL;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < engine->n_vats; i++) {
    struct vat *v = engine->vats[(start + i) % engine->n_vats];
    uint64_t load = load_of(v);
    if (load < least) {
      least = load;
      best = v;
    }
  }
  return best;
}

struct vat *actl__vats_find(struct actl_engine *engine, uint32_t number) {
  if (number == ACTL_VAT_ANY) return least_loaded(engine);
  if (number >= VAT_NUMBERS) return NULL;
  struct vat *vat = actl__number(engine, number).vat;
  return vat != NULL && vat->number == number ? vat : NULL;
}

/* ---- Opening ---- */

/* A place among those that may be open, and the vat that ended last; NULL: one must be made. */
static actl_status take_place(struct actl_engine *engine, struct vat **out) {
  if (actl__engine_is_shut(engine)) return ACTL_SHUTDOWN;

  actl__lock_take(&engine->lock);
  bool is_full = engine->n_opened == VATS_OPENED;
  if (!is_full) {
    struct vat *vat = engine->closed;
    if (vat != NULL) engine->closed = vat->next_closed;
    engine->n_opened++;
    *out = vat;
  }
  actl__lock_drop(&engine->lock);
  return is_full ? ACTL_LIMIT : ACTL_OK;
}

static void drop_place(struct actl_engine *engine) {
  actl__lock_take(&engine->lock);
  engine->n_opened--;
  actl__lock_drop(&engine->lock);
}

static void reopen(struct vat *vat, bool is_isolate, uint64_t n_incoming) {
  vat->is_isolate = is_isolate;
  /* The inbox first: who is let in must find it open. What else comes then is buried in a turn. */
  actl__inbox_open(&vat->inbox);
  /* release: pairs with actl__vats_enter, so that the tables are seen as they begin. */
  atomic_store_explicit(&vat->incoming, n_incoming, memory_order_release);
}

static actl_status open_vat(struct actl_engine *engine, bool is_isolate, uint64_t n_incoming,
                            struct vat **out) {
  struct vat *vat;
  actl_status status = take_place(engine, &vat);
  if (status != ACTL_OK) return status;

  if (vat != NULL) {
    reopen(vat, is_isolate, n_incoming);
  } else {
    status = make(engine, is_isolate, n_incoming, &vat);
    if (status != ACTL_OK) drop_place(engine);
  }
  if (status == ACTL_OK) *out = vat;
  return status;
}

actl_status actl_vat_open(actl_engine *engine, uint32_t *out) {
  struct vat *vat;
  actl_status status = open_vat(engine, false, 0, &vat);
  if (status == ACTL_OK) *out = vat->number;
  return status;
}

/* ---- Entering ---- */

bool actl__vats_enter(struct vat *vat) {
  uint64_t seen = atomic_load_explicit(&vat->incoming, memory_order_relaxed);
  do {
    if (seen & (VAT_CLOSING | VAT_CLOSED)) return false;
    /* acquire: pairs with reopen. seq_cst: a vat that looks whether it is over sees this one, or this
     * one sees that it is. */
  } while (!atomic_compare_exchange_weak_explicit(&vat->incoming, &seen, seen + 1,
                                                  memory_order_seq_cst, memory_order_relaxed));
  return true;
}

actl_status actl__vats_enter_new(struct actl_engine *engine, struct vat **out) {
  return open_vat(engine, true, 1, out);
}

void actl__vats_leave(struct vat *vat) {
  /* seq_cst: see actl__vats_is_wanted. */
  atomic_fetch_sub_explicit(&vat->incoming, 1, memory_order_seq_cst);
  /* It may have waited for just this one. */
  actl__vat_wake_outside(vat);
}

/* ---- Closing ---- */

/* From open to closing; false: it is not open. */
static bool close_vat(struct vat *vat) {
  uint64_t seen = atomic_load_explicit(&vat->incoming, memory_order_relaxed);
  do {
    if (seen & (VAT_CLOSING | VAT_CLOSED)) return false;
    /* seq_cst: see actl__vats_is_wanted. */
  } while (!atomic_compare_exchange_weak_explicit(&vat->incoming, &seen, seen | VAT_CLOSING,
                                                  memory_order_seq_cst, memory_order_relaxed));
  return true;
}

actl_status actl_vat_close(actl_engine *engine, uint32_t number) {
  if (number < engine->n_vats || number >= VAT_NUMBERS) return ACTL_NO_VAT;
  struct vat *vat = actl__vats_find(engine, number);
  if (vat == NULL || !close_vat(vat)) return ACTL_NO_VAT;
  actl__vat_wake_outside(vat);
  return ACTL_OK;
}

bool actl__vats_is_over(struct vat *vat) {
  if (vat->stats.alive != 0) return false;
  uint64_t none = 0;
  /* seq_cst, both: see actl__vats_enter. */
  if (vat->is_isolate)
    atomic_compare_exchange_strong_explicit(&vat->incoming, &none, VAT_CLOSING,
                                            memory_order_seq_cst, memory_order_relaxed);
  return atomic_load_explicit(&vat->incoming, memory_order_seq_cst) == VAT_CLOSING;
}

/* Who shuts down the engine or a vat, or lets go of a vat that it had entered, changes what is looked
 * at here and then wakes the vat if it is idle; the worker has made it idle and then looks. All of it
 * is sequentially consistent, so that one of them sees the other. */
bool actl__vats_is_wanted(const struct vat *vat, struct farewell farewell) {
  uint64_t incoming = atomic_load_explicit(&vat->incoming, memory_order_seq_cst);
  bool is_closing = (incoming & VAT_CLOSING) != 0;
  if (farewell.is_empty && (is_closing || farewell.is_isolate) && (incoming & ~VAT_CLOSING) == 0)
    return true;
  if (farewell.is_shut) return false;
  return is_closing || actl__engine_is_shut(vat->engine);
}

void actl__vats_put_aside(struct vat *vat, bool is_used_up) {
  struct actl_engine *engine = vat->engine;
  actl__lock_take(&engine->lock);
  engine->n_opened--;
  if (!is_used_up) {
    vat->next_closed = engine->closed;
    engine->closed = vat;
  }
  actl__lock_drop(&engine->lock);
}
