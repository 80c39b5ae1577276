/*
 * puppet.c - see puppet.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/puppet.h"

#include <unistd.h>

#include "support/alloc.h"

void puppet_note(struct puppet *puppet, char event) {
  if (puppet->n_events + 1 < EVENTS) puppet->events[puppet->n_events++] = event;
}

/* ---- Handlers ---- */

/* Parks the handler in the way its waiter says. */
static actl_status park(actl_ctx *ctx, struct waiter *waiter, actl_value op) {
  bool is_timed = waiter->ms != 0 && waiter->ms < UINT64_C(1) << 40;
  waiter->until_ns = is_timed ? now_ns(ctx) + waiter->ms * 1000000 : 0;
  if (waiter->gives_way) return actl_turn_give_way(ctx, waiter);
  if (waiter->sleeps) return actl_sleep_wait(ctx, waiter->ms, waiter);
  if (waiter->receives) return actl_receive_wait(ctx, waiter->ms, waiter);
  return actl_ask_wait(ctx, waiter->to, ACTL_VALUES(op, actl_int(waiter->value)), waiter->ms,
                       waiter);
}

/* The body of a process ends, and the actor with it. */
static void process_end(actl_ctx *ctx) {
  actl_exit(ctx, "the body ends");
  actl_turn_done(ctx, NULL, 0);
}

/* Waits once more, or says why not. The current delivery is then another's or has ended. */
static void wait_once(actl_ctx *ctx, struct puppet *puppet, actl_value op) {
  struct waiter *waiter = &puppet->waiter;
  actl_status status = park(ctx, waiter, op);
  if (status == ACTL_OK) {
    waiter->is_parked = true;
    puppet_note(puppet, waiter->gives_way  ? 'g'
                        : waiter->sleeps   ? 'z'
                        : waiter->receives ? 'v'
                                           : 'w');
    if (puppet->world->jumps) longjmp(puppet->machine->out, 1);
    return;
  }
  puppet_note(puppet, '!');
  puppet->last = status;
  if (puppet->is_in_body) {
    process_end(ctx);
  } else {
    actl_turn_done(ctx, ACTL_VALUES(actl_int(status)));
  }
}

static void puppet_spawn(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  struct puppet *child = pointer_in(msg, 1);
  int64_t vat = actl_msg_int(msg, 2, -1), n = actl_msg_int(msg, 3, 0);
  actl_pid pid = {0};
  actl_value five = actl_int(5);
  if (vat < 0) {
    puppet->last = actl_driven_spawn(ctx, (uint64_t)(uintptr_t)child, child->hooks, &five,
                                     child->hooks & ACTL_HAS_INIT ? 1 : 0, &pid);
  } else {
    puppet->last =
        actl_driven_spawn_on(ctx, (uint32_t)vat, ACTL_VALUES(pointer(child), five), &pid);
  }
  for (int64_t i = 0; i < n; i++) actl_send(ctx, pid, ACTL_VALUES(actl_int(ECHO), actl_int(i)));
  puppet_note(puppet, 'p');
  actl_turn_done(ctx, ACTL_VALUES(actl_who(pid)));
}

static void puppet_state(actl_ctx *ctx, struct puppet *puppet, int64_t how) {
  puppet->may_wait = actl_turn_may_wait(ctx);
  puppet->has_actor = actl_turn_has_actor(ctx);
  if (actl_turn_word(ctx) != (uint64_t)(uintptr_t)puppet) puppet->wrong++;
  uint64_t before = actl_now_ns(ctx);
  size_t bytes = actl_vat_bytes(ctx);
  char *block = actl_vat_realloc(ctx, NULL, 0, 100);
  if (block == NULL || actl_vat_bytes(ctx) != bytes + 100) puppet->wrong++;
  memset(block, 'b', 100);
  block = actl_vat_realloc(ctx, block, 100, 5000);
  if (block == NULL || block[99] != 'b' || actl_vat_bytes(ctx) != bytes + 5000) puppet->wrong++;
  block = actl_vat_realloc(ctx, block, 5000, 50);
  if (block == NULL || block[49] != 'b' || actl_vat_bytes(ctx) != bytes + 50) puppet->wrong++;
  actl_vat_realloc(ctx, block, 50, 0);
  if (actl_vat_bytes(ctx) != bytes) puppet->wrong++;
  if (actl_vat_realloc(ctx, NULL, 0, 77) == NULL) puppet->wrong++; /* given back with the vat */
  if (actl_now_ns(ctx) < before) puppet->wrong++;
  if (how == 0) actl_exit(ctx, NULL);
  if (how == 1) actl_stop_now(ctx, actl_self(ctx));
  if (how == 2) actl_kill(ctx, actl_self(ctx));
  puppet->may_wait_stopped = actl_turn_may_wait(ctx);
  actl_turn_done(ctx, NULL, 0);
}

