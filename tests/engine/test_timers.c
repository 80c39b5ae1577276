/*
 * test_timers.c - a timer's message comes once, never early, in the order of the times, in its turn,
 * and as it was set.
 *
 * ctest: timeout 300
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/part.h"

enum { GO = 1000000, TICK, LAST };

/* ---- Never early ---- */

static const uint64_t some_ms[] = {0, 1, 2, 3, 4, 5, 7, 10, 16, 31, 32, 33, 63, 64, 65, 100};
enum { SOME = sizeof some_ms / sizeof some_ms[0] };

static void early_init(actl_ctx *ctx, struct part *self) {
  for (int i = 0; i < SOME; i++) part_after(ctx, self, (int64_t)some_ms[i], some_ms[i]);
}

/* Sets each again from its own handler, twice, after having computed for a while. */
static actl_status early_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t ms = actl_msg_int(msg, 0, 0);
  if (part_count(self, ms) == 3) {
    scene_tick(self->scene);
    return ACTL_OK;
  }
  burn_ms(ctx, 2);
  part_after(ctx, self, ms, (uint64_t)ms);
  return ACTL_OK;
}

static void check_early(struct scene *scene) {
  scene->awaited = SOME;
  scene->parts[0].init = early_init;
  scene->parts[0].receive = early_receive;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  assert_int_equal(scene->parts[0].n_came, 3 * SOME);
  for (int i = 0; i < SOME; i++) {
    assert_int_equal(part_count(&scene->parts[0], (int64_t)some_ms[i]), 3);
  }
  assert_int_equal(scene->host.stats.fired, 3 * SOME);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(letters_of(&scene->host.stats), 0);
}

static void a_timer_is_never_early_and_comes_once(void **state) {
  (void)state;
  on_scenes(check_early);
}

/* ---- Order ---- */

enum { ORDERED = 600, HANDLERS = 3 };

/* When a timer may be due: the clock before and after it was set, plus its time. */
struct due {
  uint64_t from_ns, to_ns;
};

struct order {
  struct due due[ORDERED];
  int64_t n, came[ORDERED], n_came; /* `came`: in the order of handling */
  uint64_t seed, equal_ms;
};

static void set_ordered(actl_ctx *ctx, struct part *self, uint64_t ms) {
  struct order *order = self->ud;
  struct due *due = &order->due[order->n];
  due->from_ns = now_ns(ctx) + ms * NS_OF_MS;
  self->wrong += actl_after(ctx, ms, ACTL_VALUES(actl_int(order->n)), NULL) != ACTL_OK;
  due->to_ns = now_ns(ctx) + ms * NS_OF_MS;
  order->n++;
}

/* Sets a third of them, and sees to the next third. */
static void set_some(actl_ctx *ctx, struct part *self) {
  struct order *order = self->ud;
  for (int i = 0; i < ORDERED / HANDLERS; i++) {
    bool is_far = random_next(&order->seed) % 4 == 0;
    uint64_t ms = random_next(&order->seed) % (is_far ? 200 : 40);
    set_ordered(ctx, self, order->equal_ms ? order->equal_ms : ms);
  }
  if (order->n < ORDERED) part_after(ctx, self, GO, 10);
}

static actl_status ordered_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  struct order *order = self->ud;
  if (actl_msg_int(msg, 0, -1) == GO) {
    set_some(ctx, self);
    return ACTL_OK;
  }
  if (order->n_came < ORDERED) order->came[order->n_came] = actl_msg_int(msg, 0, -1);
  if (++order->n_came == ORDERED) scene_tick(self->scene);
  return ACTL_OK;
}

/* Whether `a` surely comes before `b`: a resolution earlier, or not later and set before. */
static bool comes_before(const struct order *order, int64_t a, int64_t b) {
  const struct due *first = &order->due[a], *second = &order->due[b];
  if (first->to_ns + NS_OF_MS <= second->from_ns) return true;
  return a < b && first->to_ns <= second->from_ns;
}

