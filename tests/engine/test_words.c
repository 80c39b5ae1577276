/*
 * test_words.c - statuses, the version, names, configuration, registered behaviors and the log.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine/host.h"

#include <unistd.h>

static actl_status nothing(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior idler = {.name = "idler", .receive = nothing};

static void every_status_has_its_name_and_text(void **state) {
  (void)state;
#define CHECK_STATUS(code, number, name, text)                                                     \
  assert_string_equal(actl_status_name(code), name);                                               \
  assert_string_equal(actl_status_text(code), text);                                               \
  assert_int_equal(code, number);
  ACTL_STATUSES(CHECK_STATUS)
#undef CHECK_STATUS
  static const int unknown[] = {1, -23, 1000, -1000, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 6; i++) {
    assert_non_null(actl_status_name((actl_status)unknown[i]));
    assert_non_null(actl_status_text((actl_status)unknown[i]));
  }
}

static void the_linked_version_is_that_of_the_header(void **state) {
  (void)state;
  char version[64];
  snprintf(version, sizeof version, "%d.%d.%d", ACTL_VERSION_MAJOR, ACTL_VERSION_MINOR,
           ACTL_VERSION_PATCH);
  assert_string_equal(actl_version(), version);
}

/* ---- Configuration ---- */

static void the_default_is_a_worker_for_each_processor_and_a_vat_for_each_worker(void **state) {
  (void)state;
  actl_engine *engine = NULL;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  assert_in_range(actl_engine_workers(engine), 1, processors);
  assert_int_equal(actl_engine_vats(engine), actl_engine_workers(engine));
  actl_engine_free(engine);

  actl_config config = {.workers = 3};
  assert_int_equal(actl_engine_new(&engine, &config), ACTL_OK);
  assert_int_equal(actl_engine_workers(engine), 3);
  assert_int_equal(actl_engine_vats(engine), 3);
  actl_engine_free(engine);
}

static void limits_of_the_configuration_are_checked(void **state) {
  (void)state;
  seeds_need_threads();
  actl_engine *engine = (actl_engine *)&engine;
  static const actl_config wrong[] = {
      {.workers = 257}, {.vats = 60001}, {.workers = UINT32_MAX}, {.vats = UINT32_MAX}};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(actl_engine_new(&engine, &wrong[i]), ACTL_INVALID);
    assert_ptr_equal(engine, &engine);
  }
  actl_config most = {.workers = 256, .vats = SCALED(60000)};
  assert_int_equal(actl_engine_new(&engine, &most), ACTL_OK);
  assert_int_equal(actl_engine_workers(engine), 256);
  assert_int_equal(actl_engine_vats(engine), most.vats);
  actl_pid pid;
  assert_int_equal(actl_engine_spawn(engine, most.vats - 1, &idler, NULL, 0, &pid), ACTL_OK);
  assert_int_equal(actl_engine_spawn(engine, most.vats, &idler, NULL, 0, &pid), ACTL_NO_VAT);
  assert_int_equal(actl_engine_send(engine, pid, NULL, 0), ACTL_OK);
  assert_int_equal(actl_engine_run(engine), ACTL_OK);
  actl_stats stats;
  actl_engine_stats(engine, &stats);
  assert_int_equal(stats.messages, 1);
  actl_engine_free(engine);
}

static void an_engine_may_be_freed_at_any_state(void **state) {
  (void)state;
  actl_engine_free(NULL);
  struct host host;
  host_open(&host, 1, 1);
  host_close(&host); /* nothing was done */
  host_open(&host, 2, 2);
  actl_pid pid = host_spawn(&host, 1, &idler, NULL, 0);
  for (int i = 0; i < 1000; i++)
    host_send(&host, pid, ACTL_VALUES(actl_text("never handled at all")));
  host_close(&host); /* it never ran */
  host_open(&host, 2, 2);
  host_run(&host); /* there was nothing to run */
  assert_int_equal(host.stats.spawned, 0);
  host_close(&host);
  host_open(&host, 2, 2);
  pid = host_spawn(&host, 1, &idler, NULL, 0);
  host_run(&host);
  for (int i = 0; i < 1000; i++) host_send(&host, pid, ACTL_VALUES(actl_text("handled no more")));
  actl_engine_shutdown(host.engine);
  host_close(&host); /* the shutdown did not come to anything */
}

