-- An ask that its caller has given up is not handled when its turn comes, near or far.
--
-- SPDX-License-Identifier: MIT
local actor = require "actor"
local test = require "actor.test"

test.before(function() test.expect_failure "deadlock" end)

test.it("is not handled near", function()
  local handled, a, b = {}, nil, nil
  a = actor.spawn(function(n)
    handled[#handled + 1] = "a " .. n
    return b:ask(n + 1)
  end)
  b = actor.spawn(function(n)
    handled[#handled + 1] = "b " .. n
    return a:ask(n + 1)
  end)
  test.equal({ a:ask(1) }, { nil, "deadlock" })
  test.advance(10)
  test.equal(handled, { "a 1", "b 2" })
end)

test.it("is not handled far", function()
  local probe = test.probe()
  -- The far one asks itself by way of this vat.
  local far = actor.spawn_on(1, function(first, peer, n, to)
    if first then return peer:ask(n) end
    to:send("handled", n)
    return "handled"
  end)
  local near
  near = actor.spawn(function(n) return far:ask(false, near, n, probe.pid) end)
  test.equal({ far:ask(true, near, 1) }, { nil, "deadlock" })
  probe:expect_none()
  test.equal(far:ask(false, near, 2, probe.pid), "handled")
  probe:expect("handled", 2)
end)
