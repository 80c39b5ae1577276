/*
 * report.h - what a finished run looks like.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_REPORT_H
#define ACTL_COMMAND_REPORT_H

#include "command/json.h"
#include "command/run.h"

#include <stdio.h>

/* A few lines for a reader. */
void actl__report_print(const struct run *run, FILE *out);

/* The parameters with their values, on a line of their own; nothing when there are none. */
void actl__report_params(const struct run *run, FILE *out);

/* A parameter's value under `key`. */
void actl__report_value(struct json *json, const char *key, const struct param *param);

/* One line of JSON; see the head of figures.c for its fields. */
void actl__report_json(const struct run *run, FILE *out);

#endif
