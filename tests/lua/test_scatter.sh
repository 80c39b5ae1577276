#!/bin/sh
# With --seed and --scatter, actors that are asked for near may be in any vat, if they can be there: what
# needs this vat's behaviors, globals or values that cannot be sent is near with every seed. For who makes
# them it is the same.
#
# SPDX-License-Identifier: MIT
set -eu

. "$SOURCE_DIR/tests/support/scratch.sh"

# Each line: what was made, and in which vats its actors were.
cat >"$out/part.lua" <<'END'
local actor = require "actor"

local Here = actor.behavior("here", {
  init = function(self, n, t) self.n = n + #t end,
  receive = {
    where = function(self)
      assert(self.n == 5)
      return actor.stats().vat
    end,
  },
})
function own_global() return "own" end

local function try(what, make)
  local line = { what }
  for i = 1, 8 do
    local pid = make()
    assert(actor.is_pid(pid))
    local vat, reason = pid:ask "where"
    line[i + 1] = assert(vat, reason)
  end
  print(table.concat(line, " "))
end

local function fails(f, ...)
  local ok, text = pcall(f, ...)
  assert(not ok)
  return text
end

local function all()
  local print, coroutine = print, coroutine.create(print)
  local object = setmetatable({}, { __index = { x = 5 } })
  local data, pid = { x = { 1 } }, actor.self()
  try("behavior", function() return actor.spawn(Here, 2, { 1, 2, 3 }) end)
  try("function", function()
    return actor.spawn(function()
      assert(print and data.x[1] == 1 and actor.is_pid(pid))
      return actor.stats().vat
    end)
  end)
  try("process", function()
    return actor.process(function(a, b, c)
      assert(a == 1 and b == nil and c[1] == 3)
      actor.receive()
      actor.reply(actor.stats().vat)
    end, 1, nil, { 3 })
  end)
  try("global", function()
    return actor.spawn(function() assert(own_global() == "own") return actor.stats().vat end)
  end)
  try("inner-global", function()
    return actor.spawn(function()
      return (function() own_global() return actor.stats().vat end)()
    end)
  end)
  try("its-behavior", function()
    return actor.spawn(function()
      actor.spawn(Here, 5, {}):send "where"
      return actor.stats().vat
    end)
  end)
  try("metatable", function()
    return actor.spawn(function() assert(object.x == 5) return actor.stats().vat end)
  end)
  try("coroutine", function()
    return actor.spawn(function() assert(coroutine) return actor.stats().vat end)
  end)

  local many = {}
  for i = 1, 255 do many[i] = i end
  for n = 250, 255 do
    local p = actor.process(function(...)
      local given = select("#", ...)
      actor.receive()
      actor.reply(given)
    end, table.unpack(many, 1, n))
    assert(p:ask() == n)
  end
  assert(fails(actor.spawn, print, 1):find "has no init to take arguments")
  assert(fails(actor.spawn, Here, print):find "argument 1: a function cannot be sent")
  assert(fails(actor.process, print, print):find "argument 1: a function cannot be sent")
  assert(fails(actor.process, 1):find "actor.process: a function expected, got a number")
end
END
{
  cat "$out/part.lua"
  echo 'all()'
} >"$out/script.lua"
{
  cat "$out/part.lua"
  echo 'return { name = "s", run = function() all() return { requested = 1, done = 1, unit = "x" } end }'
} >"$out/scenario.lua"

for file in script scenario; do
  for seed in $(seq 30); do
    "$ACTORLUA" --seed "$seed" --scatter "$out/$file.lua" >"$out/printed" 2>&1 || {
      fail "$file.lua, seed $seed:"
      cat "$out/printed"
    }
    cat "$out/printed" >>"$out/$file"
  done
done

# Whether a line of that name has another vat than the first.
is_far() { grep "^$2 [0-9 ]*[1-9]" "$out/$1" >/dev/null; }
is_near() { ! is_far "$1" "$2" && grep "^$2 [0 ]*$" "$out/$1" >/dev/null; }

for what in function process; do
  is_far script $what || fail "no $what of a script is placed elsewhere"
done
for what in behavior global inner-global its-behavior metatable coroutine; do
  is_near script $what || fail "script: what needs its own vat ($what) is elsewhere"
done
for what in behavior function process global inner-global its-behavior; do
  is_far scenario $what || fail "no $what of a scenario is placed elsewhere"
done
for what in metatable coroutine; do
  is_near scenario $what || fail "scenario: what cannot be sent ($what) is elsewhere"
done

# Without --scatter a seed places nothing.
for seed in $(seq 10); do "$ACTORLUA" --seed "$seed" "$out/scenario.lua"; done >"$out/plain" 2>&1
is_near plain function || fail "a seed alone places actors elsewhere"

[ "$failed" -eq 0 ] || exit 1
echo "what can be elsewhere is"
