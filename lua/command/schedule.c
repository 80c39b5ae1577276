/*
 * schedule.c - the choices of a run that are not the plain one, taken down and made again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/schedule.h"

#include "command/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TAPE_CHOICES = 4000000 };

/* Only the pages that are written to take memory. */
struct tape {
  uint64_t n_made, n;
  struct choice choices[TAPE_CHOICES];
};

void actl__schedule_copy(struct schedule *out, const struct schedule *schedule) {
  size_t size = schedule->n * sizeof *out->choices;
  out->n = schedule->n;
  out->choices = actl__text_room(NULL, size + 1);
  if (size > 0) memcpy(out->choices, schedule->choices, size);
}

void actl__schedule_free(struct schedule *schedule) {
  free(schedule->choices);
  *schedule = (struct schedule){0};
}

/* ---- The tape ---- */

struct tape *actl__tape_new(void) {
  int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
  struct tape *tape = mmap(NULL, sizeof *tape, PROT_READ | PROT_WRITE, flags, -1, 0);
  return tape != MAP_FAILED ? tape : NULL;
}

void actl__tape_free(struct tape *tape) {
  if (tape != NULL) (void)munmap(tape, sizeof *tape);
}

void actl__tape_clear(struct tape *tape) { tape->n_made = tape->n = 0; }

bool actl__tape_read(const struct tape *tape, struct schedule *out, uint64_t *n_made) {
  uint64_t n = tape->n < TAPE_CHOICES ? tape->n : TAPE_CHOICES;
  const struct schedule all = {(struct choice *)(uintptr_t)tape->choices, (size_t)n};
  actl__schedule_copy(out, &all);
  *n_made = tape->n_made;
  return tape->n <= TAPE_CHOICES;
}

/* ---- Playing ---- */

/* What the schedule has for the next choice. A value that is none there is the plain one. */
static uint32_t planned(struct player *player, uint32_t n) {
  const struct schedule *schedule = player->schedule;
  const struct choice *choice = &schedule->choices[player->next];
  if (player->next == schedule->n || choice->at != player->n_made) return 0;
  player->next++;
  return choice->value < n ? choice->value : 0;
}

static void take_down(struct player *player, actl_choice kind, uint32_t n, uint32_t value) {
  struct tape *tape = player->tape;
  tape->n_made = player->n_made + 1;
  if (value == 0) return;
  if (tape->n < TAPE_CHOICES) {
    long place = player->trace != NULL ? ftell(player->trace) : 0;
    tape->choices[tape->n] = (struct choice){.at = player->n_made,
                                             .place = place > 0 ? (uint64_t)place : 0,
                                             .value = value,
                                             .n = n,
                                             .kind = (uint32_t)kind};
  }
  tape->n++;
}

uint32_t actl__player_choose(void *ud, actl_choice kind, uint32_t n, uint32_t drawn) {
  struct player *player = ud;
  uint32_t value = player->schedule != NULL ? planned(player, n) : drawn;
  if (player->tape != NULL) take_down(player, kind, n, value);
  player->n_made++;
  return value;
}
