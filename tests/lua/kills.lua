-- A handler that waits when its actor is stopped or killed never goes on: what it holds is closed,
-- from the innermost coroutine out.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local log, silent, echo, listener   -- `silent` never answers by itself

local function note(...) log[#log + 1] = table.concat({ ... }, " ") end

test.before(function()
  log = {}
  silent, listener = test.probe(), test.probe()
  echo = actor.spawn(function(...) return ... end)
end)

local function wait() return actor.ask { silent.pid, "wait", timeout = math.huge } end

local function closing(name)
  return setmetatable({}, { __close = function(_, e)
    note("close", name, tostring(e))
    listener.pid:send(name)
    note((pcall(actor.ask, echo)) and "waited" or "no wait")
    note((pcall(actor.spawn, print)) and "spawned" or "no spawn")
  end })
end

local Waits = actor.behavior("waits", {
  stop = function(_, reason) note("hook", reason) end,
  receive = {
    plain = function() wait() note "went on" end,
    caught = function() pcall(wait) note "went on" end,
    closed = function()
      local outer <close> = closing "outer"
      pcall(function()
        local inner <close> = closing "inner"
        wait()
        note "went on"
      end)
      note "went on"
    end,
    nested = function()
      local a <close> = closing "a"
      coroutine.wrap(function()
        local b <close> = closing "b"
        for _ in coroutine.wrap(function()
          local c <close> = closing "c"
          pcall(wait)
          note "went on"
        end) do note "went on" end
        note "went on"
      end)()
      note "went on"
    end,
    failing = function()
      local f <close> = setmetatable({}, { __close = function() error("in close", 0) end })
      wait()
    end,
  },
})

-- An actor that waits in the handler of that message.
local function waiting(message)
  local a = actor.spawn(Waits)
  a:send(message)
  silent:expect("wait")
  return a
end

local function stop_now(a) a:stop { now = true } end

local function closed(...)
  local all = {}
  for _, name in ipairs { ... } do
    for _, what in ipairs { "close " .. name .. " nil", "no wait", "no spawn" } do all[#all + 1] = what end
  end
  return all
end

-- That it ends so, and has told the listener of each that was closed, and nothing after.
local function ends(message, how, wanted, ...)
  local a = waiting(message)
  how(a)
  test.eventually(function() return select(2, a:ask("plain")) == "no_actor" end)
  test.equal(log, wanted)
  for _, name in ipairs { ... } do listener:expect(name) end
  listener:expect_none()
end

test.describe("a handler that waits", function()
  test.it("ends with a kill", function() ends("plain", actor.kill, {}) end)
  test.it("ends with a stop ahead of the queue", function() ends("plain", stop_now, { "hook normal" }) end)
  test.it("ends inside pcall", function() ends("caught", actor.kill, {}) end)

  test.it("closes what it holds", function()
    ends("closed", actor.kill, closed("inner", "outer"), "inner", "outer")
  end)

  test.it("closes what its coroutines hold", function()
    local wanted = closed("c", "b", "a")
    wanted[#wanted + 1] = "hook normal"
    ends("nested", stop_now, wanted, "c", "b", "a")
  end)

  test.it("may fail to close it", function()
    test.expect_log "error in a __close: in close"
    ends("failing", actor.kill, {})
  end)

  test.it("ends with a stop in order that has nothing before it", function()
    ends("plain", actor.stop, { "hook normal" })
    silent:reply()
    test.advance(10)
    test.equal(log, { "hook normal" })
  end)

  test.it("goes on where a stop is behind another message", function()
    local a = waiting("plain")
    a:send("plain")
    a:stop()
    test.advance(10)
    test.equal(log, {})
    silent:reply()
    test.eventually(function() return select(2, a:ask("plain")) == "no_actor" end)
    test.equal(log, { "went on", "hook normal" })
  end)
end)
