-- An error ends its actor, with the value's text and a traceback, and nobody else.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function echo(...) return ... end

-- That who asks an actor of the function gets no answer, and why.
local function fails(f, ...)
  test.equal({ actor.spawn(f):ask(...) }, { nil, "failed" })
end

local Object = setmetatable({}, { __tostring = function() return "an object with a text" end })
local Broken = setmetatable({}, { __tostring = function() error("in __tostring") end })
local NoText = setmetatable({}, { __tostring = function() return {} end })

test.describe("an error value", function()
  local values = {
    { "a string", "a string", "failed: a string" },
    { "a string of many lines", "one\ntwo", "failed: one\ntwo" },
    { "nil", nil, "(error object is a nil value)" },
    { "a number", 42, ": 42" },
    { "a boolean", true, "(error object is a boolean value)" },
    { "a table", {}, "(error object is a table value)" },
    { "an object", Object, "an object with a text" },
    { "an object whose __tostring fails", Broken, "(error object is a table value), and its __tostring failed" },
    { "an object whose __tostring gives no text", NoText, "(error object is a table value)" },
    { "a file", io.stdout, "failed: file (" },
    { "a function", print, "(error object is a function value)" },
    { "a coroutine", coroutine.create(print), "(error object is a thread value)" },
  }
  for _, case in ipairs(values) do
    local name, value, text = case[1], case[2], case[3]
    test.it("may be " .. name, function()
      test.expect_failure(text)
      fails(function() error(value, 0) end)
      test.equal(actor.spawn(echo):ask("still here"), "still here")
    end)
  end

  test.it("may be a pid", function()
    test.expect_failure "pid<0%."
    local me = actor.self()
    fails(function() error(me, 0) end)
  end)
end)

test.describe("its report", function()
  test.it("has the place and a traceback", function()
    local line = debug.getinfo(1, "l").currentline
    fails(function()
      local function inner() local t = nil; return t.field end
      inner()
    end)
    for _, text in ipairs {
      "errors.lua:%d: attempt to index a nil value (local 't')", "in local 'inner'",
      "in function <errors.lua:%d>",
    } do
      local n = text:find "function" and line + 1 or line + 2
      test.expect_failure(text:format(n))
    end
  end)

  test.it("comes after a deep recursion", function()
    -- A traceback of 200,000 calls takes its time, and no seed changes it.
    if (test.seed or 1) > 1 then return end
    test.expect_failure "stack overflow"
    test.expect_failure "C stack overflow"
    fails(function() local function r() return 1 + r() end r() end)
    fails(function()
      local function r() return string.gsub("x", "x", r) end
      r()
    end)
    fails(function()
      local t = setmetatable({}, {})
      getmetatable(t).__index = function(_, k) return t[k + 1] end
      return t[1]
    end)
  end)

  test.it("comes after an error in the handling of an error", function()
    test.expect_failure ""
    fails(function()
      local function handler() error("again") end
      error((select(2, xpcall(error, handler, "x"))))
    end)
  end)

  test.it("comes after a wait, out of a coroutine, and for what pcall caught", function()
    local pid = actor.spawn(echo)
    test.expect_failure "after a wait"
    fails(function() pid:ask() error("after a wait") end)
    test.expect_failure "in a coroutine"
    fails(function() coroutine.wrap(function() pid:ask() error("in a coroutine") end)() end)
    test.expect_failure "caught and raised"
    fails(function()
      local _, e = pcall(function() pid:ask() error("caught and raised") end)
      error(e, 0)
    end)
  end)
end)

test.describe("a variable to be closed", function()
  test.it("is closed, may send, and may not wait or spawn", function()
    local pid, probe = actor.spawn(echo), test.probe()
    local asked, spawned
    local closing = setmetatable({}, { __close = function(_, e)
      probe.pid:send("closed", tostring(e))
      asked, spawned = select(2, pcall(actor.ask, pid)), select(2, pcall(actor.spawn, print))
    end })
    test.expect_failure "unclosed"
    fails(function()
      local c <close> = closing
      error("unclosed", 0)
    end)
    probe:expect("closed", "unclosed")
    test.equal(asked, "actor.ask cannot wait here: in a __close of a handler that has ended")
    test.equal(spawned, "actor.spawn: not in a __close of a handler that has ended")
  end)

  test.it("may fail, too", function()
    test.expect_failure "first"
    test.expect_log "error in a __close: second"
    fails(function()
      local c <close> = setmetatable({}, { __close = function() error("second", 0) end })
      error("first", 0)
    end)
  end)
end)

test.it("is what an answer that cannot be sent comes to", function()
  test.expect_failure "result 2: a function cannot be sent"
  fails(function() return 1, print end)
end)

local Init = actor.behavior("init", {
  init = function(self, how) if how then error(how, 0) end self.ok = true end,
  stop = function() actor.log("never after a failed init") error("not called") end,
  receive = { ok = function(self) return self.ok end },
})

test.it("in init ends the actor before it began, without the stop hook", function()
  test.expect_failure "failed in init: init failed here"
  -- It may have ended before the ask was sent.
  local function failed(why) return why == "init" or why == "no_actor" end
  test.equal({ actor.spawn(Init, "init failed here"):ask("ok") }, { nil, failed })
  for vat = 0, 1 do
    test.expect_failure("failed in init: init failed in " .. vat)
    test.equal({ actor.spawn_on(vat, Init, "init failed in " .. vat):ask("ok") }, { nil, failed })
  end
end)

local Stop = actor.behavior("stop", {
  init = function(self, to) self.to = to end,
  stop = function(self, reason)
    self.to:send("stop", (reason:match "^[^\n]*"))
    error("stop failed", 0)
  end,
  receive = { fail = function() error("receive failed", 0) end },
})

test.it("may be one of the stop hook", function()
  test.expect_failure "stop failed"
  test.expect_failure "receive failed"
  local probe = test.probe()
  local a = actor.spawn(Stop, probe.pid)
  a:stop()
  local _, why = a:ask()
  test.ok(why == "stopped" or why == "no_actor", why)
  probe:expect("stop", "normal")
  a = actor.spawn(Stop, probe.pid)
  test.equal({ a:ask("fail") }, { nil, "failed" })
  probe:expect("stop", "receive failed")
end)
