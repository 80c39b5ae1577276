/*
 * life.c - stopping, failing, ending.
 *
 * An actor is only ever stopped by the vat's turn, when it is the current one: others set a flag and
 * make it ready. The steps of a stop (children, hook, end) are taken one at a time, so a tree of any
 * depth is stopped without recursion.
 *
 * SPDX-License-Identifier: MIT
 */
#include "actor/family.h"
#include "actor/send.h"
#include "actor/timer.h"
#include "actor/trace.h"

#include <string.h>

/* ---- What hangs off a record ---- */

struct extra *actl__extra(struct vat *vat, struct actor *a) {
  struct extra *extra = actl__extra_of(a);
  if (extra != NULL) return extra;

  extra = actl__arena_new(&vat->arena, sizeof *extra);
  if (extra == NULL) return NULL;
  memset(extra, 0, sizeof *extra);
  extra->timers = (due_ref)(a->more >> 1);
  a->more = (uintptr_t)extra;
  return extra;
}

struct owned *actl__owned_get(struct vat *vat, enum owned_list list, uint64_t id) {
  return actl__slots_get(&vat->owned[list], id);
}

struct owned *actl__owned_new(struct vat *vat, struct actor *a, enum owned_list list,
                              uint64_t *id) {
  struct extra *extra = actl__extra(vat, a);
  if (extra == NULL) return NULL;
  struct owned *entry = actl__slots_new(&vat->owned[list], &vat->arena, id);
  if (entry == NULL) return NULL;

  entry->owner = a;
  entry->next = extra->owned[list];
  if (entry->next != 0) actl__owned_get(vat, list, entry->next)->prev = *id;
  extra->owned[list] = *id;
  return entry;
}

void actl__owned_free(struct vat *vat, enum owned_list list, struct owned *entry) {
  if (entry->prev != 0) {
    actl__owned_get(vat, list, entry->prev)->next = entry->next;
  } else {
    actl__extra_of(entry->owner)->owned[list] = entry->next;
  }
  if (entry->next != 0) actl__owned_get(vat, list, entry->next)->prev = entry->prev;
  actl__slots_free(&vat->owned[list], entry);
}

/* ---- Dead letters ---- */

static actl_letter letter_of(actl_status reason) {
  switch (reason) {
#define CASE(name)                                                                                 \
  case ACTL_##name: return ACTL_LETTER_##name;
    ACTL_LETTERS(CASE)
#undef CASE
  case ACTL_INIT: return ACTL_LETTER_STOPPED;
  default: return ACTL_LETTER_FAILED;
  }
}

static void count_letter(struct vat *vat, struct actl_msg *m, uint64_t to, actl_status reason) {
  vat->stats.dead_letters[letter_of(reason)]++;
  if (actl__vat_is_traced(vat)) actl__trace_letter(vat, to, m, reason);
}

void actl__letter_count(struct vat *vat, uint64_t to, actl_status reason) {
  count_letter(vat, NULL, to, reason);
}

void actl__letter(struct vat *vat, struct actl_msg *m, uint64_t to, actl_status reason) {
  switch (actl__node_kind(m)) {
  case NODE_ASK:
    count_letter(vat, m, to, reason);
    actl__ask_fail(vat, m, reason);
    return;
  case NODE_MESSAGE: count_letter(vat, m, to, reason); break;
  case NODE_REPLY: vat->stats.late_replies++; break;
  default: break; /* what the engine itself sent, the news among it that there is no answer */
  }
  actl__vat_free_node(vat, m);
}

void actl__letter_delivered(struct vat *vat, struct actl_msg *m, actl_status reason) {
  if (actl__node_kind(m) <= NODE_ASK) {
    vat->stats.messages--;
    if ((m->header & NODE_FAR) != 0) vat->stats.far_messages--;
  }
  actl__letter(vat, m, actl__vat_self(vat), reason);
}

static void bury_as(struct vat *vat, struct actor *a, actl_status reason) {
  for (struct actl_msg *m; (m = actl__mailbox_pop(a)) != NULL;)
    actl__letter(vat, m, a->pid, reason);
}

static void bury_mailbox(struct vat *vat, struct actor *a) {
  if (a->head != NULL) bury_as(vat, a, vat->is_shut ? ACTL_SHUTDOWN : ACTL_STOPPED);
}

/* ---- Stopping ---- */

void actl__life_make_ready(struct vat *vat, struct actor *a) {
  if (a->phase == ACTOR_IDLE || a->phase == ACTOR_PARKED) actl__ready_top(vat, a);
}

