/*
 * run.c - runs one file in an engine of its own.
 *
 * The engine is run once for each message that the run actor is sent, so that everything the main
 * thread does in between (measuring the floor, reading the counters) has the machine to itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/run.h"

#include "command/console.h"
#include "command/floor.h"
#include "command/host.h"
#include "command/interrupt.h"
#include "command/letters.h"
#include "command/trace.h"

#include "actl_driver.h"
#include "actl_lua.h"
#include "bench/native/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- Time --------------------------------------------------------------------------------------- */

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

struct span actl__span_now(actl_ctx *ctx) {
  struct timespec now;
  struct rusage usage;
  clock_gettime(CLOCK_MONOTONIC, &now);
  getrusage(RUSAGE_SELF, &usage);
  return (struct span){
      .wall_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
      .user_s = seconds_of(usage.ru_utime),
      .system_s = seconds_of(usage.ru_stime),
      .engine_ns = ctx != NULL ? actl_now_ns(ctx) : 0,
  };
}

struct span actl__span_between(struct span from, struct span to) {
  return (struct span){
      .wall_ns = to.wall_ns - from.wall_ns,
      .user_s = to.user_s - from.user_s,
      .system_s = to.system_s - from.system_s,
      .engine_ns = to.engine_ns - from.engine_ns,
  };
}

/* ---- What goes wrong ---------------------------------------------------------------------------- */

enum { FAILURES_SHOWN = 100 }; /* of actors, with their tracebacks; the others are counted */

static int status_of(enum verdict_kind kind) {
  return kind == VERDICT_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

/* Keeps the worst status, and what came first. */
static void note_problem(struct run *run, enum verdict_kind kind, const char *text) {
  pthread_mutex_lock(&run->lock);
  if (status_of(kind) > run->status) run->status = status_of(kind);
  if (run->trouble == NULL) {
    run->verdict = kind;
    run->trouble = actl__text_copy(text, strlen(text));
    run->error = actl__text_copy(text, strcspn(text, "\n"));
  }
  pthread_mutex_unlock(&run->lock);
}

/* What goes wrong while all actors are being stopped by a signal is no news, here and in on_log: an
 * ask fails since the other one is gone, `run` returns without having done everything. */
void actl__run_problem(struct run *run, enum verdict_kind kind, const char *format, ...) {
  if (actl__interrupt_signal() != 0) return;

  struct text text = {0};
  va_list values;
  va_start(values, format);
  actl__text_print_list(&text, format, values);
  va_end(values);
  note_problem(run, kind, text.bytes);
  if (!run->is_silent) actl__console_say("%s", text.bytes);
  actl__text_free(&text);
}

static bool is_well(struct run *run) {
  pthread_mutex_lock(&run->lock);
  bool is = run->status == STATUS_DONE;
  pthread_mutex_unlock(&run->lock);
  return is && actl__interrupt_signal() == 0;
}

static uint64_t count_failure(struct run *run) {
  pthread_mutex_lock(&run->lock);
  uint64_t n = ++run->n_failures;
  pthread_mutex_unlock(&run->lock);
  return n;
}

static void note_failure(struct run *run, enum verdict_kind kind, const char *text) {
  if (actl__interrupt_signal() != 0) return;
  note_problem(run, kind, text);
  if (count_failure(run) <= FAILURES_SHOWN && !run->is_silent) actl__console_say("%s", text);
}

/* A handler that computes when the steps are used up fails, and says so, whatever else it may say. */
static bool is_spent(const struct run *run, const char *text) {
  static const char reason[] = "the run's limit of steps is reached";
  const char *at = strstr(text, reason);
  return run->options->max_steps != 0 && at != NULL && at < text + strcspn(text, "\n");
}

/* The engine's log. */
static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  struct run *run = ud;

  if (kind == ACTL_LOG_FAILURE) {
    note_failure(run, is_spent(run, text) ? VERDICT_STEPS : VERDICT_ACTOR, text);
  } else if (kind == ACTL_LOG_STUCK) {
    note_failure(run, VERDICT_DEADLOCK, text);
  } else if (!run->is_silent) {
    char *line = actl__console_entry(level, text);
    actl__console_write(line);
    free(line);
  }
}

