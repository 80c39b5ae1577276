/*
 * io.c - see io.h.
 *
 * An alarm is in the list `asked`, at most once, while the thread has not seen its newest time; its
 * timer is the thread's alone. The loop's clock is actl__clock_ns in milliseconds, rounded down, and
 * lags behind it by less than a millisecond: a timer that the loop finds due is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "io/io.h"

#include <string.h>
#include <uv.h>

#include "base/thread.h"

struct alarm {
  struct alarm *older; /* of all that were made; constant, as the next */
  void *whom;
  uv_timer_t timer; /* the thread's, as the next */
  bool is_open;
  uint64_t due_ms;    /* under the lock, as all that follows */
  struct alarm *next; /* in `asked` */
  bool is_asked;
};

struct taken {         /* a signal */
  struct taken *older; /* constant, as the next three */
  int number;
  void (*take)(void *ud, int number);
  void *ud;
  uv_signal_t handle; /* the thread's */
  bool is_settled;    /* under the lock: the thread has begun with it, or (`failed`) cannot */
  int failed;
};

struct io {
  const struct memory *mem; /* constant, as the next */
  struct io_user user;
  actl__lock lock;
  bool is_running; /* under the lock, as all up to the next line: the thread is there */
  bool is_told;    /* it will look at what follows */
  bool is_ending;
  bool wants_watch;
  struct alarm *asked;
  struct alarm *newest; /* of all */
  struct taken *taken;
  actl__signal has_settled; /* a signal */

  uv_loop_t loop; /* the thread's, once it runs */
  uv_async_t async;
  uv_timer_t tick;
  actl__thread thread;
};

/* ---- On the thread ---- */

static void on_due(uv_timer_t *timer) {
  const struct io *io = timer->loop->data;
  const struct alarm *a = timer->data;
  io->user.ring(a->whom);
}

/* Under the lock: brings an alarm's timer up to date. */
static void settle(struct io *io, struct alarm *a) {
  a->is_asked = false;
  if (!a->is_open) {
    uv_timer_init(&io->loop, &a->timer);
    a->timer.data = a;
    a->is_open = true;
  }
  /* The loop adds the time to the same `now`, however old that is. */
  uint64_t now_ms = uv_now(&io->loop);
  uv_timer_start(&a->timer, on_due, a->due_ms > now_ms ? a->due_ms - now_ms : 0, 0);
}

static void on_tick(uv_timer_t *tick) {
  struct io *io = tick->data;
  if (!io->user.watch(io->user.ud)) uv_timer_stop(tick);
}