static void puppet_flood(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  int64_t n = actl_msg_int(msg, 2, 0);
  for (int64_t i = 0; i < n; i++) {
    actl_send(ctx, actl_msg_pid(msg, 1), ACTL_VALUES(actl_int(NOTHING)));
    if (puppet->overdrawn_at == 0 && actl_turn_is_overdrawn(ctx)) puppet->overdrawn_at = i + 1;
  }
  actl_turn_done(ctx, NULL, 0);
}

/* Has an ender, if one is given, end the puppet, which surely waits when that comes. With QUEUED
 * added to how, a message is queued before. */
static void call_for_end(actl_ctx *ctx, const actl_msg *msg, size_t i) {
  int64_t how = actl_msg_int(msg, i + 1, 0);
  if (actl_msg_pid(msg, i).bits == 0) return;
  if (how >= QUEUED) actl_send(ctx, actl_self(ctx), ACTL_VALUES(actl_int(ECHO)));
  actl_send(ctx, actl_msg_pid(msg, i),
            ACTL_VALUES(actl_who(actl_self(ctx)), actl_int(how % QUEUED)));
}

static void puppet_sleep(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  call_for_end(ctx, msg, 3);
  puppet->waiter = (struct waiter){.sleeps = true,
                                   .value = 7,
                                   .ms = (uint64_t)actl_msg_int(msg, 1, 0),
                                   .rounds = actl_msg_int(msg, 2, 1) - 1};
  wait_once(ctx, puppet, actl_nil());
}

static void puppet_set(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  puppet->last = actl_after(ctx, (uint64_t)actl_msg_int(msg, 1, 0), ACTL_VALUES(actl_int(NOTHING)),
                            &puppet->timer);
  if (puppet->last != ACTL_OK) {
    if (puppet->last != ACTL_NO_MEMORY) puppet->wrong++;
    actl_turn_done(ctx, ACTL_VALUES(actl_int(puppet->last)));
    return;
  }
  puppet->waiter =
      (struct waiter){.sleeps = true, .cancels = true, .ms = (uint64_t)actl_msg_int(msg, 2, 0)};
  wait_once(ctx, puppet, actl_nil());
}

static void puppet_take(struct puppet *puppet, const actl_msg *msg) {
  puppet_note(puppet, 'm');
  if (puppet->n_taken < TAKEN) puppet->taken[puppet->n_taken++] = actl_msg_int(msg, 1, -1);
}

static void puppet_step_out(actl_ctx *ctx, struct puppet *puppet) {
  actl_timer timer = {77};
  void *actor = actl_turn_step_out(ctx);
  if (actl_after(ctx, 1, NULL, 0, &timer) != ACTL_INVALID) puppet->wrong++;
  if (actl_every(ctx, 1, 0, NULL, 0, &timer) != ACTL_INVALID) puppet->wrong++;
  actl_turn_step_in(ctx, actor);
  if (timer.bits != 77) puppet->wrong++;
  puppet_note(puppet, 'n');
  actl_turn_done(ctx, NULL, 0);
}