/* ---- Names ---- */

enum { NAMES_MAX = 65536 };

static void names_are_equal_when_their_bytes_are(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, 1);
  static const struct {
    const char *bytes;
    size_t size;
  } strings[] = {{"", 0},     {"a", 1},    {"ab", 2},
                 {"a\0b", 3}, {"a\0c", 3}, {"abcdefghijklmnopqrstuvwxyz", 26}};
  actl_name names[6], again;
  for (int i = 0; i < 6; i++) {
    assert_int_equal(actl_name_intern(host.engine, strings[i].bytes, strings[i].size, &names[i]),
                     ACTL_OK);
    for (int j = 0; j < i; j++) assert_true(names[i].id != names[j].id);
  }
  for (int i = 0; i < 6; i++) {
    assert_int_equal(actl_name_intern(host.engine, strings[i].bytes, strings[i].size, &again),
                     ACTL_OK);
    assert_int_equal(again.id, names[i].id);
    size_t size = 99;
    const char *bytes = actl_name_bytes(host.engine, names[i], &size);
    assert_int_equal(size, strings[i].size);
    assert_memory_equal(bytes, strings[i].bytes, size + 1);
    assert_ptr_equal(actl_name_bytes(host.engine, names[i], NULL), bytes);
  }
  host_close(&host);
}

static void names_have_a_limit_and_those_known_stay(void **state) {
  (void)state;
  seeds_need_time(50);
  struct host host;
  host_open(&host, 1, 1);
  char text[32];
  actl_name name = {77}, first = {0}, last = {0};
  actl_status status = ACTL_OK;
  int made = 0;
  for (; made <= NAMES_MAX; made++) {
    size_t size = (size_t)snprintf(text, sizeof text, "name %d", made);
    last = name;
    name.id = 77;
    status = actl_name_intern(host.engine, text, size, &name);
    if (status != ACTL_OK) break;
    if (made == 0) first = name;
  }
  assert_int_equal(status, ACTL_LIMIT);
  assert_int_equal(name.id, 77);
  assert_in_range(made, NAMES_MAX - 1000, NAMES_MAX); /* the engine may have some of its own */
  assert_int_equal(actl_name_intern(host.engine, "name 0", 6, &name), ACTL_OK);
  assert_int_equal(name.id, first.id);
  assert_string_equal(actl_name_bytes(host.engine, first, NULL), "name 0");
  snprintf(text, sizeof text, "name %d", made - 1);
  assert_string_equal(actl_name_bytes(host.engine, last, NULL), text);
  host_close(&host);
}

/* ---- Behaviors by name ---- */

static void behaviors_are_found_by_their_name(void **state) {
  (void)state;
  static const actl_behavior unnamed = {.receive = nothing};
  static const actl_behavior other = {.name = "other", .receive = nothing};
  static const actl_behavior twin = {.name = "other", .receive = nothing};
  struct host host;
  host_open(&host, 1, 1);
  assert_null(actl_engine_behavior(host.engine, "idler"));
  assert_int_equal(actl_engine_register(host.engine, &idler), ACTL_OK);
  assert_int_equal(actl_engine_register(host.engine, &other), ACTL_OK);
  assert_int_equal(actl_engine_register(host.engine, &twin), ACTL_INVALID);
  assert_int_equal(actl_engine_register(host.engine, &unnamed), ACTL_INVALID);
  assert_ptr_equal(actl_engine_behavior(host.engine, "idler"), &idler);
  assert_ptr_equal(actl_engine_behavior(host.engine, "other"), &other);
  assert_null(actl_engine_behavior(host.engine, "othe"));
  assert_null(actl_engine_behavior(host.engine, "others"));
  assert_null(actl_engine_behavior(host.engine, ""));
  host_close(&host);
}

