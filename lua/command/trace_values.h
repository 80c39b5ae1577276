/*
 * trace_values.h - the values of a message, written so that a line shows them.
 *
 * As Lua would write them: `deposit 5 "a text" {1, 2, x = true} ada <0.2.1>`. The name that a message
 * begins with stands without quotes where it is a plain word. What is long is cut, and says so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_TRACE_VALUES_H
#define ACTL_COMMAND_TRACE_VALUES_H

#include "command/trace_names.h"

struct trace_writer {  /* what it takes to write values */
  actl_engine *engine; /* knows names; NULL: they are shown as numbers */
  struct trace_names *names;
  struct text *out;
};

/* All values; `is_named`: the first one says what the message is. "nothing" where there are none. */
void actl__trace_values_print(const struct trace_writer *to, const actl_msg *msg, bool is_named);

/* What the message is: its first value where that is a string, or else "message". */
void actl__trace_values_name(const struct trace_writer *to, const actl_msg *msg);

/* Adds the bytes with what does not show escaped as Lua does; those of UTF-8 stay. */
void actl__trace_values_escape(struct text *out, const char *bytes, size_t size);

#endif
