/*
 * sched.c - workers, stealing, parking, quiet.
 *
 * Lost wake-ups. Who publishes a task stores it and then looks at `n_spinning` and `n_parked`; who
 * parks counts itself in `n_parked` and then looks at every queue. Both are sequentially consistent,
 * so at least one of them sees the other. A spinning worker counts as somebody who will look: it
 * stops being one before it counts itself as parked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/sched.h"

#include <string.h>

#include "base/clock.h"
#include "base/random.h"

enum {
  RUN_NEXT_CAP = ACTL_TUNE(16, 1), /* tasks in a row from the run-next slot */
  GLOBAL_EVERY = ACTL_TUNE(61, 3), /* takes from the global list first, each so many tasks */
  SPIN_NS = 50000,                 /* about what a futex round trip costs */
  SIT_NS = 5000,                   /* a run-next task is left alone for so long */
};

actl_status actl__sched_init(struct sched *sched, const struct memory *mem, uint32_t n_workers,
                             task_run run, bool (*quiet)(void *ud), void *ud) {
  memset(sched, 0, sizeof *sched);
  sched->mem = mem;
  sched->run = run;
  sched->quiet = quiet;
  sched->ud = ud;
  sched->global_end = &sched->global;
  if (actl__lock_init(&sched->lock) != ACTL_OK) return ACTL_SYSTEM;

  sched->workers = actl__memory_new_aligned(mem, n_workers * sizeof *sched->workers);
  if (sched->workers != NULL) memset(sched->workers, 0, n_workers * sizeof *sched->workers);
  actl_status status = sched->workers == NULL ? ACTL_NO_MEMORY : ACTL_OK;
  for (; status == ACTL_OK && sched->n_workers < n_workers; sched->n_workers++) {
    struct worker *w = &sched->workers[sched->n_workers];
    w->sched = sched;
    w->index = sched->n_workers;
    w->random = 0x9E3779B97F4A7C15ull * (w->index + 1);
    actl__deque_init(&w->deque);
    status = actl__gate_init(&w->gate);
    if (status != ACTL_OK) break;
  }
  if (status == ACTL_OK) return ACTL_OK;

  for (uint32_t i = 0; i < sched->n_workers; i++) actl__gate_fini(&sched->workers[i].gate);
  actl__memory_free_aligned(mem, sched->workers, n_workers * sizeof *sched->workers);
  actl__lock_fini(&sched->lock);
  return status;
}

void actl__sched_fini(struct sched *sched) {
  for (uint32_t i = 0; i < sched->n_workers; i++) actl__gate_fini(&sched->workers[i].gate);
  actl__memory_free_aligned(sched->mem, sched->workers, sched->n_workers * sizeof *sched->workers);
  actl__lock_fini(&sched->lock);
}

/* ---- Waking ---- */

/* Under the lock: takes one parked worker off the list. */
static struct worker *unpark_one(struct sched *sched) {
  struct worker *w = sched->idle;
  if (w == NULL || sched->is_asking) return NULL;

  sched->idle = w->next_idle;
  w->is_parked = false;
  /* seq_cst: see the head comment. A woken worker spins at once, so that no second one is woken
   * for the same task. */
  atomic_fetch_add_explicit(&sched->n_spinning, 1, memory_order_seq_cst);
  atomic_fetch_sub_explicit(&sched->n_parked, 1, memory_order_seq_cst);
  w->is_spinning = true;
  return w;
}

/* There is a task that somebody might take: wakes a worker unless one is looking already. */
static void wake_one(struct sched *sched) {
  /* seq_cst: see the head comment. */
  if (atomic_load_explicit(&sched->n_spinning, memory_order_seq_cst) != 0) return;
  if (atomic_load_explicit(&sched->n_parked, memory_order_seq_cst) == 0) return;

  actl__lock_take(&sched->lock);
  struct worker *w = unpark_one(sched);
  actl__lock_drop(&sched->lock);
  if (w != NULL) actl__gate_post(&w->gate);
}

static void push_global(struct sched *sched, struct task *task) {
  task->next = NULL;
  *sched->global_end = task;
  sched->global_end = &task->next;
  /* seq_cst: see the head comment. */
  atomic_fetch_add_explicit(&sched->n_global, 1, memory_order_seq_cst);
}

