#!/bin/sh
# test_trace.sh - one seed is one trace, in fresh processes; other seeds are others; and what a script
# prints does not depend on whether it is traced.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "test_trace: $1" >&2
  exit 1
}

cat >many.lua <<'LUA'
local actor = require "actor"
local Node
Node = actor.behavior("node", {
  init = function(self, left) self.left = left end,
  receive = {
    grow = function(self, parent)
      if self.left == 0 then return parent:send("leaf", { at = self.left, [parent] = true }) end
      self.parent, self.n = parent, 0
      for i = 1, 3 do actor.spawn_on("any", Node, self.left - 1):send("grow", actor.self()) end
    end,
    leaf = function(self)
      self.n = self.n + 1
      if self.n == 3 then self.parent:send("leaf", {}) end
    end,
  },
})
return {
  params = { depth = 4 },
  run = function(p)
    local me = actor.process(function(depth)
      actor.spawn(Node, depth):send("grow", actor.self())
      actor.every(1, "tick")
      repeat local name = actor.receive() until name == "leaf"
    end, p.depth)
    local echo = actor.spawn(function(...) actor.sleep(2) return ... end)
    for i = 1, 10 do print(echo:ask(i, me)) end
    return { requested = 1, done = 1, unit = "tree" }
  end,
}
LUA

for form in txt json; do
  for i in 1 2 3 4 5 6; do
    "$ACTORLUA" many.lua --seed 9 --scatter --quiet --trace "nine-$i.$form" >"nine-$i.out"
    cmp "nine-1.$form" "nine-$i.$form" || fail "seed 9 has two traces"
  done
  [ "$(wc -l <"nine-1.$form")" -gt 500 ] || fail "the trace is short"
done
"$ACTORLUA" many.lua --seed 9 --scatter --quiet >untraced.out
[ "$(grep -c 'pid<' untraced.out)" = 10 ] || fail "the script does not print"
cmp nine-1.out untraced.out || fail "a trace changes the run"

"$ACTORLUA" many.lua --seed 10 --scatter --trace ten.txt >/dev/null
if cmp -s nine-1.txt ten.txt; then fail "two seeds have one trace"; fi
echo "one seed is one trace"
