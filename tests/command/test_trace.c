/*
 * test_trace.c - traces: what the lines say, whatever is in the messages; files that can be read
 * however the run ends; arrows that fit together.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"
#include "command/trace.h"
#include "json_reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Lines ---- */

static const actl_pid bank = {UINT64_C(0x8000400000000003)}, ada = {UINT64_C(0x8000800000400002)};

static actl_event event_of(actl_event_kind kind, uint64_t us, uint32_t vat) {
  return (actl_event){.kind = kind, .vat = vat, .time_ns = 5000000 + us * 1000};
}

static void tell(struct trace *trace, actl_event event, actl_pid actor, actl_pid peer) {
  event.actor = actor;
  event.peer = peer;
  actl__trace_tell(trace, &event);
}

static void assert_line(const struct trace *trace, const char *expected) {
  size_t n = actl__trace_n_lines(trace);
  assert_true(n > 0);
  assert_string_equal(actl__trace_line(trace, n - 1), expected);
}

static void each_kind_of_event_has_its_line(void **state) {
  (void)state;
  const actl_pid nobody = {0};
  struct trace *trace = actl__trace_open_ring(4);
  actl_event spawn = event_of(ACTL_EVENT_SPAWN, 0, ACTL_VAT_ANY);
  spawn.text = "bank <0.3.1>";
  tell(trace, spawn, bank, nobody);
  assert_line(trace, "      0.000000 ms  -      bank <0.3.1>                "
                     "spawn    by outside");
  tell(trace, event_of(ACTL_EVENT_HANDLED, 1, 0), bank, nobody);
  assert_line(trace, "      0.001000 ms  vat 0  bank <0.3.1>                handled");
  tell(trace, event_of(ACTL_EVENT_WAIT, 2, 12), bank, ada);
  assert_line(trace, "      0.002000 ms  vat 12  bank <0.3.1>                "
                     "wait     for <1.2.2>");
  actl_event reply = event_of(ACTL_EVENT_REPLY, 1234567, 1);
  reply.status = ACTL_STOPPED;
  tell(trace, reply, ada, bank);
  assert_line(trace, "   1234.567000 ms  vat 1  <1.2.2>                     "
                     "reply    fails: stopped  to bank <0.3.1>");
  actl_event end = event_of(ACTL_EVENT_EXIT, 3, 0);
  end.status = ACTL_FAILED;
  end.text = "bank.lua:7: a \"bad\"\ttab\nstack traceback:\n\t...";
  tell(trace, end, bank, nobody);
  assert_line(trace, "      0.003000 ms  vat 0  bank <0.3.1>                "
                     "exit     failed: bank.lua:7: a \"bad\"\\ttab");
  tell(trace, event_of(ACTL_EVENT_STOP, 4, 0), ada, bank);
  assert_line(trace, "      0.004000 ms  vat 0  <1.2.2>                     stop     bank <0.3.1>");
  tell(trace, event_of(ACTL_EVENT_CLOCK, 4, ACTL_VAT_ANY), nobody, nobody);
  assert_line(trace, "      0.004000 ms  -      -                           clock");
  assert_null(actl__trace_close(trace));
}

static void a_ring_has_the_last_lines(void **state) {
  (void)state;
  for (size_t room = 1; room <= 5; room++) {
    struct trace *trace = actl__trace_open_ring(room);
    assert_int_equal(actl__trace_n_lines(trace), 0);
    for (unsigned i = 0; i < 12; i++) {
      tell(trace, event_of(ACTL_EVENT_HANDLED, i, i), bank, (actl_pid){0});
      size_t n = i + 1 < room ? i + 1 : room;
      assert_int_equal(actl__trace_n_lines(trace), n);
      for (size_t k = 0; k < n; k++) {
        char vat[16];
        snprintf(vat, sizeof vat, "  vat %u ", i + 1 - (unsigned)(n - k));
        assert_true(contains(actl__trace_line(trace, k), vat));
      }
    }
    assert_null(actl__trace_close(trace));
  }
}

/* ---- Values ---- */

