/*
 * outside.c - a plain host thread that sends and asks: scenarios/tell-outside.lua, tell-batch.lua,
 * ask.lua with caller=outside.
 *
 * The thread belongs to an actor. Asked, the actor starts it; the thread does its job, tells the
 * actor so and ends; the actor joins it and answers. While the thread runs it holds the engine,
 * which would otherwise be quiet between two of its messages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 200 };

/* What actor and thread share. An actor that is stopped while its thread runs leaves it behind: to
 * wait there would hold up the vat that the thread may have asked something. Whoever is second to
 * take its leave, of the actor and the thread, frees the job. */
struct job {
  /* Written while the thread does not run. */
  actl_engine *engine;
  actl_pid actor;
  actl_status (*work)(struct job *job);
  uint32_t n_targets;
  actl_pid targets[TARGETS_MAX];
  int64_t n, size;

  /* Written by the thread, read when it has been joined. */
  actl_status status;
  int64_t count, sum;
  struct actl_bench_times times;

  atomic_bool is_left; /* by one of the two; the thread then ends as soon as it can */
};

/* ---- The jobs, on the thread ---- */

static bool is_left(const struct job *job) {
  /* relaxed: only a wish. */
  return atomic_load_explicit(&job->is_left, memory_order_relaxed);
}

static actl_status tell(struct job *job, actl_pid to, actl_value value) {
  return is_left(job) ? ACTL_SHUTDOWN : actl_engine_send(job->engine, to, &value, 1);
}

/* `out` is untouched when there is no answer. */
static actl_status ask(struct job *job, int64_t question, int64_t *out) {
  actl_msg *msg = NULL;
  if (is_left(job)) return ACTL_SHUTDOWN;
  actl_status status =
      actl_engine_ask(job->engine, job->targets[0], ACTL_VALUES(actl_int(question)), 0, &msg);
  if (status != ACTL_OK) return status;
  *out = actl_msg_int(msg, 0, 0);
  actl_msg_free(job->engine, msg);
  return ACTL_OK;
}

static actl_status work_tell(struct job *job) {
  actl_status status = ACTL_OK;
  for (int64_t i = 0; i < job->n && status == ACTL_OK; i++)
    status = tell(job, job->targets[i % job->n_targets], actl_int(1));

  for (uint32_t i = 0; i < job->n_targets && status == ACTL_OK; i++)
    status = actl_engine_send(job->engine, job->targets[i],
                              ACTL_VALUES(actl_int(0), actl_who(job->actor)));
  return status;
}

static actl_status work_batch(struct job *job) {
  actl_status status = ACTL_OK;
  for (int64_t batch = 0; batch < job->n && status == ACTL_OK; batch++) {
    for (int64_t i = 0; i < job->size && status == ACTL_OK; i++)
      status = tell(job, job->targets[0], actl_int(1));
    int64_t sum = 0;
    if (status == ACTL_OK) status = ask(job, -1, &sum);
    job->sum += sum;
    job->count += sum == job->size;
  }
  return status;
}

static actl_status work_ask(struct job *job) {
  bool is_timed = job->times.room > 0;
  actl_status status = ACTL_OK;
  for (int64_t i = 1; i <= job->n && status == ACTL_OK; i++) {
    int64_t answer = 0;
    int64_t start_ns = is_timed ? actl_bench_now_ns() : 0;
    status = ask(job, i, &answer);
    if (is_timed) actl_bench_times_add(&job->times, actl_bench_now_ns() - start_ns);
    job->count += answer == i;
  }
  return status;
}

/* true: the other one had left before, so the job is the caller's. */
static bool leave(struct job *job) {
  /* acq_rel: what the first has written, the second sees before it frees it. */
  return atomic_exchange_explicit(&job->is_left, true, memory_order_acq_rel);
}

static void job_free(struct job *job) {
  actl_bench_times_fini(&job->times);
  free(job);
}

static void *run_thread(void *ud) {
  struct job *job = ud;
  actl_engine *engine = job->engine;
  actl_pid actor = job->actor;
  job->status = job->work(job);
  if (leave(job)) {
    job_free(job);
  } else {
    actl_engine_send(engine, actor, ACTL_VALUES(actl_text("done")));
  }
  actl_drop(engine);
  return NULL;
}

/* ---- The actor ---- */

/* Spawned with a job and whom it is done with:
 *
 *   "tell"   n messages to the targets in turn; the answer is the sum of what they have counted
 *   "batch"  n times `size` messages to the target, and an ask for the sum that resets it; the
 *            answer is how often that was right, and the sum of all
 *   "ask"    n asks with 1, 2 ..; the answer is how many were answered right, and the times
 *
 * Asked with n, whether to take times, and `size`. */
