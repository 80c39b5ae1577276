/*
 * schedule.h - the choices of a run that are not the plain one, taken down and made again.
 *
 * A choice is known by how many came before it. Where a run is made again with fewer of them it goes
 * another way, so that the same number is another choice there, of another kind maybe: what counts is
 * whether the run still fails.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_SCHEDULE_H
#define ACTL_COMMAND_SCHEDULE_H

#include "actl.h"

#include <stdio.h>

struct choice {
  uint64_t at;    /* how many came before it */
  uint64_t place; /* how many bytes of the trace there were when it was made */
  uint32_t value; /* 1 or more */
  uint32_t n;     /* it was made of so many */
  uint32_t kind;  /* actl_choice */
};

/* In the order in which they are made. */
struct schedule {
  struct choice *choices;
  size_t n;
};

void actl__schedule_copy(struct schedule *out, const struct schedule *schedule);
void actl__schedule_free(struct schedule *schedule);

/* Memory that a process which makes a run shares with the one that wants to know of it. */
struct tape;
struct tape *actl__tape_new(void); /* NULL: there is none (errno) */
void actl__tape_free(struct tape *tape);
void actl__tape_clear(struct tape *tape);

/* What is on it, to be freed; `n_made` is how many choices there were in all. False: they did not all
 * find a place on it. */
bool actl__tape_read(const struct tape *tape, struct schedule *out, uint64_t *n_made);

/* Makes the choices of `schedule` (NULL: those of the seed), all others plain; and takes down on `tape`
 * (NULL: nowhere) which were made, with their places in `trace` (NULL: 0). */
struct player {
  const struct schedule *schedule;
  struct tape *tape;
  FILE *trace;
  uint64_t n_made; /* begins as 0, as does `next` */
  size_t next;
};

/* For actl_config.choose, with the player as `choose_ud`. */
uint32_t actl__player_choose(void *player, actl_choice kind, uint32_t n, uint32_t drawn);

#endif