static actl_status take(actl_ctx *ctx, void *state, const actl_msg *msg) {
  (void)ctx, (void)state, (void)msg;
  return ACTL_OK;
}

static const actl_behavior taker = {.name = "taker \x01", .receive = take};

struct desk {
  struct trace *trace;
  actl_engine *engine;
  actl_pid pid;
};

static struct desk desk_open(struct trace *trace) {
  struct desk desk = {.trace = trace};
  const actl_config config = {
      .is_seeded = true, .seed = 1, .trace = actl__trace_tell, .trace_ud = trace};
  assert_int_equal(actl_engine_new(&desk.engine, &config), ACTL_OK);
  actl__trace_attach(trace, desk.engine);
  assert_int_equal(actl_engine_spawn(desk.engine, 0, &taker, NULL, 0, &desk.pid), ACTL_OK);
  return desk;
}

static void desk_close(struct desk *desk) {
  assert_int_equal(actl_engine_run(desk->engine), ACTL_OK);
  actl_engine_free(desk->engine);
  assert_null(actl__trace_close(desk->trace));
}

static void assert_shown(struct desk *desk, const actl_value *values, size_t n,
                         const char *expected) {
  assert_int_equal(actl_engine_send(desk->engine, desk->pid, values, n), ACTL_OK);
  size_t last = actl__trace_n_lines(desk->trace) - 1;
  const char *line = strstr(actl__trace_line(desk->trace, last), "send     ");
  assert_non_null(line);
  size_t size = strlen(expected);
  if (strncmp(line + 9, expected, size) != 0 || strncmp(line + 9 + size, "  to taker", 10) != 0)
    print_error("got %s, not %s\n", line + 9, expected);
  assert_memory_equal(line + 9, expected, size);
  assert_memory_equal(line + 9 + size, "  to taker \\x01 <0.1.1>", 23);
}

static void values_are_written_as_lua_would(void **state) {
  (void)state;
  struct desk desk = desk_open(actl__trace_open_ring(2));
  actl_name name;
  assert_int_equal(actl_name_intern(desk.engine, "deposit", 7, &name), ACTL_OK);
  assert_shown(&desk, NULL, 0, "nothing");
  assert_shown(&desk, ACTL_VALUES(actl_named(name), actl_int(-5)), "deposit -5");
  assert_shown(&desk, ACTL_VALUES(actl_text("two words"), actl_text("word")),
               "\"two words\" \"word\"");
  assert_shown(&desk, ACTL_VALUES(actl_text("true"), actl_bool(true), actl_bool(false)),
               "\"true\" true false");
  assert_shown(&desk, ACTL_VALUES(actl_text("x"), actl_nil(), actl_int(INT64_MIN)),
               "x nil -9223372036854775808");
  assert_shown(&desk, ACTL_VALUES(actl_float(7), actl_float(0.1), actl_float(1e300)),
               "7.0 0.1 1e+300");
  assert_shown(&desk, ACTL_VALUES(actl_float(1 / (double)0.0), actl_who(desk.pid), actl_who(ada)),
               "inf taker \\x01 <0.1.1> <1.2.2>");
  assert_shown(&desk, ACTL_VALUES(actl_bytes("a\"b\\c\n\t\r\0\x7F\xFF\xC3\xA9", 13)),
               "\"a\\\"b\\\\c\\n\\t\\r\\x00\\x7F\\xFF\xC3\xA9\"");
  desk_close(&desk);
}

static void what_is_long_is_cut_and_says_so(void **state) {
  (void)state;
  struct desk desk = desk_open(actl__trace_open_ring(2));
  char text[200];
  memset(text, 'x', sizeof text);
  memcpy(text + 58, "\xE2\x82\xAC", 3); /* not cut in two */
  char expected[100];
  snprintf(expected, sizeof expected, "\"%.58s\"... (200 bytes)", text);
  assert_shown(&desk, ACTL_VALUES(actl_bytes(text, sizeof text)), expected);

  actl_value values[ACTL_VALUES_MAX];
  for (int i = 0; i < ACTL_VALUES_MAX; i++) values[i] = actl_int(1000000000);
  assert_int_equal(actl_engine_send(desk.engine, desk.pid, values, ACTL_VALUES_MAX), ACTL_OK);
  const char *line = actl__trace_line(desk.trace, 1);
  assert_true(contains(line, " 1000000000 ... (233 more)  to taker"));
  assert_true(strlen(line) < 400);
  desk_close(&desk);
}

