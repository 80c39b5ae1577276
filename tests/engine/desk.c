/*
 * desk.c - see desk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/desk.h"

static actl_status desk_receive(actl_ctx *ctx, struct part *self, const actl_msg *msg) {
  struct desk *desk = self->ud;
  static char text[LONG_BYTES];
  switch (actl_msg_int(msg, 0, 0)) {
  case COUNT: tick(&desk->counted); return ACTL_OK;
  case ANSWER: return actl_reply(ctx, ACTL_VALUES(actl_int(2 * actl_msg_int(msg, 1, 0))));
  case KEEP: tick(&desk->kept); return actl_later(ctx, &desk->request);
  case RELEASE: actl_request_reply(ctx, desk->request, ACTL_VALUES(actl_int(9))); return ACTL_OK;
  case LEAVE: actl_exit(ctx, NULL); return ACTL_OK;
  case FAIL: return actl_fail(ctx, "asked to fail");
  case UNHANDLED: return ACTL_UNHANDLED;
  case LONG: return actl_reply(ctx, ACTL_VALUES(actl_nil(), actl_bytes(text, LONG_BYTES)));
  case TIMER: part_after(ctx, self, COUNT, (uint64_t)actl_msg_int(msg, 1, 0)); return ACTL_OK;
  case BLOCK:
    tick(&desk->is_blocked);
    while (!atomic_load(&desk->may_go_on) && !scene_is_over(self->scene)) sched_yield();
    return ACTL_OK;
  default: return ACTL_OK;
  }
}

actl_pid desk_enter(struct scene *scene, struct desk *desk, uint32_t vat) {
  scene->awaited = 1;
  scene->parts[0].ud = desk;
  scene->parts[0].receive = desk_receive;
  return scene_enter(scene, 0, vat);
}

void on_desks_with(desk_test *test, const actl_config *config) {
  for (uint32_t i = 0; i < 2 * seeds_workers(); i++) {
    struct desk desk = {0};
    struct scene *scene = scene_open(1 + i / 2, i % 2, false, config);
    test(scene, desk_enter(scene, &desk, i % 2), &desk);
    scene_close(scene);
  }
}

void on_desks(desk_test *test) { on_desks_with(test, NULL); }

void await_count(struct scene *scene, atomic_uint *count, unsigned n) {
  while (atomic_load(count) < n && !scene_is_over(scene)) sched_yield();
  assert_true(atomic_load(count) >= n);
}

void *crowd_send(void *ud) {
  struct crowd *crowd = ud;
  for (unsigned i = 0; i < crowd->n; i++) {
    crowd->failed += actl_engine_send(crowd->scene->host.engine, crowd->to,
                                      ACTL_VALUES(actl_int(COUNT))) != ACTL_OK;
  }
  return NULL;
}
