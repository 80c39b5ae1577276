/*
 * interrupt.h - Ctrl-C and SIGTERM.
 *
 * The first one stops the actors of the engine that is watched; a second one ends the process at
 * once, with status 128 and the signal's number.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_INTERRUPT_H
#define ACTL_COMMAND_INTERRUPT_H

#include "actl.h"

#include <stdbool.h>

/* Before any other thread is started. Does nothing about a signal that is ignored (`nohup`, or a
 * shell's `&`). False: the system refused. */
bool actl__interrupt_start(void);
void actl__interrupt_stop(void);

/* The engine to stop from now on; NULL: none, and the last one is not touched any more. An engine
 * watched after the signal came is told to stop at once. */
void actl__interrupt_watch(actl_engine *engine);

/* The signal that came; 0: none. Any thread. */
int actl__interrupt_signal(void);

#endif
