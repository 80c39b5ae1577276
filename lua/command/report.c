/*
 * report.c - a finished run for a reader:
 *
 *   skynet  1,111,111 actors in 0.411 s: 370 ns an actor, 8.6 x the floor of 43 ns
 *     lua, near, 2 workers, 2 vats; user 0.40 s, system 0.01 s, peak 24 MB
 *     leaves=1000000
 *     1,111,111 spawned, 2,250 alive at most; 2,222,222 messages, 0 far
 *     ok      the sum is right
 *
 * with a line for the latencies, and one for each further figure, where the scenario gave any. With a
 * seed there is nothing in it that is not the same each time: a rate by a virtual clock would say
 * nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/letters.h"
#include "command/report.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER_SIZE = TEXT_COUNT_SIZE, TIME_SIZE = 48 };

/* Three significant digits, without an exponent. */
static const char *rounded(char *out, double value) {
  int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  snprintf(out, NUMBER_SIZE, "%.*f", decimals, value);
  return out;
}

static const char *nanoseconds(char *out, double ns) {
  if (ns <= 0) return "0 s";
  char number[NUMBER_SIZE];
  double shown = ns < 1e4 ? ns : ns < 1e7 ? ns / 1e3 : ns < 1e10 ? ns / 1e6 : ns / 1e9;
  const char *unit = ns < 1e4 ? "ns" : ns < 1e7 ? "us" : ns < 1e10 ? "ms" : "s";
  snprintf(out, TIME_SIZE, "%s %s", rounded(number, shown), unit);
  return out;
}

static const char *duration(char *out, double seconds) {
  char number[NUMBER_SIZE];
  if (seconds < 0.01) return nanoseconds(out, seconds * 1e9);
  snprintf(out, TIME_SIZE, "%s s", rounded(number, seconds));
  return out;
}

/* What makes the unit more than one: "actor" "s", "batch" "es". */
static const char *plural(const char *unit, uint64_t n) {
  size_t size = strlen(unit);
  if (n == 1 || size < 2) return "";
  const char *end = unit + size - 2;
  bool hisses = end[1] == 's' || end[1] == 'x' || strcmp(end, "ch") == 0 || strcmp(end, "sh") == 0;
  return hisses ? "es" : "s";
}

static const char *article(const char *unit) {
  return strchr("aeioAEIO", unit[0]) != NULL ? "an" : "a";
}

static void print_title(const struct run *run, FILE *out) {
  char done[NUMBER_SIZE], seconds[TIME_SIZE], each[TIME_SIZE], floor[TIME_SIZE],
      multiple[NUMBER_SIZE];
  fprintf(out, "%s  ", run->name);
  if (!run->has_returned) {
    fputs("did not finish\n", out);
    return;
  }
  bool is_seeded = run->options->is_seeded;
  uint64_t ns_taken = is_seeded ? run->clock.engine_ns : run->clock.wall_ns;
  fprintf(out, "%s %s%s in %s", actl__text_count(done, (uint64_t)run->done), run->unit,
          plural(run->unit, (uint64_t)run->done), duration(seconds, (double)ns_taken / 1e9));
  if (is_seeded) fprintf(out, " of virtual time, seed %" PRIu64, run->options->seed);

  double ns = actl__run_ns_per_op(run);
  if (run->status != STATUS_DONE) {
    fputs(": FAILED, so no rate is given", out);
  } else if (ns > 0) {
    fprintf(out, ": %s %s %s", nanoseconds(each, ns), article(run->unit), run->unit);
    if (run->floor_ns > 0) {
      fprintf(out, ", %s x the floor of %s", rounded(multiple, ns / run->floor_ns),
              nanoseconds(floor, run->floor_ns));
    }
  }
  fputc('\n', out);
}

static void print_setting(const struct run *run, FILE *out) {
  const struct param *far = actl__run_param(run, "far");
  char user[TIME_SIZE], system[TIME_SIZE], peak[NUMBER_SIZE];
  bool is_far = far != NULL && far->kind == PARAM_BOOLEAN && far->integer != 0;
  fprintf(out, "  %s, %s, %" PRIu32 " worker%s, %" PRIu32 " vat%s",
          actl__run_is_native(run) ? "native" : "lua", is_far ? "far" : "near", run->workers,
          plural("worker", run->workers), run->vats, plural("vat", run->vats));
  if (run->options->is_seeded) {
    fputc('\n', out);
    return;
  }
  fprintf(out, "; user %s, system %s, peak %s MB\n", duration(user, run->clock.user_s),
          duration(system, run->clock.system_s), rounded(peak, (double)run->peak_rss_bytes / 1e6));
}

