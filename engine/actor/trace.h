/*
 * trace.h - telling the host what happens.
 *
 * Without a trace none of it costs anything. What is traced is met on paths that are taken seldom
 * otherwise, behind tests that are there anyway:
 *
 *   a send      `door` has no pid's home bits, so that every send is one to elsewhere
 *   a message   its header has NODE_TRACED, so that it is no plain one, and not simply freed
 *   a spawn     `state` has ENGINE_TRACED, where it is 0 mostly
 *   a turn      `is_odd`, where with a seed more is to be done
 *
 * The rest asks actl__vat_is_traced where that is no message's way. What is told changes nothing in a
 * run: with a seed it is the same one.
 *
 * NODE_TRACED on a message or an ask says: it was sent, and until it has been handled or is a dead
 * letter there is more to tell. Who sends is told of before anybody else can see the node, so that a
 * receive comes after its send, on whichever threads.
 *
 * These functions are called where there is a trace only; without a lock held.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_TRACE_H
#define ACTL_ACTOR_TRACE_H

#include "actor/life.h"

/* The current actor, or the vat's own code, sends `m`: a message, an ask, or that somebody stops. */
void actl__trace_send(struct vat *vat, uint64_t to, const struct actl_msg *m);
void actl__trace_stop(struct vat *vat, uint64_t from, uint64_t to);

/* The current actor begins with a message, an ask or a timer's message. */
void actl__trace_begin(struct vat *vat, const struct actl_msg *m);

/* It has done with `m`, if that is one that it began; NULL: with one that is gone. */
void actl__trace_end(struct vat *vat, const struct actl_msg *m);

/* `m`, NODE_REPLY or NODE_FAILURE, is on its way to who asked. */
void actl__trace_reply(struct vat *vat, uint64_t asker, const struct actl_msg *m);

/* A handler of `a`, which has an extra, waits; goes on. */
void actl__trace_wait(struct vat *vat, struct actor *a);
void actl__trace_resume(struct vat *vat, const struct actor *a, uint64_t by, actl_status status);

/* `pid` has been made by the current actor: near; or elsewhere, where the node of the spawn says
 * what it is. */
void actl__trace_spawn(struct vat *vat, uint64_t pid);
void actl__trace_spawn_far(struct vat *vat, uint64_t pid, const struct actl_msg *m);

/* An actor ends, with what its extra has as the reason; and one that was never made. */
void actl__trace_exit(struct vat *vat, const struct actor *a);
void actl__trace_stillborn(struct vat *vat, uint64_t pid, actl_status status);

/* `m` (NULL: it was never written) is a dead letter: from here on it is not traced. */
void actl__trace_letter(struct vat *vat, uint64_t to, struct actl_msg *m, actl_status reason);

/* The same, its failure, and a send, an ask and a spawn, of a thread of the host. The target is in
 * slot 4. */
void actl__trace_letter_outside(struct actl_engine *engine, struct actl_msg *m, actl_status reason);
void actl__trace_reply_outside(struct actl_engine *engine, const struct actl_msg *m);
void actl__trace_send_outside(struct actl_engine *engine, struct actl_msg *m);

/* The virtual clock has jumped. */
void actl__trace_clock(struct actl_engine *engine);

#endif
