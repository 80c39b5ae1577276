/*
 * shorten.c - finds a part of a failing run's choices with which it still fails in the same way.
 *
 * Steps, each of which makes runs without some of the choices that are left, and keeps the first that
 * still fails:
 *
 *   prefix   without all but the first 0, 1, 2, 4 ...
 *   kind     without those of one kind
 *   thin     with a few of them only, drawn by lot
 *   chunk    without one piece after the other: halves, quarters ... single ones, these until none can
 *            go (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002: what
 *            is left is 1-minimal)
 *   shift    without a single one, and those after it some places earlier or later: without it there are
 *            other choices in between
 *   value    with smaller numbers in place of those that are left
 *
 * The runs of a step are jobs of a crew. The first by number counts, so that what is found does not
 * depend on how many processes there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/shorten.h"

#include "command/crew.h"
#include "command/interrupt.h"
#include "command/text.h"

#include <stdlib.h>
#include <string.h>

enum { THIN_TRIES = 4, SHIFTS = 8, SHIFT_TRIES = 2 * SHIFTS, VALUE_TRIES = 4 };

#define NONE UINT64_MAX

/* Makes the schedule of a job out of the best one; false: it would be no other one. */
struct step;
typedef bool (*make_fn)(const struct step *step, uint64_t job, struct schedule *out);

struct step {
  struct shorten *shorten;
  make_fn make;
  size_t start, size; /* for chunks and values */
};

/* ---- What the jobs are -------------------------------------------------------------------------------- */

static void remove_range(struct schedule *schedule, size_t first, size_t n) {
  size_t after = schedule->n - first - n;
  memmove(schedule->choices + first, schedule->choices + first + n,
          after * sizeof *schedule->choices);
  schedule->n -= n;
}

/* Keeps those that `is_kept` says. */
static bool filter(struct schedule *schedule,
                   bool (*is_kept)(const struct choice *choice, uint64_t job, uint64_t mask),
                   uint64_t job, uint64_t mask) {
  size_t n = 0;
  for (size_t i = 0; i < schedule->n; i++)
    if (is_kept(&schedule->choices[i], job, mask)) schedule->choices[n++] = schedule->choices[i];
  bool is_other = n != schedule->n;
  schedule->n = n;
  return is_other;
}

static bool make_prefix(const struct step *step, uint64_t job, struct schedule *out) {
  (void)step;
  size_t n = job == 0 ? 0 : (size_t)1 << (job - 1);
  if (n >= out->n) return false;
  out->n = n;
  return true;
}

static bool is_other_kind(const struct choice *choice, uint64_t job, uint64_t mask) {
  (void)mask;
  return choice->kind != job;
}

static bool make_without_kind(const struct step *step, uint64_t job, struct schedule *out) {
  (void)step;
  return filter(out, is_other_kind, job, 0);
}

/* SplitMix64's finalizer (Steele, Lea and Flood, 2014). */
static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

static bool is_drawn(const struct choice *choice, uint64_t job, uint64_t mask) {
  return (mix(mix(job) ^ choice->at) & mask) == 0;
}

static unsigned log2_of(size_t n) {
  unsigned log = 0;
  while (n >> (log + 1) != 0) log++;
  return log;
}

/* The sparse ones come first. */
static bool make_thin(const struct step *step, uint64_t job, struct schedule *out) {
  (void)step;
  unsigned bits = log2_of(out->n) - (unsigned)(job / THIN_TRIES);
  return filter(out, is_drawn, job, ((uint64_t)1 << bits) - 1);
}

static bool make_without_chunk(const struct step *step, uint64_t job, struct schedule *out) {
  size_t first = step->start + (size_t)job * step->size;
  size_t n = out->n - first < step->size ? out->n - first : step->size;
  remove_range(out, first, n);
  return true;
}

/* The near places come first, of each two the earlier one. */
static bool make_shifted(const struct step *step, uint64_t job, struct schedule *out) {
  size_t first = step->start + (size_t)(job / SHIFT_TRIES);
  unsigned try = (unsigned)(job % SHIFT_TRIES), by = try / 2 + 1;
  bool is_earlier = try % 2 == 0;
  remove_range(out, first, 1);
  if (first == out->n) return false;
  uint64_t least = first > 0 ? out->choices[first - 1].at + 1 : 0;
  if (is_earlier && out->choices[first].at < least + by) return false;
  for (size_t i = first; i < out->n; i++)
    out->choices[i].at = is_earlier ? out->choices[i].at - by : out->choices[i].at + by;
  return true;
}

static bool make_smaller(const struct step *step, uint64_t job, struct schedule *out) {
  struct choice *choice = &out->choices[step->start + job / VALUE_TRIES];
  const uint32_t values[VALUE_TRIES] = {1, 2, 3, choice->value / 2};
  uint32_t value = values[job % VALUE_TRIES];
  bool is_last = job % VALUE_TRIES == VALUE_TRIES - 1;
  if (value >= choice->value || (is_last && value <= 3)) return false;
  choice->value = value;
  return true;
}

/* ---- Making the runs ------------------------------------------------------------------------------------ */

static void work(void *ud, uint64_t job, struct verdict *out) {
  const struct step *step = ud;
  const struct shorten *shorten = step->shorten;
  struct schedule schedule;
  actl__schedule_copy(&schedule, &shorten->best);
  if (step->make(step, job, &schedule)) {
    struct player player = {.schedule = &schedule};
    const struct attempt_hooks hooks = {.choose = actl__player_choose, .choose_ud = &player};
    actl__attempt_run(shorten->attempt, shorten->seed, &hooks, out);
    out->n_choices = player.n_made;
  }
  actl__schedule_free(&schedule);
}

