/*
 * pid.h - the layout of a pid.
 *
 *   bit  63     always set: no pointer of user space has it, and 0 is no pid
 *   bit  62     gate: the mailbox is bounded
 *   bits 46-61  generation, never 0
 *   bits 38-45  node
 *   bits 22-37  vat
 *   bits  0-21  slot, lowest because Lua hashes light userdata by its low 32 bits
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_ACTOR_PID_H
#define ACTL_ACTOR_PID_H

#include "actl.h"
#include "base/invariant.h"

enum {
  PID_SLOT_BITS = 22,
  PID_VAT_BITS = 16,
  PID_NODE_BITS = 8,
  PID_GENERATION_BITS = 16,
  PID_VAT_SHIFT = PID_SLOT_BITS,
  PID_NODE_SHIFT = PID_VAT_SHIFT + PID_VAT_BITS,
  PID_GENERATION_SHIFT = PID_NODE_SHIFT + PID_NODE_BITS,
  PID_SLOTS = 1 << PID_SLOT_BITS,
  PID_VATS = 1 << PID_VAT_BITS,
  PID_GENERATIONS = 1 << PID_GENERATION_BITS,
  PID_VAT_OUTSIDE = PID_VATS - 1 /* the number of no vat */
};

#define PID_TOP ((uint64_t)1 << 63)
#define PID_GATE ((uint64_t)1 << 62)
#define PID_HOME_MASK                                                                              \
  (((uint64_t)(PID_VATS - 1) << PID_VAT_SHIFT) | ((uint64_t)255 << PID_NODE_SHIFT))

static_assert(PID_GENERATION_SHIFT + PID_GENERATION_BITS == 62, "a pid has 64 bits");
static_assert(sizeof(actl_pid) == 8, "a pid has 64 bits");

static inline uint32_t actl__pid_slot(uint64_t pid) { return (uint32_t)pid & (PID_SLOTS - 1); }
static inline uint32_t actl__pid_vat(uint64_t pid) {
  return (uint32_t)(pid >> PID_VAT_SHIFT) & (PID_VATS - 1);
}
static inline uint32_t actl__pid_generation(uint64_t pid) {
  return (uint32_t)(pid >> PID_GENERATION_SHIFT) & (PID_GENERATIONS - 1);
}

/* The bits that all pids of one vat number have. */
static inline uint64_t actl__pid_home(uint32_t vat) {
  return PID_TOP | (uint64_t)vat << PID_VAT_SHIFT;
}

/* Who asks from a thread of the host: no actor's pid, which has a generation. See outside.h. */
#define PID_OUTSIDE (PID_TOP | (uint64_t)PID_VAT_OUTSIDE << PID_VAT_SHIFT)

/* No pid has the home bits of this. */
#define PID_NOWHERE (PID_TOP | PID_HOME_MASK)

static inline uint64_t actl__pid_make(uint64_t home, uint32_t slot, uint32_t generation) {
  return home | (uint64_t)generation << PID_GENERATION_SHIFT | slot;
}

#endif
