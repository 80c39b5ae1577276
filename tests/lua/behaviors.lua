-- Behaviors: what a definition may be, and which handler gets a message.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

local function nothing() end

-- That f(...) is refused with just this text, behind the place of the caller.
local function refused(text, f, ...)
  local values = table.pack(...)
  local e = test.fails(function() f(table.unpack(values, 1, values.n)) end)
  test.equal((tostring(e):gsub("^[^:]+:%d+: ", "")), text)
end

test.describe("a definition", function()
  local function define(text, ...) refused("actor.behavior" .. text, actor.behavior, ...) end

  test.it("has a name", function()
    define(": the name must be a string, it is nil")
    define(": the name must be a string, it is a table", {})
    define(": the name must not be empty or have zero bytes", "", {})
  end)

  test.it("is a table of known fields", function()
    define(' "a": the definition must be a table, it is a number', "a", 1)
    define(' "a": field "receive" must be a table of functions, it is nil', "a", {})
    define(' "a": field "recieve" is not known; the fields are init, receive, stop', "a",
           { recieve = {} })
    define(' "a": field "init" must be a function, it is a number', "a", { init = 1, receive = {} })
    define(' "a": field "stop" must be a function, it is a table', "a", { stop = {}, receive = {} })
  end)

  test.it("has functions by name", function()
    define(' "a": receive.x must be a function, it is a number', "a", { receive = { x = 1 } })
    define(' "a": a key of "receive" must be a string, actor.down or actor.other, one is a number', "a",
           { receive = { nothing } })
  end)

  test.it("is given once", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local A = actor.behavior("a", { receive = {} })
    define((' "a": a behavior of that name was made at behaviors.lua:%d'):format(line), "a",
           { receive = {} })
    test.equal(tostring(A), "behavior<a>")
  end)
end)

test.it("is what spawn takes", function()
  local A = actor.behavior("a", { receive = {} })
  refused("actor.spawn: a behavior or a function expected, got nothing", actor.spawn)
  refused("actor.spawn: a behavior or a function expected, got a table", actor.spawn, {})
  refused("actor.spawn: a behavior or a function expected, got a string", actor.spawn, "a")
  refused('behavior "a" has no init to take arguments', actor.spawn, A, 1)
  refused("a function behavior has no init to take arguments; send them", actor.spawn, nothing, 1)
  refused('actor.native: no native behavior is called "none"', actor.native, "none")
end)

local long = ("long"):rep(20)

local All = actor.behavior("all", {
  init = function(self, ...) self.args = table.pack(...) end,
  receive = {
    args = function(self) return table.unpack(self.args, 1, self.args.n) end,
    add = function(self, n) self.sum = (self.sum or 0) + n end,
    sum = function(self) return self.sum end,
    [long] = function() return "long" end,
    [""] = function() return "empty" end,
    [actor.down] = nothing,
    [actor.other] = function(_, ...) return "other", select("#", ...), ... end,
  },
})

test.describe("the handler", function()
  local a
  test.before(function() a = actor.spawn(All, 1, "two", { 3 }, nil) end)

  local function answer(...) return table.pack(a:ask(...)) end

  test.it("of init gets the values given to spawn", function()
    test.equal(answer "args", table.pack(1, "two", { 3 }, nil))
  end)

  test.it("is found by the first value", function()
    a:send("add", 1)
    a:send("add", 2)
    test.equal(answer "sum", table.pack(3))
    test.equal(answer(long), table.pack "long")
    test.equal(answer "", table.pack "empty")
  end)

  test.it("is `other` for what no other one handles", function()
    test.equal(answer(long .. "er"), table.pack("other", 1, long .. "er"))
    test.equal(answer("nope", 1, nil), table.pack("other", 3, "nope", 1, nil))
    test.equal(answer(), table.pack("other", 0))
    test.equal(answer(nil), table.pack("other", 1, nil))
    test.equal(answer(12, "add"), table.pack("other", 2, 12, "add"))
    test.equal(answer(true), table.pack("other", 1, true))
  end)

  test.it("has a self for each actor", function()
    local b = actor.spawn(All)
    a:send("add", 3)
    b:send("add", 10)
    test.equal({ a:ask "sum", b:ask "sum" }, { 3, 10 })
    test.equal(table.pack(b:ask "args").n, 0)
  end)
end)

test.it("lets what nobody handles fail, and logs it", function()
  local Strict = actor.behavior("strict", { receive = { ok = function() return "ok" end } })
  local a, b = actor.spawn(Strict), actor.spawn(Strict)
  test.equal({ a:ask "nope" }, { nil, "unhandled" })
  test.equal({ b:ask "nope" }, { nil, "unhandled" })
  test.equal({ a:ask() }, { nil, "unhandled" })
  test.equal({ a:ask(("n"):rep(100)) }, { nil, "unhandled" })
  test.equal({ a:ask "ok" }, { "ok" })
  test.expect_log 'has no handler for "nope"'
  test.expect_log 'has no handler for "(a message without a name)"'
  test.expect_log "nnn..."
end)

test.describe("a function", function()
  test.it("gets the values and nothing else", function()
    local f = actor.spawn(function(...) return select("#", ...), actor.sender() == nil, ... end)
    test.equal({ f:ask("x", 1) }, { 2, false, "x", 1 })
    local me = actor.self()
    local g = actor.spawn(function() return actor.sender() == me, actor.self() ~= me end)
    test.equal({ g:ask() }, { true, true })
  end)

  test.it("may be one of C", function() test.equal(actor.spawn(math.max):ask(3, 9, 4), 9) end)
end)