void actl__life_tell(struct vat *vat, struct actor *a, uint16_t flag) {
  if (flag == ACTOR_STOP_NOW && (a->flags & ACTOR_STOPPING) != 0) return;
  a->flags |= flag;
  actl__life_make_ready(vat, a);
}

void actl__life_heed_stop(struct vat *vat, struct actor *a) {
  bool is_next = a->head != NULL && actl__node_kind(a->head) == NODE_STOP;
  if (is_next && a->phase == ACTOR_PARKED && actl__wait_is_on(a) &&
      actl__extra_of(a)->wait > WAIT_SLICE)
    actl__life_tell(vat, a, ACTOR_STOP_NOW);
}

static void keep_reason(struct vat *vat, struct actor *a, actl_status status, const char *text) {
  if (status == ACTL_OK && text == NULL) return;
  struct extra *extra = actl__extra(vat, a);
  if (extra == NULL) return; /* it stops without a reason rather than not at all */

  if (status != ACTL_OK) extra->status = status;
  if (text == NULL || extra->text != NULL) return;
  size_t size = strlen(text) + 1;
  extra->text = actl__arena_new(&vat->arena, size);
  if (extra->text != NULL) memcpy(extra->text, text, size);
}

void actl__life_keep_text(struct vat *vat, struct actor *a, const char *text) {
  keep_reason(vat, a, ACTL_OK, text);
}

/* What has not begun has nothing to tidy up. */
static bool is_before_init(const struct actor *a) {
  if (a->head == NULL) return false;
  unsigned kind = actl__node_kind(a->head);
  return kind == NODE_INIT || kind == NODE_SPAWN;
}

void actl__life_stop(struct vat *vat, struct actor *a, actl_status status, const char *text) {
  const uint16_t told = ACTOR_STOP_NOW | ACTOR_EXIT | ACTOR_KILL;
  if (is_before_init(a)) a->flags |= ACTOR_HOOKED;
  if (status == ACTL_KILLED) {
    struct extra *extra = a->child != 0 || actl__extra_of(a) != NULL ? actl__extra(vat, a) : NULL;
    if (extra != NULL) extra->is_killed = true;
    a->flags |= ACTOR_HOOKED;
  }
  if ((a->flags & ACTOR_HOOKED) == 0 || actl__vat_is_traced(vat)) keep_reason(vat, a, status, text);
  a->flags = (uint16_t)((a->flags & ~told) | ACTOR_STOPPING | ACTOR_STEP);
  if (actl__actor_has_timers(a)) actl__timer_end_all(vat, a);
  bury_mailbox(vat, a);
}

static void stop_far(struct vat *vat, struct actor *a, struct far_child *child, bool kills) {
  struct actl_msg *m = child->stop;
  if (m == NULL) return; /* it was told already */
  child->stop = NULL;
  m->header = actl__node_head(kills ? NODE_KILL : NODE_STOP_NOW) | NODE_FAR;
  m->from = a->pid;
  m->slot[NODE_TARGET_SLOT] = child->pid;
  if (actl__vat_is_traced(vat)) actl__trace_stop(vat, a->pid, child->pid);
  actl__vat_post(vat, m);
}

static void tell_child_traced(struct vat *vat, struct actor *child, uint16_t flag) {
  actl__trace_stop(vat, actl__vat_self(vat), child->pid);
  actl__life_tell(vat, child, flag);
}

/* Tells the youngest child, and true; false: there is none. */
static bool stop_youngest(struct vat *vat, struct actor *a) {
  if (a->child == 0) return false;
  bool kills = actl__extra_of(a) != NULL && actl__extra_of(a)->is_killed;
  struct far_child *far = actl__family_far(vat, a->child);
  if (far != NULL) {
    stop_far(vat, a, far, kills);
  } else {
    const uint16_t flag = kills ? ACTOR_KILL : ACTOR_STOP_NOW;
    (actl__vat_is_traced(vat) ? tell_child_traced
                              : actl__life_tell)(vat, actl__vat_at(vat, a->child), flag);
  }
  return true;
}

static void call_native_hook(struct vat *vat, struct actor *a) {
  const struct extra *extra = actl__extra_of(a);
  actl_reason reason = {ACTL_OK, NULL};
  if (extra != NULL) reason = (actl_reason){extra->status, extra->text};
  vat->doing = DOING_STOP;
  a->behavior->stop(actl__ctx(vat), actl__actor_state(a), &reason);
  vat->doing = DOING_NOTHING;
}

