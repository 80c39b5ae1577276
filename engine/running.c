/*
 * running.c - the ways to run an engine, and what ends or outlasts a run: quiet, holds, alarms.
 *
 *   at rest --run, start, step--> running --quiet, stop, nothing left--> at rest      free, from at rest
 *
 * `is_running` is taken by who runs the engine; what is written under it is the runner's alone:
 * `mode`, and in quiet the vats.
 *
 * SPDX-License-Identifier: MIT
 */
#include "running.h"

#include "actor/seeded.h"
#include "actor/send.h"
#include "actor/trace.h"
#include "actor/vats.h"
#include "base/clock.h"
#include "io/io.h"

/* ---- What keeps a run, and what ends it ---- */

/* Whether a timer is pending that keeps a run from ending. */
static bool is_kept(struct actl_engine *engine) {
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;)
    if (vat->n_keeping != 0) return true;
  return false;
}

/* Handlers that still wait can never go on. true: there is work again. */
static bool fail_hopeless(struct actl_engine *engine) {
  bool goes_on = false;
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;) {
    if (!actl__ask_fail_hopeless(vat)) continue;
    actl__vat_wake_outside(vat);
    goes_on = true;
  }
  return goes_on;
}

/* ---- With a seed ---- */

/* When the first timer of all is due. */
static uint64_t next_timer(struct actl_engine *engine) {
  uint64_t next_ms = WHEEL_NEVER;
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;)
    if (vat->wheel.next_ms < next_ms) next_ms = vat->wheel.next_ms;
  return next_ms;
}

/* Nothing is ready: the virtual clock jumps to the next timer, unless that is after the end of the step,
 * or after the end of time: some 500 years. */
static bool jump(struct actl_engine *engine) {
  uint64_t next_ms = next_timer(engine);
  if (next_ms > engine->until_ns / 1000000 || next_ms > CLOCK_END_NS / 1000000) return false;
  if (next_ms * 1000000 > engine->clock.now_ns) {
    engine->clock.now_ns = next_ms * 1000000;
    engine->n_last = 0;
    if (engine->trace != NULL) actl__trace_clock(engine);
  }
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;)
    if (vat->wheel.next_ms <= next_ms) actl__vat_ring(vat);
  return true;
}

/* A step of virtual time: it takes all of that, whatever happens in it. One without an end leaves the
 * clock where the last timer was. */
static enum quiet after_seeded_step(struct actl_engine *engine) {
  if (jump(engine)) return QUIET_AGAIN;
  if (engine->until_ns <= CLOCK_END_NS && engine->clock.now_ns < engine->until_ns)
    engine->clock.now_ns = engine->until_ns;
  return next_timer(engine) != WHEEL_NEVER ? QUIET_WAIT : QUIET_OVER;
}

static enum quiet on_seeded_quiet(struct actl_engine *engine) {
  if (engine->mode == MODE_STEP) return after_seeded_step(engine);
  if (is_kept(engine) && jump(engine)) return QUIET_AGAIN;
  return fail_hopeless(engine) ? QUIET_AGAIN : QUIET_OVER;
}

/* Nothing is ready, and the host holds the run: the timers that keep one come as if it did not. What
 * else there is, asks that have a time among it, waits for the host, however fast the clock is. */
static bool pass_while_held(void *ud) {
  struct actl_engine *engine = ud;
  return is_kept(engine) && jump(engine);
}

/* Time goes on with the work, too: wakes those whose time has come meanwhile. How many there are. */
static uint32_t ring_alarms(struct actl_engine *engine) {
  uint64_t now_ms = engine->clock.now_ns / 1000000;
  uint32_t n = 0;
  if (engine->alarm_ms > now_ms) return 0;
  engine->alarm_ms = WHEEL_NEVER;
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;) {
    uint64_t next_ms = vat->wheel.next_ms;
    if (next_ms <= now_ms) {
      actl__vat_ring(vat);
      n++;
    } else if (next_ms < engine->alarm_ms) {
      engine->alarm_ms = next_ms;
    }
  }
  return n;
}

/* At the end of a step those that are ready then have one turn more, so that what is due with the end
 * comes; and a step takes one turn at least, however short it is. */
static bool is_at_end(struct actl_engine *engine, uint32_t n_ready) {
  if (engine->clock.now_ns < engine->until_ns) return false;
  if (engine->n_last == 0) engine->n_last = n_ready + 1;
  return --engine->n_last == 0;
}

/* Which vat takes the next turn. */
static uint32_t choose(void *ud, uint32_t n) {
  struct actl_engine *engine = ud;
  uint32_t n_rung = ring_alarms(engine);
  if (is_at_end(engine, n + n_rung)) return SCHED_ENOUGH;
  if (!actl__seeded_step(engine)) {
    engine->is_spent = true;
    return SCHED_ENOUGH;
  }
  return actl__choose_if_on(&engine->choices, ACTL_CHOICE_VAT, n);
}

