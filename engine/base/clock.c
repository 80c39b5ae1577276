/*
 * clock.c - the one place that reads time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"

#include <uv.h>

uint64_t actl__clock_ns(void) { return uv_hrtime(); }
