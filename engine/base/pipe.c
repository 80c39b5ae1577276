/*
 * pipe.c - see pipe.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/pipe.h"

#include <errno.h>
#include <unistd.h>
#include <uv.h>

actl_status actl__pipe_open(struct pipe *pipe) {
  uv_file fds[2];
  if (uv_pipe(fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) != 0) return ACTL_SYSTEM;
  *pipe = (struct pipe){fds[0], fds[1]};
  return ACTL_OK;
}

void actl__pipe_close(struct pipe *pipe) {
  (void)close(pipe->read_fd);
  (void)close(pipe->write_fd);
}

void actl__pipe_fill(const struct pipe *pipe) {
  while (write(pipe->write_fd, "", 1) < 0 && errno == EINTR) {}
}

void actl__pipe_drain(const struct pipe *pipe) {
  char bytes[64];
  ssize_t n;
  do {
    n = read(pipe->read_fd, bytes, sizeof bytes);
  } while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
}
