/*
 * interrupt.h - Ctrl-C and SIGTERM.
 *
 * The first one stops the actors of the engine that is watched, or is noted; a second one ends the
 * process at once, with status 128 and the signal's number. With neither a signal does what it does
 * anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_COMMAND_INTERRUPT_H
#define ACTL_COMMAND_INTERRUPT_H

#include "actl.h"

#include <signal.h>

/* Has a signal stop this engine's actors, as long as it lives. Does nothing about a signal that is
 * ignored (`nohup`, or a shell's `&`). */
void actl__interrupt_watch(actl_engine *engine);

/* Has a signal be noted, and nothing else, where there is no engine that it could stop. */
void actl__interrupt_catch(void);

/* Adds those that end us, without any that is ignored, to a set. */
void actl__interrupt_add(sigset_t *out);

/* Once no engine is left that was watched. */
void actl__interrupt_stop(void);

/* The signal that came; 0: none. Any thread. */
int actl__interrupt_signal(void);

#endif
