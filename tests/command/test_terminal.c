/*
 * test_terminal.c - progress is shown on a terminal, and nowhere else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"

#include <string.h>
#include <unistd.h>

static const char slow[] = "return { name = 'slow', run = function(p, report)\n"
                           "  for i = 1, 4 do\n"
                           "    report.progress(i, 4)\n"
                           "    local t = os.clock() + 0.12 while os.clock() < t do end\n"
                           "  end\n"
                           "  return { requested = 4, done = 4, unit = 'step' } end }\n";

static void a_pipe_gets_no_progress(void **state) {
  (void)state;
  script("slow.lua", slow);
  struct ran ran = actorlua("slow.lua", NULL);
  assert_ran(ran, ran.status == 0 && ran.err[0] == '\0');
  assert_ran(ran, !contains(ran.out, "%") && !contains(ran.out, "\r"));
}

/* Runs slow.lua on a terminal and keeps what that shows. */
static int run_on_terminal(char *seen, size_t size, const char *const *arguments) {
  int terminal = -1;
  int reader = open_terminal(&terminal);
  struct started started = start_actorlua(terminal, arguments);
  close(terminal);
  read_all(reader, seen, size);
  return wait_for(started.pid);
}

static void a_terminal_gets_progress_that_goes_away(void **state) {
  (void)state;
  script("slow.lua", slow);
  char seen[8192];
  assert_int_equal(run_on_terminal(seen, sizeof seen, (const char *const[]){"slow.lua", NULL}), 0);
  assert_true(contains(seen, "\rslow  25 %"));
  assert_true(contains(seen, "\rslow  100 %"));
  assert_true(contains(seen, "\r\033[Kslow  4 steps in"));
}

static void quiet_shows_no_progress_even_there(void **state) {
  (void)state;
  script("slow.lua", slow);
  char seen[8192];
  assert_int_equal(
      run_on_terminal(seen, sizeof seen, (const char *const[]){"slow.lua", "-q", NULL}), 0);
  assert_string_equal(seen, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pipe_gets_no_progress),
      cmocka_unit_test(a_terminal_gets_progress_that_goes_away),
      cmocka_unit_test(quiet_shows_no_progress_even_there),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
