#!/bin/sh
# A host program in C++17, built with CMake against the installed tree: a loop of its own that steps
# the engine and sleeps on its descriptor, with Lua actors that move by timers.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"

command -v "$(cxx)" >/dev/null || skip "there is no C++ compiler"
build_project CXX game "$SOURCE_DIR/tests/install/game.cpp" actl_lua
run_program "$scratch/out/game" "90 frames, the player is at 90"
run_program "$scratch/out/game_static" "90 frames, the player is at 90"
