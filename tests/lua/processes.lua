-- Processes: a body that takes its messages itself, near and far.
--
-- args: --vats 2
-- expect-status: 1
local actor = require "actor"
local echo = actor.spawn(function(...) return ... end)

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("^[^:]+:%d+: ", ""))
end
local function far(...) return actor.process_on(1, ...) end
local function settle(a) while a:ask("x") do end end

-- The values given, the messages in order, and the end
local function body(...)
  print(actor.stats().vat, select("#", ...), ...)
  while true do
    local word, x = actor.receive()
    if word == "end" then return "nobody's answer" end
    if word == "get" then actor.reply(x, actor.self()) end
    if word == "print" then print(x) end
  end
end
for _, make in ipairs { actor.process, far } do
  local p = make(body, 1, nil, "three", nil)
  print(actor.is_pid(p), select(2, p:ask("get", 5)) == p)
  p:send("print", "a")
  p:send("print", "b")
  print(p:ask("get", "c") == "c", p:ask("end"))
  print(p:ask("get"))
end
-- expect: 0	4	1	nil	three	nil
-- expect: true	true
-- expect: a
-- expect: b
-- expect: true	nil	unanswered
-- expect: nil	no_actor
-- expect: 1	4	1	nil	three	nil
-- expect: true	true
-- expect: a
-- expect: b
-- expect: true	nil	unanswered
-- expect: nil	no_actor

