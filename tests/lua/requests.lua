-- actor.later: an ask answered later, once.
local actor = require "actor"

local kept = {}
local Server = actor.behavior("server", {
  receive = {
    keep = function() kept[#kept + 1] = actor.later() return "not this" end,
    reply = function(_, i, ...) return kept[i]:reply(...) end,
    fail = function(_, i, why) return kept[i]:fail(why) end,
    drop = function(_, i) kept[i] = nil collectgarbage() collectgarbage() end,
    twice = function() local r = actor.later() r:reply(1) return r:reply(2) end,
    both = function() local r, again = actor.later(), actor.later() again:reply("no") r:reply("yes") end,
    forget = function() actor.later() collectgarbage() end,
    exit = function() actor.exit("bye") end,
  },
})
local server = actor.spawn(Server)
local results = {}
local Client = actor.behavior("client", {
  receive = {
    go = function(_, name)
      local answer = server:ask("keep")
      results[#results + 1] = name .. " " .. answer
    end,
  },
})
local function client(name)
  local c = actor.spawn(Client)
  c:send("go", name)
end
local function settle() server:ask("nothing there") server:ask("nothing there") end
-- expect-error: has no handler for "nothing there"

client("a")
client("b")
settle()
print(#kept)                                       -- expect: 2
print(tostring(kept[1]))                           -- expect: request<owed>
print(server:ask("reply", 2, "second"))            -- expect: true
print(server:ask("reply", 1, "first"))             -- expect: true
settle()
table.sort(results)
print(#results, results[1]:sub(3), results[2]:sub(3))   -- expect: 2	first	second
print(server:ask("reply", 1, "again"))             -- expect: nil	expired
print(server:ask("fail", 1))                       -- expect: nil	expired
print(tostring(kept[1]))                           -- expect: request<answered>
print(server:ask("twice"))                         -- expect: 1
print(server:ask("both"))                          -- expect: yes

-- Values, errors
local function other(f, ...)
  local asker = actor.spawn(function() return server:ask("keep") end)
  local result
  local waits = actor.spawn(function() result = table.pack(asker:ask()) end)
  waits:send()
  settle()
  print(server:ask(f, #kept, ...))
  settle()
  print(table.unpack(result, 1, result.n))
end
other("reply", 1, nil, 2, nil)
-- expect: true
-- expect: 1	nil	2	nil
other("fail", "my own words")
-- expect: true
-- expect: nil	failed
other("fail", "timeout")
-- expect: true
-- expect: nil	timeout
other("fail")
-- expect: true
-- expect: nil	failed

-- Only its own actor may use it.
print(pcall(kept[1].reply, kept[1]))
-- expect: false	only the actor that took a request can answer it
print(pcall(kept[1].reply, 1))                     -- expect: false	a request expected, got a number
print(getmetatable(kept[1]))                       -- expect: false

-- A request that is dropped fails its ask at once.
print(server:ask("forget"))                        -- expect: nil	unanswered
local n = #kept
local asker = actor.spawn(function() return server:ask("keep") end)
local why
actor.spawn(function() why = select(2, asker:ask()) end):send()
settle()
server:ask("drop", n + 1)
settle()
print(why)                                         -- expect: unanswered

-- A tell has nobody who waits.
local r
actor.spawn(function() r = actor.later() print(r:reply(1)) end):send()
settle()                                           -- expect: nil	expired

-- What is kept when its actor ends is failed.
asker = actor.spawn(function() return server:ask("keep") end)
local waits = actor.spawn(function() print(asker:ask()) end)
waits:send()
settle()
server:send("exit")
settle()
actor.spawn(function() end):ask()
-- expect: nil	stopped