static void handle_message(actl_ctx *ctx, struct puppet *puppet, const actl_delivery *delivery) {
  const actl_msg *msg = delivery->msg;
  puppet->self = actl_self(ctx);
  puppet->waiter = (struct waiter){.value = 1};
  switch (actl_msg_int(msg, 0, NOTHING)) {
  case ECHO:
    puppet_note(puppet, 'e');
    actl_turn_done(ctx, ACTL_VALUES(actl_int(actl_msg_int(msg, 1, 0) * 2)));
    return;
  case FAIL:
    puppet_note(puppet, 'f');
    actl_turn_fail(ctx, ACTL_FAILED, "the puppet fell\nstack traceback: none");
    return;
  case UNHANDLED:
    puppet_note(puppet, 'u');
    actl_turn_unhandled(ctx, "dance", actl_msg_int(msg, 1, 0) != 0);
    return;
  case WAIT:
    puppet->waiter.to = actl_msg_pid(msg, 1);
    puppet->waiter.rounds = actl_msg_int(msg, 2, 1) - 1;
    wait_once(ctx, puppet, actl_int(ECHO));
    return;
  case WAIT_OP:
    puppet->waiter.to = actl_msg_pid(msg, 1);
    puppet->waiter.wants_status = true;
    wait_once(ctx, puppet, actl_msg_value(msg, 2));
    return;
  case GIVE_WAY:
    puppet->waiter.gives_way = true;
    puppet->waiter.value = 7;
    puppet->waiter.rounds = actl_msg_int(msg, 1, 1) - 1;
    wait_once(ctx, puppet, actl_nil());
    return;
  case SPAWN: puppet_spawn(ctx, puppet, msg); return;
  case KEEP:
    puppet_note(puppet, 'l');
    puppet->last = actl_later(ctx, &puppet->kept);
    break;
  case RELEASE:
    puppet_note(puppet, 'r');
    puppet->last = actl_request_reply(ctx, puppet->kept, ACTL_VALUES(actl_int(99)));
    break;
  case EXIT:
    puppet_note(puppet, 'x');
    actl_exit(ctx, "the show is over");
    break;
  case ASK_STATE: puppet_state(ctx, puppet, actl_msg_int(msg, 1, 0)); return;
  case FLOOD: puppet_flood(ctx, puppet, msg); return;
  case SLEEP: puppet_sleep(ctx, puppet, msg); return;
  case WAIT_WITHIN:
    puppet->waiter.to = actl_msg_pid(msg, 1);
    puppet->waiter.wants_status = true;
    puppet->waiter.ms = (uint64_t)actl_msg_int(msg, 3, 0);
    wait_once(ctx, puppet, actl_msg_value(msg, 2));
    return;
  case TAKE: puppet_take(puppet, msg); break;
  case SET_AND_SLEEP: puppet_set(ctx, puppet, msg); return;
  case STEP_OUT: puppet_step_out(ctx, puppet); return;
  default: puppet_note(puppet, 'n'); break;
  }
  actl_turn_done(ctx, NULL, 0);
}

/* ---- A process: its body is one long handler ---- */

/* Does what the message says; false: the body waits or has ended. */
static bool process_message(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  switch (actl_msg_int(msg, 0, NOTHING)) {
  case ECHO:
    puppet_note(puppet, 'e');
    puppet->last = actl_reply(ctx, ACTL_VALUES(actl_int(actl_msg_int(msg, 1, 0) * 2)));
    return true;
  case KEEP:
    puppet_note(puppet, 'l');
    puppet->last = actl_later(ctx, &puppet->kept);
    return true;
  case RELEASE:
    puppet_note(puppet, 'r');
    puppet->last = actl_request_reply(ctx, puppet->kept, ACTL_VALUES(actl_int(99)));
    return true;
  case TAKE: puppet_take(puppet, msg); return true;
  case RECEIVE:
    puppet_note(puppet, 'n');
    puppet->patience_ms = (uint64_t)actl_msg_int(msg, 1, 0);
    call_for_end(ctx, msg, 2);
    return true;
  case SLEEP: puppet_sleep(ctx, puppet, msg); return false;
  case EXIT:
    puppet_note(puppet, 'x');
    process_end(ctx);
    return false;
  case FAIL:
    puppet_note(puppet, 'f');
    actl_turn_fail(ctx, ACTL_FAILED, "the process fell");
    return false;
  default: puppet_note(puppet, 'n'); return true;
  }
}

/* Goes on with the body: `msg` is what it has been given, NULL where it has to look itself. */
static void process_go(actl_ctx *ctx, struct puppet *puppet, const actl_msg *msg) {
  for (;; msg = NULL) {
    if (msg == NULL) msg = actl_receive_next(ctx);
    if (msg == NULL) break;
    if (!process_message(ctx, puppet, msg)) return;
  }
  puppet->waiter = (struct waiter){.receives = true, .ms = puppet->patience_ms};
  if (puppet->patience_ms == 0) puppet->waiter.ms = ACTL_FOREVER;
  if (puppet->patience_ms == ACTL_FOREVER) puppet->waiter.ms = 0; /* does not wait at all */
  wait_once(ctx, puppet, actl_nil());
}