/* true: `out` is the stop hook of a driven actor. */
static bool step_stop(struct vat *vat, struct actor *a, actl_delivery *out) {
  a->flags &= (uint16_t)~ACTOR_STEP;
  if (stop_youngest(vat, a)) {
    a->phase = ACTOR_PARKED;
    actl__vat_leave(vat);
    return false;
  }
  if ((a->flags & (ACTOR_HOOKED | ACTOR_UNBORN)) != 0) {
    actl__life_end(vat, a);
    return false;
  }

  a->flags |= ACTOR_HOOKED;
  if ((a->flags & ACTOR_DRIVEN) == 0) {
    call_native_hook(vat, a);
    actl__life_end(vat, a);
    return false;
  }
  const struct extra *extra = actl__extra_of(a);
  *out = (actl_delivery){.kind = ACTL_DELIVER_STOP, .word = a->word};
  if (extra != NULL) {
    out->status = extra->status;
    out->text = extra->text;
  }
  vat->doing = DOING_STOP;
  return true;
}

/* An actor that is stopping is told to die: no hook, its children die too. */
static bool step_kill(struct vat *vat, struct actor *a, actl_delivery *out) {
  a->flags = (uint16_t)((a->flags & ~ACTOR_KILL) | ACTOR_HOOKED | ACTOR_STEP);
  struct extra *extra = actl__extra(vat, a);
  if (extra != NULL) extra->is_killed = true;
  if (!actl__wait_is_on(a)) return step_stop(vat, a, out);
  actl__wait_abandon(vat, a, out);
  return true;
}

static actl_status why(const struct vat *vat, const struct actor *a) {
  if ((a->flags & ACTOR_KILL) != 0) return ACTL_KILLED;
  if ((a->flags & ACTOR_EXIT) != 0) return ACTL_OK;
  return vat->is_shut ? ACTL_SHUTDOWN : ACTL_OK;
}

/* A handler that runs, though not just now: a stop takes effect when it returns. */
static bool is_preempted(const struct actor *a) {
  return actl__wait_is_on(a) && actl__extra_of(a)->wait == WAIT_SLICE;
}

bool actl__life_step(struct vat *vat, struct actor *a, actl_delivery *out) {
  const uint16_t told = ACTOR_STOP_NOW | ACTOR_EXIT | ACTOR_KILL;
  if ((a->flags & ACTOR_STOPPING) == 0 && (a->flags & told) != 0) {
    if (is_preempted(a) && (a->flags & ACTOR_KILL) == 0) {
      actl__wait_resume(vat, a, out);
      return true;
    }
    if (actl__wait_is_on(a)) {
      actl__wait_abandon(vat, a, out);
      return true;
    }
    actl__life_stop(vat, a, why(vat, a), NULL);
    return step_stop(vat, a, out);
  }
  if ((a->flags & (ACTOR_STOPPING | ACTOR_KILL)) == (ACTOR_STOPPING | ACTOR_KILL))
    return step_kill(vat, a, out);
  a->flags &= (uint16_t) ~(ACTOR_STOP_NOW | ACTOR_EXIT);

  if ((a->flags & ACTOR_RECEIVING) != 0) return actl__wait_receive(vat, a, out);
  if ((a->flags & ACTOR_RESUMABLE) != 0) {
    actl__wait_resume(vat, a, out);
    return true;
  }
  if ((a->flags & ACTOR_STEP) != 0 && !actl__wait_is_on(a)) return step_stop(vat, a, out);

  /* A stopping actor whose hook waits is not to be stepped. */
  a->flags &= (uint16_t)~ACTOR_STEP;
  if (actl__wait_is_on(a)) {
    a->phase = ACTOR_PARKED;
    actl__vat_leave(vat);
  }
  return false;
}

/* ---- Failing ---- */

void actl__life_fail(struct vat *vat, struct actor *a, actl_status status, const char *text) {
  char name[160];
  actl__describe(vat, a, name, sizeof name, NULL, 0);
  const char *what = text != NULL ? text : actl_status_text(status);
  static const char *const where[] = {
      [DOING_NOTHING] = "failed",      [DOING_MESSAGE] = "failed",
      [DOING_INIT] = "failed in init", [DOING_REPLY] = "failed in reply",
      [DOING_STOP] = "failed in stop", [DOING_ABANDON] = "failed while it was being stopped"};
  actl__log(vat->engine, ACTL_LOG_ERROR, ACTL_LOG_FAILURE, "%s %s: %s", name, where[vat->doing],
            what);

  uint8_t doing = vat->doing;
  struct actl_msg *m = vat->msg;
  vat->doing = DOING_NOTHING;
  vat->msg = NULL;
  if (m != NULL) actl__letter_delivered(vat, m, ACTL_FAILED);
  if (doing == DOING_STOP) {
    vat->stats.failed++;
    if (actl__vat_is_traced(vat)) keep_reason(vat, a, status, what);
    actl__life_end(vat, a);
    return;
  }
  if (doing == DOING_ABANDON) return; /* its stop goes on */
  vat->stats.failed++;
  if (doing == DOING_INIT) {
    a->flags |= ACTOR_HOOKED;
    status = ACTL_INIT;
    bury_as(vat, a, status);
  }
  actl__life_stop(vat, a, status, what);
}

