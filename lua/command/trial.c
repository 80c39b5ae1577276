/*
 * trial.c - one engine for one run of one case; and what kit.lua calls "host".
 *
 * The actor of vat 0 that runs the case says when it has ended (host.finish): then all actors are
 * stopped, so that a case may leave some behind. What the engine logs is kept until all has ended,
 * and then judged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "command/trial.h"

#include "command/entries.h"
#include "command/host.h"
#include "command/jobs.h"
#include "command/memo.h"
#include "command/strict.h"
#include "command/trace.h"

#include "actl_lua.h"
#include "actl_parts.h"
#include "bench/native/native.h"

#include <lauxlib.h>

#include <stdlib.h>
#include <string.h>

#define CASE_ACTOR "actor.test.case"
#define KIT_SOURCE "=[actor.test]"

enum {
  VATS = 4,        /* the same on every machine */
  STEPS = 1000000, /* of a run with a seed */
  TRACE_LINES = 20 /* the last ones, of a run that failed */
};

struct trial {
  const struct stage *stage;
  actl_engine *engine;
  int memo;
  bool is_seeded;
  uint64_t seed;
  const char *name; /* of the case; NULL: the cases are listed */

  /* Written in vat 0, or before anything runs. */
  char *load_error;
  bool has_finished;
  char *kind, *message, *file, *found, *wanted, *traceback; /* what the case itself failed of */
  uint64_t line;

  /* Only while a run that failed is made once more. */
  struct trace *trace;
  size_t last_entry; /* of the log, behind which nothing is traced */
  bool is_traced;    /* to its end */

  struct entries entries; /* any thread */
};

/* ---- The log, and the trace --------------------------------------------------------------------- */

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  struct trial *trial = ud;
  size_t entry = actl__entries_add(&trial->entries, level, kind, text);
  if (trial->trace != NULL && entry == trial->last_entry) trial->is_traced = true;
}

static void on_event(void *ud, const actl_event *event) {
  struct trial *trial = ud;
  if (!trial->is_traced) actl__trace_tell(trial->trace, event);
}

/* ---- What kit.lua calls ------------------------------------------------------------------------- */

