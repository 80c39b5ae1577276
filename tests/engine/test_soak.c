/*
 * test_soak.c - actors that do whatever comes into their heads, near and far, in vats that come and
 * go: the books balance, no ask is forgotten, and nobody is called out of turn.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include "support/alloc.h"

enum { VATS = 4, OPENED = 6, TABLE = 128, KEPT = 4, LIVES_MAX = 400000, ROUNDS = 8 };

enum op { ACT, ASKED, CHECK };

/* One actor's life as the test sees it; written by that actor only. */
struct life {
  actl_pid pid;
  int64_t open_asks;
  bool is_born, has_stopped, is_checked;
};

/* What all of them share. */
struct town {
  _Atomic(uint64_t) table[TABLE];   /* pids of some, living or dead */
  _Atomic(uint32_t) opened[OPENED]; /* numbers of vats that are open, or were; 0: none yet */
  _Atomic(int64_t) budget;          /* deeds left in this round */
  atomic_uint lives, sent, asked, replies, dropped_replies, wrong, checked, spawn_errors;
  atomic_uint n_opened, n_closed, n_isolates;
  struct life *life;
};

struct citizen {
  struct town *town;
  struct life *life;
  uint64_t seed;
  actl_request kept[KEPT];
  unsigned n_kept;
};

static const actl_behavior citizen;

static actl_pid somebody(struct citizen *self) {
  actl_pid pid = {atomic_load_explicit(&self->town->table[random_next(&self->seed) % TABLE],
                                       memory_order_relaxed)};
  return pid;
}

/* A text of some length, so that every way to carry one is used. */
static actl_value some_text(struct citizen *self) {
  static const char text[3000] = "a text";
  static const uint32_t lengths[] = {0, 6, 7, 8, 20, 40, 200, 3000};
  return actl_bytes(text, lengths[random_next(&self->seed) % 8]);
}

static uint32_t some_opened(struct citizen *self) {
  return atomic_load_explicit(&self->town->opened[random_next(&self->seed) % OPENED],
                              memory_order_relaxed);
}

static uint32_t some_vat(actl_ctx *ctx, struct citizen *self) {
  uint64_t where = random_next(&self->seed) % 10;
  if (where < VATS) return (uint32_t)where;
  if (where == 4) return ACTL_VAT_ANY;
  if (where == 5) return ACTL_VAT_NEW;
  return where < 8 ? some_opened(self) : actl_ctx_vat(ctx);
}

static void spawn_one(actl_ctx *ctx, struct citizen *self) {
  struct town *town = self->town;
  unsigned number = tick(&town->lives);
  if (number >= LIVES_MAX) return;
  uint32_t where = some_vat(ctx, self);
  actl_pid pid;
  actl_status status =
      actl_spawn_on(ctx, where, &citizen, ACTL_VALUES(pointer(town), actl_int(number)), &pid);
  if (status != ACTL_OK) {
    bool is_gone = status == ACTL_NO_VAT && where >= VATS && where < ACTL_VAT_NEW;
    if (status != ACTL_STOPPED && status != ACTL_SHUTDOWN && !is_gone) tick(&town->spawn_errors);
    return;
  }
  if (where == ACTL_VAT_NEW) tick(&town->n_isolates);
  atomic_store_explicit(&town->table[random_next(&self->seed) % TABLE], pid.bits,
                        memory_order_relaxed);
  if (actl_send(ctx, pid, ACTL_VALUES(actl_int(ACT), some_text(self))) == ACTL_OK) {
    tick(&town->sent);
  }
}

static void ask_one(actl_ctx *ctx, struct citizen *self, actl_pid to) {
  actl_ask_id ask;
  actl_status status = actl_ask(ctx, to, ACTL_VALUES(actl_int(ASKED), some_text(self)), &ask);
  if (status == ACTL_OK) {
    tick(&self->town->asked);
    self->life->open_asks++;
  } else if (status != ACTL_SELF && (status != ACTL_INVALID || to.bits != 0)) {
    tick(&self->town->wrong);
  }
}

static void answer_one(actl_ctx *ctx, struct citizen *self) {
  if (self->n_kept == 0) return;
  actl_request request = self->kept[--self->n_kept];
  if (random_next(&self->seed) % 2) {
    actl_request_reply(ctx, request, ACTL_VALUES(some_text(self)));
  } else {
    actl_request_fail(ctx, request, ACTL_NO_ROUTE);
  }
}

