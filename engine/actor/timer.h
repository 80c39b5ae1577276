/*
 * timer.h - timers of actors: messages to themselves, and the ends of waits.
 *
 *   set  --due-->  its message waits in the mailbox  --its turn-->  handled: once: gone; every: set
 *   set, or its message waits  --cancel, its actor ends-->  gone: the message finds no timer and is
 *                                                           dropped
 *
 * A timer is an entry of the vat's table. It has its message with it: a plain one of up to two values
 * in the entry itself, any other as a node.
 *
 * Asks are in the same wheel, in the table of asks: those that were opened since the clock was last
 * read are kept in a list apart, and get into the wheel, all at once, when the turn ends. Most are
 * answered before, and never cost a look at the clock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_TIMER_H
#define ACTL_ACTOR_TIMER_H

#include "actor/life.h"

void actl__timer_init(struct vat *vat);

/* A wait of the actor's handler ends in `ms`; the id, 0: no memory. */
uint64_t actl__timer_new_wait(struct vat *vat, struct actor *a, uint64_t ms);

/* The stop hook of the actor waits: it is ended when it has not done so within 5 s of its first wait.
 * `keeps`: a run goes on until then. */
void actl__timer_bound_hook(struct vat *vat, struct actor *a, bool keeps);

/* Ends a timer, whatever its state; nothing where it has ended. */
void actl__timer_end(struct vat *vat, uint64_t id);

/* Ends all timers of an actor. */
void actl__timer_end_all(struct vat *vat, struct actor *a);

/* The message of a timer (NODE_TIMER) has its turn: true: it is to be handled, as an ordinary message
 * from now on. false: the timer has ended meanwhile; the node is freed. */
bool actl__timer_arrives(struct vat *vat, struct actl_msg *m);

/* The message of a timer with ACTL_TIMER_DELAY has been handled, or dropped. */
void actl__timer_handled(struct vat *vat, const struct actl_msg *m);

/* Fires what is due, as far as one turn goes. */
void actl__timer_turn(struct vat *vat, uint64_t now_ns);

/* At the end of a turn: when the next one is due, in milliseconds of the clock; WHEEL_NEVER: none. */
uint64_t actl__timer_next(struct vat *vat);

/* Frees what the timers hold outside of the arena. */
void actl__timer_fini(struct vat *vat);

/* ---- Asks ---- */

/* An ask was opened that ends in `timeout_ms`, or ACTL_FOREVER. false: no memory. */
bool actl__timer_watch_ask(struct vat *vat, struct owned *ask, uint64_t timeout_ms);
void actl__timer_forget_ask(struct vat *vat, struct owned *ask);

#endif
