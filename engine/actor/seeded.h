/*
 * seeded.h - what a vat is free to do, drawn from the seed of its engine.
 *
 * All of it lies on paths that a turn takes seldom without a seed: where it begins and ends, and in its
 * looks at the clock, which with a seed come after each delivery.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_SEEDED_H
#define ACTL_ACTOR_SEEDED_H

#include "actor/vat.h"

/* A turn begins: how long it is, and what time it is. */
void actl__seeded_begin(struct vat *vat);

/* After a delivery: the turn ends, the actor gives way, others change places. */
void actl__seeded_check(struct vat *vat);

/* How many nodes a turn takes in at its start. */
int actl__seeded_drain(struct vat *vat);

/* Whether what is sent to another vat is held back for a while. */
bool actl__seeded_holds_back(struct vat *vat);

/* Counts one of the steps that a run may have; false: they are used up. */
bool actl__seeded_step(struct actl_engine *engine);

#endif