/* Bytes that are no table, sent as one: they get a block of their own, and a build with a sanitizer sees
 * a read beyond it. */
static void a_table_that_is_none_is_shown_as_its_size(void **state) {
  (void)state;
  struct desk desk = desk_open(actl__trace_open_ring(1));
  unsigned char bytes[40];
  uint64_t random = 1;
  for (int i = 0; i < 20000; i++) {
    uint32_t size = (uint32_t)(i % (int)sizeof bytes);
    for (uint32_t k = 0; k < size; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      bytes[k] = k % 3 == 0 ? (unsigned char)(random >> 60) : (unsigned char)(random >> 33 & 1);
    }
    actl_value table = actl_bytes(bytes, size);
    table.type = ACTL_TABLE;
    assert_int_equal(actl_engine_send(desk.engine, desk.pid, &table, 1), ACTL_OK);
    assert_true(contains(actl__trace_line(desk.trace, 0), "send     "));
  }
  actl_value table = actl_bytes("\0\x63", 2);
  table.type = ACTL_TABLE;
  assert_shown(&desk, &table, 1, "(2 bytes)");
  desk_close(&desk);
}

/* ---- Files ---- */

/* To be freed. */
static char *read_file(const char *name) {
  struct stat info;
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  assert_int_equal(fstat(fileno(file), &info), 0);
  size_t size = (size_t)info.st_size;
  char *text = malloc(size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, size, file), size);
  fclose(file);
  text[size] = '\0';
  return text;
}

static size_t count(const char *text, const char *part) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
  return n;
}

/* Whatever is in names and messages, the file is JSON. */
static void a_file_for_perfetto_is_valid_json(void **state) {
  (void)state;
  struct trace *trace;
  assert_null(actl__trace_open(&trace, "values.json"));
  struct desk desk = desk_open(trace);
  char text[256];
  for (int i = 0; i < 256; i++) text[i] = (char)i;
  for (int i = 0; i < 256; i++) {
    const actl_value values[] = {actl_bytes(text + i, (uint32_t)(256 - i)), actl_int(i)};
    assert_int_equal(actl_engine_send(desk.engine, desk.pid, values, 2), ACTL_OK);
  }
  desk_close(&desk);
  char *json = read_file("values.json");
  assert_true(json_is_valid(json));
  assert_int_equal(count(json, "\"ph\":\"s\""), 256);
  assert_int_equal(count(json, "\"ph\":\"f\""), 256);
  assert_int_equal(count(json, "\"ph\":\"B\""), count(json, "\"ph\":\"E\""));
  free(json);
}

static const char talk[] =
    "local actor = require 'actor'\n"
    "local echo = actor.behavior('echo', { receive = {\n"
    "  say = function(_, x) actor.sleep(1) return x end,\n"
    "  fail = function() error('on purpose') end, } })\n"
    "return { run = function()\n"
    "  local a, b = actor.spawn(echo), actor.spawn_on(1, echo)\n"
    "  for i = 1, 20 do assert(a:ask('say', i) == i and b:ask('say', {n = i}).n == i) end\n"
    "  a:send('say', 'never heard') a:stop() b:send('nonsense') b:send('fail')\n"
    "  actor.spawn_on(0, echo):send('say', 0) actor.after(5, 'tick')\n"
    "  return { requested = 1, done = 1, unit = 'talk' }\n"
    "end }\n";

/* The value of `key` in the line, as a number; -1: it has none. */
static double number_in(const char *line, const char *end, const char *key) {
  char word[32];
  snprintf(word, sizeof word, "\"%s\":", key);
  const char *at = strstr(line, word);
  return at != NULL && at < end ? atof(at + strlen(word)) : -1;
}