static void open_or_close_one(actl_ctx *ctx, struct citizen *self) {
  struct town *town = self->town;
  _Atomic(uint32_t) *place = &town->opened[random_next(&self->seed) % OPENED];
  uint32_t number = 0;
  actl_status status = actl_vat_open(actl_ctx_engine(ctx), &number);
  if (status == ACTL_OK) {
    tick(&town->n_opened);
    if (number < VATS) tick(&town->wrong);
    number = atomic_exchange_explicit(place, number, memory_order_relaxed);
  } else if (status != ACTL_SHUTDOWN) {
    tick(&town->wrong);
  }
  if (number == 0) return;
  status = actl_vat_close(actl_ctx_engine(ctx), number);
  if (status == ACTL_OK) {
    tick(&town->n_closed);
  } else {
    tick(&town->wrong);
  }
}

/* One deed. ACTL_OK, or a failure that the handler is to return. */
static actl_status act(actl_ctx *ctx, struct citizen *self) {
  struct town *town = self->town;
  if (atomic_fetch_sub_explicit(&town->budget, 1, memory_order_relaxed) <= 0) return ACTL_OK;
  actl_pid to = somebody(self);
  uint64_t die = random_next(&self->seed) % 1000;
  if (die < 150) {
    spawn_one(ctx, self);
  } else if (die < 700) {
    if (to.bits != 0 &&
        actl_send(ctx, to, ACTL_VALUES(actl_int(ACT), some_text(self))) == ACTL_OK) {
      tick(&town->sent);
    }
  } else if (die < 850) {
    ask_one(ctx, self, to);
  } else if (die < 920) {
    answer_one(ctx, self);
  } else if (die < 960) {
    if (to.bits != 0) actl_stop(ctx, to);
  } else if (die < 970) {
    if (to.bits != 0) actl_stop_now(ctx, to);
  } else if (die < 975) {
    if (to.bits != 0) actl_kill(ctx, to);
  } else if (die < 980) {
    open_or_close_one(ctx, self);
  } else if (die < 985) {
    actl_exit(ctx, "enough of it");
  } else if (die < 990) {
    return actl_fail(ctx, "it was too much");
  } else {
    actl_flush(ctx);
  }
  return ACTL_OK;
}

static actl_status act_some(actl_ctx *ctx, struct citizen *self) {
  for (uint64_t n = random_next(&self->seed) % 4 + 1; n > 0; n--) {
    actl_status status = act(ctx, self);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}

static actl_status citizen_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct citizen *self = state;
  self->town = pointer_in(args, 0);
  self->life = &self->town->life[actl_msg_int(args, 1, 0)];
  self->seed = (uint64_t)actl_msg_int(args, 1, 0) * 0x9E3779B97F4A7C15u + 1;
  if (self->life->is_born) tick(&self->town->wrong);
  self->life->is_born = true;
  self->life->pid = actl_self(ctx);
  if (random_next(&self->seed) % 50 == 0) return actl_fail(ctx, "was not to be born");
  return act_some(ctx, self);
}

static actl_status citizen_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct citizen *self = state;
  struct town *town = self->town;
  if (town == NULL || self->life->has_stopped) {
    if (town != NULL) tick(&town->wrong);
    return ACTL_FAILED;
  }
  int64_t op = actl_msg_int(msg, 0, ACT);
  if (op == CHECK) {
    if (self->life->open_asks != 0 || self->life->is_checked) tick(&town->wrong);
    self->life->is_checked = true;
    tick(&town->checked);
    return ACTL_OK;
  }
  if (op == ASKED) {
    uint64_t die = random_next(&self->seed) % 10;
    if (die == 0) return ACTL_UNHANDLED;
    if (die < 4) {
      if (actl_reply(ctx, ACTL_VALUES(some_text(self))) != ACTL_OK) tick(&town->wrong);
    } else if (die < 8 && self->n_kept < KEPT) {
      if (actl_later(ctx, &self->kept[self->n_kept]) != ACTL_OK) tick(&town->wrong);
      self->n_kept++;
    }
  }
  return act_some(ctx, self);
}

static actl_status citizen_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                                 const actl_msg *msg) {
  (void)ask;
  struct citizen *self = state;
  tick(&self->town->replies);
  if (self->life->has_stopped || (status == ACTL_OK) != (msg != NULL)) tick(&self->town->wrong);
  if (--self->life->open_asks < 0) tick(&self->town->wrong);
  return act_some(ctx, self);
}

