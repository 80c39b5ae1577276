-- A handler may wait wherever no C function stands in between: inside the script's own coroutines,
-- iterators, pcall, metamethods. Where it cannot wait it says so, before it sends.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local asked, echo, far

test.before(function()
  asked = 0
  echo = actor.spawn(function(...) asked = asked + 1 return ... end)
  far = actor.spawn_on(1, function(...) return ... end)
end)

local function message(f, ...)
  local ok, text = pcall(f, ...)
  return ok and "no error" or (tostring(text):gsub("waits.lua:%d+: ", ""))
end

test.describe("a wait", function()
  test.it("may stand inside pcall and xpcall", function()
    test.equal({ pcall(function() return echo:ask(1), far:ask(2) end) }, { true, 1, 2 })
    test.equal({ xpcall(function() return far:ask(3) end, debug.traceback) }, { true, 3 })
    test.equal({ pcall(function() far:ask() error("after", 0) end) }, { false, "after" })
    test.equal({ xpcall(function() echo:ask() error("x", 0) end, function(e) return e .. "!" end) },
               { false, "x!" })
  end)

  test.it("may stand in a coroutine that yields in between", function()
    local co = coroutine.create(function(a)
      local b = coroutine.yield(echo:ask(a))
      local c = coroutine.yield(far:ask(b))
      return "done", echo:ask(c)
    end)
    test.equal({ coroutine.resume(co, "a") }, { true, "a" })
    test.equal({ coroutine.resume(co, "b") }, { true, "b" })
    test.equal(coroutine.status(co), "suspended")
    test.equal({ coroutine.resume(co, "c") }, { true, "done", "c" })
    test.equal({ coroutine.resume(co) }, { false, "cannot resume dead coroutine" })
  end)

  test.it("may stand in deep coroutines", function()
    local function nest(n)
      if n == 0 then return far:ask("bottom") end
      return coroutine.wrap(nest)(n - 1)
    end
    test.equal({ nest(1), nest(50) }, { "bottom", "bottom" })
  end)

  test.it("may stand in an iterator", function()
    local function answers(n)
      return coroutine.wrap(function()
        for i = 1, n do coroutine.yield(i, (i % 2 == 0 and far or echo):ask(i * 10)) end
      end)
    end
    local got = {}
    for i, v in answers(3) do got[i] = v end
    test.equal(got, { 10, 20, 30 })
    local n = 0
    for v in function() return far:ask(n < 3 and n or nil) end do n = v + 1 end
    test.equal(n, 3)
  end)

  test.it("may stand in metamethods", function()
    local closed = {}
    local M = setmetatable({}, {
      __index = function(_, k) return echo:ask(k) end,
      __newindex = function(t, k, v) rawset(t, k, far:ask(v)) end,
      __call = function(_, x) return far:ask(x) end,
      __add = function(_, x) return echo:ask(x) end,
      __eq = function() return far:ask(true) end,
      __lt = function() return far:ask(true) end,
      __concat = function(_, x) return far:ask("cat" .. x) end,
      __len = function() return far:ask(42) end,
      __close = function() closed[#closed + 1] = far:ask("in close") end,
    })
    local got = { M.field, M("called"), M + 5, M == setmetatable({}, getmetatable(M)), M < M, M .. "x", #M }
    test.equal(got, { "field", "called", 5, true, true, "catx", 42 })
    M.set = "stored"
    test.equal(rawget(M, "set"), "stored")
    do
      local c <close> = M
    end
    test.equal(closed, { "in close" })
    test.equal({ pcall(function() local c <close> = M error("e", 0) end) }, { false, "e" })
    test.equal(closed, { "in close", "in close" })
  end)

  test.it("lets an error go through coroutines", function()
    local ok, e = coroutine.resume(coroutine.create(function() far:ask() error({ code = 7 }, 0) end))
    test.equal({ ok, e }, { false, { code = 7 } })
    test.equal(message(coroutine.wrap(function() far:ask() error("in wrap", 0) end)), "in wrap")
  end)
end)

test.describe("where one cannot wait", function()
  local inside = "actor.ask cannot wait here: inside a function called from C such as table.sort, "
    .. "string.gsub or require"

  test.it("an ask is refused, and nothing is sent", function()
    for i, f in ipairs {
      function() table.sort({ 2, 1 }, function() return echo:ask() end) end,
      function() string.gsub("x", "x", function() return echo:ask() end) end,
      function() tostring(setmetatable({}, { __tostring = function() return echo:ask() end })) end,
      -- The stop could not pass the gsub below the coroutine.
      function()
        string.gsub("x", "x", function() return coroutine.wrap(function() echo:ask() end)() end)
      end,
      function()
        string.gsub("x", "x", function()
          return coroutine.wrap(function() return coroutine.wrap(function() echo:ask() end)() end)()
        end)
      end,
    } do test.equal(message(f), inside, i) end
    -- What reads a chunk for `load` may fail: load returns that.
    test.equal(message(load, function() return echo:ask() end), "no error")
    test.advance(10)
    test.equal(asked, 0)
  end)

  test.it("a send goes on", function()
    test.equal((string.gsub("x", "x", function() return echo:send(1) and "sent" end)), "sent")
    test.eventually(function() return asked == 1 end)
  end)
end)
