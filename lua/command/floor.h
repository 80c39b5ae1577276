/*
 * floor.h - what no operation on this machine can be cheaper than, measured.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_FLOOR_H
#define ACTL_COMMAND_FLOOR_H

/* Nanoseconds of an empty call from C to Lua plus an empty call from Lua to C: nothing scripted can
 * be faster. Takes about 4 ms. 0: no memory. */
double actl__floor_lua(void);

/* Nanoseconds of writing and reading one cache line through a ring: nothing native can be faster.
 * Takes about 1 ms. */
double actl__floor_native(void);

#endif