static void citizen_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  (void)reason;
  struct citizen *self = state;
  if (self->life->has_stopped) tick(&self->town->wrong);
  self->life->has_stopped = true;
  actl_pid to = somebody(self);
  if (to.bits != 0 && actl_send(ctx, to, ACTL_VALUES(actl_int(ACT))) == ACTL_OK) {
    tick(&self->town->sent);
  }
  actl_pid pid;
  actl_status status = actl_spawn(ctx, &citizen, NULL, 0, &pid);
  if (status != ACTL_STOPPED && status != ACTL_SHUTDOWN) tick(&self->town->wrong);
}

static const actl_behavior citizen = {.name = "citizen",
                                      .state_size = sizeof(struct citizen),
                                      .init = citizen_init,
                                      .receive = citizen_receive,
                                      .reply = citizen_reply,
                                      .stop = citizen_stop};

static void settle(struct host *host, struct town *town, uint64_t *seed) {
  for (uint32_t i = 0; i < 8; i++) {
    unsigned number = tick(&town->lives);
    if (number >= LIVES_MAX) return;
    actl_pid pid =
        host_spawn(host, i % VATS, &citizen, ACTL_VALUES(pointer(town), actl_int(number)));
    atomic_store(&town->table[random_next(seed) % TABLE], pid.bits);
    for (int j = 0; j < 20; j++) {
      host_send(host, pid, ACTL_VALUES(actl_int(ACT)));
      tick(&town->sent);
    }
  }
}

/* Whoever lives says so, and has no ask left open. */
static void call_the_roll(struct host *host, struct town *town) {
  unsigned lives = atomic_load(&town->lives);
  atomic_store(&town->checked, 0);
  for (unsigned i = 0; i < lives && i < LIVES_MAX; i++) {
    town->life[i].is_checked = false;
    if (town->life[i].pid.bits == 0 || town->life[i].has_stopped) continue;
    host_send(host, town->life[i].pid, ACTL_VALUES(actl_int(CHECK)));
    tick(&town->sent);
  }
  host_run(host);
  assert_int_equal(atomic_load(&town->checked), host->stats.alive);
}

static void live(uint32_t workers, uint64_t seed, int64_t budget) {
  struct town *town = calloc(1, sizeof *town);
  assert_non_null(town);
  town->life = calloc(LIVES_MAX, sizeof town->life[0]);
  assert_non_null(town->life);
  struct test_alloc alloc = {0};
  struct host host;
  actl_config config = {.workers = workers, .vats = VATS, .alloc = test_alloc, .alloc_ud = &alloc};
  host_open_with(&host, &config);
  for (int round = 0; round < ROUNDS; round++) {
    atomic_store(&town->budget, budget / ROUNDS);
    settle(&host, town, &seed);
    host_run(&host);
    call_the_roll(&host, town);
    assert_int_equal(atomic_load(&town->wrong), 0);
    assert_int_equal(atomic_load(&town->spawn_errors), 0);
    assert_accounted(&host, (uint64_t)atomic_load(&town->sent) + atomic_load(&town->asked));
  }
  assert_true(atomic_load(&town->asked) > 100 && host.stats.failed > 10);
  assert_true(atomic_load(&town->n_closed) > 10 && atomic_load(&town->n_isolates) > 10);
  atomic_store(&town->budget, budget / ROUNDS);
  settle(&host, town, &seed);
  actl_engine_shutdown(host.engine);
  host_run(&host);
  assert_int_equal(host.stats.alive, 0);
  assert_int_equal(atomic_load(&town->wrong), 0);
  assert_accounted(&host, (uint64_t)atomic_load(&town->sent) + atomic_load(&town->asked));
  host_close(&host);
  assert_true(test_alloc_is_clean(&alloc));
  free(town->life);
  free(town);
}

/* With a seed there is one town, another with each of them. */
static void live_seeded(void) { live(1, (1 + seeds_number()) * 7919, 10000); }

static void whatever_actors_do_the_books_balance_with_one_worker(void **state) {
  (void)state;
  if (seeds_are_on()) live_seeded();
  for (uint64_t seed = 1; seed <= 10 && !seeds_are_on(); seed++)
    live(1, seed * 7919, SCALED(300000));
}

static void whatever_actors_do_the_books_balance_with_more_workers(void **state) {
  (void)state;
  seeds_need_threads();
  for (uint64_t seed = 1; seed <= 10; seed++) {
    live(2 + (uint32_t)seed % 3, seed * 104729, SCALED(300000));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(whatever_actors_do_the_books_balance_with_one_worker),
      WATCHED(whatever_actors_do_the_books_balance_with_more_workers),
  };
  return seeds_main(tests);
}
