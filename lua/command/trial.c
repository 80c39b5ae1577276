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

#include "command/console.h"
#include "command/host.h"
#include "command/memo.h"
#include "command/strict.h"

#include "actl_lua.h"
#include "actl_parts.h"
#include "bench/native/native.h"

#include <lauxlib.h>
#include <lualib.h>

#include <stdlib.h>
#include <string.h>

#define CASE_ACTOR "actor.test.case"
#define KIT_SOURCE "=[actor.test]"

enum {
  VATS = 4,            /* the same on every machine */
  STEPS = 3 * 1000000, /* of a run with a seed */
  ENTRIES = 1000,      /* of the log that are kept; what comes later counts as the last one */
  LOG_SHOWN = 5        /* failures with their tracebacks */
};

/* One of the engine's log. */
struct entry {
  char *text;
  bool is_failure; /* of an actor, or a deadlock */
  bool is_announced;
};

/* What a case has announced. */
struct announced {
  char *pattern;
  bool is_failure; /* else any entry of the log */
  bool has_come;
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

  /* Any thread, under `lock`. */
  pthread_mutex_t lock;
  struct entry *entries;
  size_t n_entries;
  struct announced *announced;
  size_t n_announced;
};

/* ---- The log ------------------------------------------------------------------------------------ */

static void on_log(void *ud, actl_log_level level, actl_log_kind kind, const char *text) {
  static const char *const levels[] = {"debug", "info", "warning", "error"};
  struct trial *trial = ud;
  bool is_failure = kind == ACTL_LOG_FAILURE || kind == ACTL_LOG_STUCK;
  const char *name = levels[(unsigned)level < 4 ? (unsigned)level : 3];

  pthread_mutex_lock(&trial->lock);
  if (trial->n_entries < ENTRIES) {
    trial->entries =
        actl__text_room(trial->entries, (trial->n_entries + 1) * sizeof *trial->entries);
    trial->entries[trial->n_entries++] = (struct entry){
        .text = is_failure ? actl__text_copy(text, strlen(text))
                           : actl__text_format("%s: %s", name, text),
        .is_failure = is_failure,
    };
  }
  pthread_mutex_unlock(&trial->lock);
}

/* What Lua calls on: whether the text has the pattern, or that as it is. */
static int find(lua_State *L) {
  const char *text = lua_touserdata(L, 1), *pattern = lua_touserdata(L, 2);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
  lua_getfield(L, -1, "find");
  lua_pushstring(L, text);
  lua_pushstring(L, pattern);
  lua_call(L, 2, 1);
  return 1;
}

static bool has(lua_State *L, const char *text, const char *pattern) {
  if (strstr(text, pattern) != NULL) return true;
  lua_settop(L, 0);
  lua_pushcfunction(L, find);
  lua_pushlightuserdata(L, (void *)text);
  lua_pushlightuserdata(L, (void *)pattern);
  return lua_pcall(L, 2, 1, 0) == LUA_OK && !lua_isnil(L, -1);
}

static void compare_log(struct trial *trial) {
  lua_State *L = luaL_newstate();
  for (size_t i = 0; L != NULL && i < trial->n_entries; i++) {
    struct entry *entry = &trial->entries[i];
    for (size_t j = 0; j < trial->n_announced; j++) {
      struct announced *announced = &trial->announced[j];
      if (announced->is_failure && !entry->is_failure) continue;
      if (!has(L, entry->text, announced->pattern)) continue;
      announced->has_come = true;
      entry->is_announced = true;
    }
  }
  if (L != NULL) lua_close(L);
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
  luaL_checkstring(L, 2);
  pthread_mutex_lock(&trial->lock);
  trial->announced =
      actl__text_room(trial->announced, (trial->n_announced + 1) * sizeof *trial->announced);
  trial->announced[trial->n_announced++] =
      (struct announced){.pattern = copy_text(L, 2), .is_failure = is_failure};
  pthread_mutex_unlock(&trial->lock);
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

/* finish(): the case has ended, and so do all actors */
static int host_finish(lua_State *L) {
  struct trial *trial = host_trial(L);
  trial->has_finished = true;
  actl_engine_shutdown(trial->engine);
  return 0;
}

static const luaL_Reg functions[] = {
    {"case", host_case}, {"expect", host_expect}, {"failed", host_failed}, {"finish", host_finish},
    {NULL, NULL},
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
  };
  const actl_lua_config lua = {.open = open_machine, .ud = trial};
  actl_status status = actl_engine_new(&trial->engine, &config);
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
  pthread_mutex_init(&out->lock, NULL);
}

