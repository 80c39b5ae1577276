/*
 * pipe.h - a pipe to oneself: readable or not, for a loop that waits on file descriptors.
 *
 * Neither end blocks: a pipe that is full is readable as well.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BASE_PIPE_H
#define ACTL_BASE_PIPE_H

#include "actl.h"

struct pipe {
  int read_fd, write_fd;
};

/* ACTL_SYSTEM: none is to be had. */
actl_status actl__pipe_open(struct pipe *pipe);
void actl__pipe_close(struct pipe *pipe);

/* Makes it readable. Any thread. */
void actl__pipe_fill(const struct pipe *pipe);

/* Makes it unreadable, but for who fills it meanwhile. Any thread. */
void actl__pipe_drain(const struct pipe *pipe);

#endif
