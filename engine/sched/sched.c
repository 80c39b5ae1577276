/*
 * sched.c - parking and waking, quiet, and the three ways to run.
 *
 * Lost wake-ups. Who publishes a task stores it and then looks at `n_spinning` and `n_parked`; who
 * parks counts itself in `n_parked` and then looks at every queue. Both are sequentially consistent,
 * so at least one of them sees the other. A spinning worker counts as somebody who will look: it
 * stops being one before it counts itself as parked.
 *
 * Who finds all workers parked decides what comes next, under the lock: the last one to park, or a
 * thread that waits for a started scheduler to be idle. While it asks, without the lock, nobody is
 * woken, so nothing runs; whoever published a task meanwhile relies on it, and it looks at the queues
 * once more when it has the lock again. What else may change a decision, it changes under the lock
 * and then has somebody decide again: the drop of the last hold wakes a worker, which finds nothing
 * and is the last to park; who begins to wait decides at once; a stop that comes while somebody asks
 * wakes nobody, but that one sees `is_over`.
 *
 * A worker looks at `is_over` between two turns, and puts back what it has in hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sched/sched.h"

#include <string.h>

#include "base/clock.h"
#include "sched/worker.h"

enum {
  CALM_LOOKS = 2,  /* looks without a filled slot after which the watch ends */
  CHOICES_MAX = 64 /* tasks that a user may choose from */
};

static const uint64_t LONG_NS = 3600ull * 1000000000; /* one wait of a signal */

/* ---- Making ---- */

static actl_status init_locks(struct sched *sched) {
  if (actl__lock_init(&sched->lock) != ACTL_OK) return ACTL_SYSTEM;
  if (actl__signal_init(&sched->has_idled) == ACTL_OK) return ACTL_OK;
  actl__lock_fini(&sched->lock);
  return ACTL_SYSTEM;
}

static void fini_locks(struct sched *sched) {
  actl__signal_fini(&sched->has_idled);
  actl__lock_fini(&sched->lock);
}

static void free_workers(struct sched *sched, uint32_t n_made) {
  for (uint32_t i = 0; i < n_made; i++) actl__gate_fini(&sched->workers[i].gate);
  actl__memory_free_aligned(sched->mem, sched->workers, sched->n_workers * sizeof *sched->workers);
}

static actl_status make_workers(struct sched *sched) {
  size_t size = sched->n_workers * sizeof *sched->workers;
  sched->workers = actl__memory_new_aligned(sched->mem, size);
  if (sched->workers == NULL) return ACTL_NO_MEMORY;

  memset(sched->workers, 0, size);
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    w->sched = sched;
    w->index = i;
    w->random = 0x9E3779B97F4A7C15ull * (i + 1);
    actl__deque_init(&w->deque);
    if (actl__gate_init(&w->gate) == ACTL_OK) continue;
    free_workers(sched, i);
    return ACTL_SYSTEM;
  }
  return ACTL_OK;
}

actl_status actl__sched_init(struct sched *sched, const struct memory *mem, uint32_t n_workers,
                             const struct sched_user *user) {
  memset(sched, 0, sizeof *sched);
  sched->mem = mem;
  sched->user = *user;
  sched->n_workers = n_workers;
  sched->global_end = &sched->global;
  atomic_init(&sched->is_watched, user->watch == NULL); /* then nobody calls it */

  actl_status status = init_locks(sched);
  if (status != ACTL_OK) return status;
  status = make_workers(sched);
  if (status != ACTL_OK) fini_locks(sched);
  return status;
}

void actl__sched_fini(struct sched *sched) {
  free_workers(sched, sched->n_workers);
  fini_locks(sched);
}

/* ---- Waking ---- */

/* Under the lock: takes one parked worker off the list, who is to be posted. */
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
  actl__worker_count(&sched->wakes);
  return w;
}

/* Under the lock: one worker looks for work, or decides again. */
static void rouse_one(struct sched *sched) {
  struct worker *w = unpark_one(sched);
  if (w != NULL) actl__gate_post(&w->gate);
}