static bool hear(void *ud, uint64_t job, const struct verdict *verdict) {
  (void)job;
  const struct step *step = ud;
  return actl__verdict_is_same(step->shorten->target, verdict);
}

static void tell(void *ud, uint64_t n_done) {
  (void)n_done;
  const struct step *step = ud;
  if (step->shorten->tell != NULL) step->shorten->tell(step->shorten->tell_ud, step->shorten);
}

static bool is_over(const struct shorten *shorten) {
  return shorten->n_runs >= SHORTEN_RUNS || actl__interrupt_signal() != 0;
}

/* The choices that the run did not come to are none. */
static void cut(struct schedule *schedule, uint64_t n_made) {
  while (n_made > 0 && schedule->n > 0 && schedule->choices[schedule->n - 1].at >= n_made)
    schedule->n--;
}

/* Makes the runs of a step, and keeps the first that fails: `found` is its job, NONE where there is
 * none. */
static char *try(struct step *step, uint64_t n_jobs, uint64_t *found) {
  struct shorten *shorten = step->shorten;
  uint64_t left = SHORTEN_RUNS - shorten->n_runs;
  const struct crew crew = {.n_jobs = n_jobs < left ? n_jobs : left,
                            .ud = step,
                            .work = work,
                            .hear = hear,
                            .tell = tell};
  struct crew_result result;
  *found = NONE;
  char *problem = actl__crew_run(&crew, &result);
  if (problem == NULL && actl__interrupt_signal() == 0) {
    shorten->n_runs += result.was_found ? result.found + 1 : crew.n_jobs;
    if (result.was_found) {
      *found = result.found;
      (void)step->make(step, result.found, &shorten->best);
      cut(&shorten->best, result.verdict.n_choices);
    }
  }
  actl__verdict_free(&result.verdict);
  return problem;
}

/* ---- The steps ------------------------------------------------------------------------------------------ */

/* Again and again, as long as that takes something away. */
static char *repeat(struct shorten *shorten, make_fn make, uint64_t (*count)(size_t n)) {
  uint64_t found = 0;
  char *problem = NULL;
  while (problem == NULL && found != NONE && shorten->best.n > 0 && !is_over(shorten)) {
    struct step step = {.shorten = shorten, .make = make};
    problem = try(&step, count(shorten->best.n), &found);
  }
  return problem;
}

static uint64_t count_prefixes(size_t n) { return log2_of(n) + 2; }
static uint64_t count_kinds(size_t n) {
  (void)n;
  return ACTL_CHOICE_KINDS;
}
static uint64_t count_thin(size_t n) { return (uint64_t)log2_of(n) * THIN_TRIES; }

/* Takes away one piece after the other, from the first to the last; `has_found`: any. */
static char *take_chunks(struct shorten *shorten, size_t size, bool *has_found) {
  struct step step = {.shorten = shorten, .make = make_without_chunk, .size = size};
  char *problem = NULL;
  *has_found = false;
  while (problem == NULL && step.start < shorten->best.n && !is_over(shorten)) {
    uint64_t found = NONE, left = shorten->best.n - step.start;
    problem = try(&step, (left + size - 1) / size, &found);
    if (found == NONE) break;
    *has_found = true;
    step.start += (size_t)found * size; /* those before it are needed */
  }
  return problem;
}

/* Single ones until all have been seen to be needed. */
static char *take_singles(struct shorten *shorten) {
  bool has_found = true;
  char *problem = NULL;
  while (problem == NULL && has_found && !is_over(shorten))
    problem = take_chunks(shorten, 1, &has_found);
  shorten->is_minimal = problem == NULL && !has_found && !is_over(shorten);
  return problem;
}

/* The same for steps that have several jobs for each choice, begun again at the one that was changed. */
static char *change_each(struct shorten *shorten, make_fn make, unsigned tries, bool *has_found) {
  struct step step = {.shorten = shorten, .make = make};
  char *problem = NULL;
  *has_found = false;
  while (problem == NULL && step.start < shorten->best.n && !is_over(shorten)) {
    uint64_t found = NONE, left = shorten->best.n - step.start;
    problem = try(&step, left * tries, &found);
    if (found == NONE) break;
    *has_found = true;
    step.start += (size_t)(found / tries);
  }
  return problem;
}

static char *take_away(struct shorten *shorten) {
  char *problem = repeat(shorten, make_prefix, count_prefixes);
  if (problem == NULL) problem = repeat(shorten, make_without_kind, count_kinds);
  if (problem == NULL) problem = repeat(shorten, make_thin, count_thin);
  if (problem == NULL) problem = repeat(shorten, make_prefix, count_prefixes);
  size_t size = shorten->best.n > 1 ? (size_t)1 << (log2_of(shorten->best.n - 1)) : 1;
  for (; problem == NULL && size > 1 && !is_over(shorten); size /= 2) {
    bool has_found;
    problem = take_chunks(shorten, size, &has_found);
  }
  return problem;
}

/* One round of what is done with few choices; `has_found`: something has changed. */
static char *polish(struct shorten *shorten, bool *has_found) {
  bool is_shifted = false, is_lower = false;
  char *problem = take_singles(shorten);
  if (problem == NULL) problem = change_each(shorten, make_shifted, SHIFT_TRIES, &is_shifted);
  if (problem == NULL) problem = change_each(shorten, make_smaller, VALUE_TRIES, &is_lower);
  *has_found = is_shifted || is_lower;
  return problem;
}

/* The last round has changed nothing: what take_singles found in it still holds. */
char *actl__shorten(struct shorten *shorten) {
  char *problem = take_away(shorten);
  bool has_found = true;
  while (problem == NULL && has_found && !is_over(shorten)) problem = polish(shorten, &has_found);
  if (has_found) shorten->is_minimal = false;
  return problem;
}
