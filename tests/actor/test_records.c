/*
 * test_records.c - slots and pids: how they are given out, used again, reserved and retired.
 *
 * `history` knows of each slot the generation that it was last live with: a pid that comes twice has
 * a generation that is not above it.
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

#include "actor/records.h"
#include "base/random.h"
#include "support/alloc.h"
#include "support/race.h"

enum { VAT = 1234, TABLE = 5 };

struct fixture {
  struct test_alloc hook;
  struct memory mem;
  struct slabs slabs;
  struct arena arena;
  struct records records;
  uint16_t *generations; /* by slot: the last that was live */
};

static struct fixture fixture;

static struct fixture *begin(void) {
  struct fixture *f = &fixture;
  memset(f, 0, sizeof *f);
  actl__memory_init(&f->mem, test_alloc, &f->hook);
  assert_int_equal(actl__slabs_init(&f->slabs, &f->mem), ACTL_OK);
  actl__arena_init(&f->arena, &f->slabs);
  assert_int_equal(actl__records_init(&f->records, actl__pid_home(VAT), TABLE, &f->arena, &f->mem),
                   ACTL_OK);
  f->generations = calloc(PID_SLOTS, sizeof *f->generations);
  assert_non_null(f->generations);
  return f;
}

static void end(struct fixture *f) {
  actl__records_fini(&f->records);
  actl__arena_fini(&f->arena);
  actl__slabs_fini(&f->slabs);
  free(f->generations);
  assert_true(test_alloc_is_clean(&f->hook));
}

/* Whether `a` is as a new actor is, under a pid that nobody had. Notes the pid. */
static bool is_new(struct fixture *f, const struct actor *a) {
  uint32_t slot = actl__pid_slot(a->pid), generation = actl__pid_generation(a->pid);
  if (slot == 0 || slot >= RECORDS_SLOTS) return false;
  if ((a->pid & ~((uint64_t)(PID_GENERATIONS - 1) << PID_GENERATION_SHIFT)) !=
      (actl__pid_home(VAT) | slot))
    return false;
  if (generation <= f->generations[slot]) return false;
  f->generations[slot] = (uint16_t)generation;

  struct actor blank = {.pid = a->pid, .table = TABLE};
  return memcmp(a, &blank, sizeof blank) == 0 && actl__records_find(&f->records, a->pid) == a &&
         actl__records_at(&f->records, slot) == a &&
         actl__actor_ref(a) == ((uint32_t)TABLE << PID_SLOT_BITS | slot);
}

static struct actor *new_actor(struct fixture *f) {
  bool is_used_up = false;
  struct actor *a = actl__records_new(&f->records, &is_used_up);
  if (a == NULL || is_used_up || !is_new(f, a)) fail();
  a->depth = 7; /* what the next one must not see */
  a->word = a->pid;
  a->flags = ACTOR_STOPPING;
  return a;
}

/* ---- Looking up ---- */

static void a_pid_is_found_while_its_actor_lives_and_no_longer(void **state) {
  (void)state;
  struct fixture *f = begin();
  assert_null(actl__records_find(&f->records, actl__pid_make(f->records.home, 1, 1)));
  for (int i = 0; i < 100; i++) {
    struct actor *a = new_actor(f);
    uint64_t pid = a->pid;
    uint32_t slot = actl__pid_slot(pid), generation = actl__pid_generation(pid);
    assert_null(actl__records_find(&f->records, pid | PID_GATE));
    assert_null(actl__records_find(&f->records, pid & ~PID_TOP));
    assert_null(actl__records_find(&f->records, actl__pid_make(f->records.home, slot, 0)));
    assert_null(
        actl__records_find(&f->records, actl__pid_make(f->records.home, slot, generation + 1)));
    actl__records_free(&f->records, a);
    assert_null(actl__records_find(&f->records, pid));
    for (uint32_t g = 0; g < 200; g++) /* a forged one finds no free record */
      assert_null(actl__records_find(&f->records, actl__pid_make(f->records.home, slot, g)));
  }
  for (uint32_t slot = 0; slot < 1000; slot++)
    assert_null(actl__records_find(&f->records, actl__pid_make(f->records.home, slot, 1)));
  assert_null(actl__records_find(&f->records, actl__pid_make(f->records.home, PID_SLOTS - 1, 1)));
  end(f);
}

