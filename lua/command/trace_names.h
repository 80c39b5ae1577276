/*
 * trace_names.h - who is who in a trace: the actors that events have named, by pid.
 *
 * An actor stays known after its end: messages to it still come. Memory: 40 bytes for each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRACE_NAMES_H
#define ACTL_COMMAND_TRACE_NAMES_H

#include "command/text.h"

#include "actl.h"

#include <stdbool.h>
#include <stdint.h>

/* One actor; or, with the pid {0}, all that is no actor. */
struct trace_actor {
  uint64_t pid;
  char *doing;     /* what its slice is called, while it has one to go on with; NULL: none */
  uint32_t name;   /* index of its behavior's name + 1; 0: not known */
  uint32_t number; /* counted from 1, in the order in which events came */
  uint32_t vat;    /* where its own events happen */
  bool is_placed;  /* `vat` is known */
  bool is_begun;   /* it has a message that it has not done with */
  bool is_open;    /* its slice is open */
  bool waits;      /* for the answer of somebody */
  uint32_t answer; /* the arrow that its next going on ends; 0: none */
};

struct trace_names {
  struct trace_actor **actors; /* open addressing, at most half full */
  uint32_t capacity, n_actors;
  char **names; /* each once; found through `index`, open addressing too */
  uint32_t n_names, names_room;
  uint32_t *index; /* of a name + 1; 0: free */
  uint32_t index_capacity;
};

/* All zeros is empty. */
void actl__trace_names_free(struct trace_names *names);

/* The actor of that pid, made when it is not known. Valid until the names are freed. */
struct trace_actor *actl__trace_names_get(struct trace_names *names, actl_pid pid);

/* Keeps the name of `actor`, as logs have it: "name <vat.slot.generation>". */
void actl__trace_names_learn(struct trace_names *names, struct trace_actor *actor,
                             const char *text);

/* Adds "name <vat.slot.generation>", or as much as is known of it; {0}: "outside". Bytes that do not
 * show are escaped. */
void actl__trace_names_print(struct trace_names *names, actl_pid pid, struct text *out);

#endif