static void run_ordered(struct scene *scene, struct order *order) {
  scene->awaited = 1;
  scene->parts[0] =
      (struct part){.scene = scene, .ud = order, .init = set_some, .receive = ordered_receive};
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  assert_int_equal(order->n_came, ORDERED);
  assert_int_equal(scene->host.stats.fired, ORDERED + HANDLERS - 1);
}

static void check_order(struct scene *scene) {
  struct order order = {.seed = 88172645463325252u};
  run_ordered(scene, &order);
  int64_t misplaced = 0, decided = 0;
  for (int64_t i = 0; i < ORDERED; i++) {
    for (int64_t j = i + 1; j < ORDERED; j++) {
      misplaced += comes_before(&order, order.came[j], order.came[i]);
      decided += comes_before(&order, order.came[i], order.came[j]);
    }
  }
  assert_int_equal(misplaced, 0);
  assert_true(decided > ORDERED);
}

static void timers_come_in_the_order_of_their_times(void **state) {
  (void)state;
  on_scenes(check_order);
}

static void check_equal(struct scene *scene) {
  struct order order = {.equal_ms = 70};
  run_ordered(scene, &order);
  for (int64_t i = 0; i < ORDERED; i++) assert_int_equal(order.came[i], i);
}

static void timers_of_equal_times_come_in_the_order_of_their_setting(void **state) {
  (void)state;
  on_scenes(check_equal);
}

/* ---- In its turn ---- */

/* Tells itself five times around a timer that is due while the handler still computes. */
static actl_status turn_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  int64_t tag = actl_msg_int(msg, 0, 0);
  if (tag == LAST) scene_tick(self->scene);
  if (tag != GO) return ACTL_OK;
  for (int64_t i = 0; i < 5; i++) part_tell(ctx, self, self->pid, i);
  part_after(ctx, self, TICK, (uint64_t)self->number[0]);
  burn_ms(ctx, (uint64_t)self->number[0] + 2);
  part_after(ctx, self, LAST, (uint64_t)self->number[0] + 20);
  return ACTL_OK;
}

static void check_turn(struct scene *scene) {
  scene->awaited = 2;
  for (int i = 0; i < 2; i++) {
    scene->parts[i].receive = turn_receive;
    scene->parts[i].number[0] = i * 2;
    host_send(&scene->host, scene_enter(scene, i, scene->vat), ACTL_VALUES(actl_int(GO)));
  }
  scene_run(scene);
  static const int64_t tags[] = {GO, 0, 1, 2, 3, 4, TICK, LAST};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(scene->parts[i].n_came, 8);
    for (int j = 0; j < 8; j++) assert_int_equal(scene->parts[i].came[j].tag, tags[j]);
  }
}

static void a_timers_message_comes_behind_what_was_queued_before(void **state) {
  (void)state;
  on_scenes(check_turn);
}

/* ---- Ten thousand ---- */

enum { SETTERS = 10, EACH = 1000 };

struct many {
  struct scene *scene;
  uint64_t seed;
  uint8_t came[EACH];
  int64_t n_came, wrong;
};

static actl_status many_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  struct many *many = *(struct many **)state = pointer_in(args, 0);
  for (int64_t i = 0; i < EACH; i++) {
    uint64_t ms = random_next(&many->seed) % 300;
    int64_t due = (int64_t)(now_ns(ctx) + ms * NS_OF_MS);
    many->wrong += actl_after(ctx, ms, ACTL_VALUES(actl_int(i), actl_int(due)), NULL) != ACTL_OK;
  }
  return ACTL_OK;
}

static actl_status many_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx;
  struct many *many = *(struct many **)state;
  many->wrong += now_ns(ctx) < (uint64_t)actl_msg_int(msg, 1, INT64_MAX);
  many->came[actl_msg_int(msg, 0, 0)]++;
  if (++many->n_came == EACH) scene_tick(many->scene);
  return ACTL_OK;
}

