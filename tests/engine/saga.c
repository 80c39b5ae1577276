/*
 * saga.c - see saga.h.
 *
 * With a seed everything runs on one thread: records are shared, and need no lock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/saga.h"

#include "actl_driver.h"

enum what { INIT, WALK, QUESTION, RING, ANSWER, STOP, BEGUN }; /* in the journal; some are tags */

enum { ASK_MS = 40, RING_MS = 12, LAST_WORDS = 3 };

static int number_of(const struct life *life) { return (int)(life - life->saga->lives); }

static void note(actl_ctx *ctx, struct life *life, enum what what, int64_t a, int64_t b) {
  struct saga *saga = life->saga;
  if (saga->n_entries == JOURNAL) return;
  saga->journal[saga->n_entries++] =
      (struct entry){actl_now_ns(ctx), actl_self(ctx).bits, what, a, b};
}

static void expect(bool holds, int64_t *broken) { *broken += !holds; }

/* ---- What one does ---- */

static const actl_behavior walker;

/* One of those it knows, itself among them. */
static int somebody(struct life *life) {
  int i = (int)(random_next(&life->random) % LIVES);
  while (!life->knows[i]) i = (i + 1) % LIVES;
  return i;
}

/* (WALK, who tells, how many that were, somebody it knows) */
static void tell(actl_ctx *ctx, struct life *life, int to) {
  struct saga *saga = life->saga;
  actl_status status =
      actl_send(ctx, saga->lives[to].pid,
                ACTL_VALUES(actl_int(WALK), actl_int(number_of(life)),
                            actl_int(++life->sent_to[to]), actl_int(somebody(life))));
  expect(status == ACTL_OK, &saga->broken.calls);
  saga->n_sent++;
}

static void ask(actl_ctx *ctx, struct life *life, int to) {
  struct saga *saga = life->saga;
  if (saga->n_asks == SAGA_ASKS || to == number_of(life)) return;
  actl_ask_id id;
  uint64_t ms = random_next(&life->random) % 4 == 0 ? 1 + saga->n_sent % ASK_MS : 0;
  actl_status status =
      actl_ask_within(ctx, saga->lives[to].pid,
                      ACTL_VALUES(actl_int(QUESTION), actl_int(number_of(life))), ms, &id);
  expect(status == ACTL_OK, &saga->broken.calls);
  saga->asks[saga->n_asks++] = (struct saga_ask){id.bits, number_of(life), 0};
  saga->n_sent++;
}

static void set_timer(actl_ctx *ctx, struct life *life) {
  struct saga *saga = life->saga;
  if (saga->n_timers == SAGA_TIMERS) return;
  actl_timer timer;
  uint64_t ms = random_next(&life->random) % RING_MS;
  uint64_t due_ms = (actl_now_ns(ctx) + 999999) / 1000000 + ms;
  actl_status status =
      actl_after(ctx, ms, ACTL_VALUES(actl_int(RING), actl_int(saga->n_timers)), &timer);
  expect(status == ACTL_OK, &saga->broken.calls);
  saga->timers[saga->n_timers++] =
      (struct saga_timer){.bits = timer.bits, .due_ms = due_ms, .owner = number_of(life)};
}

/* Its newest one, which may be ringing. */
static void cancel_timer(actl_ctx *ctx, struct life *life) {
  struct saga *saga = life->saga;
  int i = saga->n_timers;
  while (i-- > 0 && saga->timers[i].owner != number_of(life)) continue;
  if (i < 0) return;
  struct saga_timer *timer = &saga->timers[i];
  actl_status status = actl_cancel(ctx, (actl_timer){timer->bits});
  bool was_there = !timer->has_come && !timer->is_cancelled;
  expect(status == (was_there ? ACTL_OK : ACTL_EXPIRED), &saga->broken.cancels);
  timer->is_cancelled = true;
}

static void spawn(actl_ctx *ctx, struct life *life) {
  struct saga *saga = life->saga;
  if (saga->n_lives == LIVES) return;
  int number = saga->n_lives;
  struct life *child = &saga->lives[number];
  child->saga = saga;
  child->parent = number_of(life);
  child->random = 977 * (uint64_t)number + 1;
  child->last_timer = -1;

  const actl_value value = actl_int((int64_t)(intptr_t)child);
  uint64_t place = random_next(&life->random) % 8;
  uint32_t vat = place < 3 ? (uint32_t)place : place == 3 ? ACTL_VAT_NEW : ACTL_VAT_ANY;
  actl_status status = place < 5 ? actl_spawn_on(ctx, vat, &walker, &value, 1, &child->pid)
                                 : actl_spawn(ctx, &walker, &value, 1, &child->pid);
  expect(status == ACTL_OK, &saga->broken.calls);
  if (status != ACTL_OK) return;
  saga->n_lives++;
  life->knows[number] = true;
  life->children[life->n_children++] = number;
  tell(ctx, life, number);
}