/* ---- Ending ---- */

/* A parent that waits for its children goes on. */
static void step_parent(struct vat *vat, struct actor *parent) {
  if ((parent->flags & ACTOR_STOPPING) == 0) return;
  parent->flags |= ACTOR_STEP;
  actl__life_make_ready(vat, parent);
}

static void tell_parent(struct vat *vat, struct actor *a) {
  if (a->parent != 0) {
    struct actor *parent = actl__vat_at(vat, a->parent);
    actl__family_remove_near(vat, a);
    step_parent(vat, parent);
  } else if ((a->flags & ACTOR_FAR_PARENT) != 0) {
    actl__family_tell_gone(vat, actl__extra_of(a)->gone, a->pid);
  }
}

void actl__life_child_gone(struct vat *vat, struct actl_msg *m) {
  struct far_child *child = actl__family_get_far(vat, m->slot[NODE_ASK_SLOT]);
  if (child != NULL) {
    struct actor *parent = child->parent;
    if (child->stop != NULL) {
      actl__vat_give_blank(vat, child->stop);
    }
    actl__family_remove_far(vat, child);
    step_parent(vat, parent);
  }
  actl__vat_free_node(vat, m);
}

static void end_extra(struct vat *vat, struct actor *a) {
  struct extra *extra = actl__extra_of(a);
  for (uint64_t id; (id = extra->owned[OWNED_ASKS]) != 0;)
    actl__ask_close(vat, actl__owned_get(vat, OWNED_ASKS, id));
  for (uint64_t id; (id = extra->owned[OWNED_REQUESTS]) != 0;)
    actl__request_drop(vat, actl__owned_get(vat, OWNED_REQUESTS, id), ACTL_STOPPED);
  if (actl__vat_is_traced(vat)) actl__trace_exit(vat, a);

  if (extra->text != NULL) actl__arena_free(&vat->arena, extra->text, strlen(extra->text) + 1);
  actl__arena_free(&vat->arena, extra, sizeof *extra);
  a->more = 0;
}

static ACTL_NOINLINE void end_more(struct vat *vat, struct actor *a) {
  if (actl__actor_has_timers(a)) actl__timer_end_all(vat, a);
  if (actl__extra_of(a) != NULL) {
    end_extra(vat, a);
  } else if (actl__vat_is_traced(vat)) {
    actl__trace_exit(vat, a);
  }
}

static void end_state(struct vat *vat, struct actor *a) {
  if ((a->flags & ACTOR_DRIVEN) != 0) {
    if ((a->flags & ACTOR_UNBORN) == 0) vat->engine->driver->drop(vat->machine, a->word);
  } else if (a->behavior->state_size > sizeof a->word) {
    actl__arena_free(&vat->arena, (void *)(uintptr_t)a->word, a->behavior->state_size);
  }
}

void actl__life_end(struct vat *vat, struct actor *a) {
  bury_mailbox(vat, a);
  tell_parent(vat, a);
  if (a->more != 0) {
    end_more(vat, a);
  } else if (actl__vat_is_traced(vat)) {
    actl__trace_exit(vat, a);
  }
  end_state(vat, a);
  vat->stats.stopped++;
  vat->stats.alive--;
  if (vat->current == a) actl__vat_leave(vat);
  actl__records_free(a->table == 0 ? &vat->records : actl__vat_table(vat, a->table), a);
}

/* ---- Shutdown ---- */

/* What is queued is not handled any more. What was to begin does not begin. */
static void shutdown_actor(struct vat *vat, struct actor *a) {
  bool is_root =
      a->parent == 0 && ((a->flags & ACTOR_FAR_PARENT) == 0 || actl__vat_is_closing(vat));
  if (is_root || is_before_init(a)) {
    actl__life_tell(vat, a, ACTOR_STOP_NOW);
  } else {
    bury_mailbox(vat, a);
  }
}

static void shutdown_table(struct vat *vat, const struct records *records) {
  for (uint32_t slot = records->n_touched; slot-- > 0;) {
    struct actor *a = actl__records_at(records, slot);
    if ((a->pid & PID_TOP) != 0) shutdown_actor(vat, a);
  }
}

void actl__life_shutdown(struct vat *vat) {
  vat->is_shut = true;
  for (struct records *r = actl__vat_newest(vat); r != NULL; r = r->next) shutdown_table(vat, r);
}