static struct trial *host_trial(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

/* Without what comes behind a zero byte; NULL: nil. */
static char *copy_text(lua_State *L, int index) {
  const char *text = lua_tostring(L, index);
  return text == NULL ? NULL : actl__text_copy(text, strlen(text));
}

/* case(name, line, is_skipped): one that the file has */
static int host_case(lua_State *L) {
  const struct trial *trial = host_trial(L);
  actl__memo_write(trial->memo, ACTL_TRIAL_NAME, luaL_checkstring(L, 1));
  actl__memo_number(trial->memo, ACTL_TRIAL_LINE, (uint64_t)luaL_checkinteger(L, 2));
  if (lua_toboolean(L, 3)) actl__memo_write(trial->memo, ACTL_TRIAL_SKIP, "");
  return 0;
}

/* expect("failure" or "log", pattern): by the end there is such an entry in the log */
static int host_expect(lua_State *L) {
  struct trial *trial = host_trial(L);
  bool is_failure = strcmp(luaL_checkstring(L, 1), "failure") == 0;
  actl__entries_announce(&trial->entries, is_failure, luaL_checkstring(L, 2));
  return 0;
}

/* failed(kind, message, file, line, found, wanted, traceback): what is not known is nil */
static int host_failed(lua_State *L) {
  struct trial *trial = host_trial(L);
  trial->kind = copy_text(L, 1);
  trial->message = copy_text(L, 2);
  trial->file = copy_text(L, 3);
  trial->line = (uint64_t)luaL_optinteger(L, 4, 0);
  trial->found = copy_text(L, 5);
  trial->wanted = copy_text(L, 6);
  trial->traceback = copy_text(L, 7);
  return 0;
}

/* fault(): the case has just failed, and goes on to its end */
static int host_fault(lua_State *L) {
  struct trial *trial = host_trial(L);
  if (trial->trace != NULL) trial->is_traced = true;
  return 0;
}

/* finish(): the case has ended, and so do all actors */
static int host_finish(lua_State *L) {
  struct trial *trial = host_trial(L);
  trial->has_finished = true;
  if (trial->trace != NULL) trial->is_traced = true;
  actl_engine_shutdown(trial->engine);
  return 0;
}

static const luaL_Reg functions[] = {
    {"case", host_case},     {"expect", host_expect}, {"fault", host_fault},
    {"failed", host_failed}, {"finish", host_finish}, {NULL, NULL},
};

/* ---- The stage ---------------------------------------------------------------------------------- */

static int add_bytes(lua_State *L, const void *bytes, size_t size, void *text) {
  (void)L;
  actl__text_add(text, bytes, size);
  return 0;
}

/* Takes the compiled chunk on top, or what it did not compile for: a run then says so. */
static void dump(lua_State *L, struct text *out, bool is_compiled) {
  if (is_compiled) lua_dump(L, add_bytes, out, 0);
  lua_pop(L, 1);
}

void actl__stage_open(struct stage *out, struct run *run) {
  *out = (struct stage){.run = run};
  lua_State *L = luaL_newstate();
  if (L == NULL) return;
  dump(L, &out->kit, luaL_loadbuffer(L, actl_part_kit, actl_part_kit_size, KIT_SOURCE) == LUA_OK);
  dump(L, &out->same,
       luaL_loadbuffer(L, actl_part_kit_same, actl_part_kit_same_size, KIT_SOURCE) == LUA_OK);
  lua_close(L);
}

void actl__stage_close(struct stage *stage) {
  actl__text_free(&stage->kit);
  actl__text_free(&stage->same);
}

/* ---- Opening a machine -------------------------------------------------------------------------- */

/* [0, +1] */
static void push_chunk(lua_State *L, const struct text *chunk) {
  if (luaL_loadbufferx(L, chunk->bytes, chunk->size, "?", "b") != LUA_OK) lua_error(L);
}

/* The module, and the function that is called once the file has been loaded. [0, +2] */
static void push_kit(lua_State *L, struct trial *trial) {
  push_chunk(L, &trial->stage->kit);
  lua_createtable(L, 0, (int)(sizeof functions / sizeof functions[0]));
  lua_pushlightuserdata(L, trial);
  luaL_setfuncs(L, functions, 1);
  if (!trial->stage->run->options->is_threaded) {
    lua_pushinteger(L, (lua_Integer)trial->seed);
    lua_setfield(L, -2, "seed");
  }
  push_chunk(L, &trial->stage->same);
  lua_call(L, 0, 1);
  lua_pushliteral(L, KIT_SOURCE);
  lua_call(L, 3, 2);
}

/* An error in the file is the list's answer in vat 0, where there is an actor to tell of it, and ends
 * the machine elsewhere. */
static void load_file(lua_State *L, struct trial *trial, bool is_first) {
  actl__source_push(L, trial->stage->run->source);
  if (!is_first) {
    lua_call(L, 0, 0);
    return;
  }
  if (lua_pcall(L, 0, 0, 0) == LUA_OK) return;
  if (!lua_isstring(L, -1))
    lua_pushfstring(L, "%s: an error without a text", trial->stage->run->path);
  trial->load_error = copy_text(L, -1);
}

static int open_machine(lua_State *L) {
  struct trial *trial = lua_touserdata(L, 1);
  bool is_first = lua_tointeger(L, 2) == 0;
  actl__host_prepare(L, trial->stage->run);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  push_kit(L, trial);
  lua_insert(L, -2);
  lua_setfield(L, -3, ACTL_HOST_KIT);
  int loaded = lua_gettop(L);
  load_file(L, trial, is_first);
  actl_lua_everywhere(L);
  lua_pushvalue(L, loaded);
  lua_call(L, 0, 0);
  if (trial->stage->run->options->is_strict) actl__strict_seal(L, NULL, NULL);
  return 0;
}

/* ---- The engine --------------------------------------------------------------------------------- */

static actl_status open_engine(struct trial *trial, actl_pid *actor) {
  const struct options *options = trial->stage->run->options;
  const actl_config config = {
      .workers = options->workers,
      .vats = options->vats != 0 ? options->vats : VATS,
      .is_seeded = trial->is_seeded,
      .seed = trial->seed,
      .scatters = options->scatters,
      .max_steps = options->max_steps != 0 ? options->max_steps : STEPS,
      .log = on_log,
      .log_ud = trial,
      .trace = trial->trace != NULL ? on_event : NULL,
      .trace_ud = trial,
  };
  const actl_lua_config lua = {.open = open_machine, .ud = trial};
  actl_status status = actl_engine_new(&trial->engine, &config);
  if (status == ACTL_OK && trial->trace != NULL) actl__trace_attach(trial->trace, trial->engine);
  if (status == ACTL_OK) status = actl_bench_register(trial->engine);
  if (status == ACTL_OK) status = actl_lua_open(trial->engine, &lua);
  if (status == ACTL_OK) status = actl_lua_spawn(trial->engine, 0, CASE_ACTOR, NULL, 0, actor);
  return status;
}

/* Has an engine run until all its actors have ended, or it cannot go on. */
static actl_status run_engine(struct trial *trial) {
  actl_pid actor;
  actl_status status = open_engine(trial, &actor);
  if (status != ACTL_OK) return status;
  bool is_list = trial->name == NULL;
  actl_value values[] = {actl_text(is_list ? "list" : "run"),
                         is_list ? actl_nil() : actl_text(trial->name)};
  status = actl_engine_send(trial->engine, actor, values, 2);
  if (status == ACTL_OK) status = actl_engine_run(trial->engine);
  return status;
}

/* Finalizers may log while the engine is being freed. */
static actl_status play(struct trial *trial) {
  actl_status status = run_engine(trial);
  actl_engine_free(trial->engine);
  trial->engine = NULL;
  return status;
}

static void trial_open(struct trial *out, const struct stage *stage, const char *name,
                       uint64_t seed, int memo) {
  *out = (struct trial){
      .stage = stage,
      .memo = memo,
      .is_seeded = !stage->run->options->is_threaded,
      .seed = seed,
      .name = name,
  };
  actl__entries_init(&out->entries);
}

static void trial_close(struct trial *trial) {
  actl__entries_fini(&trial->entries);
  free(trial->load_error);
  free(trial->kind);
  free(trial->message);
  free(trial->file);
  free(trial->found);
  free(trial->wanted);
  free(trial->traceback);
}

/* ---- Judging ------------------------------------------------------------------------------------ */

/* What is wrong, in one line, to be freed; NULL: nothing. Of several things what is likely to have led
 * to the others. */
static char *find_fault(const struct trial *trial, actl_status status) {
  if (trial->load_error != NULL) return actl__text_format("%s", trial->load_error);
  size_t failure = actl__entries_failure(&trial->entries);
  const struct announced *missing = actl__entries_missing(&trial->entries);
  if (trial->message != NULL) return actl__text_format("%s", trial->message);
  if (failure < trial->entries.n) {
    const char *text = trial->entries.list[failure].text;
    return actl__text_copy(text, strcspn(text, "\n"));
  }
  if (status == ACTL_LIMIT) {
    uint64_t steps = trial->stage->run->options->max_steps;
    return actl__text_format("is not quiet after %llu steps",
                             (unsigned long long)(steps != 0 ? steps : STEPS));
  }
  if (status != ACTL_OK)
    return actl__text_format("the engine cannot run: %s", actl_status_text(status));
  if (!trial->has_finished)
    return actl__text_format("never returned: it was stopped, or waits for what cannot come");
  if (missing == NULL) return NULL;
  return actl__text_format("no %s with \"%s\" came", missing->is_failure ? "failure" : "log entry",
                           missing->pattern);
}

static void write_fault(const struct trial *trial, const char *fault) {
  bool is_assertion = trial->kind != NULL && strcmp(trial->kind, "assertion") == 0;
  int memo = trial->memo;
  char *log = actl__entries_failures(&trial->entries);
  actl__memo_write(memo, ACTL_TRIAL_MESSAGE, fault);
  actl__memo_write(memo, ACTL_TRIAL_FILE, trial->file);
  if (trial->file != NULL) actl__memo_number(memo, ACTL_TRIAL_LINE, trial->line);
  actl__memo_write(memo, ACTL_TRIAL_FOUND, trial->found);
  actl__memo_write(memo, ACTL_TRIAL_WANTED, trial->wanted);
  actl__memo_write(memo, ACTL_TRIAL_TRACEBACK, trial->traceback);
  actl__memo_write(memo, ACTL_TRIAL_LOG, log);
  actl__memo_write(memo, ACTL_TRIAL_OUTCOME, is_assertion ? ACTL_TRIAL_FAILED : ACTL_TRIAL_ERROR);
  free(log);
}

/* The last lines of the trace up to what went wrong first in `failed`: with the same seed it goes wrong
 * in the same way. What is printed meanwhile takes the place of what it printed. */
static void trace_again(const struct trial *failed) {
  struct trial trial;
  trial_open(&trial, failed->stage, failed->name, failed->seed, failed->memo);
  trial.trace = actl__trace_open_ring(TRACE_LINES);
  trial.last_entry = actl__entries_failure(&failed->entries);
  actl__jobs_reprint();
  play(&trial);
  actl__entries_compare(&trial.entries);
  actl__entries_print(&trial.entries);

  struct text lines = {0};
  for (size_t i = 0; i < actl__trace_n_lines(trial.trace); i++)
    actl__text_print(&lines, "%s%s", i > 0 ? "\n" : "", actl__trace_line(trial.trace, i));
  actl__memo_write(trial.memo, ACTL_TRIAL_TRACE, lines.bytes);
  actl__text_free(&lines);
  free(actl__trace_close(trial.trace));
  trial_close(&trial);
}

/* ---- What a process does ------------------------------------------------------------------------ */

void actl__trial_list(const struct stage *stage, int memo) {
  struct trial trial;
  trial_open(&trial, stage, NULL, 1, memo);
  trial.is_seeded = true;
  actl_status status = play(&trial);
  char *fault = find_fault(&trial, status);
  if (fault != NULL) actl__memo_write(memo, ACTL_TRIAL_MESSAGE, fault);
  actl__memo_write(memo, ACTL_TRIAL_OUTCOME, fault == NULL ? ACTL_TRIAL_PASSED : ACTL_TRIAL_ERROR);
  actl__entries_print(&trial.entries);
  free(fault);
  trial_close(&trial);
}

bool actl__trial_run(const struct stage *stage, const char *name, uint64_t seed, int memo) {
  struct trial trial;
  trial_open(&trial, stage, name, seed, memo);
  actl_status status = play(&trial);
  actl__entries_compare(&trial.entries);
  actl__entries_print(&trial.entries);
  char *fault = find_fault(&trial, status);
  bool is_passed = fault == NULL;
  if (!is_passed) write_fault(&trial, fault);
  if (!is_passed && trial.is_seeded) trace_again(&trial);
  free(fault);
  trial_close(&trial);
  return is_passed;
}