static void close_one(uv_handle_t *handle, void *ud) {
  (void)ud;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void on_signal(uv_signal_t *handle, int number) {
  const struct taken *t = handle->data;
  t->take(t->ud, number);
}

/* Under the lock. */
static void settle_signals(struct io *io) {
  for (struct taken *t = io->taken; t != NULL && !t->is_settled; t = t->older) {
    t->failed = uv_signal_init(&io->loop, &t->handle);
    t->handle.data = t;
    if (t->failed == 0) t->failed = uv_signal_start(&t->handle, on_signal, t->number);
    t->is_settled = true;
    actl__signal_all(&io->has_settled);
  }
}

static void on_told(uv_async_t *async) {
  struct io *io = async->data;
  actl__lock_take(&io->lock);
  io->is_told = false;
  for (struct alarm *a = io->asked, *next; a != NULL; a = next) {
    next = a->next;
    settle(io, a);
  }
  io->asked = NULL;
  settle_signals(io);
  bool watches = io->wants_watch, is_ending = io->is_ending;
  io->wants_watch = false;
  actl__lock_drop(&io->lock);

  if (watches && !uv_is_active((const uv_handle_t *)&io->tick))
    uv_timer_start(&io->tick, on_tick, IO_WATCH_MS, IO_WATCH_MS);
  if (is_ending) uv_walk(&io->loop, close_one, NULL);
}

/* Until all handles have been closed. */
static void body(void *arg) {
  struct io *io = arg;
  int n_left = uv_run(&io->loop, UV_RUN_DEFAULT);
  ACTL_INVARIANT(n_left == 0);
  (void)n_left;
}

/* ---- Making and freeing ---- */

struct io *actl__io_new(const struct memory *mem, const struct io_user *user) {
  struct io *io = actl__memory_new(mem, sizeof *io);
  if (io == NULL) return NULL;
  memset(io, 0, sizeof *io);
  io->mem = mem;
  io->user = *user;
  if (actl__lock_init(&io->lock) != ACTL_OK) goto fail_lock;
  if (actl__signal_init(&io->has_settled) != ACTL_OK) goto fail_signal;
  return io;

fail_signal:
  actl__lock_fini(&io->lock);
fail_lock:
  actl__memory_free(mem, io, sizeof *io);
  return NULL;
}

/* The loop without a thread: closes what is open in it. */
static void close_loop(struct io *io) {
  uv_walk(&io->loop, close_one, NULL);
  body(io);
  int failed = uv_loop_close(&io->loop);
  ACTL_INVARIANT(failed == 0);
  (void)failed;
}

/* Under the lock, so that others wait for the thread instead of making their own. */
static bool is_running(struct io *io) {
  if (io->is_running) return true;
  if (uv_loop_init(&io->loop) != 0) return false;
  io->loop.data = io;

  int failed = uv_async_init(&io->loop, &io->async, on_told);
  if (failed == 0) {
    io->async.data = io;
    uv_timer_init(&io->loop, &io->tick);
    io->tick.data = io;
    failed = actl__thread_start(&io->thread, body, io) != ACTL_OK;
  }
  if (failed != 0) {
    close_loop(io);
    return false;
  }
  io->is_running = true;
  return true;
}

/* Under the lock: whether the thread must be told, by the caller, without the lock. */
static bool must_tell(struct io *io) {
  if (!is_running(io) || io->is_told) return false;
  io->is_told = true;
  return true;
}

static void tell(struct io *io) {
  int failed = uv_async_send(&io->async);
  ACTL_INVARIANT(failed == 0);
  (void)failed;
}

static void free_alarms(struct io *io) {
  for (struct alarm *a = io->newest, *older; a != NULL; a = older) {
    older = a->older;
    actl__memory_free(io->mem, a, sizeof *a);
  }
}

static void free_taken(struct io *io) {
  for (struct taken *t = io->taken, *older; t != NULL; t = older) {
    older = t->older;
    actl__memory_free(io->mem, t, sizeof *t);
  }
}

void actl__io_free(struct io *io) {
  if (io == NULL) return;
  actl__lock_take(&io->lock);
  bool was_running = io->is_running;
  io->is_ending = true;
  /* Under the lock, so that the thread sees it only when the telling is over. */
  if (was_running) tell(io);
  actl__lock_drop(&io->lock);

  if (was_running) {
    actl__thread_join(&io->thread);
    close_loop(io);
  }
  free_alarms(io);
  free_taken(io);
  actl__signal_fini(&io->has_settled);
  actl__lock_fini(&io->lock);
  actl__memory_free(io->mem, io, sizeof *io);
}

/* ---- From other threads ---- */

/* Under the lock. */
static void put_asked(struct io *io, struct alarm *a) {
  if (a->is_asked) return;
  a->is_asked = true;
  a->next = io->asked;
  io->asked = a;
}

struct alarm *actl__io_alarm(struct io *io, void *whom) {
  struct alarm *a = actl__memory_new(io->mem, sizeof *a);
  if (a == NULL) return NULL;
  memset(a, 0, sizeof *a);
  a->whom = whom;

  actl__lock_take(&io->lock);
  a->older = io->newest;
  io->newest = a;
  actl__lock_drop(&io->lock);
  return a;
}

bool actl__io_arm(struct io *io, struct alarm *a, uint64_t due_ms) {
  actl__lock_take(&io->lock);
  a->due_ms = due_ms;
  put_asked(io, a);
  bool tells = must_tell(io), rings = io->is_running;
  actl__lock_drop(&io->lock);
  if (tells) tell(io);
  return rings;
}

/* Under the lock, which is free while it waits. One that failed stays in the list, and is dead. */
static actl_status settle_signal(struct io *io, struct taken *t) {
  const uint64_t long_ns = 1000000000;
  t->older = io->taken;
  io->taken = t;
  if (must_tell(io)) tell(io);
  while (!t->is_settled && io->is_running) actl__signal_wait(&io->has_settled, &io->lock, long_ns);
  if (t->failed == UV_EINVAL) return ACTL_INVALID;
  return io->is_running && t->failed == 0 ? ACTL_OK : ACTL_SYSTEM;
}

static bool is_taken(const struct io *io, int number) {
  for (const struct taken *t = io->taken; t != NULL; t = t->older)
    if (t->number == number && t->failed == 0) return true;
  return false;
}

actl_status actl__io_take(struct io *io, int number, void (*take)(void *ud, int number), void *ud) {
  struct taken *t = actl__memory_new(io->mem, sizeof *t);
  if (t == NULL) return ACTL_NO_MEMORY;
  memset(t, 0, sizeof *t);
  t->number = number;
  t->take = take;
  t->ud = ud;

  actl__lock_take(&io->lock);
  bool is_new = !is_taken(io, number);
  actl_status status = is_new ? settle_signal(io, t) : ACTL_INVALID;
  actl__lock_drop(&io->lock);
  if (!is_new) actl__memory_free(io->mem, t, sizeof *t);
  return status;
}

void actl__io_watch(struct io *io) {
  actl__lock_take(&io->lock);
  io->wants_watch = true;
  bool tells = must_tell(io);
  actl__lock_drop(&io->lock);
  if (tells) tell(io);
}
