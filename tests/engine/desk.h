/*
 * desk.h - an actor that a host program deals with: it counts, answers and keeps what it is told, and a
 * thread that sends to it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_DESK_H
#define ACTL_TESTS_ENGINE_DESK_H

#include "engine/part.h"

#include <sched.h>

enum desk_tag {
  COUNT = 2000, /* ticks `counted` */
  ANSWER,       /* (n): answers with twice that */
  KEEP,         /* keeps the request and ticks `kept` */
  RELEASE,      /* answers it with 9 */
  LEAVE,        /* ends by actl_exit */
  FAIL,
  UNHANDLED,
  LONG,  /* answers with LONG_BYTES */
  TIMER, /* (ms): counts once more, so much later */
  BLOCK, /* ticks `is_blocked` and does not return until it may go on */
  OTHER  /* answers with nothing */
};

enum { HOUR_MS = 3600000, LONG_BYTES = 50000 };

struct desk {
  atomic_uint counted, kept; /* ticked by the actor, read by anybody */
  atomic_uint is_blocked, may_go_on;
  actl_request request; /* the actor's */
};

/* Spawns the desk as part 0 of a scene that is over only when it has waited too long. */
actl_pid desk_enter(struct scene *scene, struct desk *desk, uint32_t vat);

/* A test for each vat and number of workers. */
typedef void desk_test(struct scene *scene, actl_pid pid, struct desk *desk);
void on_desks(desk_test *test);
void on_desks_with(desk_test *test, const actl_config *config);

/* Waits until the count is reached. */
void await_count(struct scene *scene, atomic_uint *count, unsigned n);

#define assert_status(call, status) assert_int_equal((call), (status))

/* Sends `n` messages (COUNT) to the desk: a thread's function, whose `ud` is this. */
struct crowd {
  pthread_t thread;
  struct scene *scene;
  actl_pid to;
  unsigned n, failed;
};
void *crowd_send(void *ud);

#endif
