-- Stops: in order, ahead of the queue, or at once; children before parents; what is left is accounted for.
--
-- ctest: timeout 300
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local test = require "actor.test"

local function ask(...) return actor.ask { timeout = math.huge, ... } end

-- Keeps what it is told, in the order in which it is told.
local Log = actor.behavior("stops.log", {
  init = function(self) self.lines = {} end,
  receive = {
    note = function(self, line)
      table.insert(self.lines, line)
      return true
    end,
    lines = function(self) return self.lines end,
  },
})

-- Tells the log of its messages and of its end. At the end it waits for the log, so that what others do
-- afterwards is noted afterwards.
local Worker = actor.behavior("stops.worker", {
  init = function(self, log, name) self.log, self.name = log, name end,
  stop = function(self, reason) ask(self.log, "note", ("%s stopped: %s"):format(self.name, reason)) end,
  receive = {
    work = function(self, i) self.log:send("note", ("%s %d"):format(self.name, i)) end,
    nap = function(self, ms)
      actor.sleep(ms)
      self.log:send("note", self.name .. " awake")
    end,
    hold = function(self, ms)
      pcall(actor.sleep, ms)
      self.log:send("note", self.name .. " goes on")
    end,
    leave = function(self)
      actor.exit("has left")
      ask(self.log, "lines")
      self.log:send("note", "after exit")
    end,
    ping = function() return "pong" end,
  },
})

-- Makes children and asks them whether they live.
local Parent = actor.behavior("stops.parent", {
  init = function(self, log, name, places)
    self.log, self.name = log, name
    for i, where in ipairs(places) do
      ask(actor.spawn_on(where, Worker, log, ("%s.%d"):format(name, i)), "ping")
    end
  end,
  stop = function(self) ask(self.log, "note", self.name .. " stopped") end,
  receive = { ping = function() return "pong" end },
})

local places = { 0, 1, "isolate" }

-- So long that what must not come would have come.
local LONG = test.seed and 3000 or 100

local function each_place(name, f)
  for _, where in ipairs(places) do
    test.it(("%s (in %s)"):format(name, where), function()
      local log = actor.spawn(Log)
      f(log, actor.spawn_on(where, Worker, log, "w"), where)
    end)
  end
end