void actl__sched_inject(struct sched *sched, struct task *task) {
  actl__lock_take(&sched->lock);
  push_global(sched, task);
  actl__lock_drop(&sched->lock);
  wake_one(sched);
}

static void push_back(struct worker *w, struct task *task) {
  if (actl__deque_push(&w->deque, task)) {
    wake_one(w->sched);
  } else {
    actl__sched_inject(w->sched, task);
  }
}

void actl__sched_wake(struct worker *w, struct task *task) {
  /* release: pairs with the exchange of a thief. acquire: a thief's earlier taking. seq_cst: see the
   * head comment, for who shares the slot. */
  struct task *old = atomic_exchange_explicit(&w->run_next, task, memory_order_seq_cst);
  if (old != NULL) push_back(w, old);
}

void actl__sched_share(struct worker *w) {
  /* relaxed: a hint. */
  if (atomic_load_explicit(&w->run_next, memory_order_relaxed) != NULL) wake_one(w->sched);
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

static struct task *take_own(struct worker *w) {
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

/* Owner only. relaxed: others read it as a statistic, or as a hint that a turn has ended. */
static void count(_Atomic(uint64_t) *counter) {
  uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, n + 1, memory_order_relaxed);
}

static struct task *steal(struct worker *w) {
  struct sched *sched = w->sched;
  uint32_t start = actl__random_below(&w->random, sched->n_workers);
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *victim = &sched->workers[(start + i) % sched->n_workers];
    struct task *task = victim == w ? NULL : take_deque(&victim->deque);
    if (task != NULL) {
      count(&w->steals);
      return task;
    }
  }
  return take_global(sched);
}

/* ---- Spinning ---- */

static void spin_begin(struct worker *w) {
  if (w->is_spinning) return;
  w->is_spinning = true;
  atomic_fetch_add_explicit(&w->sched->n_spinning, 1, memory_order_seq_cst);
}

static void spin_end(struct worker *w) {
  if (!w->is_spinning) return;
  w->is_spinning = false;
  /* seq_cst: see the head comment. */
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
  if (task != NULL) count(&w->steals);
  return task;
}

static struct task *spin(struct worker *w) {
  struct sighting seen = {.victim = (w->index + 1) % w->sched->n_workers};
  struct task *task = NULL;

  spin_begin(w);
  uint64_t start = actl__clock_ns();
  for (uint64_t now = start; task == NULL && now - start < SPIN_NS; now = actl__clock_ns()) {
    /* relaxed: a hint; parking looks under the lock. */
    if (atomic_load_explicit(&w->sched->is_over, memory_order_relaxed)) break;
    task = steal(w);
    if (task == NULL) task = steal_run_next(w, &seen, now);
    if (task == NULL)
      for (int i = 0; i < 8; i++) actl__thread_relax();
  }
  return task;
}

/* ---- Parking ---- */

static bool is_work_visible(struct sched *sched) {
  /* seq_cst: see the head comment. */
  if (atomic_load_explicit(&sched->n_outside, memory_order_seq_cst) != 0) return true;
  if (atomic_load_explicit(&sched->n_global, memory_order_seq_cst) != 0) return true;
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    if (actl__deque_has(&w->deque)) return true;
    /* Most likely its worker takes it soon; who would have parked looks a little longer. */
    if (atomic_load_explicit(&w->run_next, memory_order_seq_cst) != NULL) return true;
  }
  return false;
}

static void park_announce(struct worker *w) {
  struct sched *sched = w->sched;
  w->is_parked = true;
  w->next_idle = sched->idle;
  sched->idle = w;
  atomic_fetch_add_explicit(&sched->n_parked, 1, memory_order_seq_cst);
}

/* Under the lock, as long as `w` was the last to announce itself. */
static void park_withdraw(struct worker *w) {
  struct worker **link = &w->sched->idle;
  while (*link != w) link = &(*link)->next_idle;
  *link = w->next_idle;
  w->is_parked = false;
  atomic_fetch_sub_explicit(&w->sched->n_parked, 1, memory_order_seq_cst);
}

