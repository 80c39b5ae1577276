/*
 * native.c - the list of the native behaviors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

actl_status actl_bench_register(actl_engine *engine) {
  static const actl_behavior *const all[] = {
      &actl_bench_producer,   &actl_bench_counter, &actl_bench_spreader, &actl_bench_worker,
      &actl_bench_pinger,     &actl_bench_echo,    &actl_bench_client,   &actl_bench_asker,
      &actl_bench_answerer,   &actl_bench_outside, &actl_bench_listener, &actl_bench_mesh,
      &actl_bench_spawner,    &actl_bench_stopper, &actl_bench_nursery,  &actl_bench_skynet,
      &actl_bench_calculator, &actl_bench_judge,
  };

  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    actl_status status = actl_engine_register(engine, all[i]);
    if (status != ACTL_OK) return status;
  }
  return ACTL_OK;
}