/* ---- Quiet ---- */

/* A step has nothing left: unless an alarm is due that the other thread has not rung yet. */
static enum quiet after_step(struct actl_engine *engine) {
  uint64_t now_ms = actl__clock_now(&engine->clock) / 1000000;
  enum quiet rest = QUIET_OVER;
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;) {
    /* By the wheel, and not by the alarm, which may be ringing right now. */
    if (vat->wheel.next_ms <= now_ms) {
      actl__vat_ring(vat);
      rest = QUIET_AGAIN;
    }
    if (rest == QUIET_OVER && vat->wheel.next_ms != WHEEL_NEVER) rest = QUIET_WAIT;
  }
  return rest;
}

/* Nothing runs anywhere. */
static enum quiet on_quiet(void *ud) {
  struct actl_engine *engine = ud;
  if (engine->choices.is_on) return on_seeded_quiet(engine);
  if (engine->mode == MODE_STEP) return after_step(engine);
  if (is_kept(engine)) return QUIET_WAIT;
  return engine->mode == MODE_RUN && fail_hopeless(engine) ? QUIET_AGAIN : QUIET_OVER;
}

/* ---- The other thread ---- */

static void on_ring(void *vat) { actl__vat_ring(vat); }

static bool on_tick(void *ud) {
  struct actl_engine *engine = ud;
  return actl__sched_watch(&engine->sched);
}

static void on_watch(void *ud) {
  const struct actl_engine *engine = ud;
  actl__io_watch(engine->io);
}

static void on_notify(void *ud) {
  const struct actl_engine *engine = ud;
  actl__pipe_fill(&engine->pipe);
}

/* With a virtual clock there is nobody to wait for: see ring_alarms. */
static bool get_no_alarm(struct actl_engine *engine, struct vat *vat) {
  (void)engine;
  vat->alarm = (struct alarm *)(void *)vat;
  return true;
}

static void arm_virtual(struct actl_engine *engine, struct vat *vat, uint64_t due_ms) {
  (void)vat;
  if (due_ms < engine->alarm_ms) engine->alarm_ms = due_ms;
}

static bool get_alarm(struct actl_engine *engine, struct vat *vat) {
  vat->alarm = actl__io_alarm(engine->io, vat);
  return vat->alarm != NULL;
}

/* Where no thread is to be had for an alarm, the vat does not sleep: it takes turns, each of which
 * tries again, until its time has come. */
static void arm(struct actl_engine *engine, struct vat *vat, uint64_t due_ms) {
  if (!actl__io_arm(engine->io, vat->alarm, due_ms)) actl__vat_ring(vat);
}

/* acquire: pairs with actl_engine_fd, so that the pipe is seen. */
static bool has_pipe(struct actl_engine *engine) {
  return atomic_load_explicit(&engine->has_pipe, memory_order_acquire);
}

/* ---- Making and freeing ---- */

actl_status actl__running_init(struct actl_engine *engine, uint32_t workers) {
  bool is_seeded = engine->choices.is_on;
  const struct io_user io_user = {.ring = on_ring, .watch = on_tick, .ud = engine};
  const struct sched_user sched_user = {.run = actl__vat_run,
                                        .quiet = on_quiet,
                                        .watch = is_seeded ? NULL : on_watch,
                                        .notify = on_notify,
                                        .choose = is_seeded ? choose : NULL,
                                        .pass = is_seeded ? pass_while_held : NULL,
                                        .ud = engine};

  engine->get_alarm = is_seeded ? get_no_alarm : get_alarm;
  engine->alarm_ms = WHEEL_NEVER;
  engine->until_ns = UINT64_MAX;
  engine->arm = is_seeded ? arm_virtual : arm;
  engine->io = actl__io_new(&engine->mem, &io_user);
  if (engine->io == NULL) return ACTL_NO_MEMORY;
  actl_status status = actl__sched_init(&engine->sched, &engine->mem, workers, &sched_user);
  if (status != ACTL_OK) actl__io_free(engine->io);
  return status;
}

void actl__running_end(struct actl_engine *engine) {
  (void)actl_engine_stop(engine);
  ACTL_INVARIANT(!atomic_load_explicit(&engine->is_running, memory_order_acquire));
  actl__io_free(engine->io);
  engine->io = NULL;
}

void actl__running_fini(struct actl_engine *engine) {
  actl__io_free(engine->io);
  actl__sched_fini(&engine->sched);
  if (has_pipe(engine)) actl__pipe_close(&engine->pipe);
}

/* ---- Running ---- */

