#!/bin/sh
# The README's script and its host program do what the page says.
#
# SPDX-License-Identifier: MIT
set -eu

readme=$SOURCE_DIR/README.md
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# block LANGUAGE: the first block of that language.
block() {
  awk -v fence="^[\`][\`][\`]$1\$" '$0 ~ fence { on = 1; next } /^[`][`][`]/ { if (on) exit } on' "$readme"
}

fail() {
  echo "test_readme: $1" >&2
  exit 1
}

block lua >"$out/account.lua"
[ -s "$out/account.lua" ] || fail "the README has no Lua block"
got=$("$ACTORLUA" "$out/account.lua")
[ "$got" = 42 ] || fail "the script printed: $got"

block c >"$out/adder.c"
[ -s "$out/adder.c" ] || fail "the README has no C block"
${CC:-cc} ${SANITIZE_FLAGS:-} -std=c11 -Wall -Wextra -Werror -I "$SOURCE_DIR/engine/include" -o "$out/adder" \
  "$out/adder.c" "$BUILD_DIR/libactl.a" $(pkg-config --libs libuv) -lpthread -lm
got=$("$out/adder")
[ "$got" = "the sum is 42" ] || fail "the host program printed: $got"
echo "the README's script and host program work"