static void process_start(actl_ctx *ctx, struct puppet *puppet) {
  puppet->is_in_body = true;
  if (!puppet->is_deaf) {
    process_go(ctx, puppet, NULL);
    return;
  }
  puppet->waiter = (struct waiter){.sleeps = true, .ms = puppet->waits_ms};
  wait_once(ctx, puppet, actl_nil());
}

static void process_resume(actl_ctx *ctx, struct puppet *puppet, const actl_delivery *delivery) {
  const struct waiter *waiter = &puppet->waiter;
  if (puppet->is_deaf) {
    process_end(ctx);
    return;
  }
  if (waiter->sleeps && waiter->value == 7) actl_reply(ctx, ACTL_VALUES(actl_int(7)));
  if (delivery->status == ACTL_TIMEOUT) {
    puppet_note(puppet, 't');
    if (++puppet->n_timeouts == puppet->gives_up_at) {
      process_end(ctx);
      return;
    }
  }
  process_go(ctx, puppet, delivery->msg);
}

static void handle_resume(actl_ctx *ctx, struct puppet *puppet, const actl_delivery *delivery) {
  struct waiter *waiter = &puppet->waiter;
  if (!waiter->receives) puppet_note(puppet, 'R');
  if (delivery->waiter != waiter || !waiter->is_parked) puppet->wrong++;
  bool has_values = delivery->status == ACTL_OK && !waiter->gives_way && !waiter->sleeps;
  if ((delivery->msg != NULL) != has_values) puppet->wrong++;
  bool is_over = waiter->sleeps || delivery->status == ACTL_TIMEOUT;
  if (is_over && now_ns(ctx) < waiter->until_ns) puppet->early++;
  waiter->is_parked = false;
  puppet->last = delivery->status;
  tick(&puppet->world->resumed);
  if (puppet->is_in_body) {
    process_resume(ctx, puppet, delivery);
    return;
  }
  if (waiter->cancels) puppet->last = actl_cancel(ctx, puppet->timer);
  if (waiter->cancels) waiter->value = puppet->last;
  if (waiter->wants_status || delivery->status != ACTL_OK) {
    actl_turn_done(ctx, ACTL_VALUES(actl_int(delivery->status)));
    return;
  }
  if (has_values) waiter->value = actl_msg_int(delivery->msg, 0, -1);
  if (waiter->rounds-- > 0) {
    wait_once(ctx, puppet, actl_int(ECHO));
  } else if (waiter->gives_nothing) {
    actl_turn_done(ctx, NULL, 0);
  } else {
    actl_turn_done(ctx, ACTL_VALUES(actl_int(waiter->value)));
  }
}

static void wait_in_hook(actl_ctx *ctx, struct puppet *puppet) {
  puppet->waiter = (struct waiter){.to = puppet->waits_for,
                                   .value = 1,
                                   .gives_nothing = true,
                                   .sleeps = puppet->waits_ms != 0,
                                   .ms = puppet->waits_ms};
  wait_once(ctx, puppet, actl_int(ECHO));
}

static void handle_stop(actl_ctx *ctx, struct puppet *puppet, const actl_delivery *delivery) {
  puppet_note(puppet, 'S');
  puppet->is_in_body = false;
  puppet->last = delivery->status;
  snprintf(puppet->text, sizeof puppet->text, "%s", delivery->text ? delivery->text : "");
  if (!puppet->waits_in_stop) {
    actl_turn_done(ctx, NULL, 0);
    return;
  }
  puppet->may_wait = actl_turn_may_wait(ctx);
  wait_in_hook(ctx, puppet);
}

/* The first delivery, with its event already noted. */
static void handle_first(actl_ctx *ctx, struct puppet *puppet, actl_value given) {
  puppet->self = actl_self(ctx);
  if (given.type != ACTL_INTEGER || given.as.integer != 5) puppet->wrong++;
  if (puppet->hooks & ACTL_IS_PROCESS) {
    process_start(ctx, puppet);
  } else if (puppet->fails_at_first) {
    actl_turn_fail(ctx, ACTL_INIT, "stage fright");
  } else if (puppet->waits_at_first) {
    puppet->may_wait = actl_turn_may_wait(ctx);
    wait_in_hook(ctx, puppet);
  } else {
    actl_turn_done(ctx, NULL, 0);
  }
}