/* Under the lock: ends the run, and wakes everybody to see it. */
static void end_run(struct sched *sched) {
  atomic_store_explicit(&sched->is_over, true, memory_order_release);
  for (struct worker *w; (w = unpark_one(sched)) != NULL;) actl__gate_post(&w->gate);
}

/* Under the lock: nobody runs anything. The others are parked, and stay so while `is_asking`. */
static void ask_quiet(struct worker *w) {
  struct sched *sched = w->sched;
  sched->is_asking = true;
  actl__lock_drop(&sched->lock);
  bool goes_on = sched->quiet(sched->ud);
  actl__lock_take(&sched->lock);
  sched->is_asking = false;

  /* Whoever published a task meanwhile woke nobody: this worker looks, and wakes others. */
  if (goes_on || is_work_visible(sched)) {
    spin_begin(w);
  } else {
    end_run(sched);
  }
}

/* false: the run is over. */
static bool park(struct worker *w) {
  struct sched *sched = w->sched;
  bool sleeps = false;

  actl__lock_take(&sched->lock);
  if (!atomic_load_explicit(&sched->is_over, memory_order_relaxed)) {
    park_announce(w);
    if (is_work_visible(sched)) {
      park_withdraw(w);
    } else if (atomic_load_explicit(&sched->n_parked, memory_order_relaxed) == sched->n_started) {
      park_withdraw(w);
      ask_quiet(w);
    } else {
      sleeps = true;
    }
  }
  bool over = !sleeps && atomic_load_explicit(&sched->is_over, memory_order_relaxed);
  actl__lock_drop(&sched->lock);

  if (sleeps) {
    count(&w->parks);
    actl__gate_wait(&w->gate);
  }
  return !over;
}

/* ---- Running ---- */

static struct task *next_task(struct worker *w) {
  struct task *task = take_own(w);
  if (task == NULL && w->sched->n_started > 1) task = spin(w);

  bool was_spinning = w->is_spinning;
  spin_end(w);
  /* The one who found something leaves somebody to look for the next. */
  if (was_spinning && task != NULL && is_work_visible(w->sched)) wake_one(w->sched);
  return task;
}

/* After a turn that left more to do: another task if there is one, and this one to the back of the
 * deque. A task that is alone stays with its worker, out of the thieves' sight. */
static struct task *after_again(struct worker *w, struct task *task) {
  struct task *next = take_own(w);
  if (next == NULL) return task;
  push_back(w, task);
  return next;
}

static void work(void *arg) {
  struct worker *w = arg;
  struct task *task = NULL;
  for (;;) {
    if (task == NULL) task = next_task(w);
    if (task == NULL) {
      if (!park(w)) break;
      continue;
    }
    count(&w->turns);
    bool is_again = w->sched->run(task, w) == TASK_AGAIN;
    task = is_again ? after_again(w, task) : NULL;
  }
  spin_end(w);
}

static void join_all(struct sched *sched, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) actl__thread_join(&sched->workers[i].thread);
}

static void abandon_start(struct sched *sched, uint32_t n) {
  actl__lock_take(&sched->lock);
  end_run(sched);
  actl__lock_drop(&sched->lock);
  join_all(sched, n);
}

actl_status actl__sched_run(struct sched *sched) {
  atomic_store_explicit(&sched->is_over, false, memory_order_relaxed);
  /* No worker can find the others parked before it sees all of them counted. */
  sched->n_started = sched->n_workers;

  for (uint32_t i = 1; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    if (actl__thread_start(&w->thread, work, w) != ACTL_OK) {
      abandon_start(sched, i);
      return ACTL_SYSTEM;
    }
  }
  work(&sched->workers[0]);
  join_all(sched, sched->n_workers);
  return ACTL_OK;
}

void actl__sched_counts(struct sched *sched, uint64_t *steals, uint64_t *parks, uint64_t *turns) {
  *steals = *parks = *turns = 0;
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    const struct worker *w = &sched->workers[i];
    *steals += atomic_load_explicit(&w->steals, memory_order_relaxed);
    *parks += atomic_load_explicit(&w->parks, memory_order_relaxed);
    *turns += atomic_load_explicit(&w->turns, memory_order_relaxed);
  }
}
