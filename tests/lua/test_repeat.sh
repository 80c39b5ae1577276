#!/bin/sh
# One seed gives one run, byte for byte, in each process, wherever the system puts things in memory; other
# seeds give other runs.
#
# SPDX-License-Identifier: MIT
set -eu

. "$SOURCE_DIR/tests/support/scratch.sh"

cat >"$out/run.lua" <<'END'
local actor = require "actor"

local function show(...) print(actor.stats().vat, ...) end

-- Keys of all kinds, put in and taken out; what is left, in the order of pairs.
local function keys(n)
  local t, all = {}, {}
  local function put(key) all[#all + 1] = key t[key] = #all end
  for i = 1, n do
    put("key " .. i)
    put({})
    put(function() return i end)
    put(i + 0.5)
    put(coroutine.create(print))
    put(io.tmpfile())
    put(i)
    for _ = 1, 3 do t[table.remove(all, math.random(#all))] = nil end
  end
  put(true)
  put(false)
  for _, library in pairs { string, math, table, coroutine, actor, utf8, os, io, debug } do
    for name, value in pairs(library) do put(name ~= "charpattern" and value or name) end
  end
  put(actor.self())
  put(actor.other)
  put(io.stdout)
  put((pairs {}))
  put((ipairs {}))
  put((utf8.codes ""))
  put(string.gmatch("", ""))
  put(load "return 1")
  for _ = 1, n do t[table.remove(all, math.random(#all))] = nil end
  return t
end

local function walk(t)
  local line = {}
  for key, value in pairs(t) do line[#line + 1] = tostring(key) .. "=" .. tostring(value) end
  show(table.concat(line, " "))
  show(#t, next(t))
  show(string.format("%p %s %-20s %p %p", t, t, print, string.rep("x", 50), 1))
end

local function times()
  show(os.time(), os.clock(), os.date("!%c"), os.date("!%H", 0), actor.now())
  show(os.time { year = 2021, month = 5, day = 6, hour = 7 } - os.time { year = 2021, month = 5, day = 6 })
  show(math.random(), math.random(100))
  math.randomseed()
  show(math.random(100))
end

-- Ties keep whatever order the sort gives them, large arrays that divide badly too.
local function sort()
  local t = {}
  for i = 1, 500 do t[i] = { i % 7, i } end
  table.sort(t, function(a, b) return a[1] < b[1] end)
  local line = {}
  for i, x in ipairs(t) do line[i] = x[2] end
  show(table.concat(line, " "))
  local organ = {}
  for i = 1, 3000 do organ[i] = i < 1500 and i or 3000 - i end
  local n = 0
  table.sort(organ, function(a, b) n = n + 1 return a < b end)
  show(n)
end

-- What the collector has left at a time, and in which order it finds objects.
local function collect()
  local weak, found = setmetatable({}, { __mode = "k" }), {}
  for i = 1, 2000 do
    local name = "object " .. i
    local object = setmetatable({}, { __gc = function(o) found[#found + 1] = name .. tostring(o) end })
    weak[object] = name .. string.rep("-", i % 50)
  end
  local n = 0
  for _ in pairs(weak) do n = n + 1 end
  show(n, collectgarbage "count")
  collectgarbage()
  actor.sleep(1)
  show(#found, found[1], found[#found], collectgarbage "count", next(weak))
end

local function errors()
  show(pcall(error, setmetatable({}, { __tostring = function(e) return rawlen(e) .. "!" end })))
  show(pcall(function() return {} .. {} end))
  show(select(2, xpcall(function() local t = nil return t.x end, debug.traceback)))
  show(pcall(table.sort, { 3, 2, 1, 4 }, function() return true end))
  actor.log("logged", {}, print, coroutine.running())
end

local function counts()
  local line = {}
  for name, n in pairs(actor.stats()) do line[#line + 1] = name .. " " .. tostring(n) end
  show(table.concat(line, " "))
end

local Server = actor.behavior("server", {
  receive = { [actor.other] = function(self, name, ...)
    self[name] = (self[name] or 0) + 1
    return name, self, select("#", ...)
  end, [actor.down] = print },
})
local server = actor.spawn(Server)

-- A vat of its own, which sends and asks others.
local function far(to, peers)
  local t = {}
  for i = 1, 100 do t["name " .. i] = i end
  for i = 1, 100, 3 do t["name " .. i] = nil end
  for name, i in pairs(t) do to:send(name, i, math.random(1000)) end
  for i, peer in ipairs(peers) do to:send("answer", i, peer:ask(os.time())) end
  print(actor.self(), t, math.random(), os.clock())
end

keys(20)
walk(keys(20))
times()
sort()
collect()
errors()
show(server:ask("x", 1))
show(server:ask "y")

local echo = {}
for vat = 1, 3 do
  echo[vat] = actor.spawn_on(vat, function(x) return x, tostring {}, math.random(1000) end)
end
local collector = actor.process(function()
  while true do
    local message = table.pack(actor.receive(500))
    show(table.unpack(message, 1, message.n))
    if message[2] == "timeout" then break end
    counts()
  end
end)
for vat = 0, 3 do actor.process_on(vat, far, collector, echo) end
for i = 1, 5 do
  actor.process(function()
    local sum = 0
    for j = 1, 2000 do sum = sum + j end
    actor.sleep(math.random(5))
    show("slept", i, sum, actor.self(), actor.now())
  end)
end
END

run() {
  "$ACTORLUA" --seed "$1" "$out/run.lua" >"$out/$2" 2>&1 || {
    fail "run.lua with seed $1:"
    tail -5 "$out/$2"
  }
}

for seed in 1 7; do
  run "$seed" "first.$seed"
  [ "$(wc -l <"$out/first.$seed")" -gt 250 ] || fail "seed $seed printed too little"
  i=1
  while [ "$i" -lt 20 ] && [ "$failed" -eq 0 ]; do
    i=$((i + 1))
    run "$seed" again
    cmp "$out/first.$seed" "$out/again" || {
      fail "seed $seed: run $i differs:"
      diff "$out/first.$seed" "$out/again" | cut -c 1-400 | head -10
    }
  done
done

# From elsewhere, under another name and environment.
mkdir "$out/there"
cp "$out/run.lua" "$out/there/run.lua"
(cd "$out/there" && A=b C=d "$ACTORLUA" --seed 7 "$out/run.lua" 2>&1) | cmp - "$out/first.7" ||
  fail "another folder and environment make a difference"

# Lua keeps long strings of C for a while, or not, depending on where they are: names of files, for example.
long="$out/a folder/with a name/of more than forty bytes"
mkdir -p "$long"
cat >"$long/run.lua" <<'END'
local function use()
  for _ in ipairs { "a", "b" } do
    utf8.char(#os.date() + 1)
  end
  return os.time(), io.type(io.stdout), tostring(print), pcall(error), string.format("%s %d", "x", 1)
end
for i = 1, 200 do
  load("return " .. ("1 + "):rep(30) .. "1")
  use()
  assert(#debug.getinfo(1, "S").short_src > 40)
  use()
  pcall(require, "there.is.no.module.of.this.name.anywhere")
  loadfile(arg[0])
  if i % 20 == 0 then print(collectgarbage "count", {}) end
end
END
i=0
while [ "$i" -lt 10 ]; do
  i=$((i + 1))
  "$ACTORLUA" --seed 1 "$long/run.lua" >"$out/long.$i" 2>&1 || fail "in a long folder run.lua fails"
  cmp "$out/long.1" "$out/long.$i" || fail "in a folder with a long name run $i differs"
done
[ "$(wc -l <"$out/long.1")" -eq 10 ] || fail "in a long folder run.lua printed too little"

# What other seeds change: the order of keys, and that of what arrives.
for seed in 2 3 4 5; do run "$seed" "other.$seed"; done
for what in '=' 'slept' 'name'; do
  cat /dev/null >"$out/kinds"
  for file in first.1 other.2 other.3 other.4 other.5; do
    grep -e "$what" "$out/$file" | sed 's/0x[0-9a-f]*//g; s/[0-9.]*$//' | cksum >>"$out/kinds"
  done
  [ "$(sort -u "$out/kinds" | wc -l)" -ge 4 ] || fail "five seeds make too little difference in '$what'"
done

[ "$failed" -eq 0 ] || exit 1
echo "two seeds repeat, $(wc -l <"$out/first.7") lines each"
