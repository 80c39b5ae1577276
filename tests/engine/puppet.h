/*
 * puppet.h - a little driver whose actors are puppets: each does what a message tells it and writes
 * down a letter for whatever happens to it.
 *
 *   B born   I init   e echo   n nothing   f fails   u unhandled   w waits   g gives way
 *   R resumed   A abandoned   S stop hook   D dropped   x exits   l keeps a request   r answers it
 *   p spawned another   z sleeps   v waits for a message   t none came   m takes one   ! could not wait
 *
 * A puppet that is a process takes its messages itself, and does what they tell it in the same way.
 *
 * A stage is an engine with this driver, a native actor that asks for the test, and one that ends
 * others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_TESTS_ENGINE_PUPPET_H
#define ACTL_TESTS_ENGINE_PUPPET_H

#include "engine/host.h"

#include "actl_driver.h"

enum op {
  ECHO,      /* (value): answers with twice the value */
  NOTHING,   /* answers with no values */
  FAIL,      /* fails with a text */
  UNHANDLED, /* (log): nobody handles it */
  WAIT,      /* (pid, rounds): asks the pid to echo, round after round, and answers with the last */
  WAIT_OP,   /* (pid, op): asks the pid for that, and answers with the status */
  GIVE_WAY,  /* (rounds): gives way so often, then answers with 7 */
  SPAWN,     /* (puppet, vat, n): makes it there, near when vat is -1, and sends it n echoes */
  KEEP,      /* keeps the request */
  RELEASE,   /* answers the request that was kept with 99 */
  EXIT,      /* ends by actl_exit */
  ASK_STATE, /* (how): records what the actl_turn functions say, before and after it ends itself */
  FLOOD,     /* (pid, n): sends n messages, and records when it was overdrawn */

  /* A pid, where it is given, is an ender's: it is told before the wait to end the puppet so; with
   * QUEUED added to how, the puppet sends itself an echo before that. */
  SLEEP,         /* (ms, rounds, pid, how): sleeps so often, then answers with 7 */
  WAIT_WITHIN,   /* (pid, op, ms): asks for that and waits so long, and answers with the status */
  TAKE,          /* (value): notes the value; a process does not answer it */
  RECEIVE,       /* (ms, pid, how): a process waits so long from now on */
  SET_AND_SLEEP, /* (ms, sleep): sets a timer, sleeps, then cancels it and answers with the status */
  STEP_OUT       /* records what the timer functions say where no actor runs */
};

enum { EVENTS = 4096, PUPPETS = 64, TAKEN = 1024, QUEUED = 10 };

struct machine;

/* Written by the vat that it lives in. */
struct puppet {
  struct world *world;
  struct machine *machine; /* that runs it */
  char events[EVENTS];
  size_t n_events;
  unsigned hooks;
  int64_t n_drops, wrong, overdrawn_at;
  actl_pid self;
  actl_status last; /* of a wait, or the stop's reason */
  char text[128];   /* the stop's reason */
  actl_request kept;
  bool may_wait, may_wait_stopped, has_actor;
  bool waits_in_stop, waits_at_first, fails_at_first;
  actl_pid waits_for; /* in its stop hook or its first delivery */
  uint64_t waits_ms;  /* in place of that: it sleeps so long */
  struct waiter {
    int64_t rounds, value;
    actl_pid to;
    uint64_t ms, until_ns; /* of a sleep, a receive and a wait with a time */
    bool is_parked, gives_nothing, gives_way, wants_status, sleeps, receives, cancels;
  } waiter;

  /* A process (ACTL_IS_PROCESS). */
  uint64_t patience_ms;            /* how long it waits for a message; 0: for ever */
  int64_t n_timeouts, gives_up_at; /* its body ends with so many; 0: it does not */
  bool is_in_body, is_deaf;        /* deaf: it takes no message, but sleeps for waits_ms and ends */
  int64_t taken[TAKEN], n_taken;   /* by TAKE */
  int64_t early;                   /* waits that ended before their time */
  actl_timer timer;
};

struct world {
  struct puppet puppets[PUPPETS];
  atomic_uint opened, closed, detached, wrong;
  atomic_uint resumed; /* handlers that waited and went on, of all puppets */
  bool does_not_open;
  bool jumps; /* a handler that waits is left by longjmp */
};

struct machine {
  struct world *world;
  uint32_t vat;
  jmp_buf out;
};

/* Writes a letter down. */
void puppet_note(struct puppet *puppet, char event);

extern const actl_driver puppet_driver; /* its `ud` is a struct world */

/* What the probe was told. */
struct answers {
  int64_t replies, ok, value, sum, before; /* `value` the last; `before`: replies out of order */
  actl_status status;
  actl_pid pid;
};

/* Asks what it is told: (pid, values ...). It is given a struct answers. */
extern const actl_behavior probe_behavior;

struct stage {
  struct host host;
  struct world world;
  struct answers answers;
  actl_pid probe, ender;
};

/* Makes the engine, with three vats; the probe lives in vat 0 and the ender in vat 1. */
struct stage *stage_open(uint32_t workers);
struct stage *stage_open_with(uint32_t workers, const actl_config *config);

/* Keeps the run alive, with a plain timer, until `n` handlers that waited have gone on. */
void stage_keep(struct stage *stage, unsigned n);

/* Spawns puppet number `i` from outside. */
actl_pid stage_enter(struct stage *stage, int i, uint32_t vat);

/* Has the probe ask `pid` with the values. */
#define stage_ask(stage, pid, ...)                                                                 \
  host_send(&(stage)->host, (stage)->probe, ACTL_VALUES(actl_who(pid), __VA_ARGS__))

/* Has the ender end `pid`: 0 stop, 1 stop now, 2 kill. */
void stage_end(struct stage *stage, actl_pid pid, int how);

/* What puppet number `i` has written down. */
const char *stage_events(const struct stage *stage, int i);

/* Frees the engine and checks what always holds. */
void stage_close(struct stage *stage);

/* Runs a test near (vat 0) and far (vat 1), with one worker and with two. */
typedef void stage_test(struct stage *stage, uint32_t vat);
void on_stages(stage_test *test);

/* Fails allocation n and all later ones, n = 1, 2, 3 ..., in an engine with six puppets, until none
 * fails: nothing may leak or go wrong. `set_up` (NULL: nothing) prepares each puppet of the world,
 * `tell` has the probe `asker` ask puppet `who`, the i-th, what it likes; `next` is the one after it.
 * Returns how many waits came back when nothing failed. */
typedef void puppet_set_up(struct puppet *puppet, int i);
typedef void puppet_tell(actl_engine *engine, actl_pid asker, struct world *world, actl_pid who,
                         actl_pid next, int i);
unsigned puppet_sweep(uint32_t workers, puppet_set_up *set_up, puppet_tell *tell);

#endif
