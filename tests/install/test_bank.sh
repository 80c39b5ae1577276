#!/bin/sh
# A host program in C, built with CMake against the installed tree: actors over several vats, asks,
# timers, run until quiet.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"

build_project C bank "$SOURCE_DIR/tests/install/bank.c" actl
run_program "$scratch/out/bank" "the sum is 1700"
run_program "$scratch/out/bank_static" "the sum is 1700"