/* Each arrow that ends had begun before, once, and times do not go back. */
static void assert_arrows_fit(const char *json) {
  double begun[512], last = 0;
  size_t n_begun = 0, n_ended = 0;
  for (const char *line = json, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    double ts = number_in(line, end, "ts"), id = number_in(line, end, "id");
    if (ts >= 0) assert_true(ts >= last);
    if (ts >= 0) last = ts;
    if (id < 0 || !contains(line, "\"name\":\"message\"")) continue;
    bool is_begin = strncmp(line, "{\"ph\":\"s\"", 9) == 0;
    if (strstr(line, "\"name\":\"message\"") > end) continue;
    size_t i = 0;
    while (i < n_begun && begun[i] != id) i++;
    assert_true(is_begin ? i == n_begun : i < n_begun);
    if (is_begin) {
      assert_true(n_begun < 512);
      begun[n_begun++] = id;
    } else {
      begun[i] = -2;
      n_ended++;
    }
  }
  assert_true(n_ended > 40);
}

static void arrows_lead_from_a_send_to_its_receive(void **state) {
  (void)state;
  script("talk.lua", talk);
  struct ran ran = actorlua("talk.lua", "--trace", "talk.json", "--vats", "2", "--seed", "7", NULL);
  assert_ran(ran, ran.status == 1 && contains(ran.err, "on purpose"));
  char *json = read_file("talk.json");
  assert_true(json_is_valid(json));
  assert_arrows_fit(json);
  assert_int_equal(count(json, "\"ph\":\"B\""), count(json, "\"ph\":\"E\""));
  assert_int_equal(count(json, "\"process_name\""), 3);
  assert_int_equal(count(json, "\"thread_name\""), 5);
  assert_true(contains(json, "{\"name\":\"vat 1\"}") && contains(json, "{\"name\":\"echo <"));
  assert_true(contains(json, "\"name\":\"dead letter nonsense\""));
  assert_true(contains(json, "\"status\":\"unhandled\"") && contains(json, "on purpose"));
  free(json);

  ran = actorlua("talk.lua", "--trace", "talk.json", "--vats", "2", "--workers", "2", NULL);
  assert_ran(ran, ran.status == 1);
  json = read_file("talk.json");
  assert_true(json_is_valid(json));
  assert_arrows_fit(json);
  free(json);
}

static void the_text_has_a_line_for_each_event(void **state) {
  (void)state;
  script("talk.lua", talk);
  struct ran ran = actorlua("talk.lua", "--trace", "talk.txt", "--vats", "2", "--seed", "7", NULL);
  assert_ran(ran, ran.status == 1 && !contains(ran.out, "receive"));
  char *text = read_file("talk.txt");
  assert_int_equal(count(text, "  receive  say "), 42);
  /* Near, far, and placed near. */
  const char *places[] = {" vat 0  echo <0.2.1> ", " vat 0  echo <1.1.1> ",
                          " vat 0  echo <0.3.1> "};
  for (int i = 0; i < 3; i++) assert_true(contains(text, places[i]));
  assert_true(contains(text, "  receive  say {n = 20}  from actorlua.run <0.1.1>\n"));
  assert_true(contains(text, "  reply    {n = 20}  to actorlua.run <0.1.1>\n"));
  assert_true(contains(text, "  letter   stopped  say \"never heard\"  from actorlua.run"));
  assert_true(contains(text, "  exit     failed: talk.lua:4: on purpose\n"));
  assert_true(contains(text, "  timer    tick\n"));
  free(text);

  /* On stdout it stands between what is printed. */
  script("print.lua",
         "print('one') require('actor').spawn(function() end):send('hi') print('two')");
  ran = actorlua("print.lua", "--trace", "-", "--seed", "1", NULL);
  const char *one = strstr(ran.out, "\none\n"), *two = strstr(ran.out, "\ntwo\n");
  const char *send = strstr(ran.out, "  send     hi  to function <print.lua:1>");
  assert_ran(ran, ran.status == 0 && one != NULL && one < send && send < two);
}