static const actl_behavior many_behavior = {
    .name = "many", .state_size = sizeof(void *), .init = many_init, .receive = many_receive};

static void check_many(struct scene *scene) {
  struct many *many = calloc(SETTERS, sizeof *many);
  assert_non_null(many);
  scene->awaited = SETTERS;
  for (uint32_t i = 0; i < SETTERS; i++) {
    many[i].scene = scene;
    many[i].seed = 977 * i + 1;
    host_spawn(&scene->host, scene->vat == 0 ? 0 : i % 2, &many_behavior,
               ACTL_VALUES(pointer(&many[i])));
  }
  scene_run(scene);
  int64_t wrong = 0;
  for (int i = 0; i < SETTERS; i++) {
    wrong += many[i].wrong + (many[i].n_came != EACH);
    for (int j = 0; j < EACH; j++) wrong += many[i].came[j] != 1;
  }
  free(many);
  assert_int_equal(wrong, 0);
  assert_int_equal(scene->host.stats.fired, SETTERS * EACH);
  assert_int_equal(scene->host.stats.timers, 0);
}

static void ten_thousand_timers_at_random_times_come_each_once(void **state) {
  (void)state;
  seeds_need_time(8);
  on_scenes(check_many);
}

/* ---- Values ---- */

enum { LONG = 100000 };

/* A message of every kind of value, too many for a node, from memory that changes afterwards. */
struct cargo {
  char text[LONG];
  actl_value values[ACTL_VALUES_MAX];
  size_t n;
};

static void cargo_add(struct cargo *cargo, actl_value value) { cargo->values[cargo->n++] = value; }

static void cargo_load(struct cargo *cargo, actl_pid pid, actl_name name) {
  static const uint32_t sizes[] = {0, 1, 6, 7, 8, 9, 39, 40, 41, 200, 5000, LONG};
  memset(cargo->text, 't', LONG);
  cargo->n = 0;
  cargo_add(cargo, actl_int(TICK));
  cargo_add(cargo, actl_nil());
  cargo_add(cargo, actl_bool(true));
  cargo_add(cargo, actl_bool(false));
  cargo_add(cargo, actl_float(0.1));
  cargo_add(cargo, actl_who(pid));
  cargo_add(cargo, actl_named(name));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    cargo_add(cargo, actl_bytes(cargo->text, sizes[i]));
    actl_value table = actl_bytes(cargo->text, sizes[i]);
    table.type = ACTL_TABLE;
    cargo_add(cargo, table);
  }
  while (cargo->n < ACTL_VALUES_MAX) cargo_add(cargo, actl_int((int64_t)cargo->n - 100));
}

static bool value_equals(actl_value a, actl_value b) {
  if (a.type != b.type) return false;
  if (a.type != ACTL_STRING && a.type != ACTL_TABLE) {
    if (a.type == ACTL_NAME) return a.as.name.id == b.as.name.id;
    return a.type <= ACTL_TRUE || a.as.bits == b.as.bits;
  }
  if (a.size != b.size) return false;
  for (uint32_t i = 0; i < a.size; i++) {
    if (a.as.bytes[i] != 't') return false;
  }
  return true;
}

static actl_name some_name(actl_ctx *ctx) {
  actl_name name = {0};
  actl_name_intern(actl_ctx_engine(ctx), "a name of some length", 21, &name);
  return name;
}

static void cargo_init(actl_ctx *ctx, struct part *self) {
  struct cargo *cargo = self->ud;
  actl_timer kept = {77};
  cargo_load(cargo, self->pid, some_name(ctx));
  self->status[0] = actl_after(ctx, 5, cargo->values, cargo->n, &self->timer);
  self->status[1] = actl_every(ctx, 7, 0, cargo->values, cargo->n, &self->timer);
  self->status[2] = actl_after(ctx, 5, cargo->values, ACTL_VALUES_MAX + 1, &kept);
  self->status[3] = actl_every(ctx, 5, 0, cargo->values, ACTL_VALUES_MAX + 1, &kept);
  self->wrong += kept.bits != 77;
  memset(cargo->text, 'x', LONG);
}