void actl__sched_wake_one(struct sched *sched) {
  /* seq_cst: see the head comment. */
  if (atomic_load_explicit(&sched->n_spinning, memory_order_seq_cst) != 0) return;
  if (atomic_load_explicit(&sched->n_parked, memory_order_seq_cst) == 0) return;

  actl__lock_take(&sched->lock);
  struct worker *w = unpark_one(sched);
  actl__lock_drop(&sched->lock);
  if (w != NULL) actl__gate_post(&w->gate);
}

/* Under the lock: to the end of the global list. */
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
  bool notifies = sched->wants_notice;
  sched->wants_notice = false;
  actl__lock_drop(&sched->lock);

  actl__sched_wake_one(sched);
  if (notifies) sched->user.notify(sched->user.ud);
}

bool actl__sched_has_work(struct sched *sched) {
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

/* ---- Deciding ---- */

/* Under the lock: has all workers end. */
static void end_all(struct sched *sched) {
  /* relaxed: the lock, or the joining of the threads, orders what follows. */
  atomic_store_explicit(&sched->is_over, true, memory_order_relaxed);
  for (struct worker *w; (w = unpark_one(sched)) != NULL;) actl__gate_post(&w->gate);
}

/* Under the lock: whether nobody runs or looks for work. */
static bool are_all_parked(struct sched *sched) {
  return sched->n_started != 0 && !sched->is_asking &&
         atomic_load_explicit(&sched->n_parked, memory_order_relaxed) == sched->n_started;
}

/* Under the lock, which is free meanwhile. */
static enum quiet ask_user(struct sched *sched, bool is_held) {
  const struct sched_user *user = &sched->user;
  enum quiet verdict = QUIET_WAIT;
  sched->is_asking = true;
  actl__lock_drop(&sched->lock);
  if (!is_held) {
    verdict = user->quiet(user->ud);
  } else if (user->pass(user->ud)) {
    verdict = QUIET_AGAIN;
  }
  actl__lock_take(&sched->lock);
  sched->is_asking = false;
  return verdict;
}

/* The same. A started scheduler goes on anyway: it need not know, unless somebody waits. */
static enum quiet ask(struct sched *sched) {
  if (sched->is_started && sched->n_waiting == 0) return QUIET_WAIT;
  bool is_held = sched->n_holds != 0;
  if (is_held && sched->user.pass == NULL) return QUIET_WAIT;

  enum quiet verdict = ask_user(sched, is_held);
  if (verdict == QUIET_OVER && sched->n_holds != 0) return QUIET_WAIT;
  /* Who dropped the last hold meanwhile relies on it. */
  return is_held && sched->n_holds == 0 ? QUIET_AGAIN : verdict;
}

/* Under the lock, all are parked: wakes one, all or nobody. */
static void decide(struct sched *sched) {
  enum quiet verdict = ask(sched);
  if (atomic_load_explicit(&sched->is_over, memory_order_relaxed)) {
    end_all(sched);
  } else if (verdict == QUIET_AGAIN || actl__sched_has_work(sched)) {
    rouse_one(sched);
  } else if (verdict == QUIET_OVER && !sched->is_started) {
    end_all(sched);
  } else if (verdict == QUIET_OVER) {
    sched->n_idle++;
    actl__signal_all(&sched->has_idled);
  }
}

/* ---- Parking ---- */

static void park_announce(struct worker *w) {
  struct sched *sched = w->sched;
  w->is_parked = true;
  w->next_idle = sched->idle;
  sched->idle = w;
  atomic_fetch_add_explicit(&sched->n_parked, 1, memory_order_seq_cst);
}

/* Under the same lock as park_announce: `w` is the newest in the list. */
static void park_withdraw(struct worker *w) {
  w->sched->idle = w->next_idle;
  w->is_parked = false;
  atomic_fetch_sub_explicit(&w->sched->n_parked, 1, memory_order_seq_cst);
}

static void park(struct worker *w) {
  struct sched *sched = w->sched;
  bool sleeps = false;

  actl__lock_take(&sched->lock);
  if (!atomic_load_explicit(&sched->is_over, memory_order_relaxed)) {
    park_announce(w);
    sleeps = !actl__sched_has_work(sched);
    if (!sleeps) park_withdraw(w);
    if (are_all_parked(sched)) decide(sched); /* which may post this worker's gate */
  }
  actl__lock_drop(&sched->lock);

  if (!sleeps) return;
  actl__worker_count(&w->parks);
  actl__gate_wait(&w->gate);
}

/* ---- Running ---- */

/* Under the lock, no other worker runs: moves all that is runnable to the global list. */
static void collect(struct sched *sched) {
  bool lost = false; /* nobody takes anything meanwhile */
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    /* relaxed: its thread has been joined, or is this one. */
    struct task *last = atomic_load_explicit(&w->run_next, memory_order_relaxed);
    atomic_store_explicit(&w->run_next, NULL, memory_order_relaxed);
    for (struct task *task; (task = actl__deque_take(&w->deque, &lost)) != NULL;)
      push_global(sched, task);
    if (last != NULL) push_global(sched, last);
  }
}