static void records_never_move(void **state) {
  (void)state;
  enum { ACTORS = ACTL_TUNE(70000, 900) };
  static struct actor *actors[ACTORS];
  static uint64_t pids[ACTORS];
  struct fixture *f = begin();
  for (uint64_t i = 0; i < ACTORS; i++) {
    actors[i] = new_actor(f);
    pids[i] = actors[i]->pid;
    actors[i]->word = i;
  }
  for (uint64_t i = 0; i < ACTORS; i++) {
    assert_ptr_equal(actl__records_find(&f->records, pids[i]), actors[i]);
    assert_true(actors[i]->word == i && actors[i]->pid == pids[i]);
  }
  end(f);
}

/* ---- Reuse ---- */

#if defined(__SANITIZE_THREAD__)
enum { REUSES = 400000 }; /* one thread: nothing to see for it */
#else
enum { REUSES = 2000000 };
#endif

/* `alive` actors at a time, one freed and one made for each reuse. */
static void churn(struct fixture *f, int alive, uint64_t reuses) {
  enum { PAST = 4096 };
  static uint64_t freed_at[PID_SLOTS];
  static uint64_t past[PAST];
  static struct actor *actors[512];
  memset(freed_at, 0, sizeof freed_at);
  memset(past, 0, sizeof past);
  for (int i = 0; i < alive; i++) actors[i] = new_actor(f);

  uint64_t random = 3, n_reused = 0, last_freed_at = 0;
  for (uint64_t n = 1; n <= reuses; n++) {
    struct actor **at = &actors[actl__random_below(&random, (uint32_t)alive)];
    uint64_t pid = (*at)->pid;
    freed_at[actl__pid_slot(pid)] = n;
    actl__records_free(&f->records, *at);
    past[n % PAST] = pid;

    *at = new_actor(f); /* a pid that nobody had */
    uint64_t was_freed_at = freed_at[actl__pid_slot((*at)->pid)];
    if (was_freed_at != 0) {
      n_reused++;
      assert_true(n - was_freed_at >= RECORDS_REUSE); /* as many others are free */
      assert_true(was_freed_at > last_freed_at);      /* first in, first out */
      last_freed_at = was_freed_at;
    }
    uint64_t stale = past[actl__random_below(&random, PAST)];
    if (stale != 0) assert_null(actl__records_find(&f->records, stale));
  }
  assert_true(n_reused > reuses / 2);
  assert_true(f->records.n_touched <= RECORDS_REUSE + (uint32_t)alive + 130);
  for (int i = 0; i < alive; i++) actl__records_free(&f->records, actors[i]);
  for (int i = 0; i < PAST; i++) assert_null(actl__records_find(&f->records, past[i]));
}

static void stale_pids_find_nothing_over_millions_of_reuses(void **state) {
  (void)state;
  struct fixture *f = begin();
#if defined(ACTL_STRESS)
  churn(f, 60, REUSES); /* so many slots that none is used up */
#else
  churn(f, 1, REUSES);
#endif
  end(f);
}

static void stale_pids_find_nothing_while_many_others_live(void **state) {
  (void)state;
  struct fixture *f = begin();
  churn(f, 400, REUSES / 4);
  end(f);
}

/* Makes the actor's generation the last one, as if it had been used so often. */
static void age(struct fixture *f, struct actor *a) {
  a->pid = actl__pid_make(f->records.home, actl__pid_slot(a->pid), PID_GENERATIONS - 1);
  f->generations[actl__pid_slot(a->pid)] = PID_GENERATIONS - 1;
}

static void a_slot_whose_generations_are_used_up_is_retired(void **state) {
  (void)state;
  enum { ACTORS = 3 * RECORDS_REUSE };
  static struct actor *actors[ACTORS];
  struct fixture *f = begin();
  for (int i = 0; i < ACTORS; i++) actors[i] = new_actor(f);
  unsigned n_aged = 0;
  for (int i = 0; i < ACTORS; i++) {
    uint64_t pid = actors[i]->pid;
    if (i % 3 == 0) {
      age(f, actors[i]);
      pid = actors[i]->pid;
      assert_ptr_equal(actl__records_find(&f->records, pid), actors[i]);
      n_aged++;
    }
    actl__records_free(&f->records, actors[i]);
    assert_null(actl__records_find(&f->records, pid));
  }
  assert_int_equal(f->records.n_free, ACTORS - n_aged);
  /* new_actor fails on a generation that is not above the last. */
  for (int i = 0; i < 10 * ACTORS; i++) actl__records_free(&f->records, new_actor(f));
  end(f);
}

