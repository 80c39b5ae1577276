/*
 * test_interrupt.c - Ctrl-C and SIGTERM: the actors are stopped, quickly, whenever it comes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"
#include "json_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A scenario of scenarios/ that says so when its `run` is called. */
static void write_telling(const char *name, const char *scenario) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "local s = dofile('%s/scenarios/%s.lua')\n"
      "local run = s.run\n"
      "s.run = function(p, report) io.write('running\\n') io.flush() return run(p, report) end\n"
      "return s\n",
      SOURCE_DIR, scenario);
  script(name, text);
}

/* Starts it, sends `signal` so many milliseconds after its run has begun, and waits. */
static int interrupt(const char *const *arguments, int signal, int after_ms) {
  struct started started = start_actorlua(-1, arguments);
  assert_true(read_until(started.out, "running\n"));
  struct timespec pause = {0, after_ms * 1000000L};
  nanosleep(&pause, NULL);
  double begin = now_s();
  kill(started.pid, signal);
  int status = wait_for(started.pid);
  close(started.out);
  assert_true(now_s() - begin < 10);
  return status;
}

static const char *const skynet[] = {"skynet.lua", "--set", "leaves=100000000", NULL};
static const char *const skynet_far[] = {
    "skynet.lua", "--set", "leaves=100000000", "--set", "far=true", "--vats", "2", NULL};
static const char *const skynet_native[] = {"skynet.lua", "--set",           "leaves=1000000000",
                                            "--set",      "behavior=native", NULL};

/* The actors' own troubles while they are being stopped are nobody's news. */
static void assert_only_stopped(void) {
  const char *err = read_stderr();
  if (strncmp(err, "actorlua: the actors are being stopped;", 39) == 0) err = strchr(err, '\n') + 1;
  assert_string_equal(err, "actorlua: stopped by a signal\n");
}

static void ctrl_c_in_the_middle_of_skynet_is_130(void **state) {
  (void)state;
  write_telling("skynet.lua", "skynet");
  for (int after_ms = 0; after_ms < 100; after_ms += 20) {
    assert_int_equal(interrupt(skynet, SIGINT, after_ms), 130);
    assert_only_stopped();
    assert_int_equal(interrupt(skynet_far, SIGINT, after_ms), 130);
    assert_only_stopped();
    assert_int_equal(interrupt(skynet_native, SIGINT, after_ms), 130);
    assert_only_stopped();
  }
}

static void sigterm_is_143(void **state) {
  (void)state;
  write_telling("skynet.lua", "skynet");
  assert_int_equal(interrupt(skynet, SIGTERM, 10), 143);
}

static void the_other_files_are_not_run(void **state) {
  (void)state;
  script("after.lua", "io.stderr:write('after')");
  script("endless.lua", "local actor = require 'actor'\n"
                        "local b\n"
                        "local a = actor.spawn(function() actor.send(b, 1) end)\n"
                        "b = actor.spawn(function() actor.send(a, 1) end)\n"
                        "actor.send(a, 1)\n"
                        "io.write('running\\n') io.flush()\n");
  const char *const arguments[] = {"run", "endless.lua", "after.lua", NULL};
  assert_int_equal(interrupt(arguments, SIGINT, 5), 130);
  assert_false(contains(read_stderr(), "after"));
}

static void stop_hooks_run_before_the_end(void **state) {
  (void)state;
  script("hook.lua", "local actor = require 'actor'\n"
                     "local B = actor.behavior('b', {\n"
                     "  stop = function() io.stderr:write('hook ran\\n') end,\n"
                     "  receive = { go = function(self) actor.send(actor.self(), 'go') end } })\n"
                     "actor.spawn(B):send('go')\n"
                     "io.write('running\\n') io.flush()\n");
  assert_int_equal(interrupt((const char *const[]){"hook.lua", NULL}, SIGINT, 5), 130);
  assert_true(contains(read_stderr(), "hook ran\n"));
}

static void a_second_ctrl_c_ends_at_once(void **state) {
  (void)state;
  script("busy.lua", "io.write('running\\n') io.flush() while true do os.time() end\n");
  struct started started = start_actorlua(-1, (const char *const[]){"busy.lua", NULL});
  assert_true(read_until(started.out, "running\n"));
  /* Two signals that wait at the same time are one, so it is told until it has ended. */
  int status = 0;
  while (waitpid(started.pid, &status, WNOHANG) == 0) {
    kill(started.pid, SIGINT);
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
  }
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 130);
  close(started.out);
}

