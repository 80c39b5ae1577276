/*
 * figures.c - a finished run as one JSON object on one line.
 *
 *   scenario, file, behavior, far, workers, vats, params, requested, done, unit
 *   checks          [{name, ok}]
 *   seed            where one was given; the object is then the same each time
 *   virtual_seconds  with a seed, in place of what follows up to peak_rss_bytes
 *   seconds         from the call of `run` to its return, or report.clock's; and of that span:
 *   user_s, system_s  processor time of the whole process
 *   ns_per_op, floor_ns, floor_multiple   not after an error; the floor is measured just before
 *   peak_rss_bytes  the most the process ever had resident, so also for the files before this one
 *   engine          {spawned, stopped, alive, peak_alive, messages, far_messages, dead_letters,
 *                    dead_letters_by_reason, steals, parks}, until the engine was quiet, without
 *                   the actor that `run` runs in
 *   samples         {p50_ns, p99_ns, p999_ns, max_ns, count}, where taken
 *   figures         {NAME: {value, unit}}, where given: what report.figure was told
 *   version, error  the first thing that went wrong, in one line
 *
 * What is not known because of an error is null or left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/letters.h"
#include "command/report.h"

#include <string.h>

void actl__report_value(struct json *json, const char *key, const struct param *param) {
  switch (param->kind) {
  case PARAM_INTEGER: actl__json_integer(json, key, param->integer); break;
  case PARAM_FLOAT: actl__json_number(json, key, param->number, 0); break;
  case PARAM_BOOLEAN: actl__json_bool(json, key, param->integer != 0); break;
  case PARAM_STRING: actl__json_bytes(json, key, param->bytes, param->size); break;
  case PARAM_OTHER: actl__json_null(json, key); break;
  }
}

static void write_params(struct json *json, const struct run *run) {
  const struct param *behavior = actl__run_param(run, "behavior");
  const struct param *far = actl__run_param(run, "far");
  if (behavior != NULL) {
    actl__report_value(json, "behavior", behavior);
  } else {
    actl__json_string(json, "behavior", "lua");
  }
  if (far != NULL) {
    actl__report_value(json, "far", far);
  } else {
    actl__json_bool(json, "far", false);
  }
  actl__json_count(json, "workers", run->workers);
  actl__json_count(json, "vats", run->vats);
  if (run->options->is_seeded) actl__json_count(json, "seed", run->options->seed);
  actl__json_open(json, "params", '{');
  for (size_t i = 0; i < run->n_params; i++) {
    actl__report_value(json, run->params[i].name, &run->params[i]);
  }
  actl__json_close(json, '}');
}

static void write_checks(struct json *json, const struct run *run) {
  actl__json_open(json, "checks", '[');
  for (size_t i = 0; i < run->n_checks; i++) {
    actl__json_open(json, NULL, '{');
    actl__json_string(json, "name", run->checks[i].name);
    actl__json_bool(json, "ok", run->checks[i].is_ok);
    actl__json_close(json, '}');
  }
  actl__json_close(json, ']');
}

/* With a seed only what is the same each time. */
static void write_clock(struct json *json, const struct run *run) {
  if (run->options->is_seeded) {
    actl__json_number(json, "virtual_seconds", (double)run->clock.engine_ns / 1e9, 12);
    return;
  }
  actl__json_number(json, "seconds", (double)run->clock.wall_ns / 1e9, 12);
  actl__json_number(json, "user_s", run->clock.user_s, 9);
  actl__json_number(json, "system_s", run->clock.system_s, 9);

  double ns_per_op = actl__run_ns_per_op(run);
  if (run->floor_ns > 0) actl__json_number(json, "floor_ns", run->floor_ns, 4);
  if (ns_per_op <= 0) return;
  actl__json_number(json, "ns_per_op", ns_per_op, 6);
  if (run->floor_ns > 0) actl__json_number(json, "floor_multiple", ns_per_op / run->floor_ns, 4);
}

static void write_result(struct json *json, const struct run *run) {
  if (run->has_returned) {
    actl__json_integer(json, "requested", run->requested);
    actl__json_integer(json, "done", run->done);
  } else {
    actl__json_null(json, "requested");
    actl__json_null(json, "done");
  }
  actl__json_string(json, "unit", run->unit);
  write_checks(json, run);
  if (run->has_returned) write_clock(json, run);
}

static void write_dead_letters(struct json *json, const actl_stats *stats) {
  actl__json_count(json, "dead_letters", actl__letters_total(stats));
  actl__json_open(json, "dead_letters_by_reason", '{');
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) {
    const char *name = actl__letters_name((actl_letter)i);
    if (stats->dead_letters[i] > 0) actl__json_count(json, name, stats->dead_letters[i]);
  }
  actl__json_close(json, '}');
}

static void write_engine(struct json *json, const actl_stats *stats) {
  actl__json_open(json, "engine", '{');
  actl__json_count(json, "spawned", stats->spawned);
  actl__json_count(json, "stopped", stats->stopped);
  actl__json_count(json, "alive", stats->alive);
  actl__json_count(json, "peak_alive", stats->peak_alive);
  actl__json_count(json, "messages", stats->messages);
  actl__json_count(json, "far_messages", stats->far_messages);
  write_dead_letters(json, stats);
  actl__json_count(json, "steals", stats->steals);
  actl__json_count(json, "parks", stats->parks);
  actl__json_close(json, '}');
}

static void write_samples(struct json *json, const struct histogram *samples) {
  if (samples->count == 0) return;
  actl__json_open(json, "samples", '{');
  actl__json_count(json, "p50_ns", actl__histogram_quantile(samples, 0.5));
  actl__json_count(json, "p99_ns", actl__histogram_quantile(samples, 0.99));
  actl__json_count(json, "p999_ns", actl__histogram_quantile(samples, 0.999));
  actl__json_count(json, "max_ns", samples->max);
  actl__json_count(json, "count", samples->count);
  actl__json_close(json, '}');
}

static void write_figures(struct json *json, const struct run *run) {
  if (run->n_figures == 0) return;
  actl__json_open(json, "figures", '{');
  for (size_t i = 0; i < run->n_figures; i++) {
    actl__json_open(json, run->figures[i].name, '{');
    actl__json_number(json, "value", run->figures[i].value, 0);
    actl__json_string(json, "unit", run->figures[i].unit);
    actl__json_close(json, '}');
  }
  actl__json_close(json, '}');
}

void actl__report_json(const struct run *run, FILE *out) {
  struct text text = {0};
  struct json json = {.out = &text};
  bool is_scenario = actl__run_is_scenario(run);

  actl__json_open(&json, NULL, '{');
  actl__json_string(&json, "scenario", is_scenario ? run->name : NULL);
  actl__json_string(&json, "file", run->path);
  if (is_scenario) {
    write_params(&json, run);
    write_result(&json, run);
    if (run->was_played) {
      if (!run->options->is_seeded) actl__json_count(&json, "peak_rss_bytes", run->peak_rss_bytes);
      write_engine(&json, &run->stats);
    }
    write_samples(&json, &run->samples);
    write_figures(&json, run);
  }
  actl__json_string(&json, "version", actl_version());
  if (run->error != NULL) actl__json_string(&json, "error", run->error);
  actl__json_close(&json, '}');

  fprintf(out, "%s\n", text.bytes);
  fflush(out);
  actl__text_free(&text);
}
