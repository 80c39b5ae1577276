/*
 * test_deque.c - one owner pushes, owner and thieves take: each task once.
 *
 * A task's contents are plain: the one who has taken it alone may touch it, until it is pushed again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sched/deque.h"
#include "support/race.h"

enum { SIZE = ACTL__DEQUE_SIZE };

static void tasks_are_taken_oldest_first(void **state) {
  (void)state;
  static struct deque d;
  static struct task tasks[SIZE + 1];
  actl__deque_init(&d);
  bool lost = false;
  assert_false(actl__deque_has(&d));
  assert_null(actl__deque_take(&d, &lost));

  for (int n = 1; n <= SIZE; n++) {
    for (int i = 0; i < n; i++) assert_true(actl__deque_push(&d, &tasks[i]));
    for (int i = 0; i < n; i++) {
      assert_true(actl__deque_has(&d));
      assert_ptr_equal(actl__deque_take(&d, &lost), &tasks[i]);
    }
    assert_false(actl__deque_has(&d));
    assert_null(actl__deque_take(&d, &lost));
  }
  assert_false(lost);
}

static void a_full_deque_takes_no_more_until_one_is_taken(void **state) {
  (void)state;
  static struct deque d;
  static struct task tasks[SIZE + 1];
  actl__deque_init(&d);
  bool lost = false;
  for (int i = 0; i < SIZE; i++) assert_true(actl__deque_push(&d, &tasks[i]));
  for (int i = 0; i < 3 * SIZE; i++) {
    struct task *spare = &tasks[(SIZE + i) % (SIZE + 1)];
    assert_false(actl__deque_push(&d, spare));
    assert_ptr_equal(actl__deque_take(&d, &lost), &tasks[i % (SIZE + 1)]);
    assert_true(actl__deque_push(&d, spare));
  }
  assert_false(lost);
}

static void its_counters_may_wrap_around(void **state) {
  (void)state;
  static struct deque d;
  static struct task tasks[SIZE + 1];
  actl__deque_init(&d);
  bool lost = false;
  /* As after 2^32 - SIZE pushes, each taken. */
  atomic_store(&d.head, UINT32_MAX - SIZE + 1);
  atomic_store(&d.tail, UINT32_MAX - SIZE + 1);
  for (int round = 0; round < 4 * SIZE; round++) {
    assert_false(actl__deque_has(&d));
    for (int i = 0; i < SIZE; i++) assert_true(actl__deque_push(&d, &tasks[i]));
    assert_false(actl__deque_push(&d, &tasks[SIZE]));
    assert_true(actl__deque_has(&d));
    for (int i = 0; i < SIZE; i++) assert_ptr_equal(actl__deque_take(&d, &lost), &tasks[i]);
    assert_null(actl__deque_take(&d, &lost));
    assert_ptr_equal(actl__deque_take(&d, &lost), NULL);
    if (atomic_load(&d.head) < SIZE * 2) break;
  }
  assert_true(atomic_load(&d.head) < SIZE * 2);
  assert_false(lost);
}

/* ---- Thieves ---- */

enum { THIEVES = 2, TASKS = 200000 };

struct numbered {
  struct task task;
  uint32_t number; /* plain, as `n_taken` */
  uint32_t n_taken;
};

struct crowd {
  struct deque deque;
  struct numbered *tasks;
  _Atomic(bool) is_over; /* relaxed */
};

struct taker {
  struct crowd *crowd;
  uint32_t last, n_taken, n_faults;
};

static bool take_one(struct taker *t) {
  bool lost = false;
  struct task *task = actl__deque_take(&t->crowd->deque, &lost);
  if (task == NULL) return false;

  struct numbered *n = (struct numbered *)task;
  if (n->number <= t->last || n->n_taken++ != 0) t->n_faults++; /* numbers begin at 1 */
  t->last = n->number;
  t->n_taken++;
  return true;
}

static void steal(void *arg) {
  struct taker *t = arg;
  unsigned spins = 0;
  while (!atomic_load_explicit(&t->crowd->is_over, memory_order_relaxed))
    if (!take_one(t)) test_race_wait(&spins);
}

/* Pushes all; what does not fit waits for the thieves, or until it has taken one itself. */
static void push_all(void *arg) {
  struct taker *t = arg;
  struct crowd *c = t->crowd;
  uint64_t random = 5;
  unsigned spins = 0;
  for (uint32_t i = 0; i < TASKS; i++) {
    c->tasks[i].number = i + 1;
    c->tasks[i].n_taken = 0;
    while (!actl__deque_push(&c->deque, &c->tasks[i].task)) {
      if (actl__random_below(&random, 64) == 0) (void)take_one(t);
      test_race_wait(&spins);
    }
    if (actl__random_below(&random, 4) == 0) (void)take_one(t);
  }
  while (actl__deque_has(&c->deque)) (void)take_one(t);
  atomic_store_explicit(&c->is_over, true, memory_order_relaxed);
}

