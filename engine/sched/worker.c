/*
 * worker.c - taking tasks, stealing them, and looking for them before parking.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/worker.h"

#include "base/clock.h"
#include "base/random.h"

enum {
  RUN_NEXT_CAP = ACTL_TUNE(16, 1), /* tasks in a row from the run-next slot */
  GLOBAL_EVERY = ACTL_TUNE(61, 3), /* takes from the global list first, each so many tasks */
  SPIN_NS = 50000,                 /* about what a futex round trip costs */
  SIT_NS = 5000,                   /* a run-next task is left alone for so long */
};

/* ---- Making runnable ---- */

static void push_back(struct worker *w, struct task *task) {
  if (actl__deque_push(&w->deque, task)) {
    actl__sched_wake_one(w->sched);
  } else {
    actl__sched_inject(w->sched, task);
  }
}

static ACTL_NOINLINE void have_watched(struct sched *sched) {
  /* seq_cst: see actl__sched_watch. */
  if (atomic_exchange_explicit(&sched->is_watched, true, memory_order_seq_cst)) return;
  sched->user.watch(sched->user.ud);
}

void actl__sched_wake(struct worker *w, struct task *task) {
  struct sched *sched = w->sched;
  /* release: pairs with the exchange of a thief. acquire: a thief's earlier taking. seq_cst: see
   * sched.c's head comment, for who shares the slot, and the looks below. */
  struct task *old = atomic_exchange_explicit(&w->run_next, task, memory_order_seq_cst);
  if (old != NULL) push_back(w, old);

  /* A worker that spins looks at the slot, and so does one that is about to park. For those that
   * sleep this turn may turn out to be long. seq_cst: see there, and actl__sched_watch. */
  if (atomic_load_explicit(&sched->n_parked, memory_order_seq_cst) != 0 &&
      !atomic_load_explicit(&sched->is_watched, memory_order_seq_cst))
    have_watched(sched);
}

void actl__sched_share(struct worker *w) {
  /* relaxed: a hint. */
  if (atomic_load_explicit(&w->run_next, memory_order_relaxed) != NULL)
    actl__sched_wake_one(w->sched);
}

bool actl__sched_may_linger(const struct worker *w) {
  /* relaxed: hints. */
  return w->sched->n_started > 1 &&
         atomic_load_explicit(&w->run_next, memory_order_relaxed) == NULL &&
         atomic_load_explicit(&w->sched->n_global, memory_order_relaxed) == 0 &&
         !actl__deque_has(&w->deque);
}

/* ---- Taking ---- */

static struct task *take_run_next(struct worker *w) {
  /* relaxed: only the owner fills it; a thief may empty it meanwhile, which the exchange sees. */
  if (atomic_load_explicit(&w->run_next, memory_order_relaxed) == NULL) return NULL;
  /* acquire: pairs with wake, where a thief takes it. */
  return atomic_exchange_explicit(&w->run_next, NULL, memory_order_acq_rel);
}

static struct task *take_global(struct sched *sched) {
  /* relaxed: a hint; parking looks under the lock. */
  if (atomic_load_explicit(&sched->n_global, memory_order_relaxed) == 0) return NULL;

  actl__lock_take(&sched->lock);
  struct task *task = sched->global;
  if (task != NULL) {
    sched->global = task->next;
    if (sched->global == NULL) sched->global_end = &sched->global;
    atomic_fetch_sub_explicit(&sched->n_global, 1, memory_order_seq_cst);
  }
  actl__lock_drop(&sched->lock);
  return task;
}

static struct task *take_deque(struct deque *deque) {
  for (;;) {
    bool lost = false;
    struct task *task = actl__deque_take(deque, &lost);
    if (task != NULL || !lost) return task;
  }
}

struct task *actl__worker_own(struct worker *w) {
  struct task *task = NULL;
  if (++w->n_taken % GLOBAL_EVERY == 0 && (task = take_global(w->sched)) != NULL) return task;