/* Its youngest child, if that was not told yet: what is sent before comes before. */
static void stop_child(actl_ctx *ctx, struct life *life) {
  struct saga *saga = life->saga;
  if (life->n_children == 0) return;
  struct life *child = &saga->lives[life->children[life->n_children - 1]];
  if (child->was_told || child->stopped_at != 0) return;
  for (int i = 0; i < LAST_WORDS; i++) tell(ctx, life, number_of(child));
  child->was_told = true;
  child->must_have = life->sent_to[number_of(child)];
  expect(actl_stop(ctx, child->pid) == ACTL_OK, &saga->broken.calls);
}

static void release(actl_ctx *ctx, struct life *life) {
  if (!life->has_request) return;
  life->has_request = false;
  actl_status status = actl_request_reply(ctx, life->request, ACTL_VALUES(actl_int(2)));
  expect(status == ACTL_OK, &life->saga->broken.calls);
}

/* One thing, if there is one left. */
static void act(actl_ctx *ctx, struct life *life) {
  struct saga *saga = life->saga;
  if (saga->left <= 0 || saga->is_closing) return;
  saga->left--;
  int to = somebody(life);
  uint64_t what = random_next(&life->random) % 16;
  note(ctx, life, BEGUN, (int64_t)what, to);
  switch (what) {
  case 0:
  case 1:
  case 2: ask(ctx, life, to); break;
  case 3:
  case 4: set_timer(ctx, life); break;
  case 5: cancel_timer(ctx, life); break;
  case 6:
  case 7: spawn(ctx, life); break;
  case 8: stop_child(ctx, life); break;
  case 9: release(ctx, life); break;
  case 10: actl_flush(ctx); break;
  case 11:
    if (to % 8 != 0 || life->parent < 0) break;
    life->has_left = true;
    actl_exit(ctx, NULL);
    break;
  default: break;
  }
  tell(ctx, life, to);
  tell(ctx, life, somebody(life));
}

/* ---- What comes to one ---- */

static actl_status walker_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct life *life = *(struct life **)state = pointer_in(args, 0);
  expect(!life->is_born && life->stopped_at == 0, &life->saga->broken.birth);
  life->is_born = life->knows[number_of(life)] = true;
  if (life->parent >= 0) life->knows[life->parent] = true;
  note(ctx, life, INIT, number_of(life), 0);
  act(ctx, life);
  return ACTL_OK;
}

static void ring(actl_ctx *ctx, struct life *life, int number) {
  struct broken *broken = &life->saga->broken;
  struct saga_timer *timers = life->saga->timers, *timer = &timers[number];
  expect(!timer->has_come && timer->owner == number_of(life), &broken->timers);
  expect(!timer->is_cancelled, &broken->cancels);
  expect(actl_now_ns(ctx) >= timer->due_ms * 1000000, &broken->timers);
  if (life->last_timer >= 0) {
    const struct saga_timer *last = &timers[life->last_timer];
    bool is_later = timer->due_ms > last->due_ms ||
                    (timer->due_ms == last->due_ms && number > life->last_timer);
    expect(is_later, &broken->timers);
  }
  timer->has_come = true;
  life->last_timer = number;
}

/* Some are answered by the handler, some later, some not at all. */
static actl_status answer(actl_ctx *ctx, struct life *life) {
  uint64_t how = random_next(&life->random) % 4;
  if (how == 0) return ACTL_UNHANDLED;
  if (how == 1 && !life->has_request) {
    life->has_request = true;
    return actl_later(ctx, &life->request);
  }
  if (how == 2) return ACTL_OK;
  return actl_reply(ctx, ACTL_VALUES(actl_int(1)));
}

static actl_status walker_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct life *life = *(struct life **)state;
  struct broken *broken = &life->saga->broken;
  int64_t tag = actl_msg_int(msg, 0, -1), from = actl_msg_int(msg, 1, -1);
  expect(life->is_born, &broken->birth);
  expect(life->stopped_at == 0, &broken->stop);
  note(ctx, life, (enum what)tag, from, actl_msg_int(msg, 2, 0));
  if (tag == QUESTION) return answer(ctx, life);
  if (tag == RING) {
    ring(ctx, life, (int)from);
  } else if (from >= 0) {
    /* A shutdown drops what is queued, not what comes after it. */
    int64_t number = actl_msg_int(msg, 2, 0), next = life->had_of[from] + 1;
    expect(number == next || (number > next && life->saga->is_closing), &broken->order);
    life->had_of[from] = (int32_t)number;
    life->knows[from] = life->knows[actl_msg_int(msg, 3, 0)] = true;
  }
  act(ctx, life);
  return ACTL_OK;
}