/* ---- The engine --------------------------------------------------------------------------------- */

static bool is_ok(struct run *run, const char *what, actl_status status) {
  if (status == ACTL_OK) return true;
  actl__run_problem(run, VERDICT_ENGINE, "%s: %s: %s", run->path, what, actl_status_text(status));
  return false;
}

static bool open_engine(struct run *run) {
  const struct options *options = run->options;
  const actl_config config = {
      .workers = options->workers,
      .vats = options->vats,
      .is_seeded = options->is_seeded,
      .seed = options->seed,
      .choose = run->choose,
      .choose_ud = run->choose_ud,
      .scatters = options->scatters,
      .max_steps = options->max_steps,
      .log = on_log,
      .log_ud = run,
      .alloc = actl__footprint_alloc,
      .alloc_ud = &run->footprint,
      .trace = run->trace != NULL ? actl__trace_tell : NULL,
      .trace_ud = run->trace,
  };
  const actl_lua_config lua = {.open = actl__host_open, .ud = run};

  if (!is_ok(run, "the engine cannot be made", actl_engine_new(&run->engine, &config)))
    return false;
  if (run->trace != NULL) actl__trace_attach(run->trace, run->engine);
  run->workers = actl_engine_workers(run->engine);
  run->vats = actl_engine_vats(run->engine);
  if (!run->is_silent) actl__interrupt_watch(run->engine);
  return is_ok(run, "the native behaviors cannot be registered",
               actl_bench_register(run->engine)) &&
         is_ok(run, "Lua cannot be attached", actl_lua_open(run->engine, &lua)) &&
         is_ok(run, "the run cannot be started",
               actl_lua_spawn(run->engine, 0, ACTL_HOST_ACTOR, NULL, 0, &run->actor));
}

/* Runs the engine until it is quiet. */
static bool run_engine(struct run *run, const char *what) {
  actl_status status = actl_engine_run(run->engine);
  if (status != ACTL_LIMIT) return is_ok(run, what, status);
  actl__run_problem(run, VERDICT_STEPS, "%s: is not quiet after %llu steps", run->path,
                    (unsigned long long)run->options->max_steps);
  return false;
}

/* Tells the run actor to do something and runs the engine until it is quiet. */
static bool tell(struct run *run, const char *what) {
  actl_status status = actl_engine_send(run->engine, run->actor, ACTL_VALUES(actl_text(what)));
  return is_ok(run, "the run cannot be told to go on", status) &&
         run_engine(run, "the engine cannot run");
}

/* ---- A run, in the order of its life ------------------------------------------------------------ */

/* skynet for scenarios/skynet.lua; to be freed. */
static char *name_of(const char *path) {
  static const char suffix[] = ".lua";
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  size_t size = strlen(name);
  bool has_suffix = size >= sizeof suffix && strcmp(name + size - strlen(suffix), suffix) == 0;
  return actl__text_copy(name, has_suffix ? size - strlen(suffix) : size);
}

void actl__run_new(struct run *out, const struct options *options, const char *path,
                   const struct source *source) {
  *out = (struct run){.options = options, .path = path, .source = source, .name = name_of(path)};
  atomic_init(&out->is_scenario, false);
  atomic_init(&out->footprint.held_bytes, 0);
  pthread_mutex_init(&out->lock, NULL);
}

bool actl__run_read(struct run *run) {
  if (run->source != NULL) return true;
  bool is_there = false;
  char *problem = actl__source_read(&run->own_source, run->path, &is_there);
  if (problem == NULL) {
    run->source = &run->own_source;
  } else {
    actl__run_problem(run, is_there ? VERDICT_FILE : VERDICT_USAGE, "%s", problem);
  }
  free(problem);
  return run->source != NULL;
}

