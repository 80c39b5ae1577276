/*
 * footprint.h - how much memory the process and the engine hold.
 *
 * The engine takes its memory in slabs of up to 2 MB, and single blocks only above 16 kB: so
 * counting what its hook gives costs nothing that could be measured.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_FOOTPRINT_H
#define ACTL_COMMAND_FOOTPRINT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct footprint {
  _Atomic(size_t) held_bytes; /* given by the hook and not given back; any thread */
};

/* The engine's hook, with a footprint as its `ud`: malloc, counted. */
void *actl__footprint_alloc(void *ud, void *ptr, size_t old_size, size_t new_size);

/* Bytes of the process that are in physical memory now; 0: the system does not say. */
uint64_t actl__footprint_resident(void);

#endif
