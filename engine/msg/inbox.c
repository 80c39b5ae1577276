/*
 * inbox.c - chains of nodes between threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "msg/inbox.h"

#include "base/thread.h"

/* No node has one of these addresses: nodes are aligned to a cache line. */
enum { EMPTY = 0, IDLE = 1, CLOSED = 2 };

static struct actl_msg *node_of(uintptr_t word) { return (struct actl_msg *)word; }

void actl__inbox_init(struct inbox *inbox) {
  /* relaxed: nobody else knows the inbox yet. */
  atomic_store_explicit(&inbox->last, IDLE, memory_order_relaxed);
  atomic_store_explicit(&inbox->first, NULL, memory_order_relaxed);
  inbox->at = inbox->end = NULL;
}

/* The next of `m`, which is not the last of its queue: a pusher may be between its two writes. */
static struct actl_msg *wait_next(struct actl_msg *m) {
  struct actl_msg *next;
  /* acquire: pairs with the linking store in push, so that the next node's contents are seen. */
  while ((next = atomic_load_explicit(&m->next, memory_order_acquire)) == NULL)
    actl__thread_relax();
  return next;
}

/* The inbox was CLOSED when `chain` was swapped in: put CLOSED back, and take what others have
 * linked behind the chain meanwhile. */
static void take_back(struct inbox *inbox, struct chain chain, struct chain *back) {
  /* acq_rel: acquire sees the nodes of those who came between; release keeps the chain of
   * exchanges unbroken for the next pusher. */
  uintptr_t last = atomic_exchange_explicit(&inbox->last, CLOSED, memory_order_acq_rel);
  struct actl_msg *end = node_of(last);

  for (struct actl_msg *m = chain.last; m != end;) m = wait_next(m);
  *back = (struct chain){chain.first, end};
}

/* What comes after the exchange that found `old`.
 * release: pairs with pop. The node `old` cannot have been freed: the owner goes past it only once it
 * is linked on, or has taken it as the last, and then `old` is not it. */
static void link_behind(struct inbox *inbox, uintptr_t old, struct actl_msg *first) {
  if (old == EMPTY || old == IDLE) {
    atomic_store_explicit(&inbox->first, first, memory_order_release);
  } else {
    atomic_store_explicit(&node_of(old)->next, first, memory_order_release);
  }
}

bool actl__inbox_push_awake(struct inbox *inbox, struct chain chain) {
  /* relaxed: the exchange below publishes it. */
  atomic_store_explicit(&chain.last->next, NULL, memory_order_relaxed);

  /* relaxed: the exchange is what counts. */
  uintptr_t old = atomic_load_explicit(&inbox->last, memory_order_relaxed);
  do {
    if (old == IDLE || old == CLOSED) return false;
    /* acq_rel: see actl__inbox_push. seq_cst: for who looks at a flag next (outside.c). */
  } while (!atomic_compare_exchange_weak_explicit(&inbox->last, &old, (uintptr_t)chain.last,
                                                  memory_order_seq_cst, memory_order_relaxed));
  link_behind(inbox, old, chain.first);
  return true;
}

enum inbox_push actl__inbox_push(struct inbox *inbox, struct chain chain, struct chain *back) {
  /* relaxed: the exchange below publishes it. */
  atomic_store_explicit(&chain.last->next, NULL, memory_order_relaxed);

  /* release: the next pusher, who will write last->next, sees it cleared first, and the owner sees
   * the nodes. acquire: pairs with try_idle, so that whoever schedules the vat sees its state; and
   * with the take, whose clearing of `first` comes before our store to it.
   * seq_cst: with the owner's try_idle and the parking of workers there is one order of all. */
  uintptr_t old =
      atomic_exchange_explicit(&inbox->last, (uintptr_t)chain.last, memory_order_seq_cst);
  if (old == CLOSED) {
    take_back(inbox, chain, back);
    return INBOX_CLOSED;
  }

  link_behind(inbox, old, chain.first);
  return old == IDLE ? INBOX_WAKE : INBOX_BUSY;
}