#if defined(ACTL_STRESS)
static void a_table_lives_until_every_generation_of_every_slot_was_used(void **state) {
  (void)state;
  struct fixture *f = begin();
  uint64_t n = 0;
  /* All slots but a few are retired at once; those few are used to the end. */
  enum { FEW = 20 };
  static struct actor *actors[RECORDS_SLOTS];
  for (int i = 1; i < RECORDS_SLOTS; i++) actors[i] = new_actor(f);
  for (int i = 1; i < RECORDS_SLOTS; i++) {
    if (i > FEW) age(f, actors[i]);
    actl__records_free(&f->records, actors[i]);
  }
  bool is_used_up = false;
  for (struct actor *a; (a = actl__records_new(&f->records, &is_used_up)) != NULL; n++) {
    if (!is_new(f, a)) fail();
    actl__records_free(&f->records, a);
  }
  assert_true(is_used_up);
  /* What is left are the slots that must lie free. */
  assert_int_equal(f->records.n_free, RECORDS_REUSE);
  assert_true(n > (uint64_t)(FEW - RECORDS_REUSE) * (PID_GENERATIONS - 2));
  end(f);
}
#endif

static void without_a_slot_new_says_so_and_reserve_gives_none(void **state) {
  (void)state;
  struct fixture *f = begin();
  struct actor *a = new_actor(f); /* has taken a batch of fresh ones */
  uint32_t left = f->records.fresh_end - f->records.fresh_at;
  for (uint32_t i = 0; i < left; i++) (void)new_actor(f);
  /* As if others had reserved nearly all: their records are not made before they are adopted. */
  atomic_store(&f->records.n_fresh, RECORDS_SLOTS - 3);
  for (uint32_t i = 3; i > 0; i--) {
    uint64_t pid = actl__records_reserve(&f->records);
    assert_int_equal(actl__pid_slot(pid), RECORDS_SLOTS - i);
    assert_null(actl__records_find(&f->records, pid));
  }
  for (int i = 0; i < 3; i++) {
    bool is_used_up = false;
    assert_true(actl__records_reserve(&f->records) == 0);
    assert_null(actl__records_new(&f->records, &is_used_up));
    assert_true(is_used_up);
  }
  actl__records_fill_reserve(&f->records);
  actl__records_free(&f->records, a);
  end(f);
}

/* ---- The reserve ---- */

static void reserved_pids_are_nobodys_until_adopted(void **state) {
  (void)state;
  enum { RESERVED = 300 };
  struct fixture *f = begin();
  uint64_t pids[RESERVED];
  for (int i = 0; i < RESERVED; i++) {
    pids[i] = actl__records_reserve(&f->records);
    assert_true(pids[i] != 0);
    for (int k = 0; k < i; k++) assert_true(pids[k] != pids[i]);
  }
  struct actor *own = new_actor(f);
  for (int i = 0; i < RESERVED; i++) assert_null(actl__records_find(&f->records, pids[i]));

  /* The last first: the records before it are made, and are nobody's. */
  for (int i = RESERVED; i-- > 0;) {
    struct actor *a = actl__records_adopt(&f->records, pids[i]);
    assert_non_null(a);
    assert_true(a->pid == pids[i] && a != own);
    assert_true(is_new(f, a));
    for (int k = 0; k < i; k++) assert_null(actl__records_find(&f->records, pids[k]));
    if (i % 3 == 0) actl__records_free(&f->records, a);
  }
  end(f);
}

static void the_reserve_is_filled_with_free_slots_once_it_was_used(void **state) {
  (void)state;
  struct fixture *f = begin();
  enum { ACTORS = RECORDS_REUSE + RECORDS_RESERVE + 10 };
  static struct actor *actors[ACTORS];
  for (int i = 0; i < ACTORS; i++) actors[i] = new_actor(f);
  for (int i = 0; i < ACTORS; i++) actl__records_free(&f->records, actors[i]);
  actl__records_fill_reserve(&f->records);
  assert_int_equal(f->records.n_reserved, 0);

  uint64_t fresh = actl__records_reserve(&f->records);
  assert_int_equal(actl__pid_generation(fresh), 1);
  actl__records_fill_reserve(&f->records);
  assert_int_equal(f->records.n_reserved, RECORDS_RESERVE);
  for (int i = 0; i < RECORDS_RESERVE; i++) {
    uint64_t pid = actl__records_reserve(&f->records);
    assert_int_equal(actl__pid_generation(pid), 2);
    struct actor *a = actl__records_adopt(&f->records, pid);
    assert_true(a != NULL && is_new(f, a));
  }
  assert_int_equal(actl__pid_generation(actl__records_reserve(&f->records)), 1);

  /* No more than must lie free: what is over. */
  actl__records_fill_reserve(&f->records);
  assert_int_equal(f->records.n_free + f->records.n_reserved, ACTORS - RECORDS_RESERVE);
  assert_true(f->records.n_reserved > 0 && f->records.n_free >= RECORDS_REUSE);
  end(f);
}

