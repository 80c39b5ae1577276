#!/bin/sh
# Different seeds give different orders, in each thing that a seed decides and a script can see; and the
# same seed gives the same one.
#
# SPDX-License-Identifier: MIT
set -u
cd -- "$SOURCE_DIR/tests/promises" || exit 1
. "$SOURCE_DIR/tests/support/scratch.sh"

# varies KIND N: of 60 seeds there are N different runs at least, each the same the second time.
varies() {
  seed=0
  while [ $seed -lt 60 ]; do
    seed=$((seed + 1))
    "$ACTORLUA" variety.lua "$1" --seed $seed </dev/null || echo "seed $seed failed"
  done >"$out/first" 2>&1
  seed=$(wc -l <"$out/first")
  [ "$seed" -eq 60 ] || { echo "$1: $seed lines of 60 seeds"; failed=1; }
  n=$(sort -u "$out/first" | wc -l)
  echo "$1: $n different runs under 60 seeds"
  [ "$n" -ge "$2" ] || { cat "$out/first"; failed=1; }
  for seed in 7 23 42; do
    again=$("$ACTORLUA" variety.lua "$1" --seed $seed </dev/null 2>&1)
    [ "$again" = "$(sed -n ${seed}p "$out/first")" ] || { echo "$1: seed $seed is not repeated"; failed=1; }
  done
}

varies vat 5
varies actor 8
varies chain 3
varies timer 5
varies place 8
varies clock 4
varies preempt 5
varies kill 3
exit $failed
