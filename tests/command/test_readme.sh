#!/bin/sh
# The README's script and its host programs do what the page says.
#
# SPDX-License-Identifier: MIT
set -eu

readme=$SOURCE_DIR/README.md
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# block LANGUAGE N: the N-th block of that language.
block() {
  awk -v fence="^[\`][\`][\`]$1\$" -v wanted="$2" '
    $0 ~ fence { n++; on = 1; next }
    /^[`][`][`]/ { on = 0 }
    on && n == wanted' "$readme"
}

fail() {
  echo "test_readme: $1" >&2
  exit 1
}

# program N NAME LIBRARY ...: builds the N-th block in C.
program() {
  block c "$1" >"$out/$2.c"
  [ -s "$out/$2.c" ] || fail "the README has no C block for $2"
  name=$2
  shift 2
  # shellcheck disable=SC2086
  ${CC:-cc} ${SANITIZE_FLAGS:-} -std=c11 -Wall -Wextra -Werror -I "$SOURCE_DIR/engine/include" \
    -I "$SOURCE_DIR/lua/include" $lua_flags -o "$out/$name" "$out/$name.c" "$@" $lua_libs \
    $(pkg-config --libs libuv) -lpthread -lm
}

block lua 1 >"$out/account.lua"
[ -s "$out/account.lua" ] || fail "the README has no Lua block"
got=$("$ACTORLUA" "$out/account.lua")
[ "$got" = 42 ] || fail "the script printed: $got"

block lua 3 >"$out/tickets.lua"
(
  cd "$out"
  "$ACTORLUA" tickets.lua --quiet --seed 1 || fail "the tickets are sold twice in a plain run"
  if "$ACTORLUA" explore tickets.lua --runs 20000 >found; then fail "explore found nothing"; fi
  grep -q "the check 'one ticket is sold once' failed" found || fail "explore printed: $(cat found)"
  seed=$(sed -n 's/^tickets.lua: seed \([0-9]*\) fails, .*/\1/p' found)
  "$ACTORLUA" shrink tickets.lua --seed "$seed" >shortest
  grep -q "needed (" shortest || fail "shrink printed: $(cat shortest)"
  grep -q "reply    -1 " shortest || fail "the trace is not of a run that fails"
)

lua_flags= lua_libs=
program 1 adder "$BUILD_DIR/libactl.a"
got=$("$out/adder")
[ "$got" = "the sum is 42" ] || fail "the adder printed: $got"

for module in lua5.4 lua-5.4 lua54 "lua >= 5.4"; do
  pkg-config --exists "$module" && break
done
lua_flags=$(pkg-config --cflags "$module") lua_libs=$(pkg-config --libs "$module")
program 2 counter "$BUILD_DIR/libactl_lua.a" "$BUILD_DIR/libactl.a"
got=$("$out/counter" | paste -sd ' ' -)
[ "$got" = "1 3 6" ] || fail "the counter printed: $got"
echo "the README's script and host programs work"
