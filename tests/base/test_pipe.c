/*
 * test_pipe.c - a pipe to oneself is readable from a fill to the next drain.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>

#include "base/pipe.h"

static bool is_readable(const struct pipe *pipe) {
  struct pollfd fd = {.fd = pipe->read_fd, .events = POLLIN};
  return poll(&fd, 1, 0) == 1;
}

static void a_pipe_is_readable_from_a_fill_to_a_drain(void **state) {
  (void)state;
  struct pipe pipe;
  assert_int_equal(actl__pipe_open(&pipe), ACTL_OK);
  for (int n = 0; n < 200; n += 17) {
    assert_false(is_readable(&pipe));
    actl__pipe_drain(&pipe); /* of nothing: returns at once */
    for (int i = 0; i <= n; i++) actl__pipe_fill(&pipe);
    assert_true(is_readable(&pipe));
    actl__pipe_drain(&pipe);
  }
  actl__pipe_close(&pipe);
}

static void a_pipe_that_is_full_does_not_block(void **state) {
  (void)state;
  struct pipe pipe;
  assert_int_equal(actl__pipe_open(&pipe), ACTL_OK);
  for (int i = 0; i < 200000; i++) actl__pipe_fill(&pipe);
  assert_true(is_readable(&pipe));
  actl__pipe_drain(&pipe);
  assert_false(is_readable(&pipe));
  actl__pipe_close(&pipe);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pipe_is_readable_from_a_fill_to_a_drain),
      cmocka_unit_test(a_pipe_that_is_full_does_not_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