/* Under the lock: the one that has `i` others before it. */
static struct task *take_global_at(struct sched *sched, uint32_t i) {
  struct task **link = &sched->global;
  while (i-- > 0) link = &(*link)->next;
  struct task *task = *link;
  *link = task->next;
  if (task->next == NULL) sched->global_end = link;
  atomic_fetch_sub_explicit(&sched->n_global, 1, memory_order_seq_cst);
  return task;
}

/* The task that the user says; NULL: none is there, or it is enough. */
static struct task *take_chosen(struct worker *w) {
  struct sched *sched = w->sched;
  actl__worker_spin_end(w); /* it has found what it was woken for */
  actl__lock_take(&sched->lock);
  collect(sched);
  uint32_t n = atomic_load_explicit(&sched->n_global, memory_order_relaxed);
  actl__lock_drop(&sched->lock);
  if (n == 0) return NULL;

  /* Threads of the host may add to the list meanwhile, to its end. */
  uint32_t i = sched->user.choose(sched->user.ud, n < CHOICES_MAX ? n : CHOICES_MAX);
  actl__lock_take(&sched->lock);
  if (i == SCHED_ENOUGH) atomic_store_explicit(&sched->is_over, true, memory_order_relaxed);
  struct task *task = i == SCHED_ENOUGH ? NULL : take_global_at(sched, i);
  actl__lock_drop(&sched->lock);
  return task;
}

static bool is_over(const struct sched *sched) {
  /* relaxed: who has it set joins the thread. */
  return atomic_load_explicit(&sched->is_over, memory_order_relaxed);
}

/* One turn; returns what the worker has in hand then. */
static struct task *turn(struct worker *w, struct task *task) {
  struct sched *sched = w->sched;
  actl__worker_count(&w->turns);
  bool is_again = sched->user.run(task, w) == TASK_AGAIN;
  if (!is_again) return NULL;
  if (sched->user.choose == NULL) return actl__worker_after_again(w, task);
  actl__lock_take(&sched->lock);
  collect(sched); /* those that it woke have waited longer */
  push_global(sched, task);
  actl__lock_drop(&sched->lock);
  return NULL;
}

/* What was to run next is the first that whoever comes next takes. */
static void put_back(struct sched *sched, struct task *task) {
  if (task == NULL) return;
  actl__lock_take(&sched->lock);
  task->next = sched->global;
  sched->global = task;
  if (task->next == NULL) sched->global_end = &task->next;
  atomic_fetch_add_explicit(&sched->n_global, 1, memory_order_seq_cst);
  actl__lock_drop(&sched->lock);
}

static struct task *next(struct worker *w) {
  return w->sched->user.choose != NULL ? take_chosen(w) : actl__worker_next(w);
}

