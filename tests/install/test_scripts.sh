#!/bin/sh
# A host program with Lua actors, built with pkg-config against the installed tree, and against one that
# has the static libraries alone: an engine started on its own threads, asked from the host's.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"

source=$SOURCE_DIR/tests/install/scripts.c
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror -pthread ${SANITIZE_FLAGS:-}"
said="32 carts, 4800 paid"

export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
# shellcheck disable=SC2046,SC2086
must ${CC:-cc} $flags "$source" -o "$scratch/scripts" $(pkg-config --cflags --libs actl_lua) \
  -Wl,-rpath,"$(pkg-config --variable=libdir actl_lua)"
must_be_shared "$scratch/scripts"
run_program "$scratch/scripts" "$said"

rm -- "$tree"/lib/*.so*
# shellcheck disable=SC2046,SC2086
must ${CC:-cc} $flags "$source" -o "$scratch/scripts_static" \
  $(pkg-config --static --cflags --libs actl_lua)
must_be_static "$scratch/scripts_static"
run_program "$scratch/scripts_static" "$said"