-- Tables and functions travel together; a near body shares its upvalues, a far one has copies.
local count, n_counted = 0, 0
local function counts(t, to)
  count = count + 1
  to:send("counted", t.n + #t[1], count)
end
local results = actor.process(function()
  for i = 1, 3 do
    print(actor.receive())
    n_counted = i
  end
end)
local function until_counted(n) while n_counted < n do actor.sleep(1) end end
actor.process(counts, { n = 1, { 1, 2 } }, results)
until_counted(1)
actor.process_on(0, counts, { n = 2, { 1, 2 } }, results)
until_counted(2)
far(counts, { n = 3, { 1, 2 } }, results)
until_counted(3)
print(count)
-- expect: counted	3	1
-- expect: counted	4	2
-- expect: counted	5	2
-- expect: 1

-- Receiving with a time: what is there, what comes in time, what does not.
local timed = actor.process(function()
  print("0", actor.receive(0))
  print(pcall(actor.receive, 5))
  local start = actor.now()
  local _, why = actor.receive(12.5)
  print(why, actor.now() - start >= 12.5, actor.sender())
  print("60000", actor.receive(60000))
  actor.receive()                              -- what `settle` asks
end)
actor.sleep(50)
timed:send("in time")
settle(timed)
-- expect: 0	nil	timeout
-- expect: true	nil	timeout
-- expect: timeout	true	nil
-- expect: 60000	in time

-- In coroutines and iterators, and as an iterator itself
local sum, words = 0, {}
local loops = actor.process(function()
  local messages = coroutine.wrap(function() while true do coroutine.yield(actor.receive()) end end)
  for n in messages do
    if n == 0 then break end
    sum = sum + n
  end
  for word, x in actor.receive do
    words[#words + 1] = word .. x
    if word == "end" then break end
  end
end)
for i = 10, 0, -1 do loops:send(i) end
loops:send("a", 1)
loops:send("end", 2)
settle(loops)
print(sum, table.concat(words, " "))           -- expect: 55	a1 end2

-- While it asks or sleeps its messages queue; then they come in the order sent.
local order = {}
local busy = actor.process(function()
  print(echo:ask("asked"))
  actor.sleep(5)
  for _, x in actor.receive do
    order[#order + 1] = x
    if x == 5 then break end
  end
end)
for i = 1, 5 do busy:send("n", i) end
settle(busy)
print(table.concat(order, " "))                -- expect: asked
                                               -- expect: 1 2 3 4 5

-- sender, reply, later
local me = actor.self()
local server = actor.process(function()
  local kept
  while true do
    local word = actor.receive()
    if word == "sender" then actor.reply(actor.sender() == me) end
    if word == "twice" then actor.reply(1) actor.reply(actor.reply(2)) end
    if word == "keep" then kept = actor.later() end
    if word == "give" then print(kept:reply("kept")) print(actor.reply("given")) end
    if word == "tell" then print(actor.reply("no ask")) end
    if word == "sleep" then actor.sleep(5) actor.reply("slept") end
    if word == "wrong" then print(message(actor.reply, print)) actor.reply("right") end
  end
end)
print(server:ask("sender"), server:ask("twice"))      -- expect: true	1
print(server:ask("nothing"))                   -- expect: nil	unanswered
actor.process(function() print(server:ask("keep")) end)
actor.sleep(5)
print(server:ask("give"))
-- expect: true
-- expect: true
-- expect: kept
-- expect: given
server:send("tell")                            -- expect: nil	invalid
print(server:ask("sleep"))                     -- expect: slept
print(server:ask("wrong"))                     -- expect: argument 1: a function cannot be sent
                                               -- expect: right
server:stop()
print(server:ask("sender"))                    -- expect: nil	stopped

-- A handler may reply early, too.
local early = actor.spawn(function(x)
  print(actor.reply(x), actor.reply(x))
  actor.sleep(1)
  return "late"
end)
print(early:ask("early"))
print(early:ask("again"))
-- expect: true	nil	expired
-- expect: early
-- expect: true	nil	expired
-- expect: again

-- What a process is not
local Plain = actor.behavior("plain", { receive = { go = function() return message(actor.receive, 1) end } })
print(actor.spawn(Plain):ask("go"))
-- expect: actor.receive: this actor is no process; actor.process makes one
print(message(actor.receive))
-- expect: actor.receive: this actor is no process; actor.process makes one
print(message(actor.process))                  -- expect: actor.process: a function expected, got nothing
print(message(actor.process, Plain))           -- expect: actor.process: a function expected, got a behavior
print(message(actor.process, print, 1, print)) -- expect: argument 2: a function cannot be sent
print(message(actor.process_on, 7, print))     -- expect: actor.process_on: there is no vat 7; 0 to 1 are always there
print(message(actor.process_on, "there", print))
-- expect: actor.process_on: a vat's number, "any" or "isolate" expected, got "there"
print(message(actor.process_on, 1))            -- expect: actor.process_on: a function expected, got nothing
local opened = io.tmpfile()
print(message(actor.process_on, 1, function() return opened end))
-- expect: upvalue "opened": a userdata cannot be sent
print(message(actor.process_on, 1, print, {}, print))   -- expect: argument 2: a function cannot be sent
actor.process(print, "a C function", 1)
actor.sleep(5)                                 -- expect: a C function	1
settle(actor.process(function()
  print(message(string.gsub, "x", "x", function() actor.receive(0) end))
end))
-- expect: actor.receive cannot wait here: inside a function called from C such as table.sort, string.gsub or require

-- Errors: with a traceback from where it was, and the open ask fails.
local function fails(word)
  if word == "fail" then error("in a process", 0) end
  fails(actor.receive())
end
print(actor.process(fails):ask("fail"), far(fails):ask("fail"))       -- expect: nil	nil	failed
settle(actor.process(function() error({}) end))
settle(actor.process(function() actor.sleep(1) error("after a sleep", 0) end))
settle(actor.process(function() return coroutine.wrap(function() actor.receive() error("inner", 0) end)() end))
-- expect-error: failed: in a process
-- expect-error: in upvalue 'fails'
-- expect-error: in function <processes.lua:
-- expect-error: (error object is a table value)
-- expect-error: after a sleep
-- expect-error: inner
settle(far(function() local t = {} t.x.y = 1 end))
-- expect-error: attempt to index a nil value (field 'x')

-- Stopped where it waits: what it holds is closed, from the innermost out, and no more of it runs.
local log = {}
local function note(text) log[#log + 1] = text end
local function closing(name)
  return setmetatable({}, { __close = function()
    note("close " .. name)
    note(message(actor.receive, 1))
    note(message(actor.process, print))
  end })
end
local function waiting(wait)
  local a <close> = closing "a"
  for _ = 1, 2 do
    pcall(function()
      local b <close> = closing "b"
      coroutine.wrap(function()
        local c <close> = closing "c"
        pcall(wait)
        note "never"
      end)()
    end)
    note "never"
  end
end
local ways = {
  receive = function() actor.receive() end,
  timed = function() actor.receive(60000) end,
  forever = function() actor.receive(math.huge) end,
  sleep = function() actor.sleep(60000) end,
  ask = function() actor.ask { actor.process(function() actor.receive() actor.sleep(math.huge) end), 1,
                               timeout = math.huge } end,
}
local hows = { function(p) p:stop() end, function(p) p:stop { now = true } end, function(p) p:kill() end }
local expected = "close c, receive, process, close b, receive, process, close a, receive, process"
for name, wait in pairs(ways) do
  for i, how in ipairs(hows) do
    log = {}
    local p = actor.process(function() waiting(wait) end)
    actor.sleep(5)
    how(p)
    settle(p)
    local seen = table.concat(log, ", ")
      :gsub("actor.receive cannot wait here: in a __close of a handler that has ended", "receive")
      :gsub("actor.process: not in a __close of a handler that has ended", "process")
    if seen ~= expected then print(name, i, seen) end
  end
end

-- In order: what was sent before is received; behind it nothing is.
local got = {}
local drains = actor.process(function()
  for x in actor.receive do
    got[#got + 1] = x
    actor.sleep(1)
  end
end)
for i = 1, 5 do drains:send(i) end
drains:stop()
drains:send("too late")
settle(drains)
print(table.concat(got, " "))                  -- expect: 1 2 3 4 5

-- exit: at the next wait, or the end. Children end with it.
local child
settle(actor.process(function()
  child = actor.process(function() actor.receive() end)
  actor.exit()
  note "after exit"
  actor.receive()
  note "never"
end))
print(log[#log], child:ask())                  -- expect: after exit	nil	no_actor

-- A process may make others, and give way in a loop of sends.
local heard = 0
local listener = actor.process(function() while actor.receive() do heard = heard + 1 end end)
local function tree(n)
  for _ = 1, n > 0 and 2 or 0 do actor.process(tree, n - 1) end
  listener:send(true)
  actor.receive()
end
local root = actor.process(tree, 5)
while heard < 63 do actor.sleep(1) end
root:stop()
for _ = 1, 3000 do listener:send(true) end
listener:send(false)
settle(listener)
print(heard)                                   -- expect: 3063

-- Very many: nothing is left of them.
local function make(n)
  local left = n
  local list = {}
  for i = 1, n do
    list[i] = actor.process(function(x)
      while actor.receive() ~= "end" do x = x + 1 end
      left = left - 1
    end, i)
  end
  for i = 1, n do list[i]:send("x") end
  for i = 1, n do list[i]:send("end") end
  while left > 0 do actor.sleep(1) end
end
make(1000)
collectgarbage()
local kb, alive = collectgarbage "count", actor.stats().alive
for _ = 1, 5 do make(1000) end
collectgarbage()
print(collectgarbage "count" - kb < 100, actor.stats().alive - alive)   -- expect: true	0

-- One that waits for ever does not keep the run going.
actor.process(function() actor.receive() end)
actor.process(function() actor.receive(math.huge) end)
