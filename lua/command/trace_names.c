/*
 * trace_names.c - the actors of a trace, by pid.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trace_names.h"

#include "command/trace_values.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };

static void *zeroed(size_t size) {
  void *room = actl__text_room(NULL, size);
  memset(room, 0, size);
  return room;
}

void actl__trace_names_free(struct trace_names *names) {
  for (uint32_t i = 0; i < names->capacity; i++) {
    if (names->actors[i] != NULL) free(names->actors[i]->doing);
    free(names->actors[i]);
  }
  for (uint32_t i = 0; i < names->n_names; i++) free(names->names[i]);
  free(names->actors);
  free(names->names);
  free(names->index);
  *names = (struct trace_names){0};
}

/* ---- Actors ---- */

static uint32_t hash_of(uint64_t bits) { return (uint32_t)((bits * 0x9E3779B97F4A7C15u) >> 32); }

static struct trace_actor **place_of(const struct trace_names *names, uint64_t pid) {
  uint32_t mask = names->capacity - 1, i = hash_of(pid) & mask;
  while (names->actors[i] != NULL && names->actors[i]->pid != pid) i = (i + 1) & mask;
  return &names->actors[i];
}

static void grow_actors(struct trace_names *names) {
  struct trace_actor **old = names->actors;
  uint32_t old_capacity = names->capacity;
  names->capacity = old_capacity == 0 ? FIRST : old_capacity * 2;
  names->actors = zeroed(names->capacity * sizeof(struct trace_actor *));
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i] != NULL) *place_of(names, old[i]->pid) = old[i];
  free(old);
}

struct trace_actor *actl__trace_names_get(struct trace_names *names, actl_pid pid) {
  if ((names->n_actors + 1) * 2 > names->capacity) grow_actors(names);
  struct trace_actor **place = place_of(names, pid.bits);
  if (*place == NULL) {
    *place = zeroed(sizeof **place);
    (*place)->pid = pid.bits;
    (*place)->number = ++names->n_actors;
  }
  return *place;
}

/* ---- Names ---- */

/* FNV-1a (Fowler, Noll and Vo, 1991). */
static uint32_t hash_text(const char *text, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  return hash;
}

static uint32_t *index_of(const struct trace_names *names, const char *text, size_t size) {
  uint32_t mask = names->index_capacity - 1, i = hash_text(text, size) & mask;
  for (; names->index[i] != 0; i = (i + 1) & mask) {
    const char *name = names->names[names->index[i] - 1];
    if (strncmp(name, text, size) == 0 && name[size] == '\0') break;
  }
  return &names->index[i];
}

static void grow_index(struct trace_names *names) {
  free(names->index);
  names->index_capacity = names->index_capacity == 0 ? FIRST : names->index_capacity * 2;
  names->index = zeroed(names->index_capacity * sizeof *names->index);
  for (uint32_t i = 0; i < names->n_names; i++)
    *index_of(names, names->names[i], strlen(names->names[i])) = i + 1;
}

static uint32_t intern(struct trace_names *names, const char *text, size_t size) {
  if ((names->n_names + 1) * 2 > names->index_capacity) grow_index(names);
  uint32_t *place = index_of(names, text, size);
  if (*place != 0) return *place;
  if (names->n_names == names->names_room) {
    names->names_room = names->names_room == 0 ? FIRST : names->names_room * 2;
    names->names = actl__text_room(names->names, names->names_room * sizeof *names->names);
  }
  names->names[names->n_names++] = actl__text_copy(text, size);
  *place = names->n_names;
  return *place;
}

void actl__trace_names_learn(struct trace_names *names, struct trace_actor *actor,
                             const char *text) {
  const char *end = strrchr(text, '<');
  size_t size = end == NULL ? strlen(text) : (size_t)(end - text);
  while (size > 0 && text[size - 1] == ' ') size--;
  actor->name = intern(names, text, size);
}

void actl__trace_names_print(struct trace_names *names, actl_pid pid, struct text *out) {
  if (pid.bits == 0) {
    actl__text_print(out, "outside");
    return;
  }
  const struct trace_actor *actor = actl__trace_names_get(names, pid);
  if (actor->name != 0) {
    const char *name = names->names[actor->name - 1];
    actl__trace_values_escape(out, name, strlen(name));
    actl__text_add(out, " ", 1);
  }
  /* The layout, from the bottom: 22 bits slot, 16 vat, 8 node, 16 generation. */
  actl__text_print(out, "<%u.%u.%u>", (unsigned)(pid.bits >> 22 & 0xFFFF),
                   (unsigned)(pid.bits & 0x3FFFFF), (unsigned)(pid.bits >> 46 & 0xFFFF));
}