static void a_pid_given_back_is_reserved_again(void **state) {
  (void)state;
  struct fixture *f = begin();
  uint64_t pid = actl__records_reserve(&f->records);
  actl__records_unreserve(&f->records, pid);
  assert_true(actl__records_reserve(&f->records) == pid);
  /* More than fit are lost, and that is all. */
  uint64_t pids[RECORDS_RESERVE + 3];
  for (int i = 0; i < RECORDS_RESERVE + 3; i++) pids[i] = actl__records_reserve(&f->records);
  for (int i = 0; i < RECORDS_RESERVE + 3; i++) actl__records_unreserve(&f->records, pids[i]);
  assert_int_equal(f->records.n_reserved, RECORDS_RESERVE);
  for (int i = 0; i < RECORDS_RESERVE + 3; i++) {
    struct actor *a = actl__records_adopt(&f->records, actl__records_reserve(&f->records));
    assert_true(a != NULL && is_new(f, a));
  }
  end(f);
}

/* ---- One life after another ---- */

/* What happens to pids in one life of the table: all come to an end. */
static void live(struct fixture *f, uint64_t *random) {
  enum { DEEDS = 60, AT_ONCE = 12 };
  struct actor *alive[AT_ONCE] = {NULL};
  for (int deed = 0; deed < DEEDS; deed++) {
    struct actor **at = &alive[actl__random_below(random, AT_ONCE)];
    if (*at != NULL) actl__records_free(&f->records, *at);
    *at = NULL;
    uint32_t die = actl__random_below(random, 4);
    if (die == 0) {
      *at = new_actor(f);
      continue;
    }
    uint64_t pid = actl__records_reserve(&f->records);
    if (pid == 0) continue;
    if (die == 1) {
      *at = actl__records_adopt(&f->records, pid);
      assert_true(*at != NULL && is_new(f, *at));
    } else if (die == 2) {
      actl__records_unreserve(&f->records, pid);
    } else { /* its spawner knows it */
      actl__records_lose(&f->records, pid);
      f->generations[actl__pid_slot(pid)] = (uint16_t)actl__pid_generation(pid);
    }
    actl__records_fill_reserve(&f->records);
  }
  for (int i = 0; i < AT_ONCE; i++)
    if (alive[i] != NULL) actl__records_free(&f->records, alive[i]);
}

static void renew(struct fixture *f) {
  assert_true(actl__records_renew(&f->records));
  actl__arena_fini(&f->arena);
  actl__arena_init(&f->arena, &f->slabs);
}

static void pids_of_one_life_are_none_of_the_next(void **state) {
  (void)state;
  struct fixture *f = begin();
  uint64_t random = 5;
  for (int life = 0; life < 400; life++) {
    live(f, &random);
    renew(f);
    assert_int_equal(f->records.n_touched, 0);
    for (uint32_t slot = 0; slot < 100; slot++)
      assert_null(actl__records_find(&f->records,
                                     actl__pid_make(f->records.home, slot, f->generations[slot])));
  }
  end(f);
}

static void a_pid_that_never_lived_is_none_of_the_next_life_either(void **state) {
  (void)state;
  struct fixture *f = begin();
  for (int life = 0; life < 10; life++) {
    uint64_t pid = actl__records_reserve(&f->records);
    actl__records_lose(&f->records, pid);
    renew(f);
    uint64_t next = actl__records_reserve(&f->records);
    assert_int_equal(actl__pid_slot(next), actl__pid_slot(pid));
    assert_true(actl__pid_generation(next) > actl__pid_generation(pid));
    struct actor *a = actl__records_adopt(&f->records, next);
    assert_true(a != NULL && is_new(f, a));
    actl__records_free(&f->records, a);
    renew(f);
  }
  end(f);
}