/* What came is compared with what was loaded; the texts are all of one letter. */
static actl_status cargo_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  const struct cargo *cargo = self->ud;
  self->wrong += actl_msg_count(msg) != cargo->n;
  for (size_t i = 0; i < cargo->n; i++) {
    self->wrong += !value_equals(actl_msg_value(msg, i), cargo->values[i]);
  }
  if (self->n_came < 6) return ACTL_OK;
  self->status[4] = actl_cancel(ctx, self->timer);
  scene_tick(self->scene);
  return ACTL_OK;
}

static void check_cargo(struct scene *scene) {
  struct cargo *cargo = calloc(1, sizeof *cargo);
  assert_non_null(cargo);
  scene->awaited = 1;
  scene->parts[0].ud = cargo;
  scene->parts[0].init = cargo_init;
  scene->parts[0].receive = cargo_receive;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  free(cargo);
  assert_int_equal(scene->parts[0].n_came, 6);
  assert_int_equal(scene->parts[0].status[0], ACTL_OK);
  assert_int_equal(scene->parts[0].status[1], ACTL_OK);
  assert_int_equal(scene->parts[0].status[2], ACTL_INVALID);
  assert_int_equal(scene->parts[0].status[3], ACTL_INVALID);
  assert_int_equal(scene->parts[0].status[4], ACTL_OK);
  assert_int_equal(scene->host.stats.timers, 0);
}

static void a_timers_values_come_as_they_were_set_each_time(void **state) {
  (void)state;
  on_scenes(check_cargo);
}

/* ---- How far ahead ---- */

#define YEARS(n) ((n)*UINT64_C(31536000000))

/* The last but one is the first whose nanoseconds do not fit 64 bits. */
static const uint64_t far_ms[] = {3600000,
                                  4294967294,
                                  4294967295,
                                  4294967296,
                                  YEARS(1),
                                  YEARS(100),
                                  UINT64_MAX / NS_OF_MS,
                                  UINT64_MAX / NS_OF_MS + 1,
                                  YEARS(999)};
static const uint64_t refused_ms[] = {YEARS(1010), YEARS(100000), UINT64_MAX / 2, UINT64_MAX - 1,
                                      ACTL_FOREVER};
enum { FAR_TIMES = sizeof far_ms / sizeof far_ms[0], REFUSED = 5 };

static void far_init(actl_ctx *ctx, struct part *self) {
  actl_timer *timers = self->ud, kept = {77};
  for (int i = 0; i < FAR_TIMES; i++) {
    timers[i] =
        i % 2 ? part_every(ctx, self, i, far_ms[i], 0) : part_after(ctx, self, i, far_ms[i]);
  }
  for (int i = 0; i < REFUSED; i++) {
    self->status[2 * i] = actl_after(ctx, refused_ms[i], NULL, 0, &kept);
    self->status[2 * i + 1] = actl_every(ctx, refused_ms[i], 0, NULL, 0, &kept);
  }
  self->status[2 * REFUSED] = actl_every(ctx, 0, 0, NULL, 0, &kept);
  self->status[2 * REFUSED + 1] = actl_every(ctx, 1, 4, NULL, 0, &kept); /* no such option */
  self->wrong += kept.bits != 77;
  part_after(ctx, self, TICK, 20);
}

static actl_status far_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  const actl_timer *timers = self->ud;
  actl_stats stats;
  actl_ctx_stats(ctx, &stats);
  self->number[0] = (int64_t)stats.timers;
  self->wrong += actl_msg_int(msg, 0, -1) != TICK;
  for (int i = 0; i < FAR_TIMES; i++) {
    self->wrong += actl_cancel(ctx, timers[i]) != ACTL_OK;
    self->wrong += actl_cancel(ctx, timers[i]) != ACTL_EXPIRED;
  }
  scene_tick(self->scene);
  return ACTL_OK;
}

