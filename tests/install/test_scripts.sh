#!/bin/sh
# A host program with Lua actors, built with pkg-config against the installed tree: with the shared
# libraries, with the static ones beside them, and where there are no others. An engine is started on
# threads of its own, and asked from the host's.
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

# build_static NAME OPTION ...
build_static() {
  name=$1
  shift
  # shellcheck disable=SC2086
  must ${CC:-cc} $flags "$source" -o "$scratch/$name" "$@"
  must_be_static "$scratch/$name"
  run_program "$scratch/$name" "$said"
}

# shellcheck disable=SC2046
build_static by_file $(pkg-config --static --cflags --libs actl_lua |
  sed 's/-lactl_lua/-l:libactl_lua.a/; s/-lactl /-l:libactl.a /')

rm -- "$tree"/lib/*.so*
# shellcheck disable=SC2046
build_static by_name $(pkg-config --static --cflags --libs actl_lua)
