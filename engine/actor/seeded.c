/*
 * seeded.c - what a vat is free to do, drawn from the seed of its engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/seeded.h"

#include "base/random.h"

enum {
  DELIVERY_NS = 100, /* what the virtual clock takes a delivery for */
  SLICE_NS = 10000,  /* and a slice of one that computes */
  TURNS = 8,         /* 0: whole; i: cut after 2 to the power of i - 1 deliveries */
  CUTS = 8,
  DRAINS = 4,
  HELD_TURNS = 16, /* that a chain waits, at most */
  PAUSES = 4       /* 0: none; else 1 us, 30 us, 1 ms */
};

enum order { /* what comes of the ready actors */
             ORDER_PLAIN,
             ORDER_GIVE_WAY,    /* the current one to the end of the queue */
             ORDER_TOP_LAST,    /* the top of the stack to the end of the queue */
             ORDER_BOTTOM_LAST, /* its bottom */
             ORDER_FIRST_LAST,  /* the first of the queue to its end */
             ORDER_SWAP,        /* the two on top of the stack */
             ORDERS
};

bool actl__seeded_step(struct actl_engine *engine) {
  if (engine->max_steps == 0) return true;
  if (engine->n_steps >= engine->max_steps) return false;
  engine->n_steps++;
  return true;
}

/* Time goes on, though not past the end of a step. */
static void pass(struct actl_engine *engine, uint64_t ns) {
  uint64_t now = engine->clock.now_ns;
  uint64_t left = engine->until_ns > now ? engine->until_ns - now : 0;
  engine->clock.now_ns = now + (ns < left ? ns : left);
}

static void pause(struct actl_engine *engine) {
  static const uint64_t pauses_ns[PAUSES] = {0, 1000, 30000, 1000000};
  pass(engine, pauses_ns[actl__choose(&engine->choices, ACTL_CHOICE_CLOCK, PAUSES)]);
}

void actl__seeded_begin(struct vat *vat) {
  struct actl_engine *engine = vat->engine;
  pause(engine);
  uint32_t turn = actl__choose(&engine->choices, ACTL_CHOICE_TURN, TURNS);
  vat->cut_in = turn == 0 ? INT32_MAX : 1 << (turn - 1);
}

int actl__seeded_drain(struct vat *vat) {
  uint32_t n = actl__choose(&vat->engine->choices, ACTL_CHOICE_CHAIN, DRAINS);
  return n == 0 ? VAT_DRAIN : (int)n;
}

bool actl__seeded_holds_back(struct vat *vat) {
  return vat->n_held < HELD_TURNS && actl__choose(&vat->engine->choices, ACTL_CHOICE_CHAIN, 2) != 0;
}

/* ---- Between deliveries ---- */

/* What it has not used is not counted as used. */
static void give_way(struct vat *vat) {
  if (vat->current == NULL || vat->budget <= 0) return;
  vat->turn_left += vat->budget;
  vat->budget = 0;
}

/* The bottom of the stack is served in one of so many turns that are cut: it must not starve, and yet
 * there are turns of a single delivery. */
static void end_turn(struct vat *vat, bool at_once) {
  give_way(vat);
  vat->turn_left = 0;
  if (at_once || ++vat->n_cut % CUTS != 0) vat->is_gone_through = true;
}

static void put_last(struct vat *vat, struct actor *a) {
  if (a != NULL) actl__ready_last(vat, a);
}

static void swap(struct vat *vat) {
  if (vat->hand == NULL || vat->top == vat->bottom) return;
  struct actor **under = &vat->ring[(vat->top - 1) & (vat->ring_size - 1)];
  struct actor *a = *under;
  *under = vat->hand;
  vat->hand = a;
}

static void reorder(struct vat *vat) {
  switch (actl__choose(&vat->engine->choices, ACTL_CHOICE_ACTOR, ORDERS)) {
  case ORDER_GIVE_WAY: give_way(vat); break;
  case ORDER_TOP_LAST: put_last(vat, actl__ready_pop_top(vat)); break;
  case ORDER_BOTTOM_LAST:
    if (vat->top != vat->bottom) put_last(vat, actl__ready_pop_bottom(vat));
    break;
  case ORDER_FIRST_LAST: put_last(vat, actl__ready_pop_first(vat)); break;
  case ORDER_SWAP: swap(vat); break;
  default: break;
  }
}

void actl__seeded_check(struct vat *vat) {
  struct actl_engine *engine = vat->engine;
  vat->check_in = 1;
  pass(engine, DELIVERY_NS);
  reorder(vat);
  uint64_t now = engine->clock.now_ns;
  bool is_late = now > engine->until_ns || now - vat->turn_ns > VAT_TURN_NS;
  bool is_spent = !actl__seeded_step(engine);
  if (--vat->cut_in <= 0 || is_late || is_spent) end_turn(vat, is_spent);
}

/* ---- For drivers ---- */

bool actl_ctx_is_seeded(actl_ctx *ctx) { return actl__vat(ctx)->is_seeded; }

bool actl_ctx_scatters(actl_ctx *ctx) {
  /* relaxed: that bit is constant. */
  const struct actl_engine *engine = actl__vat(ctx)->engine;
  return (atomic_load_explicit(&engine->state, memory_order_relaxed) & ENGINE_SCATTERS) != 0;
}

uint32_t actl_ctx_choose(actl_ctx *ctx, actl_choice choice, uint32_t n) {
  return actl__choose_if_on(&actl__vat(ctx)->engine->choices, choice, n);
}

uint64_t actl_ctx_draw(actl_ctx *ctx) {
  struct vat *vat = actl__vat(ctx);
  /* A vat that is opened again goes on with other numbers. */
  uint64_t stream = vat->number + 1 + (vat->stats.spawned << PID_VAT_BITS);
  if (vat->drawn == 0) vat->drawn = actl__choices_stream(vat->engine->seed, stream);
  return actl__random_next(&vat->drawn);
}

void *actl_vat_realloc_placed(void *ctx, void *ptr, size_t old_size, size_t new_size) {
  struct vat *vat = actl__vat(ctx);
  if (vat->region == NULL) vat->region = actl__region_new(&vat->engine->mem);
  return vat->region != NULL ? actl__region_resize(vat->region, ptr, old_size, new_size) : NULL;
}

bool actl_turn_tick(actl_ctx *ctx) {
  struct actl_engine *engine = actl__vat(ctx)->engine;
  if (engine->clock.is_virtual) engine->clock.now_ns += SLICE_NS;
  return actl__seeded_step(engine);
}