static void check_far(struct scene *scene) {
  actl_timer timers[FAR_TIMES];
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->ud = timers;
  part->init = far_init;
  part->receive = far_receive;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  assert_int_equal(part->n_came, 1);
  for (int i = 0; i < 2 * REFUSED + 2; i++) assert_int_equal(part->status[i], ACTL_INVALID);
  assert_int_equal(part->number[0], FAR_TIMES);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, 1);
}

static void times_of_centuries_are_kept_and_above_a_thousand_years_refused(void **state) {
  (void)state;
  on_scenes(check_far);
}

/* ---- From anywhere ---- */

enum { FROM_INIT, FROM_TIMER, FROM_MESSAGE, FROM_REPLY, FROM_STOP };

static void anywhere_init(actl_ctx *ctx, struct part *self) {
  part_after(ctx, self, FROM_INIT, 3);
  if (actl_after(ctx, 4, ACTL_VALUES(actl_int(FROM_TIMER)), NULL) != ACTL_OK) self->wrong++;
  part_ask(ctx, self, self->other, GO, ACTL_FOREVER);
}

static actl_status anywhere_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  switch (actl_msg_int(msg, 0, -1)) {
  case FROM_TIMER: part_after(ctx, self, FROM_MESSAGE, 1); break;
  case FROM_STOP: self->wrong++; break;
  default: break;
  }
  if (self->n_came == 4) part_after(ctx, self, LAST, 5);
  if (actl_msg_int(msg, 0, -1) == LAST) actl_exit(ctx, NULL);
  return ACTL_OK;
}

static void anywhere_reply(actl_ctx *ctx, struct part *self, const struct answer *answer) {
  self->wrong += answer->status != ACTL_OK;
  part_after(ctx, self, FROM_REPLY, 2);
}

static void anywhere_stop(actl_ctx *ctx, struct part *self, const actl_reason *reason) {
  (void)reason;
  actl_after(ctx, 0, ACTL_VALUES(actl_int(FROM_STOP)), NULL);
  actl_after(ctx, 3600000, ACTL_VALUES(actl_int(FROM_STOP)), NULL);
  actl_every(ctx, 1, 0, ACTL_VALUES(actl_int(FROM_STOP)), NULL);
  scene_tick(self->scene);
}

static void check_anywhere(struct scene *scene) {
  struct part *part = &scene->parts[0];
  scene->awaited = 1;
  part->other = scene_enter(scene, 1, 0);
  part->init = anywhere_init;
  part->receive = anywhere_receive;
  part->reply = anywhere_reply;
  part->stop = anywhere_stop;
  scene_enter(scene, 0, scene->vat);
  scene_run(scene);
  for (int64_t tag = FROM_INIT; tag <= FROM_REPLY; tag++) {
    assert_int_equal(part_count(part, tag), 1);
  }
  assert_int_equal(part->n_came, 5);
  assert_int_equal(part->n_stops, 1);
  assert_int_equal(scene->host.stats.timers, 0);
  assert_int_equal(scene->host.stats.fired, 5);
}

static void
timers_are_set_from_any_handler_and_those_of_a_stop_hook_do_not_outlive_it(void **state) {
  (void)state;
  on_scenes(check_anywhere);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(a_timer_is_never_early_and_comes_once),
      WATCHED(timers_come_in_the_order_of_their_times),
      WATCHED(timers_of_equal_times_come_in_the_order_of_their_setting),
      WATCHED(a_timers_message_comes_behind_what_was_queued_before),
      WATCHED(ten_thousand_timers_at_random_times_come_each_once),
      WATCHED(a_timers_values_come_as_they_were_set_each_time),
      WATCHED(times_of_centuries_are_kept_and_above_a_thousand_years_refused),
      WATCHED(timers_are_set_from_any_handler_and_those_of_a_stop_hook_do_not_outlive_it),
  };
  return seeds_main(tests);
}