static void each_task_is_taken_once_and_by_each_taker_in_order(void **state) {
  (void)state;
  static struct crowd c;
  memset(&c, 0, sizeof c);
  actl__deque_init(&c.deque);
  c.tasks = malloc(TASKS * sizeof *c.tasks);
  assert_non_null(c.tasks);

  struct taker takers[THIEVES + 1];
  struct test_racer racers[THIEVES + 1];
  for (int i = 0; i <= THIEVES; i++) {
    takers[i] = (struct taker){.crowd = &c};
    racers[i] = (struct test_racer){i == 0 ? push_all : steal, &takers[i]};
  }
  test_race(racers, THIEVES + 1);

  uint32_t n_taken = 0, n_stolen = 0;
  for (int i = 0; i <= THIEVES; i++) {
    assert_int_equal(takers[i].n_faults, 0);
    if (i > 0) n_stolen += takers[i].n_taken;
    n_taken += takers[i].n_taken;
  }
  assert_int_equal(n_taken, TASKS);
  assert_true(takers[0].n_taken > 0);
  assert_true(n_stolen > 0);
  for (int i = 0; i < TASKS; i++) assert_int_equal(c.tasks[i].n_taken, 1);
  free(c.tasks);
}

/* Two deques; each thread takes from the other's too and pushes what it took on its own. */
struct ring {
  struct deque deques[2];
  _Atomic(int32_t) n_left; /* relaxed: turns to be had; may go below 0 */
};

struct turner {
  struct ring *ring;
  unsigned index;
  uint32_t n_turns, n_faults;
};

static void turn(void *arg) {
  struct turner *t = arg;
  struct deque *own = &t->ring->deques[t->index], *other = &t->ring->deques[1 - t->index];
  unsigned spins = 0;
  while (atomic_load_explicit(&t->ring->n_left, memory_order_relaxed) > 0) {
    bool lost = false;
    bool steals = t->n_turns % 3 == 0;
    struct task *task = actl__deque_take(steals ? other : own, &lost);
    if (task == NULL) task = actl__deque_take(steals ? own : other, &lost);
    if (task == NULL) {
      test_race_wait(&spins);
      continue;
    }
    ((struct numbered *)task)->n_taken++;
    t->n_turns++;
    atomic_fetch_sub_explicit(&t->ring->n_left, 1, memory_order_relaxed);
    if (!actl__deque_push(own, task)) t->n_faults++;
  }
}

static void a_task_that_goes_from_deque_to_deque_is_in_one_place(void **state) {
  (void)state;
  enum { ON_THE_WAY = SIZE, TURNS = 300000 };
  static struct ring ring;
  static struct numbered tasks[ON_THE_WAY];
  memset(&ring, 0, sizeof ring);
  memset(tasks, 0, sizeof tasks);
  for (int i = 0; i < 2; i++) actl__deque_init(&ring.deques[i]);
  for (int i = 0; i < ON_THE_WAY; i++)
    assert_true(actl__deque_push(&ring.deques[0], &tasks[i].task));
  atomic_store(&ring.n_left, TURNS);

  struct turner turners[2] = {{.ring = &ring, .index = 0}, {.ring = &ring, .index = 1}};
  test_race((struct test_racer[]){{turn, &turners[0]}, {turn, &turners[1]}}, 2);

  uint32_t n_turns = 0;
  for (int i = 0; i < ON_THE_WAY; i++) n_turns += tasks[i].n_taken;
  assert_int_equal(turners[0].n_faults + turners[1].n_faults, 0);
  assert_int_equal(n_turns, turners[0].n_turns + turners[1].n_turns);
  assert_true(n_turns >= TURNS);
  int n_left = 0;
  bool lost = false;
  for (int i = 0; i < 2; i++)
    while (actl__deque_take(&ring.deques[i], &lost) != NULL) n_left++;
  assert_int_equal(n_left, ON_THE_WAY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tasks_are_taken_oldest_first),
      cmocka_unit_test(a_full_deque_takes_no_more_until_one_is_taken),
      cmocka_unit_test(its_counters_may_wrap_around),
      cmocka_unit_test(each_task_is_taken_once_and_by_each_taker_in_order),
      cmocka_unit_test(a_task_that_goes_from_deque_to_deque_is_in_one_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