/* Takes all there is, when the first pusher has left its chain. */
static bool take(struct inbox *inbox) {
  /* relaxed: a hint; the exchange below is what counts. */
  uintptr_t last = atomic_load_explicit(&inbox->last, memory_order_relaxed);
  if (last == EMPTY || last == IDLE || last == CLOSED) return false;

  /* acquire: pairs with the store in push. */
  struct actl_msg *first = atomic_load_explicit(&inbox->first, memory_order_acquire);
  if (first == NULL) return false;

  /* relaxed: the exchange releases it to the next first pusher. */
  atomic_store_explicit(&inbox->first, NULL, memory_order_relaxed);
  /* acq_rel: acquire sees the nodes up to the last; release: see above. */
  last = atomic_exchange_explicit(&inbox->last, EMPTY, memory_order_acq_rel);
  inbox->at = first;
  inbox->end = node_of(last);
  return true;
}

struct actl_msg *actl__inbox_pop(struct inbox *inbox) {
  if (inbox->at == NULL && !take(inbox)) return NULL;

  struct actl_msg *m = inbox->at;
  if (m == inbox->end) {
    inbox->at = inbox->end = NULL;
    return m;
  }

  /* acquire: pairs with the linking store in push. */
  struct actl_msg *next = atomic_load_explicit(&m->next, memory_order_acquire);
  if (next == NULL) return NULL;
  actl__node_fetch_ahead(m, next);
  inbox->at = next;
  return m;
}

bool actl__inbox_has(const struct inbox *inbox) {
  if (inbox->at != NULL) return true;
  /* relaxed: a hint for the owner, who tries again or goes idle through try_idle. */
  uintptr_t last = atomic_load_explicit(&inbox->last, memory_order_relaxed);
  return last != EMPTY && last != IDLE && last != CLOSED;
}

bool actl__inbox_try_idle(struct inbox *inbox) {
  if (inbox->at != NULL) return false;
  uintptr_t expected = EMPTY;
  /* release: pairs with push, so that the next owner sees what this one did. seq_cst: see push. */
  return atomic_compare_exchange_strong_explicit(&inbox->last, &expected, IDLE,
                                                 memory_order_seq_cst, memory_order_relaxed);
}

/* A chain whose pushers may be between their two writes, all linked. */
static struct chain linked(struct chain chain) {
  for (struct actl_msg *m = chain.first; m != chain.last;) m = wait_next(m);
  return chain;
}

/* What was pushed since the last take, once its first pusher has left it. */
static struct chain wait_first(struct inbox *inbox, struct actl_msg *last) {
  struct actl_msg *first;
  /* acquire: pairs with the store in push. */
  while ((first = atomic_load_explicit(&inbox->first, memory_order_acquire)) == NULL)
    actl__thread_relax();
  /* relaxed: nobody reads it any more: the inbox is closed. */
  atomic_store_explicit(&inbox->first, NULL, memory_order_relaxed);
  return linked((struct chain){first, last});
}

struct chain actl__inbox_close(struct inbox *inbox) {
  struct chain rest = linked((struct chain){inbox->at, inbox->end});
  inbox->at = inbox->end = NULL;

  /* acq_rel: see take. */
  uintptr_t last = atomic_exchange_explicit(&inbox->last, CLOSED, memory_order_acq_rel);
  if (last == EMPTY || last == IDLE || last == CLOSED) return rest;

  struct chain more = wait_first(inbox, node_of(last));
  if (rest.first == NULL) return more;
  actl__node_link(rest.last, more.first);
  return (struct chain){rest.first, more.last};
}

void actl__inbox_open(struct inbox *inbox) {
  uintptr_t expected = CLOSED;
  /* Who has pushed a chain takes it back and closes the inbox again: that is waited for.
   * release: pairs with push, so that the next owner sees what this one did. */
  while (!atomic_compare_exchange_weak_explicit(&inbox->last, &expected, IDLE, memory_order_release,
                                                memory_order_relaxed)) {
    expected = CLOSED;
    actl__thread_relax();
  }
}

bool actl__inbox_is_idle(const struct inbox *inbox) {
  /* relaxed: a hint. */
  return atomic_load_explicit(&inbox->last, memory_order_relaxed) == IDLE;
}

bool actl__inbox_wake(struct inbox *inbox) {
  uintptr_t expected = IDLE;
  /* acquire: pairs with try_idle. seq_cst: see push. */
  return atomic_compare_exchange_strong_explicit(&inbox->last, &expected, EMPTY,
                                                 memory_order_seq_cst, memory_order_relaxed);
}