static void a_life_with_one_actor_at_a_time_uses_up_one_generation(void **state) {
  (void)state;
  struct fixture *f = begin();
  for (uint32_t life = 1; life < PID_GENERATIONS - 1; life++) {
    struct actor *a = new_actor(f);
    assert_int_equal(actl__pid_generation(a->pid), life);
    actl__records_free(&f->records, a);
    renew(f);
    renew(f); /* one in which nothing happens uses up none */
  }
  actl__records_free(&f->records, new_actor(f));
  assert_false(actl__records_renew(&f->records));
  end(f);
}

/* ---- No memory ---- */

static void without_memory_new_is_null_and_nothing_is_lost(void **state) {
  (void)state;
  enum { ACTORS = ACTL_TUNE(40000, 900) };
  struct fixture *f = begin();
  unsigned n_refused = 0;
  for (uint32_t i = 1; i <= ACTORS; i++) {
    test_alloc_fail_from(&f->hook, 1 + n_refused % 4);
    bool is_used_up = false;
    struct actor *a = actl__records_new(&f->records, &is_used_up);
    bool did_fail = test_alloc_heal(&f->hook);
    assert_false(is_used_up);
    if (did_fail) {
      n_refused++;
      if (a == NULL) a = actl__records_new(&f->records, &is_used_up);
    }
    assert_true(a != NULL && is_new(f, a));
    assert_int_equal(actl__pid_slot(a->pid), i);
  }
  assert_true(n_refused > 0);
  end(f);
}

static void without_memory_adopt_is_null_and_the_rest_goes_on(void **state) {
  (void)state;
  enum { RESERVED = ACTL_TUNE(5000, 900) };
  struct fixture *f = begin();
  static uint64_t pids[RESERVED];
  for (int i = 0; i < RESERVED; i++) pids[i] = actl__records_reserve(&f->records);
  test_alloc_fail_from(&f->hook, 1);
  assert_null(actl__records_adopt(&f->records, pids[RESERVED - 1]));
  assert_null(actl__records_adopt(&f->records, pids[0]));
  assert_true(test_alloc_heal(&f->hook));
  assert_null(actl__records_find(&f->records, pids[RESERVED - 1]));
  for (size_t n = 1, next = RESERVED - 2; next > 0; n++) {
    test_alloc_fail_from(&f->hook, n);
    struct actor *a = actl__records_adopt(&f->records, pids[next]);
    test_alloc_heal(&f->hook);
    if (a != NULL) assert_true(is_new(f, a));
    if (a == NULL) assert_null(actl__records_find(&f->records, pids[next]));
    next = next > 7 ? next - 7 : 0;
  }
  end(f);
}

/* ---- Far spawners ---- */

enum { SPAWNERS = 2, SPAWNS = ACTL_TUNE(100000, 20000), BASKET = 64, ALIVE = 50 };
enum { GIVE_BACKS = 150 }; /* each may cost a slot: the reserve may be full */

struct spawner {
  struct records *records;
  actl__lock lock;       /* of the basket */
  uint64_t pids[BASKET]; /* what the owner is to adopt; under `lock` */
  uint32_t n;            /* under `lock` */
  bool is_done;          /* under `lock` */
  uint32_t n_none, n_given_back;
  uint64_t seed;
};

static void spawn_far(void *arg) {
  struct spawner *s = arg;
  unsigned spins = 0;
  for (uint32_t n = 0; n < SPAWNS;) {
    uint64_t pid = actl__records_reserve(s->records);
    if (pid == 0) {
      s->n_none++;
      test_race_wait(&spins);
      continue;
    }
    if (s->n_given_back < GIVE_BACKS && actl__random_below(&s->seed, 8) == 0) {
      actl__records_unreserve(s->records, pid);
      s->n_given_back++;
      continue;
    }
    for (bool is_put = false; !is_put;) {
      actl__lock_take(&s->lock);
      is_put = s->n < BASKET;
      if (is_put) s->pids[s->n++] = pid;
      actl__lock_drop(&s->lock);
      if (!is_put) test_race_wait(&spins);
    }
    n++;
  }
  actl__lock_take(&s->lock);
  s->is_done = true;
  actl__lock_drop(&s->lock);
}

struct owner {
  struct fixture *fixture;
  struct spawner *spawners;
  struct actor *alive[ALIVE];
  uint32_t n_adopted, n_own, n_faults;
  uint64_t seed;
};

