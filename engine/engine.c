/*
 * engine.c - builds an engine out of the rooms; running.c runs it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "actor/send.h"
#include "actor/vats.h"
#include "base/clock.h"
#include "running.h"

enum {
  MAX_WORKERS = 256,
  MAX_VATS = 60000,
  SEEDED_VATS = 4,
  READS = 64, /* of one time of a virtual clock, by handlers: then it goes on by READS_NS */
  READS_NS = 64000
};

struct registered { /* a behavior known by name */
  struct registered *next;
  const actl_behavior *behavior;
};

/* ---- Making ---- */

static actl_status make_vats(struct actl_engine *engine, uint32_t n) {
  engine->vats = actl__memory_new_zeroed(&engine->mem, n * sizeof(struct vat *));
  if (engine->vats == NULL) return ACTL_NO_MEMORY;
  for (; engine->n_vats < n; engine->n_vats++) {
    actl_status status = actl__vats_make(engine, &engine->vats[engine->n_vats]);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static void free_vats(struct actl_engine *engine, uint32_t n) {
  for (struct vat *vat = actl__vats_next(engine, NULL), *next; vat != NULL; vat = next) {
    next = actl__vats_next(engine, vat);
    actl__vat_free(vat);
  }
  for (uint32_t i = 0; i < PID_VATS / VAT_NUMBERS_CHUNK; i++)
    actl__memory_free(&engine->mem, atomic_load_explicit(&engine->numbers[i], memory_order_relaxed),
                      VAT_NUMBERS_CHUNK * sizeof(struct number));
  actl__memory_free(&engine->mem, engine->vats, n * sizeof(struct vat *));
}

static bool is_valid(const actl_config *config) {
  return config->workers <= MAX_WORKERS && config->vats <= MAX_VATS;
}

static struct actl_engine *new_engine(const actl_config *config) {
  struct memory mem;
  actl__memory_init(&mem, config->alloc, config->alloc_ud);
  struct actl_engine *engine = actl__memory_new_aligned(&mem, sizeof *engine);
  if (engine == NULL) return NULL;
  memset(engine, 0, sizeof *engine);
  engine->mem = mem;
  engine->log = config->log;
  engine->log_ud = config->log_ud;
  actl__clock_init(&engine->clock, config->is_seeded);
  actl__choices_init(&engine->choices, config);
  engine->seed = config->seed;
  engine->max_steps = config->is_seeded ? config->max_steps : 0;
  engine->trace = config->trace;
  engine->trace_ud = config->trace_ud;
  bool scatters = config->is_seeded && config->scatters;
  atomic_init(&engine->state, (uint8_t)((config->trace != NULL ? ENGINE_TRACED : 0) |
                                        (scatters ? ENGINE_SCATTERS : 0)));
  engine->ask_timeout_ms =
      config->ask_timeout_ms != 0 ? config->ask_timeout_ms : ACTL_ASK_TIMEOUT_MS;
  return engine;
}

static void free_engine(struct actl_engine *engine) {
  struct memory mem = engine->mem;
  actl__memory_free_aligned(&mem, engine, sizeof *engine);
}

actl_status actl_engine_new(actl_engine **out, const actl_config *config) {
  static const actl_config defaults;
  if (config == NULL) config = &defaults;
  if (!is_valid(config)) return ACTL_INVALID;

  uint32_t workers = config->workers != 0 ? config->workers : actl__thread_processors();
  if (workers > MAX_WORKERS || config->is_seeded) workers = config->is_seeded ? 1 : MAX_WORKERS;
  uint32_t vats = config->vats != 0 ? config->vats : workers;
  if (config->vats == 0 && config->is_seeded) vats = SEEDED_VATS;
  struct actl_engine *engine = new_engine(config);
  if (engine == NULL) return ACTL_NO_MEMORY;

  actl_status status = actl__lock_init(&engine->lock);
  if (status != ACTL_OK) goto fail_lock;
  status = actl__slabs_init(&engine->slabs, &engine->mem);
  if (status != ACTL_OK) goto fail_slabs;
  status = actl__depot_init(&engine->depot, &engine->slabs);
  if (status != ACTL_OK) goto fail_depot;
  actl__outside_init(engine);
  status = actl__names_init(&engine->names, &engine->mem);
  if (status != ACTL_OK) goto fail_names;
  status = actl__running_init(engine, workers);
  if (status != ACTL_OK) goto fail_running;
  status = make_vats(engine, vats);
  if (status != ACTL_OK) goto fail_vats;
  *out = engine;
  return ACTL_OK;

fail_vats:
  free_vats(engine, vats);
  actl__running_fini(engine);
fail_running:
  actl__names_fini(&engine->names);
fail_names:
  actl__depot_fini(&engine->depot);
fail_depot:
  actl__slabs_fini(&engine->slabs);
fail_slabs:
  actl__lock_fini(&engine->lock);
fail_lock:
  free_engine(engine);
  return status;
}

void actl_engine_free(actl_engine *engine) {
  if (engine == NULL) return;
  actl__running_end(engine);
  free_vats(engine, engine->n_vats);
  if (engine->driver != NULL && engine->driver->detach != NULL)
    engine->driver->detach(engine->driver_ud);
  for (struct registered *r = engine->registered, *next; r != NULL; r = next) {
    next = r->next;
    actl__memory_free(&engine->mem, r, sizeof *r);
  }
  actl__running_fini(engine);
  actl__names_fini(&engine->names);
  actl__outside_fini(engine);
  actl__depot_fini(&engine->depot);
  actl__slabs_fini(&engine->slabs);
  actl__lock_fini(&engine->lock);
  free_engine(engine);
}

actl_status actl_engine_drive(actl_engine *engine, const actl_driver *driver, void *ud) {
  if (engine->driver != NULL) return ACTL_INVALID;
  engine->driver = driver;
  engine->driver_ud = ud;
  return ACTL_OK;
}

void *actl_engine_driver(const actl_engine *engine, const actl_driver *driver) {
  return engine->driver == driver ? engine->driver_ud : NULL;
}

uint32_t actl_engine_workers(const actl_engine *engine) { return engine->sched.n_workers; }
uint32_t actl_engine_vats(const actl_engine *engine) { return engine->n_vats; }

/* ---- Behaviors and names ---- */

static const actl_behavior *find_behavior(const struct actl_engine *engine, const char *name) {
  for (const struct registered *r = engine->registered; r != NULL; r = r->next)
    if (strcmp(r->behavior->name, name) == 0) return r->behavior;
  return NULL;
}

actl_status actl_engine_register(actl_engine *engine, const actl_behavior *behavior) {
  if (behavior->name == NULL || behavior->receive == NULL) return ACTL_INVALID;
  struct registered *r = actl__memory_new(&engine->mem, sizeof *r);
  if (r == NULL) return ACTL_NO_MEMORY;

  actl__lock_take(&engine->lock);
  bool is_free = find_behavior(engine, behavior->name) == NULL;
  if (is_free) {
    *r = (struct registered){engine->registered, behavior};
    engine->registered = r;
  }
  actl__lock_drop(&engine->lock);
  if (is_free) return ACTL_OK;
  actl__memory_free(&engine->mem, r, sizeof *r);
  return ACTL_INVALID;
}

const actl_behavior *actl_engine_behavior(actl_engine *engine, const char *name) {
  actl__lock_take(&engine->lock);
  const actl_behavior *behavior = find_behavior(engine, name);
  actl__lock_drop(&engine->lock);
  return behavior;
}

actl_status actl_name_intern(actl_engine *engine, const char *bytes, size_t size, actl_name *out) {
  return actl__names_intern(&engine->names, bytes, size, &out->id);
}

const char *actl_name_bytes(actl_engine *engine, actl_name name, size_t *size) {
  return actl__names_bytes(&engine->names, name.id, size);
}

/* ---- Log and statistics ---- */

void actl_engine_log(actl_engine *engine, actl_log_level level, const char *text) {
  actl__log(engine, level, ACTL_LOG_NOTE, "%s", text);
}

actl_status actl_fail(actl_ctx *ctx, const char *text) {
  struct vat *vat = actl__vat(ctx);
  size_t size = strlen(text) + 1;
  char *copy = actl__arena_new(&vat->arena, size);
  if (copy == NULL) return ACTL_FAILED;

  memcpy(copy, text, size);
  actl__arena_free(&vat->arena, (void *)(uintptr_t)vat->fail_text, vat->fail_size);
  vat->fail_text = copy;
  vat->fail_size = size;
  return ACTL_FAILED;
}

static void add_stats(struct vat *vat, actl_stats *out, bool is_own) {
  uint64_t *to = (uint64_t *)(void *)out;
  const uint64_t *own = (const uint64_t *)(const void *)&vat->stats;
  for (size_t i = 0; i < VAT_COUNTERS; i++) {
    /* relaxed: each number for itself. */
    to[i] += is_own ? own[i] : atomic_load_explicit(&vat->published[i], memory_order_relaxed);
  }
}

static void collect_stats(struct actl_engine *engine, const struct vat *own, actl_stats *out) {
  memset(out, 0, sizeof *out);
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;)
    add_stats(vat, out, vat == own);
  actl__outside_add_stats(engine, out);

  struct sched_counts counts = actl__sched_counts(&engine->sched);
  out->steals = counts.steals;
  out->parks = counts.parks;
  out->turns = counts.turns;
  out->wakes = counts.wakes;
}

void actl_engine_stats(actl_engine *engine, actl_stats *out) { collect_stats(engine, NULL, out); }

void actl_ctx_stats(actl_ctx *ctx, actl_stats *out) {
  const struct vat *vat = actl__vat(ctx);
  collect_stats(vat->engine, vat, out);
}

/* ---- For drivers ---- */

void *actl_vat_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
  struct vat *vat = actl__vat(ctx);
  /* Lua passes a type tag as the old size of a new block. */
  return actl__arena_resize(&vat->arena, ptr, ptr == NULL ? 0 : old_size, new_size);
}

size_t actl_vat_bytes(actl_ctx *ctx) { return actl__vat(ctx)->arena.bytes; }

/* Who looks at the same time again and again waits for another: it comes to an end, too. */
static const struct clock *look_at_clock(actl_ctx *ctx) {
  struct clock *clock = &actl__vat(ctx)->engine->clock;
  if (!clock->is_virtual) return clock;
  if (clock->now_ns != clock->read_ns) clock->n_reads = 0;
  if (++clock->n_reads >= READS) {
    clock->now_ns += READS_NS;
    clock->n_reads = 0;
  }
  clock->read_ns = clock->now_ns;
  return clock;
}

uint64_t actl_now_ns(actl_ctx *ctx) { return actl__clock_now(look_at_clock(ctx)); }

uint64_t actl_wall_ns(actl_ctx *ctx) { return actl__clock_wall(look_at_clock(ctx)); }