static void handle_delivery(struct machine *machine, actl_ctx *ctx, const actl_delivery *delivery) {
  struct puppet *puppet = (struct puppet *)(uintptr_t)delivery->word;
  if (delivery->kind == ACTL_DELIVER_BORN) {
    puppet = pointer_in(delivery->msg, 0);
    puppet->machine = machine;
    actl_turn_set_word(ctx, (uint64_t)(uintptr_t)puppet);
    actl_turn_set_hooks(ctx, puppet->hooks & (ACTL_HAS_STOP | ACTL_IS_PROCESS));
    puppet_note(puppet, 'B');
    handle_first(ctx, puppet, actl_msg_value(delivery->msg, 1));
    return;
  }
  puppet->machine = machine;
  if (actl_turn_word(ctx) != delivery->word) puppet->wrong++;
  if (!actl_turn_has_actor(ctx)) puppet->wrong++;
  switch (delivery->kind) {
  case ACTL_DELIVER_MESSAGE: handle_message(ctx, puppet, delivery); break;
  case ACTL_DELIVER_INIT:
    puppet_note(puppet, 'I');
    handle_first(ctx, puppet, actl_msg_value(delivery->msg, 0));
    break;
  case ACTL_DELIVER_RESUME: handle_resume(ctx, puppet, delivery); break;
  case ACTL_DELIVER_ABANDON:
    puppet_note(puppet, 'A');
    if (delivery->waiter != &puppet->waiter || !puppet->waiter.is_parked) puppet->wrong++;
    if (actl_turn_may_wait(ctx)) puppet->wrong++;
    puppet->waiter.is_parked = false;
    actl_turn_done(ctx, NULL, 0);
    break;
  case ACTL_DELIVER_STOP: handle_stop(ctx, puppet, delivery); break;
  default: puppet->wrong++; break;
  }
}

/* ---- The driver ---- */

static void *machine_open(void *ud, actl_ctx *ctx) {
  struct world *world = ud;
  if (world->does_not_open) return NULL;
  struct machine *machine = malloc(sizeof *machine);
  if (machine == NULL) return NULL;
  *machine = (struct machine){.world = world, .vat = actl_ctx_vat(ctx)};
  tick(&world->opened);
  return machine;
}

static void machine_close(void *self) {
  struct machine *machine = self;
  tick(&machine->world->closed);
  free(machine);
}

static void machine_drive(void *self, actl_ctx *ctx) {
  struct machine *machine = self;
  actl_delivery delivery;
  if (machine->vat != actl_ctx_vat(ctx)) tick(&machine->world->wrong);
  (void)setjmp(machine->out); /* what waits comes back here, too */
  while (actl_turn_next(ctx, &delivery)) handle_delivery(machine, ctx, &delivery);
}

static void machine_drop(void *self, uint64_t word) {
  struct machine *machine = self;
  struct puppet *puppet = (struct puppet *)(uintptr_t)word;
  if (puppet == NULL) {
    tick(&machine->world->wrong);
    return;
  }
  puppet_note(puppet, 'D');
  puppet->n_drops++;
}

static void machine_describe(void *self, uint64_t word, void *waiter, char *name, size_t name_size,
                             char *where, size_t where_size) {
  struct machine *machine = self;
  struct puppet *puppet = (struct puppet *)(uintptr_t)word;
  int number = puppet == NULL ? -1 : (int)(puppet - machine->world->puppets);
  snprintf(name, name_size, "puppet number %d", number);
  if (waiter != NULL) snprintf(where, where_size, "stage.play:%d", number + 1000);
}

static void world_detach(void *ud) {
  struct world *world = ud;
  if (atomic_load(&world->closed) != atomic_load(&world->opened)) tick(&world->wrong);
  tick(&world->detached);
}

const actl_driver puppet_driver = {.open = machine_open,
                                   .close = machine_close,
                                   .drive = machine_drive,
                                   .drop = machine_drop,
                                   .describe = machine_describe,
                                   .detach = world_detach};