static void replace(struct owner *o, struct actor *a) {
  struct fixture *f = o->fixture;
  struct actor **at = &o->alive[actl__random_below(&o->seed, ALIVE)];
  if (*at != NULL) {
    uint64_t stale = (*at)->pid;
    actl__records_free(&f->records, *at);
    if (actl__records_find(&f->records, stale) != NULL) o->n_faults++;
  }
  *at = a;
}

static bool adopt_all(struct owner *o, struct spawner *s) {
  uint64_t pids[BASKET];
  actl__lock_take(&s->lock);
  uint32_t n = s->n;
  bool is_done = s->is_done;
  memcpy(pids, s->pids, n * sizeof *pids);
  s->n = 0;
  actl__lock_drop(&s->lock);

  for (uint32_t i = 0; i < n; i++) {
    struct fixture *f = o->fixture;
    if (actl__records_find(&f->records, pids[i]) != NULL) o->n_faults++;
    struct actor *a = actl__records_adopt(&f->records, pids[i]);
    if (a == NULL || a->pid != pids[i] || !is_new(f, a)) o->n_faults++;
    if (a == NULL) continue;
    o->n_adopted++;
    replace(o, a);
  }
  return is_done && n == 0;
}

static void own_records(void *arg) {
  struct owner *o = arg;
  struct fixture *f = o->fixture;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (int i = 0; i < SPAWNERS; i++)
      if (!adopt_all(o, &o->spawners[i])) is_done = false;
    bool is_used_up = false;
    struct actor *a = actl__records_new(&f->records, &is_used_up);
    if (a != NULL) {
      if (!is_new(f, a)) o->n_faults++;
      o->n_own++;
      replace(o, a);
    } else if (!is_used_up) {
      o->n_faults++;
    } else {
      replace(o, NULL); /* frees one */
    }
    actl__records_fill_reserve(&f->records);
  }
}

static void no_pid_comes_twice_while_others_reserve_and_give_back(void **state) {
  (void)state;
  struct fixture *f = begin();
  static struct spawner spawners[SPAWNERS];
  static struct owner owner;
  memset(&owner, 0, sizeof owner);
  owner = (struct owner){.fixture = f, .spawners = spawners, .seed = 77};
  struct test_racer racers[SPAWNERS + 1] = {{own_records, &owner}};
  for (unsigned i = 0; i < SPAWNERS; i++) {
    spawners[i] = (struct spawner){.records = &f->records, .seed = i + 1};
    assert_int_equal(actl__lock_init(&spawners[i].lock), ACTL_OK);
    racers[i + 1] = (struct test_racer){spawn_far, &spawners[i]};
  }
  test_race(racers, SPAWNERS + 1);

  assert_int_equal(owner.n_faults, 0);
  assert_int_equal(owner.n_adopted, SPAWNERS * SPAWNS);
  assert_true(owner.n_own > 0);
  for (int i = 0; i < SPAWNERS; i++) {
    assert_true(spawners[i].n_given_back > 0);
    actl__lock_fini(&spawners[i].lock);
  }
  end(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_pid_is_found_while_its_actor_lives_and_no_longer),
    cmocka_unit_test(records_never_move),
    cmocka_unit_test(stale_pids_find_nothing_over_millions_of_reuses),
    cmocka_unit_test(stale_pids_find_nothing_while_many_others_live),
    cmocka_unit_test(a_slot_whose_generations_are_used_up_is_retired),
#if defined(ACTL_STRESS)
    cmocka_unit_test(a_table_lives_until_every_generation_of_every_slot_was_used),
#endif
    cmocka_unit_test(without_a_slot_new_says_so_and_reserve_gives_none),
    cmocka_unit_test(reserved_pids_are_nobodys_until_adopted),
    cmocka_unit_test(the_reserve_is_filled_with_free_slots_once_it_was_used),
    cmocka_unit_test(a_pid_given_back_is_reserved_again),
    cmocka_unit_test(pids_of_one_life_are_none_of_the_next),
    cmocka_unit_test(a_pid_that_never_lived_is_none_of_the_next_life_either),
    cmocka_unit_test(a_life_with_one_actor_at_a_time_uses_up_one_generation),
    cmocka_unit_test(without_memory_new_is_null_and_nothing_is_lost),
    cmocka_unit_test(without_memory_adopt_is_null_and_the_rest_goes_on),
    cmocka_unit_test(no_pid_comes_twice_while_others_reserve_and_give_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