static void work(void *arg) {
  struct worker *w = arg;
  struct sched *sched = w->sched;
  struct task *task = NULL;
  while (!is_over(sched)) {
    if (task == NULL) task = next(w);
    if (task != NULL) {
      task = turn(w, task);
    } else if (!is_over(sched)) {
      park(w);
    }
  }
  actl__worker_spin_end(w);
  put_back(sched, task);
}

static void begin(struct sched *sched, uint32_t n_workers, bool is_started) {
  actl__lock_take(&sched->lock);
  atomic_store_explicit(&sched->is_over, false, memory_order_relaxed);
  /* No worker can find the others parked before it sees all of them counted. */
  sched->n_started = n_workers;
  sched->is_started = is_started;
  sched->wants_notice = false;
  actl__lock_drop(&sched->lock);
}

/* Under the lock, at rest: true: the notice is due at once. */
static bool expect_notice(struct sched *sched) {
  if (!sched->may_notify || sched->n_started != 0) return false;
  bool is_due = actl__sched_has_work(sched);
  sched->wants_notice = !is_due;
  return is_due;
}

static void finish(struct sched *sched) {
  actl__lock_take(&sched->lock);
  collect(sched);
  sched->n_started = 0;
  sched->is_started = false;
  actl__signal_all(&sched->has_idled);
  bool notifies = expect_notice(sched);
  actl__lock_drop(&sched->lock);
  if (notifies) sched->user.notify(sched->user.ud);
}

static void join(struct sched *sched, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) actl__thread_join(&sched->workers[i].thread);
}

/* Nobody runs anything before all threads are there: a run that lacks one has run nothing. */
static void work_when_all_are_there(void *arg) {
  struct worker *w = arg;
  actl__gate_wait(&w->gate);
  work(w);
}

static void let_work(struct sched *sched, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) actl__gate_post(&sched->workers[i].gate);
}

static void end_and_join(struct sched *sched, uint32_t first, uint32_t end) {
  actl__lock_take(&sched->lock);
  end_all(sched);
  actl__lock_drop(&sched->lock);
  join(sched, first, end);
}

/* Starts all workers from `first` on, or none. */
static actl_status start_threads(struct sched *sched, uint32_t first) {
  for (uint32_t i = first; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    if (actl__thread_start(&w->thread, work_when_all_are_there, w) == ACTL_OK) continue;
    actl__lock_take(&sched->lock);
    end_all(sched); /* before it begins */
    actl__lock_drop(&sched->lock);
    let_work(sched, first, i);
    join(sched, first, i);
    return ACTL_SYSTEM;
  }
  let_work(sched, first, sched->n_workers);
  return ACTL_OK;
}

actl_status actl__sched_run(struct sched *sched) {
  begin(sched, sched->n_workers, false);
  actl_status status = start_threads(sched, 1);
  if (status == ACTL_OK) {
    work(&sched->workers[0]);
    join(sched, 1, sched->n_workers);
  }
  finish(sched);
  return status;
}

actl_status actl__sched_start(struct sched *sched) {
  begin(sched, sched->n_workers, true);
  actl_status status = start_threads(sched, 0);
  if (status != ACTL_OK) finish(sched);
  return status;
}

void actl__sched_stop(struct sched *sched) {
  end_and_join(sched, 0, sched->n_workers);
  finish(sched);
}

enum quiet actl__sched_step(struct sched *sched, uint64_t until_ns) {
  struct worker *w = &sched->workers[0];
  struct task *task = NULL;
  enum quiet rest = QUIET_AGAIN;

  begin(sched, 1, false);
  do {
    if (task == NULL) task = sched->user.choose != NULL ? take_chosen(w) : actl__worker_own(w);
    if (task != NULL) task = turn(w, task);
    if (task == NULL && !actl__sched_has_work(sched)) rest = sched->user.quiet(sched->user.ud);
  } while (rest == QUIET_AGAIN && !is_over(sched) && actl__clock_ns() < until_ns);
  put_back(sched, task);
  finish(sched);
  return rest;
}

/* ---- From any thread ---- */