static void trial_close(struct trial *trial) {
  for (size_t i = 0; i < trial->n_entries; i++) free(trial->entries[i].text);
  for (size_t i = 0; i < trial->n_announced; i++) free(trial->announced[i].pattern);
  free(trial->entries);
  free(trial->announced);
  free(trial->load_error);
  free(trial->kind);
  free(trial->message);
  free(trial->file);
  free(trial->found);
  free(trial->wanted);
  free(trial->traceback);
  pthread_mutex_destroy(&trial->lock);
}

/* ---- Judging ------------------------------------------------------------------------------------ */

/* The first failure that nobody announced; NULL: there is none. */
static const char *first_failure(const struct trial *trial) {
  for (size_t i = 0; i < trial->n_entries; i++) {
    const struct entry *entry = &trial->entries[i];
    if (entry->is_failure && !entry->is_announced) return entry->text;
  }
  return NULL;
}

static const struct announced *first_missing(const struct trial *trial) {
  for (size_t i = 0; i < trial->n_announced; i++)
    if (!trial->announced[i].has_come) return &trial->announced[i];
  return NULL;
}

/* What is wrong, in one line, to be freed; NULL: nothing. Of several things what is likely to have led
 * to the others. */
static char *find_fault(const struct trial *trial, actl_status status) {
  if (trial->load_error != NULL) return actl__text_format("%s", trial->load_error);
  const char *failure = first_failure(trial);
  const struct announced *missing = first_missing(trial);
  if (trial->message != NULL) return actl__text_format("%s", trial->message);
  if (failure != NULL) return actl__text_copy(failure, strcspn(failure, "\n"));
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

/* The failures with their tracebacks, announced ones too; to be freed. NULL: none. */
static char *failures_of(const struct trial *trial) {
  struct text text = {0};
  size_t n = 0;
  for (size_t i = 0; i < trial->n_entries; i++) {
    const struct entry *entry = &trial->entries[i];
    if (!entry->is_failure || entry->is_announced || n++ >= LOG_SHOWN) continue;
    actl__text_print(&text, "%s%s", text.size > 0 ? "\n" : "", entry->text);
  }
  if (n > LOG_SHOWN) actl__text_print(&text, "\n(and %zu more)", n - LOG_SHOWN);
  return text.bytes;
}

/* Shows what else was logged, and was not announced, with what the case printed. */
static void print_log(const struct trial *trial) {
  for (size_t i = 0; i < trial->n_entries; i++) {
    const struct entry *entry = &trial->entries[i];
    if (!entry->is_failure && !entry->is_announced) puts(entry->text);
  }
}

static void write_fault(const struct trial *trial, const char *fault) {
  bool is_assertion = trial->kind != NULL && strcmp(trial->kind, "assertion") == 0;
  int memo = trial->memo;
  char *log = failures_of(trial);
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

/* ---- What a process does ------------------------------------------------------------------------ */

void actl__trial_list(const struct stage *stage, int memo) {
  struct trial trial;
  trial_open(&trial, stage, NULL, 1, memo);
  trial.is_seeded = true;
  actl_status status = play(&trial);
  char *fault = find_fault(&trial, status);
  if (fault != NULL) actl__memo_write(memo, ACTL_TRIAL_MESSAGE, fault);
  actl__memo_write(memo, ACTL_TRIAL_OUTCOME, fault == NULL ? ACTL_TRIAL_PASSED : ACTL_TRIAL_ERROR);
  print_log(&trial);
  free(fault);
  trial_close(&trial);
}

bool actl__trial_run(const struct stage *stage, const char *name, uint64_t seed, int memo) {
  struct trial trial;
  trial_open(&trial, stage, name, seed, memo);
  actl_status status = play(&trial);
  compare_log(&trial);
  char *fault = find_fault(&trial, status);
  bool is_passed = fault == NULL;
  if (!is_passed) write_fault(&trial, fault);
  print_log(&trial);
  free(fault);
  trial_close(&trial);
  return is_passed;
}
