#!/bin/sh
# With a seed, handlers that compute give way at drawn places, and go on correctly wherever that was; a
# stop waits for their end and a kill does not; the limit of steps ends a loop that has no end.
#
# SPDX-License-Identifier: MIT
set -eu

. "$SOURCE_DIR/tests/support/scratch.sh"

# --- Interrupted anywhere, and right ---

cat >"$out/sums.lua" <<'END'
local actor = require "actor"
local turns = {}

local function sum(id, n)
  local s = 0
  for i = 1, n do
    s = s + i
    turns[#turns + 1] = id
  end
  return s
end

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function allocate(n)
  local t = {}
  for i = 1, n do t[i] = { i, tostring(i) .. "!" } end
  local all = 0
  for i, entry in ipairs(t) do
    assert(entry[1] == i and entry[2] == i .. "!")
    all = all + entry[1]
  end
  return all
end

local function count_to(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end

-- Three coroutines deep.
local function nested(n)
  local outer = coroutine.wrap(function()
    for i in count_to(n) do
      local s = 0
      for j in count_to(3) do s = s + j end
      coroutine.yield(i * s)
    end
  end)
  local all = 0
  for x in outer do all = all + x end
  return all
end

local function caught(n)
  local calls = 0
  for i = 1, n do
    local ok, text = pcall(function()
      for j = 1, 10 do calls = calls + 1 end
      error("number " .. i, 0)
    end)
    assert(not ok and text == "number " .. i)
  end
  return calls
end

local Number = {}
Number.__index = Number
function Number.__add(a, b)
  local s = a.value
  for _ = 1, b.value do s = s + 1 end
  return setmetatable({ value = s }, Number)
end
function Number.__close(self)
  for _ = 1, 10 do self.closed = (self.closed or 0) + 1 end
end

local function methods(n)
  local all = setmetatable({ value = 0 }, Number)
  for i = 1, n do
    local one <close> = setmetatable({ value = i }, Number)
    all = all + one
  end
  return all.value
end

-- Where nothing can give way.
local function inside_c(n)
  local t = {}
  for i = 1, n do t[i] = i * 7919 % n end
  table.sort(t, function(a, b)
    local x, y = a, b
    return x > y
  end)
  for i = 2, n do assert(t[i - 1] >= t[i]) end
  local text = ("ab"):rep(n):gsub("b", function()
    local s = 0
    for i = 1, 5 do s = s + i end
    return s
  end)
  assert(text == ("a15"):rep(n))
  return #t
end

local function varargs(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...)) end
  return s, ...
end

local function work(id)
  assert(sum(id, 300) == 45150)
  assert(fib(12) == 144)
  assert(allocate(100) == 5050)
  assert(nested(20) == 210 * 6)
  assert(caught(20) == 200)
  assert(methods(20) == 210)
  assert(inside_c(50) == 50)
  assert(select("#", varargs(1, 2, 3)) == 4 and varargs(1, 2, 3) == 6)
  return "right"
end

local Worker = actor.behavior("worker", {
  init = function(self, id) self.first = work(id) end,
  stop = function(self) self.last = work(self.first) end,
  receive = { work = function(_, id) return work(id) end },
})
for id = 1, 3 do
  actor.process(function() assert(work(id) == "right") end)
  local worker = actor.spawn(Worker, id)
  actor.process(function()
    print(worker:ask("work", id))
    worker:stop()
  end)
end
actor.process(function()
  while actor.stats().alive > 2 do actor.sleep(1) end
  local switches = 0
  for i = 2, #turns do
    if turns[i] ~= turns[i - 1] then switches = switches + 1 end
  end
  -- In plain order each of the nine sums is made at once.
  print(switches > 8 and "interleaved" or "plain")
end)
END

interleaved=0
for seed in $(seq 40); do
  "$ACTORLUA" --seed "$seed" "$out/sums.lua" >"$out/printed" 2>&1 || {
    fail "sums.lua fails with seed $seed:"
    cat "$out/printed"
  }
  [ "$(grep -cx right "$out/printed")" = 3 ] || fail "seed $seed: not all answers are right"
  if grep -qx interleaved "$out/printed"; then interleaved=$((interleaved + 1)); fi
done
[ "$interleaved" -ge 10 ] || fail "only $interleaved of 40 seeds interleaved the sums"
[ "$interleaved" -lt 40 ] || fail "no seed left the sums in plain order"

# --- Stops and kills ---

cat >"$out/ends.lua" <<'END'
local actor = require "actor"
local how = ...
local N = 20000
local at, is_ended, is_closed, is_hooked = 0, false, false, false

local Victim = actor.behavior("victim", {
  stop = function() is_hooked = true end,
  receive = {
    count = function()
      local held <close> = setmetatable({}, { __close = function() is_closed = true end })
      local inner = coroutine.wrap(function() for i = 1, N do at = i end end)
      inner()
      is_ended = true
    end,
  },
})
local victim = actor.spawn(Victim)
victim:send "count"
while at == 0 do actor.sleep(0) end
local seen = at
if how == "kill" then victim:kill() end
if how == "now" then victim:stop { now = true } end
if how == "stop" then victim:stop() end
print(victim:ask "anything")
for _ = 1, 100 do actor.sleep(1) end -- the stop hook may be interrupted, too
print(seen < N and "interrupted" or "whole", is_ended and "ended" or "cut off",
      is_closed and "closed" or "open", is_hooked and "hooked" or "no hook")
END

# What an interrupted handler comes to.
check_ends() {
  n=0
  for seed in $(seq 40); do
    "$ACTORLUA" --seed "$seed" "$out/ends.lua" "$1" >"$out/printed" 2>&1 || fail "$1, seed $seed"
    sed -n 2p "$out/printed" >"$out/line"
    grep -q "^interrupted" "$out/line" || continue
    n=$((n + 1))
    printf 'interrupted\t%s\n' "$2" | diff - "$out/line" || fail "$1, seed $seed: < expected"
  done
  [ "$n" -ge 5 ] || fail "$1: only $n of 40 seeds interrupted the handler"
}
check_ends stop "ended	closed	hooked"
check_ends now "ended	closed	hooked"
check_ends kill "cut off	closed	no hook"

# --- Loops without an end ---

check_limit() {
  status=0
  "$ACTORLUA" --seed 3 --steps 5000 "$out/loop.lua" >"$out/printed" 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "$1: exit status $status"
  grep -q "$2" "$out/printed" || {
    fail "$1: no '$2' in:"
    cat "$out/printed"
  }
}
echo 'while true do end' >"$out/loop.lua"
check_limit "an endless loop" "loop.lua:1: the run's limit of steps is reached"
echo 'while true do pcall(function() while true do end end) end' >"$out/loop.lua"
check_limit "an endless loop that catches errors" "is not quiet after 5000 steps"
echo 'coroutine.wrap(function() while true do end end)()' >"$out/loop.lua"
check_limit "an endless coroutine" "loop.lua:1: the run's limit of steps is reached"
echo 'table.sort({ 2, 1 }, function() while true do end end)' >"$out/loop.lua"
check_limit "an endless order" "loop.lua:1: the run's limit of steps is reached"

# --- A script's own hook has precedence, and ends with the handler ---

cat >"$out/hook.lua" <<'END'
local actor = require "actor"
assert(debug.gethook() == nil)
local lines = 0
debug.sethook(function() lines = lines + 1 end, "l")
assert(select(2, debug.gethook()) == "l")
local x = 1
debug.sethook()
assert(debug.gethook() == nil and lines > 1)
while true do end
END
status=0
"$ACTORLUA" --seed 1 --steps 5000 "$out/hook.lua" >"$out/printed" 2>&1 || status=$?
grep -q "hook.lua:9: the run's limit of steps is reached" "$out/printed" || {
  fail "after debug.sethook() nothing interrupts"
  cat "$out/printed"
}

[ "$failed" -eq 0 ] || exit 1
echo "$interleaved of 40 seeds interleaved"