static actl_status walker_reply(actl_ctx *ctx, void *state, actl_ask_id id, actl_status status,
                                const actl_msg *msg) {
  struct life *life = *(struct life **)state;
  struct saga *saga = life->saga;
  (void)msg;
  note(ctx, life, ANSWER, (int64_t)id.bits, status);
  int n_found = 0;
  for (int i = 0; i < saga->n_asks; i++) {
    if (saga->asks[i].bits != id.bits || saga->asks[i].asker != number_of(life)) continue;
    n_found++;
    saga->asks[i].n_answers++;
  }
  expect(n_found == 1, &saga->broken.asks);
  act(ctx, life);
  return ACTL_OK;
}

/* The children that it did not stop itself have ended with it, one after the other. */
static void check_children(struct life *life) {
  int64_t before = INT64_MAX;
  for (int i = 0; i < life->n_children; i++) {
    const struct life *child = &life->saga->lives[life->children[i]];
    if (!child->is_born || child->was_told || child->has_left) continue;
    expect(child->stopped_at != 0, &life->saga->broken.children);
    expect(child->stopped_at < before, &life->saga->broken.children);
    before = child->stopped_at;
  }
}

/* Whether it may have been ended by more than its parent's message. */
static bool is_swept_away(const struct life *life) {
  if (life->saga->is_closing || life->has_left) return true;
  for (int i = life->parent; i >= 0; i = life->saga->lives[i].parent)
    if (life->saga->lives[i].was_told || life->saga->lives[i].has_left) return true;
  return false;
}

static void walker_stop(actl_ctx *ctx, void *state, const actl_reason *reason) {
  struct life *life = *(struct life **)state;
  struct saga *saga = life->saga;
  note(ctx, life, STOP, number_of(life), reason->status);
  expect(life->is_born && life->stopped_at == 0, &saga->broken.stop);
  life->stopped_at = ++saga->n_stops;
  if (!is_swept_away(life))
    expect(life->was_told && life->had_of[life->parent] == life->must_have, &saga->broken.stop);
  check_children(life);
}

static const actl_behavior walker = {.name = "walker",
                                     .state_size = sizeof(struct life *),
                                     .init = walker_init,
                                     .receive = walker_receive,
                                     .reply = walker_reply,
                                     .stop = walker_stop};

/* ---- The saga ---- */

struct saga *saga_open(const actl_config *config, int64_t left) {
  struct saga *saga = calloc(1, sizeof *saga);
  assert_non_null(saga);
  saga->left = left;
  host_open_with(&saga->host, config);
  struct life *root = &saga->lives[saga->n_lives++];
  root->saga = saga;
  root->parent = root->last_timer = -1;
  root->random = 77;
  root->pid = host_spawn(&saga->host, 0, &walker, ACTL_VALUES(pointer(root)));
  for (int i = 0; i < 4; i++) {
    host_send(&saga->host, root->pid, ACTL_VALUES(actl_int(WALK)));
    saga->n_sent++;
  }
  return saga;
}

static void check_promises(const struct broken *broken) {
  assert_int_equal(broken->order, 0);
  assert_int_equal(broken->birth, 0);
  assert_int_equal(broken->stop, 0);
  assert_int_equal(broken->children, 0);
  assert_int_equal(broken->asks, 0);
  assert_int_equal(broken->timers, 0);
  assert_int_equal(broken->cancels, 0);
  assert_int_equal(broken->calls, 0);
}

void saga_check(struct saga *saga) {
  check_promises(&saga->broken);
  assert_accounted(&saga->host, saga->n_sent + saga->host.stats.fired);
  for (int i = 0; i < saga->n_asks; i++) {
    const struct life *asker = &saga->lives[saga->asks[i].asker];
    assert_in_range(saga->asks[i].n_answers, asker->stopped_at != 0 ? 0 : 1, 1);
  }
  for (int i = 0; i < saga->n_timers; i++) {
    const struct saga_timer *timer = &saga->timers[i];
    assert_true(timer->has_come || timer->is_cancelled ||
                saga->lives[timer->owner].stopped_at != 0);
  }
}

void saga_close(struct saga *saga) {
  saga->is_closing = true;
  actl_engine_shutdown(saga->host.engine);
  host_run(&saga->host);
  assert_int_equal(saga->host.stats.alive, 0);
  check_promises(&saga->broken);
  host_close(&saga->host);
  free(saga);
}

bool saga_equals(const struct saga *a, const struct saga *b) {
  return a->n_entries == b->n_entries &&
         memcmp(a->journal, b->journal, (size_t)a->n_entries * sizeof a->journal[0]) == 0;
}