/* ---- A native actor that asks for the test, and writes down what it is told ---- */

static actl_status probe_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  *(void **)state = pointer_in(args, 0);
  return ACTL_OK;
}

/* (pid, values ...): asks the pid with the values. */
static actl_status probe_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_value values[8];
  size_t n = 0;
  for (; n + 1 < actl_msg_count(msg); n++) values[n] = actl_msg_value(msg, n + 1);
  actl_ask_id ask;
  return actl_ask(ctx, actl_msg_pid(msg, 0), values, n, &ask);
}

static actl_status probe_reply(actl_ctx *ctx, void *state, actl_ask_id ask, actl_status status,
                               const actl_msg *msg) {
  (void)ctx, (void)ask;
  struct answers *answers = *(struct answers **)state;
  answers->replies++;
  answers->status = status;
  if (status != ACTL_OK) return ACTL_OK;
  answers->ok++;
  answers->value = actl_msg_int(msg, 0, -1);
  answers->sum += answers->value;
  if (actl_msg_pid(msg, 0).bits != 0) answers->pid = actl_msg_pid(msg, 0);
  return ACTL_OK;
}

const actl_behavior probe_behavior = {.name = "probe",
                                      .state_size = sizeof(void *),
                                      .init = probe_init,
                                      .receive = probe_receive,
                                      .reply = probe_reply};

/* Ends an actor: (pid, 0: stop, 1: stop now, 2: kill). */
static actl_status ender_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  actl_pid pid = actl_msg_pid(msg, 0);
  switch (actl_msg_int(msg, 1, 0)) {
  case 0: return actl_stop(ctx, pid);
  case 1: return actl_stop_now(ctx, pid);
  default: return actl_kill(ctx, pid);
  }
}

static const actl_behavior ender = {.name = "ender", .receive = ender_receive};

/* ---- The stage: an engine with the driver, a probe in vat 0, an ender in vat 1 ---- */

struct stage *stage_open_with(uint32_t workers, const actl_config *config) {
  struct stage *stage = calloc(1, sizeof *stage);
  assert_non_null(stage);
  actl_config own = *config;
  own.workers = workers;
  own.vats = 3;
  host_open_with(&stage->host, &own);
  for (int i = 0; i < PUPPETS; i++) {
    stage->world.puppets[i].world = &stage->world;
    stage->world.puppets[i].hooks = ACTL_HAS_INIT | ACTL_HAS_STOP;
  }
  assert_int_equal(actl_engine_drive(stage->host.engine, &puppet_driver, &stage->world), ACTL_OK);
  stage->probe =
      host_spawn(&stage->host, 0, &probe_behavior, ACTL_VALUES(pointer(&stage->answers)));
  stage->ender = host_spawn(&stage->host, 1, &ender, NULL, 0);
  return stage;
}

struct stage *stage_open(uint32_t workers) {
  actl_config config = {.ask_timeout_ms = 600000}; /* however slow the machine is */
  return stage_open_with(workers, &config);
}

/* (world, n): sets a timer until so many have gone on, but not without an end. */
static actl_status keeper_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct world *world = pointer_in(msg, 0);
  int64_t patience_ms = actl_msg_int(msg, 2, 0);
  if (atomic_load(&world->resumed) >= actl_msg_int(msg, 1, 0) || patience_ms < 0) return ACTL_OK;
  return actl_after(
      ctx, 2, ACTL_VALUES(pointer(world), actl_msg_value(msg, 1), actl_int(patience_ms - 2)), NULL);
}

static const actl_behavior keeper = {.name = "keeper", .receive = keeper_receive};

void stage_keep(struct stage *stage, unsigned n) {
  host_send(&stage->host, host_spawn(&stage->host, 2, &keeper, NULL, 0),
            ACTL_VALUES(pointer(&stage->world), actl_int(n), actl_int(20000)));
}

/* Spawns puppet number `i` from outside. */
actl_pid stage_enter(struct stage *stage, int i, uint32_t vat) {
  actl_pid pid = {0};
  assert_int_equal(
      actl_engine_driven_spawn(stage->host.engine, vat,
                               ACTL_VALUES(pointer(&stage->world.puppets[i]), actl_int(5)), &pid),
      ACTL_OK);
  return pid;
}

