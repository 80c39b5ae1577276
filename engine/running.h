/*
 * running.h - what running.c has in an engine, for engine.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_RUNNING_H
#define ACTL_RUNNING_H

#include "actor/vat.h"

/* The scheduler, alarms and the watchdog of an engine whose `mem` is set; starts no thread.
 * ACTL_NO_MEMORY, ACTL_SYSTEM. */
actl_status actl__running_init(struct actl_engine *engine, uint32_t workers);

/* First ends all threads, for which vats must be there; then, when the vats are gone, the rest. */
void actl__running_end(struct actl_engine *engine);
void actl__running_fini(struct actl_engine *engine);

#endif
