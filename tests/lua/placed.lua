-- spawn_on: behaviors by name, functions with what they refer to.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

-- That f(...) is refused with just this text, behind the place of the caller.
local function refused(text, f, ...)
  local values = table.pack(...)
  local e = test.fails(function() f(table.unpack(values, 1, values.n)) end)
  test.equal((tostring(e):gsub("^[^:]+:%d+: ", "")), text)
end

local function answer(where, f, ...) return table.pack(actor.spawn_on(where, f):ask(...)) end

test.describe("a function placed elsewhere", function()
  test.it("has copies of its upvalues", function()
    local n, text, list, pid = 5, "five", { 1, { x = 2 } }, actor.self()
    local f = actor.spawn_on(1, function(k)
      n = n + (k or 0)
      return n, text, list[2].x, pid, actor.stats().vat
    end)
    test.equal({ f:ask(1) }, { 6, "five", 2, actor.self(), 1 })
    test.equal({ n, f:ask() }, { 5, 6, "five", 2, actor.self(), 1 })
  end)

  test.it("has copies in its own vat, too", function()
    local n = 5
    test.equal(answer(0, function() n = n + 1 return n end), table.pack(6))
    test.equal(n, 5)
  end)

  test.it("finds globals, modules and their functions there", function()
    local format, insert, str, G, p = string.format, table.insert, string, _G, pairs
    local A, other = actor, actor.other
    g_here = "only here"
    test.equal(answer(1, function()
      local t = {}
      insert(t, format("%d", 7))
      for k in p { a = 1 } do insert(t, k) end
      return t[1], t[2], str == require "string", G == _ENV, g_here, A == require "actor", other == A.other
    end), table.pack("7", "a", true, true, nil, true, true))
  end)

  test.it("brings other functions along, also recursive ones and ones in tables", function()
    local helper = { double = function(x) return 2 * x end }
    local function fib(i) return i < 2 and i or fib(i - 1) + fib(i - 2) end
    local even, odd
    even = function(i) return i == 0 or odd(i - 1) end
    odd = function(i) return i ~= 0 and even(i - 1) end
    test.equal(answer(1, function(i) return fib(i), even(i), odd(i), helper.double(i) end, 10),
               table.pack(55, true, false, 20))
  end)

  test.it("may be placed anywhere, and be one of C", function()
    test.equal(answer("any", function() return "any" end), table.pack "any")
    test.equal(answer(1, math.max, 3, 4), table.pack(4))
    test.ok(actor.is_pid(actor.spawn_on(1, print)))
  end)

  test.it("brings nothing along that cannot be sent", function()
    local file = io.stdout
    test.ok(actor.spawn_on(1, function() return file end), "stdout is found there again")
    local co, opened, nested = coroutine.create(print), io.tmpfile(), { a = { io.stderr } }
    refused('upvalue "co": a coroutine cannot be sent', actor.spawn_on, 1, function() return co end)
    refused('upvalue "opened": a userdata cannot be sent', actor.spawn_on, 1,
            function() return opened end)
    nested.a[1] = opened
    refused('upvalue "nested": field "a": index 1: a userdata cannot be sent', actor.spawn_on, 1,
            function() return nested end)
    local function inner() return opened end
    refused('upvalue "inner": upvalue "opened": a userdata cannot be sent', actor.spawn_on, 1,
            function() return inner() end)
    local wrapped = coroutine.wrap(print)
    refused('upvalue "wrapped": a C function cannot be sent', actor.spawn_on, 1,
            function() return wrapped() end)
    refused("a C function cannot be sent", actor.spawn_on, 1, coroutine.wrap(print))
  end)
end)

test.it("wants a place, and something to place", function()
  refused("actor.spawn_on: there is no vat 7; 0 to 3 are always there", actor.spawn_on, 7, print)
  refused("actor.spawn_on: there is no vat -1; 0 to 3 are always there", actor.spawn_on, -1, print)
  refused('actor.spawn_on: a vat\'s number, "any" or "isolate" expected, got "here"', actor.spawn_on,
          "here", print)
  refused('actor.spawn_on: a vat\'s number, "any" or "isolate" expected, got a table', actor.spawn_on,
          {}, print)
  refused('actor.spawn_on: a vat\'s number, "any" or "isolate" expected, got a number', actor.spawn_on,
          0.5, print)
  refused("actor.spawn_on: a behavior or a function expected, got a table", actor.spawn_on, 1, {})
  refused("a function behavior has no init to take arguments; send them", actor.spawn_on, 1, print, 1)
end)

local Everywhere = actor.behavior("everywhere", {
  init = function(self, ...) self.args = table.pack(...) actor.spawn(function() end):ask() end,
  receive = {
    args = function(self) return actor.stats().vat, table.unpack(self.args, 1, self.args.n) end,
  },
})

test.describe("a behavior placed elsewhere", function()
  test.it("is the one of that name", function()
    for vat = 0, 1 do
      local a = actor.spawn_on(vat, Everywhere, 1, "two", nil)
      test.equal(table.pack(a:ask("args")), table.pack(vat, 1, "two", nil))
    end
  end)

  test.it("must be made there, too", function()
    test.expect_failure 'failed in init: no behavior is called "here" in this vat; what makes it must be loaded here too'
    local Here = actor.behavior("here", { receive = { args = function() return "args" end } })
    test.equal({ actor.spawn_on(0, Here):ask("args") }, { "args" })
    local _, why = actor.spawn_on(1, Here):ask("args")
    test.ok(why == "init" or why == "no_actor", why)
    _, why = actor.spawn_on(1, function() return Here end):ask()
    test.ok(why == "init" or why == "no_actor", why)
  end)
end)