  if (w->n_run_next < RUN_NEXT_CAP && (task = take_run_next(w)) != NULL) {
    w->n_run_next++;
    return task;
  }
  w->n_run_next = 0;
  if ((task = take_deque(&w->deque)) != NULL) return task;
  if ((task = take_global(w->sched)) != NULL) return task;
  return take_run_next(w);
}

static struct task *steal(struct worker *w) {
  struct sched *sched = w->sched;
  uint32_t start = actl__random_below(&w->random, sched->n_workers);
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *victim = &sched->workers[(start + i) % sched->n_workers];
    struct task *task = victim == w ? NULL : take_deque(&victim->deque);
    if (task != NULL) {
      actl__worker_count(&w->steals);
      return task;
    }
  }
  return take_global(sched);
}

/* ---- Spinning ---- */

void actl__worker_spin_begin(struct worker *w) {
  if (w->is_spinning) return;
  w->is_spinning = true;
  /* seq_cst: see sched.c's head comment. */
  atomic_fetch_add_explicit(&w->sched->n_spinning, 1, memory_order_seq_cst);
}

void actl__worker_spin_end(struct worker *w) {
  if (!w->is_spinning) return;
  w->is_spinning = false;
  /* seq_cst: see sched.c's head comment. */
  atomic_fetch_sub_explicit(&w->sched->n_spinning, 1, memory_order_seq_cst);
}

/* What one spinning worker has seen of another's run-next slot. */
struct sighting {
  uint32_t victim;
  struct task *task;
  uint64_t turn;
  uint64_t since_ns;
};

/* Takes a run-next task that has sat there, in one turn of its worker, for SIT_NS. */
static struct task *steal_run_next(struct worker *w, struct sighting *seen, uint64_t now) {
  struct sched *sched = w->sched;
  struct worker *victim = &sched->workers[seen->victim];
  /* relaxed: hints. What counts is the exchange. */
  struct task *task = atomic_load_explicit(&victim->run_next, memory_order_relaxed);
  uint64_t turn = atomic_load_explicit(&victim->turns, memory_order_relaxed);

  if (victim == w || task == NULL) {
    seen->victim = (seen->victim + 1) % sched->n_workers;
    seen->task = NULL;
    return NULL;
  }
  if (task != seen->task || turn != seen->turn) {
    seen->task = task;
    seen->turn = turn;
    seen->since_ns = now;
    return NULL;
  }
  if (now - seen->since_ns < SIT_NS) return NULL;

  seen->task = NULL;
  /* acq_rel: acquire pairs with wake, so that the task's state is seen. */
  task = atomic_exchange_explicit(&victim->run_next, NULL, memory_order_acq_rel);
  if (task != NULL) actl__worker_count(&w->steals);
  return task;
}

static struct task *spin(struct worker *w) {
  struct sighting seen = {.victim = (w->index + 1) % w->sched->n_workers};
  struct task *task = NULL;

  actl__worker_spin_begin(w);
  uint64_t start = actl__clock_ns();
  for (uint64_t now = start; task == NULL && now - start < SPIN_NS; now = actl__clock_ns()) {
    /* relaxed: a hint; who runs tasks looks again. */
    if (atomic_load_explicit(&w->sched->is_over, memory_order_relaxed)) break;
    task = steal(w);
    if (task == NULL) task = steal_run_next(w, &seen, now);
    if (task == NULL)
      for (int i = 0; i < 8; i++) actl__thread_relax();
  }
  return task;
}

struct task *actl__worker_next(struct worker *w) {
  struct task *task = actl__worker_own(w);
  if (task == NULL && w->sched->n_started > 1) task = spin(w);

  bool was_spinning = w->is_spinning;
  actl__worker_spin_end(w);
  /* The one who found something leaves somebody to look for the next. */
  if (was_spinning && task != NULL && actl__sched_has_work(w->sched))
    actl__sched_wake_one(w->sched);
  return task;
}

struct task *actl__worker_after_again(struct worker *w, struct task *task) {
  struct task *next = actl__worker_own(w);
  if (next == NULL) return task;
  push_back(w, task);
  return next;
}
