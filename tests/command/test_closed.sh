#!/bin/sh
# With its standard descriptors closed the command does its work all the same, and gives none of them
# to files or pipes of its own.
#
# SPDX-License-Identifier: MIT
set -eu

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat >"$out/writes.lua" <<'LUA'
local actor = require "actor"
local f = assert(io.open(arg[1], "w"))
f:setvbuf("no")
local echo = actor.spawn(function(...) return ... end)
for i = 1, 50 do
  print(i)
  f:write(echo:ask(i), "\n")
end
f:write("end\n")
f:close()
LUA

check() {
  if [ "$(tail -n 1 "$1")" != end ] || [ "$(wc -l <"$1")" != 51 ]; then
    echo "test_closed: $2 did not do its work" >&2
    exit 1
  fi
}

"$ACTORLUA" "$out/writes.lua" "$out/1" <&- >&- || [ $? = 1 ]
check "$out/1" "a run without stdin and stdout"
"$ACTORLUA" "$out/writes.lua" "$out/2" <&- >&- 2>&- || [ $? = 1 ]
check "$out/2" "a run without any"
echo "closed descriptors are no matter"
