/*
 * choice.h - what an engine with a seed is free to do, decided one number at a time.
 *
 * Each kind of choice has a rate of its own in a run, drawn from the seed: how often something else
 * than the plain order is taken. So some runs are nearly plain, some are wild, and some are wild in one
 * thing alone; a fault that needs one rare turn among plain ones is met as well as one that needs many
 * (Groce et al., "Swarm Testing", 2012).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_CHOICE_H
#define ACTL_BASE_CHOICE_H

#include "actl.h"

struct choices {
  bool is_on; /* there is a seed; constant */
  actl_choose_fn decide;
  void *ud;
  uint64_t random;
  uint32_t rate[ACTL_CHOICE_KINDS]; /* of 65,536, how many are not plain */
};

void actl__choices_init(struct choices *choices, const actl_config *config);

/* A number below `n`, which is 2 or more; 0 is the plain order. Only where it is on. */
uint32_t actl__choose(struct choices *choices, actl_choice choice, uint32_t n);

/* The same for code that runs without a seed, too: plain there, and where `n` leaves no choice. */
static inline uint32_t actl__choose_if_on(struct choices *choices, actl_choice choice, uint32_t n) {
  return choices->is_on && n > 1 ? actl__choose(choices, choice, n) : 0;
}

/* A start for a generator that depends on the seed and on `stream` alone; never 0. */
uint64_t actl__choices_stream(uint64_t seed, uint64_t stream);

#endif