/* false: the engine is running. */
static bool begin(struct actl_engine *engine, enum mode mode) {
  /* acquire: pairs with `end`, so that runs of different threads follow each other. */
  if (atomic_exchange_explicit(&engine->is_running, true, memory_order_acquire)) return false;
  engine->mode = mode;
  engine->n_steps = 0;
  engine->is_spent = false;
  engine->n_last = 0;
  if (mode != MODE_STEP) engine->until_ns = UINT64_MAX;
  return true;
}

static void end(struct actl_engine *engine) {
  /* release: see begin. */
  atomic_store_explicit(&engine->is_running, false, memory_order_release);
}

actl_status actl_engine_run(actl_engine *engine) {
  if (!begin(engine, MODE_RUN)) return ACTL_BUSY;
  actl_status status = actl__sched_run(&engine->sched);
  if (status == ACTL_OK && engine->is_spent) status = ACTL_LIMIT;
  end(engine);
  return status;
}

actl_status actl_engine_start(actl_engine *engine) {
  if (engine->choices.is_on) return ACTL_INVALID;
  if (!begin(engine, MODE_START)) return ACTL_BUSY;
  actl_status status = actl__sched_start(&engine->sched);
  if (status == ACTL_OK) {
    /* release: pairs with stop, which may come from another thread. */
    atomic_store_explicit(&engine->is_started, true, memory_order_release);
  } else {
    end(engine);
  }
  return status;
}

actl_status actl_engine_stop(actl_engine *engine) {
  /* acquire: see start. Who clears it is the one who stops. */
  if (!atomic_exchange_explicit(&engine->is_started, false, memory_order_acquire))
    return ACTL_INVALID;
  actl__sched_stop(&engine->sched);
  end(engine);
  return ACTL_OK;
}

/* When the time is over; UINT64_MAX: never. */
static uint64_t deadline(uint64_t now, uint64_t time, uint64_t unit_ns) {
  return time < (UINT64_MAX - now) / unit_ns ? now + time * unit_ns : UINT64_MAX;
}

actl_status actl_engine_wait(actl_engine *engine, uint64_t timeout_ms) {
  return actl__sched_wait(&engine->sched, deadline(actl__clock_ns(), timeout_ms, 1000000));
}

actl_status actl_engine_step(actl_engine *engine, uint64_t for_us, actl_rest *out) {
  if (!begin(engine, MODE_STEP)) return ACTL_BUSY;
  /* Before the step looks: what comes after that fills it again. */
  if (has_pipe(engine)) actl__pipe_drain(&engine->pipe);
  bool is_virtual = engine->clock.is_virtual;
  uint64_t from_ns = actl__clock_now(&engine->clock);
  /* What handlers took beyond the end of the last step is taken from this one. */
  if (is_virtual && engine->until_ns < from_ns) from_ns = engine->until_ns;
  engine->until_ns = deadline(from_ns, for_us, 1000);
  enum quiet rest = actl__sched_step(&engine->sched, is_virtual ? UINT64_MAX : engine->until_ns);
  end(engine);
  if (out != NULL)
    *out = rest == QUIET_AGAIN  ? ACTL_REST_MORE
           : rest == QUIET_WAIT ? ACTL_REST_TIMER
                                : ACTL_REST_QUIET;
  return ACTL_OK;
}

actl_status actl_engine_fd(actl_engine *engine, int *out) {
  actl__lock_take(&engine->lock);
  bool is_first = !has_pipe(engine);
  actl_status status = is_first ? actl__pipe_open(&engine->pipe) : ACTL_OK;
  /* release: see has_pipe. */
  atomic_store_explicit(&engine->has_pipe, status == ACTL_OK, memory_order_release);
  actl__lock_drop(&engine->lock);

  if (status != ACTL_OK) return status;
  if (is_first) actl__sched_notify(&engine->sched);
  *out = engine->pipe.read_fd;
  return ACTL_OK;
}

actl_status actl_engine_on_signal(actl_engine *engine, int number, void (*fn)(void *ud, int number),
                                  void *ud) {
  if (fn == NULL) return ACTL_INVALID;
  return actl__io_take(engine->io, number, fn, ud);
}

void actl_hold(actl_engine *engine) { actl__sched_hold(&engine->sched); }
void actl_drop(actl_engine *engine) { actl__sched_drop(&engine->sched); }

void actl_engine_shutdown(actl_engine *engine) {
  /* seq_cst: see actl__vats_is_wanted. */
  atomic_fetch_or_explicit(&engine->state, ENGINE_SHUT, memory_order_seq_cst);
  for (struct vat *vat = NULL; (vat = actl__vats_next(engine, vat)) != NULL;)
    actl__vat_wake_outside(vat);
}
