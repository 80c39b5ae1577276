/*
 * native.h - the scenarios' behaviors in C, for `--set behavior=native`.
 *
 * They do what the Lua behaviors of scenarios/ do, message for message, on actl.h alone, and are
 * found by name: actor.native("bench.echo"). Each file of this folder says which
 * scenarios its behaviors are for, and above each what it is spawned with and what it is told.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ACTL_BENCH_NATIVE_H
#define ACTL_BENCH_NATIVE_H

#include "times.h"

#include "actl.h"

/* Messages that a behavior sends in one go before it tells itself to go on. */
enum { ACTL_BENCH_BATCH = 100 };

/* Makes every behavior below known to `engine`, before its first run. The errors are those of
 * actl_engine_register. */
actl_status actl_bench_register(actl_engine *engine);

extern const actl_behavior actl_bench_producer, actl_bench_counter; /* tell.c */
extern const actl_behavior actl_bench_spreader, actl_bench_worker;  /* fan.c */
extern const actl_behavior actl_bench_pinger, actl_bench_echo;      /* ping_pong.c */
extern const actl_behavior actl_bench_client;                       /* pairs.c */
extern const actl_behavior actl_bench_asker, actl_bench_answerer;   /* ask.c */
extern const actl_behavior actl_bench_outside;                      /* outside.c */
extern const actl_behavior actl_bench_listener;                     /* latency.c */
extern const actl_behavior actl_bench_mesh;                         /* mesh.c */
extern const actl_behavior actl_bench_spawner;                      /* spawn.c */
extern const actl_behavior actl_bench_stopper;                      /* spawn_stop.c */
extern const actl_behavior actl_bench_nursery;                      /* sleepers.c */
extern const actl_behavior actl_bench_skynet;                       /* skynet.c */
extern const actl_behavior actl_bench_calculator, actl_bench_judge; /* pi.c */

#endif