/* Once it is known that there is something to run: the file may have an older trace in it. */
static bool open_trace(struct run *run) {
  if (run->options->trace == NULL || run->is_silent) return true;
  char *problem = actl__trace_open(&run->trace, run->options->trace);
  if (problem != NULL) actl__run_problem(run, VERDICT_USAGE, "%s", problem);
  free(problem);
  return run->trace != NULL;
}

static void close_trace(struct run *run) {
  char *problem = actl__trace_close(run->trace);
  run->trace = NULL;
  if (problem != NULL) actl__run_problem(run, VERDICT_ENGINE, "%s", problem);
  free(problem);
}

void actl__run_load(struct run *run) {
  if (!actl__run_read(run) || !open_trace(run) || !open_engine(run)) return;
  if (!tell(run, ACTL_HOST_LOAD)) return;
  if (!run->is_loaded && is_well(run)) {
    actl__run_problem(
        run, VERDICT_RESULT,
        "%s: its top level never returned: it was stopped, or waits for what cannot come",
        run->path);
  }
}

/* What came between two counts. The first may be one more than was counted in the end: see below. */
static uint64_t between(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

/* What the scenario itself did: without the run actor, which is one actor, and the one message it
 * got, which counts once it has been handled. */
static actl_stats own_stats(struct run *run, const actl_stats *before) {
  actl_stats stats;
  actl_engine_stats(run->engine, &stats);
  stats.spawned = between(before->spawned, stats.spawned);
  stats.stopped = between(before->stopped, stats.stopped);
  /* With the run actor all that it has made ends; it does not count itself. */
  if (stats.stopped > stats.spawned) stats.stopped = stats.spawned;
  stats.alive = between(1, stats.alive);
  stats.peak_alive = between(1, stats.peak_alive);
  stats.messages = between(before->messages + 1, stats.messages);
  stats.far_messages = between(before->far_messages + 1, stats.far_messages);
  for (int i = 0; i < ACTL_LETTER_REASONS; i++) stats.dead_letters[i] -= before->dead_letters[i];
  stats.steals -= before->steals;
  stats.parks -= before->parks;
  return stats;
}

static void judge_check(struct run *run, const struct check *check) {
  if (check->is_ok) return;
  if (is_well(run)) run->failed_check = check->name;
  actl__run_problem(run, VERDICT_CHECK, "%s: the check '%s' failed%s%s",
                    check->place != NULL ? check->place : run->path, check->name,
                    check->error != NULL ? " with an error: " : "",
                    check->error != NULL ? check->error : "");
}

static void judge(struct run *run) {
  if (!run->has_returned) {
    if (is_well(run)) {
      actl__run_problem(run, VERDICT_RESULT,
                        "%s: 'run' never returned: it was stopped, or waits for what cannot come",
                        run->path);
    }
    return;
  }
  if (run->has_deferred && !run->has_checked && actl__interrupt_signal() == 0) {
    actl__run_problem(
        run, VERDICT_RESULT,
        "%s: checks that wait for the end were not made: the actor of 'run' had ended", run->path);
  }
  for (size_t i = 0; i < run->n_checks; i++) judge_check(run, &run->checks[i]);
  if (run->done != run->requested) {
    actl__run_problem(run, VERDICT_RESULT, "%s: %lld done of %lld requested, so it gives no rate",
                      run->path, (long long)run->done, (long long)run->requested);
  }
}

void actl__run_play(struct run *run) {
  if (!actl__run_is_scenario(run) || !is_well(run)) return;

  run->was_played = true;
  if (!run->options->is_seeded)
    run->floor_ns = actl__run_is_native(run) ? actl__floor_native() : actl__floor_lua();
  actl_stats before;
  actl_engine_stats(run->engine, &before);
  bool is_run = tell(run, ACTL_HOST_RUN);
  run->stats = own_stats(run, &before);

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  run->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;

  if (is_run && run->has_returned && actl__interrupt_signal() == 0) tell(run, ACTL_HOST_QUIET);
  actl__console_clear();
  judge(run);
}

/* Once it is quiet: a message that nobody had is an error in a strict run. What else went wrong says
 * more. */
static void judge_letters(struct run *run) {
  if (!run->options->is_strict || run->options->is_lossy || run->is_lossy || !is_well(run)) return;
  actl_stats stats;
  actl_engine_stats(run->engine, &stats);
  uint64_t lost = actl__letters_lost(&stats);
  if (lost == 0) return;
  struct text reasons = {0};
  actl__letters_print(&reasons, &stats, true);
  actl__run_problem(run, VERDICT_LOST,
                    "%s: %llu message%s lost: %s (--trace FILE shows where; --lossy, or lossy = "
                    "true in a scenario, allows it)",
                    run->path, (unsigned long long)lost, lost == 1 ? " was" : "s were",
                    reasons.bytes);
  actl__text_free(&reasons);
}

static void stop_actors(struct run *run) {
  actl_engine_shutdown(run->engine);
  (void)run_engine(run, "the actors cannot be stopped");
}

void actl__run_finish(struct run *run) {
  if (run->engine != NULL) {
    judge_letters(run);
    stop_actors(run);
    actl_engine_free(run->engine);
    run->engine = NULL;
  }
  close_trace(run);
  if (run->is_silent) return;
  actl__console_clear();
  if (run->n_failures > FAILURES_SHOWN) {
    actl__console_say("%s: %llu failures more", run->path,
                      (unsigned long long)(run->n_failures - FAILURES_SHOWN));
  }
  int signal = actl__interrupt_signal();
  if (signal == 0) return;
  run->status = 128 + signal;
  if (run->error == NULL) run->error = actl__text_format("interrupted");
}

void actl__run_free(struct run *run) {
  for (size_t i = 0; i < run->n_params; i++) {
    free(run->params[i].name);
    free(run->params[i].bytes);
  }
  for (size_t i = 0; i < run->n_checks; i++) {
    free(run->checks[i].name);
    free(run->checks[i].error);
    free(run->checks[i].place);
  }
  for (size_t i = 0; i < run->n_figures; i++) {
    free(run->figures[i].name);
    free(run->figures[i].unit);
  }
  free(run->figures);
  free(run->params);
  free(run->checks);
  free(run->name);
  free(run->about);
  free(run->unit);
  free(run->trouble);
  free(run->error);
  actl__histogram_free(&run->samples);
  actl__source_free(&run->own_source);
  pthread_mutex_destroy(&run->lock);
}

/* ---- What is known of it ------------------------------------------------------------------------ */

void actl__run_verdict(const struct run *run, struct verdict *out) {
  *out = (struct verdict){.kind = run->verdict};
  if (run->trouble != NULL) out->text = actl__text_copy(run->trouble, strlen(run->trouble));
  if (run->failed_check != NULL)
    out->check = actl__text_copy(run->failed_check, strlen(run->failed_check));
}

const struct param *actl__run_param(const struct run *run, const char *name) {
  for (size_t i = 0; i < run->n_params; i++) {
    if (strcmp(run->params[i].name, name) == 0) return &run->params[i];
  }
  return NULL;
}

bool actl__run_is_scenario(const struct run *run) {
  /* relaxed: the end of actl_engine_run orders it. */
  return atomic_load_explicit(&run->is_scenario, memory_order_relaxed);
}

bool actl__run_is_native(const struct run *run) {
  const struct param *behavior = actl__run_param(run, "behavior");
  return behavior != NULL && behavior->kind == PARAM_STRING &&
         strcmp(behavior->bytes, "native") == 0;
}

double actl__run_ns_per_op(const struct run *run) {
  bool is_good = run->status == STATUS_DONE && run->has_returned && run->done == run->requested &&
                 !run->options->is_seeded;
  return is_good && run->done > 0 ? (double)run->clock.wall_ns / (double)run->done : 0;
}