struct outside {
  struct job *job;
  pthread_t thread;
  actl_request request;
  uint32_t owed; /* messages still to come: the targets' sums, the thread's word that it is done */
  int64_t told;  /* what the targets have counted */
  bool is_running;
};

static actl_status read_job(actl_ctx *ctx, struct job *job, const actl_msg *args) {
  static const struct {
    const char *name;
    actl_status (*work)(struct job *job);
  } works[] = {{"tell", work_tell}, {"batch", work_batch}, {"ask", work_ask}};
  job->engine = actl_ctx_engine(ctx);
  job->actor = actl_self(ctx);
  job->n_targets = (uint32_t)actl_msg_count(args) - 1;
  for (uint32_t i = 0; i < job->n_targets; i++) job->targets[i] = actl_msg_pid(args, i + 1);

  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    actl_name name;
    actl_status status = actl_name_intern(job->engine, works[i].name, strlen(works[i].name), &name);
    if (status != ACTL_OK) return status;
    if (actl_msg_is(ctx, args, 0, name)) job->work = works[i].work;
  }
  return job->work != NULL ? ACTL_OK : ACTL_INVALID;
}

static actl_status outside_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct outside *outside = state;
  size_t n = actl_msg_count(args);
  if (n < 2 || n - 1 > TARGETS_MAX) return ACTL_INVALID;
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL) return ACTL_NO_MEMORY;

  atomic_init(&job->is_left, false);
  actl_status status = read_job(ctx, job, args);
  if (status != ACTL_OK) {
    free(job);
    return status;
  }
  outside->job = job;
  return ACTL_OK;
}

static actl_status outside_start(actl_ctx *ctx, struct outside *outside, const actl_msg *msg) {
  struct job *job = outside->job;
  job->n = actl_msg_int(msg, 0, 0);
  job->size = actl_msg_int(msg, 2, 0);
  job->count = job->sum = outside->told = 0;
  outside->owed = job->work == work_tell ? job->n_targets + 1 : 1;

  actl_status status = actl_later(ctx, &outside->request);
  if (status == ACTL_OK && actl_msg_value(msg, 1).type == ACTL_TRUE)
    status = actl_bench_times_init(&job->times, job->n);
  if (status != ACTL_OK) return status;

  actl_hold(job->engine);
  outside->is_running = pthread_create(&outside->thread, NULL, run_thread, job) == 0;
  if (outside->is_running) return ACTL_OK;
  actl_drop(job->engine);
  return ACTL_SYSTEM;
}

static actl_status outside_answer(actl_ctx *ctx, struct outside *outside) {
  struct job *job = outside->job;
  if (job->status != ACTL_OK) return actl_request_fail(ctx, outside->request, job->status);
  int64_t count = job->work == work_tell ? outside->told : job->count;
  actl_value values[] = {actl_int(count), actl_bench_times_value(&job->times), actl_int(job->sum)};
  actl_status status = actl_request_reply(ctx, outside->request, values, 3);
  actl_bench_times_fini(&job->times);
  return status;
}

/* The thread is done. */
static void outside_join(struct outside *outside) {
  pthread_join(outside->thread, NULL);
  outside->is_running = false;
  /* relaxed: there is one thread again. */
  atomic_store_explicit(&outside->job->is_left, false, memory_order_relaxed);
}

static actl_status outside_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct outside *outside = state;
  if (outside->owed == 0) return outside_start(ctx, outside, msg);

  if (actl_msg_value(msg, 0).type == ACTL_INTEGER) {
    outside->told += actl_msg_int(msg, 0, 0);
  } else {
    outside_join(outside);
    if (outside->job->status != ACTL_OK) outside->owed = 1;
  }
  return --outside->owed == 0 ? outside_answer(ctx, outside) : ACTL_OK;
}

static void outside_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)ctx;
  (void)reason;
  struct outside *outside = state;
  if (outside->is_running && !leave(outside->job)) {
    pthread_detach(outside->thread); /* it holds the engine until it has ended */
    return;
  }
  if (outside->is_running) pthread_join(outside->thread, NULL);
  job_free(outside->job);
}

const actl_behavior actl_bench_outside = {
    .name = "bench.outside",
    .state_size = sizeof(struct outside),
    .init = outside_init,
    .receive = outside_receive,
    .stop = outside_stop,
};
