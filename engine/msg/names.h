/*
 * names.h - strings that became small integers, engine-wide.
 *
 * Append-only: a name is never changed or removed while the engine lives, so its bytes are read
 * without a lock. Making and finding one takes the lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_MSG_NAMES_H
#define ACTL_MSG_NAMES_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/thread.h"

enum { ACTL__NAMES_MAX = 65536, ACTL__NAMES_CHUNK = 256 };

struct name;

struct names {
  const struct memory *mem;
  actl__lock lock;
  _Atomic(uint32_t) n; /* written under `lock`; any reader */
  uint32_t *buckets;   /* under `lock`: id + 1, open addressing */
  uint32_t n_buckets;  /* under `lock` */
  _Atomic(struct name **) chunks[ACTL__NAMES_MAX / ACTL__NAMES_CHUNK]; /* any reader */
};

actl_status actl__names_init(struct names *names, const struct memory *mem);
void actl__names_fini(struct names *names);
actl_status actl__names_intern(struct names *names, const char *bytes, size_t size, uint32_t *out);

bool actl__names_equal(struct names *names, uint32_t id, const char *bytes, size_t size);

/* NULL: no such id. */
const char *actl__names_bytes(struct names *names, uint32_t id, size_t *size);

#endif