static void print_param(const struct param *param, FILE *out) {
  fprintf(out, " %s=", param->name);
  switch (param->kind) {
  case PARAM_INTEGER: fprintf(out, "%" PRId64, param->integer); break;
  case PARAM_FLOAT: fprintf(out, "%g", param->number); break;
  case PARAM_BOOLEAN: fputs(param->integer != 0 ? "true" : "false", out); break;
  case PARAM_STRING: fwrite(param->bytes, 1, param->size, out); break;
  case PARAM_OTHER: fputc('?', out); break;
  }
}

void actl__report_params(const struct run *run, FILE *out) {
  if (run->n_params == 0) return;
  fputc(' ', out);
  for (size_t i = 0; i < run->n_params; i++) print_param(&run->params[i], out);
  fputc('\n', out);
}

/* "; 3 parks", or nothing when there are none. */
static void print_some(uint64_t n, const char *what, FILE *out) {
  char number[NUMBER_SIZE];
  if (n > 0) fprintf(out, "; %s %s%s", actl__text_count(number, n), what, plural(what, n));
}

static void print_letters(const actl_stats *stats, FILE *out) {
  uint64_t letters = actl__letters_total(stats);
  if (letters == 0) return;
  struct text reasons = {0};
  actl__letters_print(&reasons, stats, false);
  print_some(letters, "dead letter", out);
  fprintf(out, " (%s)", reasons.bytes);
  actl__text_free(&reasons);
}

static void print_engine(const actl_stats *stats, FILE *out) {
  char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], d[NUMBER_SIZE];
  fprintf(out, "  %s spawned, %s alive at most; %s message%s, %s far",
          actl__text_count(a, stats->spawned), actl__text_count(b, stats->peak_alive),
          actl__text_count(c, stats->messages), plural("message", stats->messages),
          actl__text_count(d, stats->far_messages));
  print_letters(stats, out);
  print_some(stats->steals, "steal", out);
  print_some(stats->parks, "park", out);
  fputc('\n', out);
}

static void print_samples(const struct histogram *samples, FILE *out) {
  char count[NUMBER_SIZE], p50[TIME_SIZE], p99[TIME_SIZE], p999[TIME_SIZE], max[TIME_SIZE];
  if (samples->count == 0) return;
  fprintf(out, "  %s samples: p50 %s, p99 %s, p99.9 %s, max %s\n",
          actl__text_count(count, samples->count),
          nanoseconds(p50, (double)actl__histogram_quantile(samples, 0.5)),
          nanoseconds(p99, (double)actl__histogram_quantile(samples, 0.99)),
          nanoseconds(p999, (double)actl__histogram_quantile(samples, 0.999)),
          nanoseconds(max, (double)samples->max));
}

/* A whole number in full, others rounded. */
static void print_figures(const struct run *run, FILE *out) {
  for (size_t i = 0; i < run->n_figures; i++) {
    const struct figure *figure = &run->figures[i];
    char number[NUMBER_SIZE];
    bool is_count = figure->value >= 0 && figure->value < 1e15 &&
                    figure->value == (double)(uint64_t)figure->value;
    fprintf(out, "  %s  %s %s\n", figure->name,
            is_count ? actl__text_count(number, (uint64_t)figure->value)
                     : rounded(number, figure->value),
            figure->unit);
  }
}

void actl__report_print(const struct run *run, FILE *out) {
  print_title(run, out);
  if (run->has_returned) print_setting(run, out);
  actl__report_params(run, out);
  print_samples(&run->samples, out);
  print_figures(run, out);
  print_engine(&run->stats, out);
  for (size_t i = 0; i < run->n_checks; i++) {
    fprintf(out, "  %s  %s\n", run->checks[i].is_ok ? "ok    " : "FAILED", run->checks[i].name);
  }
}
