-- pi.lua - work dealt out in turn: every request computes a thousand digits of pi.
--
--   pi = 16 atan(1/5) - 4 atan(1/239),   atan(1/x) = 1/x - 1/(3 x^3) + 1/(5 x^5) - ..   (Machin)
--
-- There is one calculator for each worker. All requests are sent at once; the calculators send
-- their answers, a thousand characters each, to a judge, who compares each with what it should be.
--
-- With 11 terms of each series, a fixed load, the first 17 digits are right. With terms=full all
-- terms are added up that change anything, and all digits are right.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"
local send, ask = actor.send, actor.ask

-- ------------------------------------------------------------------------------------------------
-- A number is an integer scaled by a power of ten, in limbs of 14 decimal digits, highest first:
-- [0] is the whole part. 14 is the most with which nothing here leaves 64 bits.

local LIMB_DIGITS <const>, BASE <const> = 14, 100000000000000
local GUARD_DIGITS <const> = 8 -- the roundings of 1,000 terms reach the fifth

-- Adds sign * a * atan(1/x) to `sum`: `terms` terms, or all that are not zero. The sum's limbs are
-- signed and carry nothing until the end; no number of terms that fits here makes them too large.
local function add_series(sum, n, a, x, terms, sign)
  local power, rest = {}, a -- a / x^k, first with k = 1
  for i = 0, n do
    power[i] = rest // x
    rest = rest % x * BASE
  end

  local square, first = x * x, 0
  for k = 1, terms and 2 * terms - 1 or math.maxinteger, 2 do
    while first <= n and power[first] == 0 do first = first + 1 end
    if first > n then return end

    -- One pass divides by x^2 (from the second term on) and the quotient by k.
    local by = k == 1 and 1 or square
    local power_rest, term_rest = 0, 0
    for i = first, n do
      local p = power_rest * BASE + power[i]
      local q = p // by
      power_rest = p - q * by
      power[i] = q
      local t = term_rest * BASE + q
      local term = t // k
      term_rest = t - term * k
      sum[i] = sum[i] + sign * term
    end
    sign = -sign
  end
end

-- Pi with that many decimals, as text.
local function machin(digits, terms)
  local n = (digits + GUARD_DIGITS + LIMB_DIGITS - 1) // LIMB_DIGITS
  local sum = {}
  for i = 0, n do sum[i] = 0 end
  add_series(sum, n, 16, 5, terms, 1)
  add_series(sum, n, 4, 239, terms, -1)

  for i = n, 1, -1 do
    local carry = sum[i] // BASE
    sum[i], sum[i - 1] = sum[i] - carry * BASE, sum[i - 1] + carry
  end
  local form = ("%0" .. LIMB_DIGITS .. "d"):rep(n)
  return (sum[0] .. "." .. form:format(table.unpack(sum, 1, n))):sub(1, 2 + digits)
end

-- ------------------------------------------------------------------------------------------------

local Calculator = actor.behavior("pi.calculator", {
  receive = {
    calculate = function(_, judge, digits, terms)
      send(judge, "answer", machin(digits, terms > 0 and terms or nil))
    end,
  },
})

local Judge = actor.behavior("pi.judge", {
  init = function(self, expected, text)
    self.expected, self.text, self.got, self.right = expected, text, 0, 0
  end,
  receive = {
    answer = function(self, text)
      self.got = self.got + 1
      if text == self.text then self.right = self.right + 1 end
      if self.got < self.expected or not self.request then return end
      self.request:reply(self.got, self.right)
    end,
    verdict = function(self)
      if self.got == self.expected then return self.got, self.right end
      self.request = actor.later()
    end,
  },
})

-- What there is to behave as, and how many requests are made if the parameter does not say.
local kinds = {
  lua = function() return Calculator, Judge, 20000 end,
  native = function()
    return actor.native("bench.calculator"), actor.native("bench.judge"), 200000
  end,
}

local function read_terms(p)
  if p.terms == "full" then
    assert(p.digits <= 1000, "with terms=full there are at most 1000 digits to compare with")
    return 0
  end
  local terms = math.tointeger(tonumber(p.terms))
  return assert(terms and terms >= 11 and terms, "terms is full, or 11 or more for 17 right digits")
end

return {
  name = "pi",
  about = "A pool of actors computes pi, a thousand digits for each request.",
  params = {
    requests = 0, -- 0: 20,000 with Lua behaviors, 200,000 with native ones
    digits = 1000,
    terms = "11", -- of each series; full: all that there are
    behavior = "lua",
    far = false,
  },
  run = function(p, report)
    local calculator, judge, requests = assert(kinds[p.behavior], "behavior is lua or native")()
    assert(p.requests >= 0 and p.digits >= 16, "digits is 16 or more, requests is not negative")
    if p.requests > 0 then requests = p.requests end
    local terms, stats = read_terms(p), actor.stats()
    assert(not p.far or stats.vats > 1, "far=true needs two vats: --vats 2")

    local reference = machin(p.digits, terms > 0 and terms or nil)
    judge = actor.spawn(judge, requests, reference)
    local pool = {}
    for i = 1, stats.workers do
      pool[i] = actor.spawn_on(p.far and i % stats.vats or 0, calculator)
    end

    local got, right
    report.clock(function()
      for i = 0, requests - 1 do
        send(pool[i % #pool + 1], "calculate", judge, p.digits, terms)
      end
      got, right = ask { judge, "verdict", timeout = math.huge }
    end)

    report.check("every answer is the reference", right == requests)
    if p.terms == "full" then
      local known = "3." .. require("pi.digits"):sub(1, p.digits)
      report.check("all digits are right", reference == known)
    else
      report.check("the first 17 digits are right", reference:sub(1, 18) == "3.1415926535897932")
    end
    return { requested = requests, done = got, unit = "request" }
  end,
}
