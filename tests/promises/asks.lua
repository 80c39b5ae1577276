-- Asks: one answer each, or one reason; and never two, or none.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end
local places = { 0, 1, 2, "isolate" }

-- Answers in all the ways there are, and counts what it is asked.
local Server = actor.behavior("asks.server", {
  init = function(self) self.n, self.kept = 0, {} end,
  receive = {
    echo = function(self, ...)
      self.n = self.n + 1
      return ...
    end,
    slow = function(self, ms, x)
      self.n = self.n + 1
      actor.sleep(ms)
      return x
    end,
    early = function(_, x)
      actor.reply(x)
      actor.sleep(5)
      return "not this"
    end,
    keep = function(self, x) table.insert(self.kept, { request = actor.later(), x = x }) end,
    keep_for = function(self, ms, x)
      table.insert(self.kept, { request = actor.later(), x = x })
      actor.after(ms, "answer")
    end,
    -- The last first.
    answer = function(self)
      for i = #self.kept, 1, -1 do self.kept[i].request:reply(self.kept[i].x) end
      self.kept = {}
    end,
    twice = function(self, x)
      local request = actor.later()
      request:reply(x)
      local ok, why = request:reply("again")
      self.second = { ok == nil, why }
    end,
    second = function(self) return self.second[1], self.second[2] end,
    drop = function() actor.later() end,
    collect = function() collectgarbage() collectgarbage() end,
    refuse = function() actor.later():fail("full") end,
    break_down = function() error("broken", 0) end,
    n = function(self) return self.n end,
  },
})

local function each_place(name, f)
  for _, where in ipairs(places) do
    test.it(("%s (in %s)"):format(name, where), function() f(actor.spawn_on(where, Server), where) end)
  end
end

-- Asks so often, and answers with how often the answer was its own.
local function client(server, name, n)
  actor.receive()
  local request, right = actor.later(), 0
  for i = 1, n do
    local word = i % 3 == 0 and "keep_for" or i % 3 == 1 and "slow" or "echo"
    local found
    if word == "echo" then
      found = table.pack(ask(server, word, name, i))
    else
      found = table.pack(name, ask(server, word, i % 4, i))
    end
    if found.n == 2 and found[1] == name and found[2] == i then right = right + 1 end
  end
  request:reply(right)
end

each_place("each gets its own answer", function(server)
  local clients = {}
  for i = 1, 4 do clients[i] = actor.process_on(i % 3, client, server, "client " .. i, 12) end
  for _, c in ipairs(clients) do test.equal(ask(c, "go"), 12) end
end)

each_place("answers may come in another order than the asks", function(server)
  local probe = test.probe()
  for i = 1, 3 do
    actor.process(function() probe.pid:send("answered", i, ask(server, "keep", i * i)) end)
  end
  test.advance(50)
  probe:expect_none(50)
  server:send("answer")
  local sum = 0
  for _ = 1, 3 do
    local _, i, x = probe:expect("answered", test.any, test.any)
    test.equal(x, i * i)
    sum = sum + i
  end
  test.equal(sum, 6)
  probe:expect_none()
end)

each_place("the first answer counts", function(server)
  test.equal(ask(server, "early", 7), 7)
  test.equal(ask(server, "echo", 8), 8)
  test.equal(ask(server, "twice", 9), 9)
  test.equal({ ask(server, "second") }, { true, "expired" })
end)

each_place("a time-out comes at its time, and the late answer is dropped", function(server)
  local late = actor.stats().late_replies
  local before = actor.now()
  test.equal({ actor.ask { server, "slow", 300, "late", timeout = 100 } }, { [2] = "timeout" })
  local took = actor.now() - before
  test.ok(took >= 100, "too early")
  if test.seed then test.ok(took < 200, "too late") end
  -- The next answer is its own.
  test.equal({ ask(server, "echo", "mine") }, { "mine" })
  test.eventually(function() return actor.stats().late_replies - late == 1 end)
end)

each_place("what nobody waits for any more is not handled", function(server)
  server:send("slow", 300)
  test.equal({ actor.ask { server, "echo", 1, timeout = 50 } }, { [2] = "timeout" })
  test.equal(ask(server, "n"), 1)
end)

each_place("a request that is forgotten fails its ask", function(server)
  local probe = test.probe()
  actor.process(function() probe.pid:send("answered", ask(server, "drop")) end)
  test.advance(20)
  server:send("collect")
  server:send("collect")
  probe:expect("answered", nil, "unanswered")
end)

each_place("a request that is kept fails when its actor ends", function(server)
  local probe = test.probe()
  for _ = 1, 3 do actor.process(function() probe.pid:send("answered", ask(server, "keep", 1)) end) end
  test.advance(50)
  server:stop()
  for _ = 1, 3 do probe:expect("answered", nil, "stopped") end
  probe:expect_none()
end)

each_place("an ask ends with what it asks, whatever becomes of that", function(server, where)
  test.expect_failure "broken"
  test.equal({ ask(server, "refuse") }, { [2] = "full" })
  test.equal({ ask(server, "no such name") }, { [2] = "unhandled" })
  test.equal({ ask(server, "break_down") }, { [2] = "failed" })
  local _, why = ask(server, "echo")
  test.ok(why == "no_actor" or why == "failed" or why == "stopped", why)
  local other = actor.spawn_on(where, Server)
  other:stop()
  _, why = ask(other, "echo")
  test.ok(why == "no_actor" or why == "stopped", why)
end)

test.it("asking oneself fails at once", function()
  local before = actor.now()
  test.equal({ actor.ask { actor.self(), timeout = 3000 } }, { [2] = "self" })
  test.ok(actor.now() - before < 1000)
end)

-- While it waits for an answer an actor handles nothing else.
local Asker = actor.behavior("asks.asker", {
  init = function(self, server) self.server, self.handled = server, {} end,
  receive = {
    ask = function(self)
      self.asks = true
      local x = ask(self.server, "slow", 20, 1)
      self.asks = false
      return x
    end,
    note = function(self, i) table.insert(self.handled, self.asks and "within" or i) end,
    handled = function(self) return self.handled end,
  },
})

each_place("while an actor waits it handles nothing else", function(server)
  local asker = actor.spawn_on(1, Asker, server)
  asker:send("ask")
  for i = 1, 4 do
    asker:send("note", i)
    actor.sleep(7)
  end
  test.equal(ask(asker, "handled"), { 1, 2, 3, 4 })
end)

test.it("an asker that is stopped gets no answer, and nobody else does", function()
  for _, where in ipairs(places) do
    local server, probe = actor.spawn_on(where, Server), test.probe()
    local asker = actor.process_on(1, function(s, to)
      actor.ask { s, "slow", 100, "answer", timeout = math.huge }
      to:send("went on")
    end, server, probe.pid)
    test.advance(20)
    asker:stop { now = true }
    test.equal(ask(server, "echo", 5), 5)
    probe:expect_none(150)
  end
end)
