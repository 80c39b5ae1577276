#!/bin/sh
# Every installed header compiles alone, in C11 and in C++17, with nothing but the tree and Lua.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SOURCE_DIR/tests/install/tree.sh"

[ "$(cd -- "$tree/include" && echo *)" = "actl.h actl_driver.h actl_lua.h" ] ||
  fail "other headers are installed: $(ls "$tree/include")"
command -v "$(cxx)" >/dev/null || skip "there is no C++ compiler"
must env COMPILERS="${CC:-cc}" CXX_COMPILERS="$(cxx)" sh "$SOURCE_DIR/tests/checks/headers.sh" "$tree"
