/*
 * inbox.h - what other threads send to a vat: chains of nodes, published with one exchange.
 *
 *   IDLE    --push-->            filled   push returns true: the pusher must schedule the vat
 *   EMPTY   --push-->            filled   the vat is running or scheduled
 *   filled  --take-->            EMPTY    the owner takes all there is
 *   EMPTY   --try_idle-->        IDLE     fails when something came
 *   any     --close-->           CLOSED
 *   CLOSED  --open-->            IDLE
 *   CLOSED  --push-->            CLOSED   push hands the chain back as undeliverable
 *
 * `last` is the newest node of all that was pushed since the last take. A pusher first exchanges it
 * and then links its chain behind what it found: until then the chain is not reachable, and pop says
 * "nothing yet". The first pusher after a take leaves its chain in `first` instead.
 *
 * After Vyukov's intrusive queue (2010), with Pony's idle bit, and chains in place of nodes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_MSG_INBOX_H
#define ACTL_MSG_INBOX_H

#include <stdalign.h>

#include "msg/node.h"

struct chain {
  struct actl_msg *first, *last;
};

struct inbox {
  alignas(ACTL__CACHE_LINE) _Atomic(uintptr_t) last; /* any sender */
  _Atomic(struct actl_msg *) first;                  /* the first sender after a take; the owner */
  alignas(ACTL__CACHE_LINE) struct actl_msg *at;     /* next to pop; owner only */
  struct actl_msg *end;                              /* last of what was taken; owner only */
};

enum inbox_push {
  INBOX_BUSY,  /* its vat will see the chain */
  INBOX_WAKE,  /* the caller must schedule the vat */
  INBOX_CLOSED /* `back` is the caller's: the chain, and what others linked behind it */
};

void actl__inbox_init(struct inbox *inbox); /* IDLE */

/* Any thread. The chain's links are set, the last one's need not be. */
enum inbox_push actl__inbox_push(struct inbox *inbox, struct chain chain, struct chain *back);

/* Any thread: pushes where that wakes nobody; false: the inbox is IDLE or CLOSED, and nothing was done. */
bool actl__inbox_push_awake(struct inbox *inbox, struct chain chain);

/* Owner only: the oldest node; NULL: nothing, or nothing yet. */
struct actl_msg *actl__inbox_pop(struct inbox *inbox);

/* Owner only: true: IDLE from now on, and the next push wakes. */
bool actl__inbox_try_idle(struct inbox *inbox);

/* Owner only, from an inbox that is not IDLE: CLOSED from now on; what was in it comes back. */
struct chain actl__inbox_close(struct inbox *inbox);

/* By the one who owns the closed inbox: IDLE again. */
void actl__inbox_open(struct inbox *inbox);

/* Whether its vat sleeps: one load; a hint. Any thread. */
bool actl__inbox_is_idle(const struct inbox *inbox);

/* Owner only: whether there is anything to pop. */
bool actl__inbox_has(const struct inbox *inbox);

/* IDLE -> EMPTY, for a wake-up without a message. Any thread; true: the caller must schedule. */
bool actl__inbox_wake(struct inbox *inbox);

#endif
