/*
 * attempt.c - one run of a file in this process, for its verdict alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/attempt.h"

#include "command/run.h"

void actl__attempt_init(struct attempt *out, const struct options *options,
                        const struct source *source) {
  *out = (struct attempt){.options = *options, .source = source};
  struct options *own = &out->options;
  own->is_seeded = own->scatters = own->is_strict = own->is_quiet = true;
  own->is_json = false;
  own->workers = 0;
  if (own->max_steps == 0) own->max_steps = ATTEMPT_STEPS;
}

void actl__attempt_run(const struct attempt *attempt, uint64_t seed,
                       const struct attempt_hooks *hooks, struct verdict *out) {
  struct options options = attempt->options;
  options.seed = seed;
  struct run run;
  actl__run_new(&run, &options, attempt->source->path, attempt->source);
  run.is_silent = true;
  if (hooks != NULL) {
    run.choose = hooks->choose;
    run.choose_ud = hooks->choose_ud;
    run.trace = hooks->trace;
  }
  actl__run_load(&run);
  actl__run_play(&run);
  actl__run_finish(&run);
  actl__run_verdict(&run, out);
  actl__run_free(&run);
}
