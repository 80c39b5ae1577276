/*
 * names.c - strings that became small integers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "msg/names.h"

#include <string.h>

enum { FIRST_BUCKETS = ACTL_TUNE(256, 2) };

struct name {
  uint32_t hash;
  uint32_t size;
  char bytes[]; /* and a zero byte */
};

actl_status actl__names_init(struct names *names, const struct memory *mem) {
  memset(names, 0, sizeof *names);
  names->mem = mem;
  return actl__lock_init(&names->lock);
}

/* How many there are: the ids are the numbers below. */
static uint32_t count(struct names *names) {
  /* acquire: pairs with add. */
  return atomic_load_explicit(&names->n, memory_order_acquire);
}

static struct name *name_at(struct names *names, uint32_t id) {
  /* acquire: pairs with add. */
  struct name **chunk =
      atomic_load_explicit(&names->chunks[id / ACTL__NAMES_CHUNK], memory_order_acquire);
  return chunk == NULL ? NULL : chunk[id % ACTL__NAMES_CHUNK];
}

void actl__names_fini(struct names *names) {
  for (uint32_t id = 0; id < count(names); id++) {
    struct name *name = name_at(names, id);
    actl__memory_free(names->mem, name, sizeof *name + name->size + 1);
  }
  for (uint32_t i = 0; i < ACTL__NAMES_MAX / ACTL__NAMES_CHUNK; i++)
    actl__memory_free(names->mem, atomic_load_explicit(&names->chunks[i], memory_order_relaxed),
                      ACTL__NAMES_CHUNK * sizeof(struct name *));
  actl__memory_free(names->mem, names->buckets, names->n_buckets * sizeof *names->buckets);
  actl__lock_fini(&names->lock);
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_of(const char *bytes, size_t size) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)bytes[i]) * 16777619u;
  return h;
}

/* Where the name is or would be; the table has a free bucket. */
static uint32_t *find(struct names *names, uint32_t hash, const char *bytes, size_t size) {
  for (uint32_t i = hash;; i++) {
    uint32_t *bucket = &names->buckets[i & (names->n_buckets - 1)];
    if (*bucket == 0) return bucket;
    const struct name *name = name_at(names, *bucket - 1);
    if (name->hash == hash && name->size == size && memcmp(name->bytes, bytes, size) == 0)
      return bucket;
  }
}

static bool grow(struct names *names) {
  uint32_t n = names->n_buckets == 0 ? FIRST_BUCKETS : names->n_buckets * 2;
  uint32_t *buckets = actl__memory_new_zeroed(names->mem, n * sizeof *buckets);
  if (buckets == NULL) return false;

  actl__memory_free(names->mem, names->buckets, names->n_buckets * sizeof *buckets);
  names->buckets = buckets;
  names->n_buckets = n;
  for (uint32_t id = 0; id < count(names); id++) {
    const struct name *name = name_at(names, id);
    *find(names, name->hash, name->bytes, name->size) = id + 1;
  }
  return true;
}

static actl_status add(struct names *names, uint32_t hash, const char *bytes, size_t size) {
  uint32_t id = count(names);
  if (id == ACTL__NAMES_MAX) return ACTL_LIMIT;

  _Atomic(struct name **) *place = &names->chunks[id / ACTL__NAMES_CHUNK];
  struct name **chunk = atomic_load_explicit(place, memory_order_relaxed);
  if (chunk == NULL) {
    chunk = actl__memory_new_zeroed(names->mem, ACTL__NAMES_CHUNK * sizeof *chunk);
    if (chunk == NULL) return ACTL_NO_MEMORY;
    /* release: pairs with name_at, which reads the chunk without the lock. */
    atomic_store_explicit(place, chunk, memory_order_release);
  }

  struct name *name = actl__memory_new(names->mem, sizeof *name + size + 1);
  if (name == NULL) return ACTL_NO_MEMORY;
  name->hash = hash;
  name->size = (uint32_t)size;
  if (size > 0) memcpy(name->bytes, bytes, size);
  name->bytes[size] = '\0';
  chunk[id % ACTL__NAMES_CHUNK] = name;
  /* release: pairs with count, so that the entry of every id below is seen. */
  atomic_store_explicit(&names->n, id + 1, memory_order_release);
  return ACTL_OK;
}

static actl_status intern(struct names *names, const char *bytes, size_t size, uint32_t *out) {
  if ((count(names) + 1) * 2 > names->n_buckets && !grow(names)) return ACTL_NO_MEMORY;

  uint32_t hash = hash_of(bytes, size);
  uint32_t *bucket = find(names, hash, bytes, size);
  if (*bucket == 0) {
    actl_status status = add(names, hash, bytes, size);
    if (status != ACTL_OK) return status;
    *bucket = count(names);
  }
  *out = *bucket - 1;
  return ACTL_OK;
}

actl_status actl__names_intern(struct names *names, const char *bytes, size_t size, uint32_t *out) {
  if (size > UINT32_MAX) return ACTL_INVALID;

  actl__lock_take(&names->lock);
  actl_status status = intern(names, bytes, size, out);
  actl__lock_drop(&names->lock);
  return status;
}

const char *actl__names_bytes(struct names *names, uint32_t id, size_t *size) {
  const struct name *name = id < count(names) ? name_at(names, id) : NULL;
  if (name == NULL) return NULL;
  if (size != NULL) *size = name->size;
  return name->bytes;
}

bool actl__names_equal(struct names *names, uint32_t id, const char *bytes, size_t size) {
  size_t n = 0;
  const char *own = actl__names_bytes(names, id, &n);
  return own != NULL && n == size && memcmp(own, bytes, n) == 0;
}
