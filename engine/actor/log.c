/*
 * log.c - what the log says of actors.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actor/life.h"

enum { ENTRY_SIZE = 512 };

void actl__describe_as(const char *name, uint64_t pid, char *out, size_t size) {
  (void)snprintf(out, size, "%s <%" PRIu32 ".%" PRIu32 ".%" PRIu32 ">", name, actl__pid_vat(pid),
                 actl__pid_slot(pid), actl__pid_generation(pid));
}

void actl__describe(struct vat *vat, struct actor *a, char *out, size_t size, char *where,
                    size_t where_size) {
  char name[96];
  const char *fallback = a->behavior->name != NULL ? a->behavior->name : "actor";
  (void)snprintf(name, sizeof name, "%s", fallback);

  bool is_known = (a->flags & ACTOR_DRIVEN) != 0 && (a->flags & ACTOR_UNBORN) == 0;
  if (is_known && vat->machine != NULL) {
    void *waiter = actl__extra_of(a) != NULL ? actl__extra_of(a)->waiter : NULL;
    vat->engine->driver->describe(vat->machine, a->word, waiter, name, sizeof name, where,
                                  where_size);
  }
  actl__describe_as(name, a->pid, out, size);
}

/* An entry longer than the buffer takes memory; without any it is cut. */
void actl__log(struct actl_engine *engine, actl_log_level level, actl_log_kind kind,
               const char *format, ...) {
  if (engine->log == NULL) return;

  char entry[ENTRY_SIZE];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(entry, sizeof entry, format, args);
  va_end(args);
  if (n < 0) return;

  size_t size = (size_t)n + 1;
  char *text = size <= sizeof entry ? NULL : actl__memory_new(&engine->mem, size);
  if (text != NULL) {
    va_start(args, format);
    (void)vsnprintf(text, size, format, args);
    va_end(args);
  }
  engine->log(engine->log_ud, level, kind, text != NULL ? text : entry);
  actl__memory_free(&engine->mem, text, size);
}