static void many_behaviors_may_be_registered(void **state) {
  (void)state;
  enum { MANY = 500 };
  static actl_behavior behaviors[MANY];
  static char names[MANY][32];
  struct host host;
  host_open(&host, 1, 1);
  for (int i = 0; i < MANY; i++) {
    snprintf(names[i], sizeof names[i], "behavior %d", i);
    behaviors[i] = (actl_behavior){.name = names[i], .receive = nothing};
    assert_int_equal(actl_engine_register(host.engine, &behaviors[i]), ACTL_OK);
  }
  for (int i = 0; i < MANY; i++) {
    assert_ptr_equal(actl_engine_behavior(host.engine, names[i]), &behaviors[i]);
  }
  host_close(&host);
}

/* ---- The log ---- */

static void a_hosts_entry_is_a_note(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, 1);
  static const actl_log_level levels[] = {ACTL_LOG_DEBUG, ACTL_LOG_INFO, ACTL_LOG_WARN,
                                          ACTL_LOG_ERROR};
  for (int i = 0; i < 4; i++) {
    actl_engine_log(host.engine, levels[i], i % 2 ? "two\nlines" : "a line");
    assert_int_equal(host.journal.entries[ACTL_LOG_NOTE], i + 1);
    assert_int_equal(host.journal.level[ACTL_LOG_NOTE], levels[i]);
    assert_string_equal(host.journal.text[ACTL_LOG_NOTE], i % 2 ? "two\nlines" : "a line");
  }
  static char lots[10000];
  memset(lots, 'l', sizeof lots - 1);
  actl_engine_log(host.engine, ACTL_LOG_INFO, lots);
  assert_int_equal(strlen(host.journal.text[ACTL_LOG_NOTE]), sizeof host.journal.text[0] - 1);
  host_close(&host);
  actl_engine *engine;
  assert_int_equal(actl_engine_new(&engine, NULL), ACTL_OK);
  actl_engine_log(engine, ACTL_LOG_ERROR, "nobody reads it");
  actl_engine_free(engine);
}

/* ---- What a handler knows ---- */

struct facts {
  actl_engine *engine;
  actl_pid self, sender;
  uint32_t vat;
  actl_stats stats;
};

static actl_status knower_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)state;
  struct facts *facts = pointer_in(msg, 0);
  facts->engine = actl_ctx_engine(ctx);
  facts->self = actl_self(ctx);
  facts->sender = actl_sender(ctx);
  facts->vat = actl_ctx_vat(ctx);
  actl_ctx_stats(ctx, &facts->stats);
  actl_flush(ctx);
  return ACTL_OK;
}

static const actl_behavior knower = {.name = "knower", .receive = knower_receive};

static void a_handler_knows_itself_its_vat_and_its_engine(void **state) {
  (void)state;
  struct host host;
  host_open(&host, 1, 3);
  for (uint32_t vat = 0; vat < 3; vat++) {
    struct facts facts = {.sender = {77}};
    actl_pid pid = host_spawn(&host, vat, &knower, NULL, 0);
    host_send(&host, pid, ACTL_VALUES(pointer(&facts)));
    host_run(&host);
    assert_ptr_equal(facts.engine, host.engine);
    assert_true(actl_pid_equal(facts.self, pid));
    assert_int_equal(facts.sender.bits, 0);
    assert_int_equal(facts.vat, vat);
    assert_int_equal(facts.stats.alive, facts.stats.spawned - facts.stats.stopped);
    assert_true(facts.stats.spawned >= 1);
  }
  host_close(&host);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      WATCHED(every_status_has_its_name_and_text),
      WATCHED(the_linked_version_is_that_of_the_header),
      WATCHED(the_default_is_a_worker_for_each_processor_and_a_vat_for_each_worker),
      WATCHED(limits_of_the_configuration_are_checked),
      WATCHED(an_engine_may_be_freed_at_any_state),
      WATCHED(names_are_equal_when_their_bytes_are),
      WATCHED(names_have_a_limit_and_those_known_stay),
      WATCHED(behaviors_are_found_by_their_name),
      WATCHED(many_behaviors_may_be_registered),
      WATCHED(a_hosts_entry_is_a_note),
      WATCHED(a_handler_knows_itself_its_vat_and_its_engine),
  };
  return seeds_main(tests);
}