static void assert_refused(struct ran ran, int status, const char *text) {
  assert_ran(ran, ran.status == status && count_lines(ran.err) == 1 && contains(ran.err, text));
}

static void what_cannot_be_written_is_said_in_one_line(void **state) {
  (void)state;
  script("well.lua", "print('well')");
  assert_refused(actorlua("well.lua", "--trace", "none/x.txt", NULL), 2,
                 "cannot write the trace to none/x.txt: No such file");
  assert_refused(actorlua("well.lua", "--trace", NULL), 2, "--trace needs a value");
  assert_refused(actorlua("run", "well.lua", "well.lua", "--trace", "x.txt", NULL), 2,
                 "--trace is for one FILE, not 2");
  assert_refused(actorlua("list", "--trace", "x.txt", NULL), 2, "--trace is not for 'list'");
  if (access("/dev/full", W_OK) != 0) return;
  struct ran ran = actorlua("well.lua", "--trace", "/dev/full", NULL);
  assert_refused(ran, 1, "cannot write all of the trace to /dev/full: No space left");
  assert_ran(ran, strcmp(ran.out, "well\n") == 0);
}

/* ---- Ends ---- */

static void a_run_that_ends_at_once_leaves_a_whole_file(void **state) {
  (void)state;
  script("exit.lua", "local actor = require 'actor'\n"
                     "actor.spawn(function() os.exit(3) end):send('go')\n"
                     "for i = 1, 2000 do actor.spawn(function() end):send(i) end\n");
  struct ran ran = actorlua("exit.lua", "--trace", "exit.json", NULL);
  assert_ran(ran, ran.status == 3);
  char *json = read_file("exit.json");
  assert_true(json_is_valid(json) && contains(json, "\"name\":\"go\""));
  free(json);
}

/* Until the trace has some blocks. */
static void wait_for_size(const char *name, off_t size) {
  struct stat info;
  for (int i = 0; i < 20000; i++) {
    if (stat(name, &info) == 0 && info.st_size > size) return;
    usleep(1000);
  }
  fail_msg("%s does not grow", name);
}

/* Interrupts it until it ends, and returns its status. */
static int interrupt(pid_t pid) {
  int status = 0;
  for (int i = 0; i < 3000; i++) {
    kill(pid, SIGINT);
    usleep(10000);
    if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  return -1;
}

/* ThreadSanitizer keeps a signal from its thread until that blocks, which the one here never does. */
static bool is_deaf(void) {
#if defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

static void a_run_that_is_interrupted_leaves_a_whole_file(void **state) {
  (void)state;
  if (is_deaf()) skip();
  script("endless.lua", "local actor = require 'actor'\n"
                        "local echo = actor.behavior('echo', {\n"
                        "  receive = { go = function() actor.self():send('go') end },\n"
                        "  stop = function() while true do end end })\n"
                        "actor.spawn(echo):send('go')\n");
  const char *arguments[] = {"endless.lua", "--trace", "endless.json", NULL};
  struct started started = start_actorlua(-1, arguments);
  wait_for_size("endless.json", 200000);
  assert_int_equal(interrupt(started.pid), 130);
  close(started.out);
  char *json = read_file("endless.json");
  assert_true(json_is_valid(json));
  free(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_of_event_has_its_line),
      cmocka_unit_test(a_ring_has_the_last_lines),
      cmocka_unit_test(values_are_written_as_lua_would),
      cmocka_unit_test(what_is_long_is_cut_and_says_so),
      cmocka_unit_test(a_table_that_is_none_is_shown_as_its_size),
      cmocka_unit_test(a_file_for_perfetto_is_valid_json),
      cmocka_unit_test(arrows_lead_from_a_send_to_its_receive),
      cmocka_unit_test(the_text_has_a_line_for_each_event),
      cmocka_unit_test(what_cannot_be_written_is_said_in_one_line),
      cmocka_unit_test(a_run_that_ends_at_once_leaves_a_whole_file),
      cmocka_unit_test(a_run_that_is_interrupted_leaves_a_whole_file),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