void actl__sched_hold(struct sched *sched) {
  actl__lock_take(&sched->lock);
  sched->n_holds++;
  actl__lock_drop(&sched->lock);
}

void actl__sched_drop(struct sched *sched) {
  actl__lock_take(&sched->lock);
  ACTL_INVARIANT(sched->n_holds != 0);
  sched->n_holds--;
  if (sched->n_holds == 0 && are_all_parked(sched) && (!sched->is_started || sched->n_waiting != 0))
    rouse_one(sched);
  actl__lock_drop(&sched->lock);
}

/* Under the lock, which is free meanwhile: until it has been idle once more than `n_idle` times. */
static void wait_idle(struct sched *sched, uint64_t n_idle, uint64_t until_ns) {
  while (sched->n_idle == n_idle && sched->is_started) {
    uint64_t now = actl__clock_ns();
    if (now >= until_ns) return;
    uint64_t left = until_ns - now;
    actl__signal_wait(&sched->has_idled, &sched->lock, left < LONG_NS ? left : LONG_NS);
  }
}

actl_status actl__sched_wait(struct sched *sched, uint64_t until_ns) {
  actl_status status = ACTL_INVALID;
  actl__lock_take(&sched->lock);
  if (sched->is_started) {
    uint64_t before = sched->n_idle;
    sched->n_waiting++;
    if (are_all_parked(sched)) decide(sched);
    wait_idle(sched, before, until_ns);
    sched->n_waiting--;
    if (sched->n_idle != before) {
      status = ACTL_OK;
    } else if (sched->is_started) {
      status = ACTL_TIMEOUT;
    }
  }
  actl__lock_drop(&sched->lock);
  return status;
}

void actl__sched_notify(struct sched *sched) {
  actl__lock_take(&sched->lock);
  sched->may_notify = true;
  bool notifies = expect_notice(sched);
  actl__lock_drop(&sched->lock);
  if (notifies) sched->user.notify(sched->user.ud);
}

struct sched_counts actl__sched_counts(struct sched *sched) {
  /* relaxed, as below: each number for itself. */
  struct sched_counts sum = {.wakes = atomic_load_explicit(&sched->wakes, memory_order_relaxed)};
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    const struct worker *w = &sched->workers[i];
    sum.steals += atomic_load_explicit(&w->steals, memory_order_relaxed);
    sum.parks += atomic_load_explicit(&w->parks, memory_order_relaxed);
    sum.turns += atomic_load_explicit(&w->turns, memory_order_relaxed);
  }
  return sum;
}

/* ---- Watching ---- */

/* Whether any run-next slot is filled. Wakes a worker for each that was in one turn all the time
 * since the last look. */
static bool look_at_slots(struct sched *sched) {
  bool is_filled = false;
  for (uint32_t i = 0; i < sched->n_workers; i++) {
    struct worker *w = &sched->workers[i];
    /* relaxed: a hint. */
    uint64_t turns = atomic_load_explicit(&w->turns, memory_order_relaxed);
    /* seq_cst: see actl__sched_watch. */
    if (atomic_load_explicit(&w->run_next, memory_order_seq_cst) != NULL) {
      is_filled = true;
      if (turns == w->watched_turns) actl__sched_wake_one(sched);
    }
    w->watched_turns = turns;
  }
  return is_filled;
}

bool actl__sched_watch(struct sched *sched) {
  sched->n_calm = look_at_slots(sched) ? 0 : sched->n_calm + 1;
  if (sched->n_calm < CALM_LOOKS) return true;

  /* seq_cst: who fills a slot then looks at `is_watched`; this clears it and then looks at the slots
   * once more. One of the two sees the other. */
  sched->n_calm = 0;
  atomic_store_explicit(&sched->is_watched, false, memory_order_seq_cst);
  if (!look_at_slots(sched)) return false;
  /* relaxed: from here on the watch goes on, whoever sees what. */
  atomic_store_explicit(&sched->is_watched, true, memory_order_relaxed);
  return true;
}