static void json_says_that_it_was_interrupted(void **state) {
  (void)state;
  /* With --json stdout is not the script's, so it tells through a pipe with a name. */
  assert_int_equal(mkfifo("begun", 0600), 0);
  script("endless.lua", "local actor = require 'actor'\n"
                        "local B = actor.behavior('b', { receive = {\n"
                        "  go = function() actor.send(actor.self(), 'go') end,\n"
                        "  wait = function(self) self.request = actor.later() end } })\n"
                        "return { name = 'endless', run = function(p, report)\n"
                        "  local b = actor.spawn(B)\n"
                        "  b:send('go')\n"
                        "  io.open('begun', 'w'):close()\n"
                        "  b:ask('wait')\n"
                        "  error('the wait has ended') end }\n");
  struct started started = start_actorlua(-1, (const char *const[]){"endless.lua", "--json", NULL});
  int begun = open("begun", O_RDONLY);
  assert_true(begun >= 0);
  close(begun);
  kill(started.pid, SIGINT);
  char out[8192];
  assert_true(read_all(started.out, out, sizeof out) > 0);
  assert_int_equal(wait_for(started.pid), 130);
  assert_true(json_is_valid(out) && count_lines(out) == 1);
  assert_string_equal(json_at(out, "scenario"), "\"endless\"");
  assert_string_equal(json_at(out, "error"), "\"interrupted\"");
  assert_string_equal(json_at(out, "ns_per_op"), "");
  assert_string_equal(read_stderr(), "actorlua: stopped by a signal\n");
}

/* Ctrl-C soon after the script has said that it runs. */
static void assert_ends_on_ctrl_c(const char *text) {
  script("timers.lua", text);
  assert_int_equal(interrupt((const char *const[]){"timers.lua", "--vats", "2", NULL}, SIGINT, 5),
                   130);
  assert_only_stopped();
}

static void a_repeating_timer_runs_until_ctrl_c(void **state) {
  (void)state;
  assert_ends_on_ctrl_c("local actor = require 'actor'\n"
                        "actor.process_on(1, function()\n"
                        "  actor.every(1, 'tick')\n"
                        "  for i = 1, 20 do actor.receive() end\n"
                        "  io.write('running\\n') io.flush()\n"
                        "  while true do actor.receive() end\n"
                        "end)\n");
}

static void what_sleeps_and_waits_ends_on_ctrl_c(void **state) {
  (void)state;
  assert_ends_on_ctrl_c("local actor = require 'actor'\n"
                        "local asleep = actor.spawn(function() actor.sleep(60000) end)\n"
                        "actor.process(function() actor.ask { asleep, timeout = 60000 } end)\n"
                        "actor.process(function() actor.receive(60000) end)\n"
                        "actor.after(60000, 'never')\n"
                        "io.write('running\\n') io.flush()\n"
                        "actor.sleep(60000)\n"
                        "io.write('never')\n");
}

static void a_scenario_with_a_repeating_timer_ends_on_ctrl_c(void **state) {
  (void)state;
  assert_ends_on_ctrl_c("local actor = require 'actor'\n"
                        "local Clock = actor.behavior('clock', {\n"
                        "  init = function() actor.every(1, 'tick') end,\n"
                        "  receive = { tick = function() end } })\n"
                        "return { run = function(p, report)\n"
                        "  actor.spawn(Clock)\n"
                        "  actor.spawn_on(1, Clock)\n"
                        "  io.write('running\\n') io.flush()\n"
                        "  return { requested = 1, done = 1, unit = 'tick' } end }\n");
}

/* With one worker, and the thread waiting for an answer that this one can no longer give. */
static void a_thread_of_the_host_does_not_hold_up_the_end(void **state) {
  (void)state;
  write_telling("batch.lua", "tell-batch");
  static const char *const batches[] = {
      "batch.lua", "--set", "batches=1000000000", "--set", "messages=2", "--workers", "1", NULL};
  for (int after_ms = 0; after_ms < 50; after_ms += 10) {
    assert_int_equal(interrupt(batches, SIGINT, after_ms), 130);
    assert_only_stopped();
  }
}

static void a_process_that_a_script_starts_hears_of_it(void **state) {
  (void)state;
  /* The child would sleep for a minute; Ctrl-C at a terminal goes to it too. */
  script("child.lua", "io.write('running\\n') io.flush()\n"
                      "print(os.execute('kill -INT $$; sleep 60'))\n");
  struct ran ran = actorlua("child.lua", NULL);
  assert_ran(ran, contains(ran.out, "nil\tsignal\t2\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ctrl_c_in_the_middle_of_skynet_is_130),
      cmocka_unit_test(sigterm_is_143),
      cmocka_unit_test(the_other_files_are_not_run),
      cmocka_unit_test(stop_hooks_run_before_the_end),
      cmocka_unit_test(a_second_ctrl_c_ends_at_once),
      cmocka_unit_test(json_says_that_it_was_interrupted),
      cmocka_unit_test(a_repeating_timer_runs_until_ctrl_c),
      cmocka_unit_test(what_sleeps_and_waits_ends_on_ctrl_c),
      cmocka_unit_test(a_scenario_with_a_repeating_timer_ends_on_ctrl_c),
      cmocka_unit_test(a_thread_of_the_host_does_not_hold_up_the_end),
      cmocka_unit_test(a_process_that_a_script_starts_hears_of_it),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