-- What the log has in the end.
local function expect(log, wanted)
  test.eventually(function() return #log:ask("lines") >= #wanted end)
  test.advance(LONG)
  test.equal(log:ask("lines"), wanted)
end

each_place("a stop comes after what its sender sent before", function(log, worker)
  for i = 1, 5 do worker:send("work", i) end
  worker:stop()
  expect(log, { "w 1", "w 2", "w 3", "w 4", "w 5", "w stopped: normal" })
end)

each_place("what is sent after a stop is a dead letter", function(log, worker)
  worker:send("work", 1)
  worker:stop()
  worker:send("work", 2)
  local answer, why = worker:ask("ping")
  test.ok(not answer and (why == "stopped" or why == "no_actor"), why)
  expect(log, { "w 1", "w stopped: normal" })
end)

each_place("stop with now goes ahead of the queue, and the wait never ends", function(log, worker)
  worker:send("nap", 10 * LONG)
  for i = 1, 3 do worker:send("work", i) end
  actor.sleep(20)
  worker:stop { now = true }
  expect(log, { "w stopped: normal" })
end)

each_place("an ordinary stop waits for the queue, of a handler that waits too", function(log, worker)
  worker:send("nap", 100)
  worker:send("work", 1)
  actor.sleep(20)
  worker:stop()
  expect(log, { "w awake", "w 1", "w stopped: normal" })
end)

each_place("the code after a wait does not run, also behind pcall", function(log, worker)
  worker:send("hold", 10 * LONG)
  actor.sleep(20)
  worker:stop { now = true }
  expect(log, { "w stopped: normal" })
end)

each_place("a kill skips the stop hook and the queue", function(log, worker)
  worker:send("nap", 10 * LONG)
  for i = 1, 3 do worker:send("work", i) end
  actor.sleep(20)
  worker:kill()
  expect(log, {})
end)

each_place("an exit takes effect where the handler waits", function(log, worker)
  worker:send("leave")
  worker:send("work", 1)
  expect(log, { "w stopped: has left" })
end)

each_place("stopping what has ended is no error, however often", function(log, worker)
  for _ = 1, 3 do test.equal(worker:stop(), true) end
  test.equal(worker:kill(), true)
  test.equal(worker:stop { now = true }, true)
  test.advance(LONG)
  test.ok(#log:ask("lines") <= 1)
end)

each_place("an actor that ends ends once", function(log, worker)
  test.equal(ask(worker, "ping"), "pong")
  for i = 1, 3 do
    actor.process_on(i % 3, function(w, how)
      if how == 1 then w:stop() elseif how == 2 then w:stop { now = true } else w:send("leave") end
    end, worker, i)
  end
  test.eventually(function() return #log:ask("lines") > 0 end)
  test.advance(LONG)
  test.equal(#log:ask("lines"), 1)
end)

for _, where in ipairs(places) do
  for _, children in ipairs { { 0, 0, 0 }, { 0, 1, 2 }, { "isolate", 0, "any" } } do
    local name = ("children stop, the last born first, before the hook (parent in %s, children in %s)")
      :format(where, table.concat(children, " "))
    test.it(name, function()
      local log = actor.spawn(Log)
      local parent = actor.spawn_on(where, Parent, log, "p", children)
      test.equal(ask(parent, "ping"), "pong")
      parent:stop()
      expect(log,
        { "p.3 stopped: normal", "p.2 stopped: normal", "p.1 stopped: normal", "p stopped" })
    end)
  end
end

-- The parent's stop ends the asking child at the latest; its ask has failed before.
local Asker = actor.behavior("stops.asker", {
  init = function(self, log) self.log = log end,
  stop = function(self)
    local before = actor.now()
    local answer, why = actor.ask { self.parent, "ping", timeout = 3000 }
    ask(self.log, "note", ("%s %s %d"):format(answer, why, (actor.now() - before) // 1000))
  end,
  receive = { parent = function(self, pid) self.parent = pid return true end },
})
local Asked = actor.behavior("stops.asked", {
  init = function(_, log, where) ask(actor.spawn_on(where, Asker, log), "parent", actor.self()) end,
  receive = { ping = function() return "pong" end },
})

for _, where in ipairs(places) do
  test.it(("a child's ask to its stopping parent fails at once (child in %s)"):format(where), function()
    local log = actor.spawn(Log)
    local parent = actor.spawn_on(1, Asked, log, where)
    test.equal(ask(parent, "ping"), "pong")
    parent:stop()
    expect(log, { "nil stopped 0" })
  end)
end

-- A tree over several vats; each node tells the log when it ends, having waited for it.
local Node
Node = actor.behavior("stops.node", {
  init = function(self, log, name, depth)
    self.log, self.name = log, name
    for i = 1, depth > 0 and 2 or 0 do
      ask(actor.spawn_on((#name + i) % 3, Node, log, name .. i, depth - 1), "ping")
    end
  end,
  stop = function(self) ask(self.log, "note", self.name) end,
  receive = { ping = function() return "pong" end },
})

test.it("a tree stops from its leaves up, the last born branch first", function()
  local log = actor.spawn(Log)
  local root = actor.spawn_on(2, Node, log, "r", 3)
  test.equal(ask(root, "ping"), "pong")
  root:stop()
  expect(log, { "r222", "r221", "r22", "r212", "r211", "r21", "r2", "r122", "r121", "r12", "r112", "r111",
    "r11", "r1", "r" })
end)

-- Waits inside a coroutine inside a pcall, with something to close on each level.
local Nested = actor.behavior("stops.nested", {
  init = function(self, probe) self.probe = probe end,
  stop = function(self) self.probe:send("hook") end,
  receive = {
    wait = function(self)
      local function closing(name)
        return setmetatable({}, { __close = function() self.probe:send("closed", name) end })
      end
      local outer <close> = closing("outer")
      pcall(coroutine.wrap(function()
        local middle <close> = closing("middle")
        pcall(function()
          local inner <close> = closing("inner")
          actor.sleep(LONG)
          self.probe:send("went on", inner)
        end)
        self.probe:send("went on", middle)
      end))
      self.probe:send("went on", outer)
    end,
    ping = function() return "pong" end,
  },
})

for _, how in ipairs { "stop", "kill" } do
  for _, where in ipairs(places) do
    test.it(("a %s closes what a wait left open, from the innermost out (in %s)"):format(how, where),
      function()
        local probe = test.probe()
        local nested = actor.spawn_on(where, Nested, probe.pid)
        nested:send("wait")
        actor.sleep(20)
        if how == "kill" then nested:kill() else nested:stop { now = true } end
        probe:expect("closed", "inner")
        probe:expect("closed", "middle")
        probe:expect("closed", "outer")
        if how == "stop" then probe:expect("hook") end
        probe:expect_none(LONG)
      end)
  end
end

test.it("killing a parent kills its children, without a hook of theirs", function()
  for _, where in ipairs(places) do
    local log = actor.spawn(Log)
    local parent = actor.spawn_on(where, Parent, log, "p", { 0, 1, "isolate" })
    test.equal(ask(parent, "ping"), "pong")
    parent:kill()
      expect(log, {})
  end
end)