void stage_end(struct stage *stage, actl_pid pid, int how) {
  host_send(&stage->host, stage->ender, ACTL_VALUES(actl_who(pid), actl_int(how)));
}

const char *stage_events(const struct stage *stage, int i) {
  return stage->world.puppets[i].events;
}

/* Frees the engine and checks what always holds. */
void stage_close(struct stage *stage) {
  host_close(&stage->host);
  assert_int_equal(atomic_load(&stage->world.wrong), 0);
  assert_int_equal(atomic_load(&stage->world.closed), atomic_load(&stage->world.opened));
  assert_int_equal(atomic_load(&stage->world.detached), 1);
  for (int i = 0; i < PUPPETS; i++) {
    assert_int_equal(stage->world.puppets[i].wrong, 0);
    assert_in_range(stage->world.puppets[i].n_drops, 0, 1);
    assert_int_equal(stage->world.puppets[i].early, 0);
  }
  free(stage);
}

void on_stages(stage_test *test) {
  for (uint32_t i = 0; i < 2 * seeds_workers(); i++) {
    struct stage *stage = stage_open(1 + i / 2);
    test(stage, i % 2);
    stage_close(stage);
  }
}

/* ---- Memory that runs out ---- */

enum { SWEPT = 6 };

static void sweep_once(struct test_alloc *alloc, struct world *world, uint32_t workers,
                       puppet_tell *tell) {
  actl_config config = {.workers = workers, .vats = 2, .alloc = test_alloc, .alloc_ud = alloc};
  seeds_put(&config);
  actl_engine *engine;
  if (actl_engine_new(&engine, &config) != ACTL_OK) return;
  struct answers answers = {0};
  actl_pid pids[SWEPT] = {{0}}, asker = {0};
  if (actl_engine_drive(engine, &puppet_driver, world) == ACTL_OK) {
    actl_engine_spawn(engine, 0, &probe_behavior, ACTL_VALUES(pointer(&answers)), &asker);
    for (uint32_t i = 0; i < SWEPT; i++) {
      actl_engine_driven_spawn(engine, i % 2, ACTL_VALUES(pointer(&world->puppets[i]), actl_int(5)),
                               &pids[i]);
    }
    for (int i = 0; i < SWEPT && asker.bits != 0; i++)
      tell(engine, asker, world, pids[i], pids[(i + 1) % SWEPT], i);
  }
  actl_engine_run(engine);
  actl_engine_shutdown(engine);
  actl_engine_run(engine);
  actl_engine_free(engine);
}

static struct world *world_new(puppet_set_up *set_up) {
  struct world *world = calloc(1, sizeof *world);
  assert_non_null(world);
  for (int i = 0; i < PUPPETS; i++) {
    world->puppets[i].world = world;
    world->puppets[i].hooks = ACTL_HAS_INIT | ACTL_HAS_STOP;
    if (set_up != NULL) set_up(&world->puppets[i], i);
  }
  return world;
}

static int64_t world_wrong(struct world *world) {
  int64_t wrong = atomic_load(&world->wrong);
  for (int i = 0; i < PUPPETS; i++) {
    const struct puppet *puppet = &world->puppets[i];
    wrong += puppet->wrong + (puppet->n_drops > 1) + puppet->early;
  }
  return wrong;
}

unsigned puppet_sweep(uint32_t workers, puppet_set_up *set_up, puppet_tell *tell) {
  struct test_alloc alloc = {0};
  for (size_t n = 1;; n++) {
    struct world *world = world_new(set_up);
    alarm(20);
    test_alloc_fail_from(&alloc, n);
    sweep_once(&alloc, world, workers, tell);
    bool did_fail = test_alloc_heal(&alloc);
    bool is_clean = test_alloc_is_clean(&alloc);
    int64_t wrong = world_wrong(world);
    unsigned resumed = atomic_load(&world->resumed);
    if (!is_clean || wrong != 0) {
      print_error("allocation %zu failed, workers %u: live bytes %zu, wrong %d\n", n,
                  (unsigned)workers, atomic_load(&alloc.live_bytes), (int)wrong);
    }
    free(world);
    assert_true(is_clean);
    assert_int_equal(wrong, 0);
    if (did_fail) continue;
    assert_true(n > 20);
    return resumed;
  }
}
