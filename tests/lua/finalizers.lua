-- Finalizers run between deliveries: they may send, and cannot wait or be anybody.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local echo
test.before(function() echo = actor.spawn(function(...) return ... end) end)

-- Between two deliveries of this vat what the collector has found is finalized.
local function collect()
  collectgarbage()
  echo:ask()
  echo:ask()
end

local function error_of(f, ...)
  return (select(2, pcall(f, ...)):gsub("^.*:%d+: ", ""))
end

test.it("runs when its object is gone, not where the collector runs", function()
  local notes, probe = {}, test.probe()
  do
    local Meta = { __gc = function(o)
      notes[#notes + 1] = o.name
      probe.pid:send(o.name)
      notes[#notes + 1] = error_of(actor.ask, echo)
      notes[#notes + 1] = error_of(actor.self)
      notes[#notes + 1] = error_of(actor.spawn, print)
    end }
    (function() setmetatable({ name = "one" }, Meta) end)()
  end
  collectgarbage()
  -- A seed may let the handler give way behind the collector.
  if not test.seed then test.equal(notes, {}) end
  collect()
  test.equal(notes, {
    "one",
    "actor.ask cannot wait here: no actor is running",
    "actor.self: no actor is running",
    "actor.spawn: no actor is running",
  })
  probe:expect("one")
  test.equal(probe.sender, nil, "what a finalizer sends comes from nobody")
  probe:expect_none()
end)

test.it("runs once for each object, which is whole until then", function()
  local order = {}
  local Order = { __gc = function(o) order[#order + 1] = o.n + o.link.n end }
  (function() for i = 1, 3 do setmetatable({ n = i, link = { n = 10 * i } }, Order) end end)()
  collect()
  test.equal(order, { 33, 22, 11 }, "in the collector's order")
  collect()
  test.equal(#order, 3)
end)

test.it("may keep its object, once", function()
  local saved, times = nil, 0
  local Again = { __gc = function(o) saved = o times = times + 1 end }
  (function() setmetatable({ "x" }, Again) end)()
  collect()
  test.equal({ times, saved }, { 1, { "x" } })
  saved = nil
  collect()
  test.equal(times, 1)
end)

test.it("may fail, which is a warning", function()
  test.expect_log "error in a finalizer: in gc"
  test.expect_log "error in a finalizer: (error object is a table value)"
  local function make()
    setmetatable({}, { __gc = function() error("in gc", 0) end })
    setmetatable({}, { __gc = function() error({}) end })
  end
  make()
  collect()
end)

test.it("may use coroutines", function()
  local yieldable
  (function()
    setmetatable({}, { __gc = function()
      coroutine.wrap(function() yieldable = coroutine.isyieldable() end)()
    end })
  end)()
  collect()
  test.equal(yieldable, true)
end)

test.it("runs for very many", function()
  local n, made = 0, test.seed and 1000 or 10000
  local Count = { __gc = function() n = n + 1 end }
  (function() for _ = 1, made do setmetatable({}, Count) end end)()
  collect()
  test.equal(n, made)
end)

test.it("may be set by debug.setmetatable", function()
  local ran = 0
  (function()
    local t = setmetatable({}, {})
    debug.setmetatable(t, { __gc = function() ran = ran + 1 end })
  end)()
  collect()
  test.equal(ran, 1)
end)

test.it("leaves setmetatable as Lua's in all else", function()
  test.equal({ pcall(setmetatable, 1, {}) },
             { false, "bad argument #1 to 'setmetatable' (table expected, got number)" })
  test.equal({ pcall(setmetatable, {}, 1) },
             { false, "bad argument #2 to 'setmetatable' (nil or table expected, got number)" })
  test.equal({ pcall(setmetatable, {}) },
             { false, "bad argument #2 to 'setmetatable' (nil or table expected, got no value)" })
  local P = setmetatable({}, { __metatable = "locked" })
  test.equal({ pcall(setmetatable, P, nil) }, { false, "cannot change a protected metatable" })
  test.equal(getmetatable(P), "locked")
  local M, t = {}, {}
  test.ok(rawequal(setmetatable(t, M), t) and rawequal(getmetatable(t), M))
  test.ok(rawequal(setmetatable(t, nil), t))
  test.equal(getmetatable(t), nil)
end)

test.it("leaves the collector's own switch but for its generations", function()
  test.equal({ pcall(collectgarbage, "generational") },
             { false, "collectgarbage: the generational mode is not available here" })
  test.equal(collectgarbage("incremental"), "incremental")
  test.equal(type(collectgarbage("count")), "number")
  test.ok(collectgarbage("step") ~= nil)
  test.equal({ pcall(collectgarbage, "nonsense") },
             { false, "bad argument #1 to 'collectgarbage' (invalid option 'nonsense')" })
end)

test.it("loses nothing that is found while the list of them is made anew", function()
  local ran = 0
  local function new(f)
    setmetatable({}, { __gc = function() ran = ran + 1 if f then f() end end })
  end
  local w = actor.spawn(function(n)
    for i = 1, n do
      new(i == 1 and function()                -- finalized last
        for _ = 1, 10 do new() end
        collectgarbage("incremental", 100, 1000, 30)
        collectgarbage("restart")              -- the next allocation makes a step
      end)
    end
    collectgarbage()
  end)
  w:ask(300)
  for _ = 1, 3 do w:ask(0) collectgarbage() w:ask(0) end
  collectgarbage("incremental", 200, 100, 13)
  test.equal(ran, 310)
end)

test.it("runs at the end for what is still alive", function()
  local sink = actor.spawn(function() end)
  test.expect_log "last: actor.send: the engine is being closed"
  Last = setmetatable({}, { __gc = function()
    actor.log("last:", select(2, pcall(actor.send, sink, 1)))
  end })
end)
