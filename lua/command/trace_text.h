/*
 * trace_text.h - an event as a line of text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRACE_TEXT_H
#define ACTL_COMMAND_TRACE_TEXT_H

#include "command/trace_values.h"

/* Adds the line, without a newline; its time is counted from `begin_ns`. */
void actl__trace_text_print(const struct trace_writer *to, const actl_event *event,
                            uint64_t begin_ns);

#endif
