-- The coroutine library behaves as Lua's own: lua5.4 prints the same, so that this is a plain script.
--
-- seeds: 1 2 3

-- On the main thread
local main, is_main = coroutine.running()
print(type(main), is_main, coroutine.status(main), coroutine.isyieldable())
-- expect: thread	true	running	false
print(pcall(coroutine.yield, 1))           -- expect: false	attempt to yield from outside a coroutine
print(coroutine.resume(main))              -- expect: false	cannot resume non-suspended coroutine
print(pcall(coroutine.close, main))        -- expect: false	cannot close a running coroutine
print(coroutine.isyieldable(main))         -- expect: false
print(coroutine.running() == main)         -- expect: true

-- In a coroutine
local co
print(coroutine.status(coroutine.create(print)), coroutine.isyieldable(coroutine.create(print)))
-- expect: suspended	true
co = coroutine.create(function(...)
  print(...)                               -- expect: 1	2	3
  local self, inside = coroutine.running()
  print(self == co, inside, coroutine.status(co), coroutine.status(main), coroutine.isyieldable())
  -- expect: true	false	running	normal	true
  print(coroutine.resume(co))              -- expect: false	cannot resume non-suspended coroutine
  print(coroutine.resume(main))            -- expect: false	cannot resume non-suspended coroutine
  print(pcall(coroutine.close, co))        -- expect: false	cannot close a running coroutine
  print(pcall(coroutine.close, main))      -- expect: false	cannot close a normal coroutine
  coroutine.wrap(function()
    print(coroutine.status(co))            -- expect: normal
    print(pcall(coroutine.close, co))      -- expect: false	cannot close a normal coroutine
    print(coroutine.resume(co))            -- expect: false	cannot resume non-suspended coroutine
  end)()
  return "end", coroutine.yield("a", nil)
end)
print(coroutine.resume(co, 1, 2, 3))       -- expect: true	a	nil
print(coroutine.status(co))                -- expect: suspended
print(coroutine.resume(co, "b", "c"))      -- expect: true	end	b	c
print(coroutine.status(co))                -- expect: dead
print(coroutine.resume(co))                -- expect: false	cannot resume dead coroutine
print(coroutine.close(co))                 -- expect: true

-- Errors
co = coroutine.create(function() error({ 1 }) end)
local ok, e = coroutine.resume(co)
print(ok, e[1], coroutine.status(co))      -- expect: false	1	dead
print(coroutine.resume(co))                -- expect: false	cannot resume dead coroutine
print(pcall(coroutine.wrap(function() error("x") end)))
-- expect: false	coroutines.lua:47: x
print(pcall(function() coroutine.wrap(function() error("x") end)() end))
-- expect: false	coroutines.lua:49: coroutines.lua:49: x
print(pcall(coroutine.wrap(function() error("x", 0) end)))        -- expect: false	x
local w = coroutine.wrap(function() return 1 end)
print(w())                                 -- expect: 1
print(pcall(w))                            -- expect: false	cannot resume dead coroutine
ok, e = pcall(coroutine.wrap(function() error(setmetatable({}, { __index = { k = 5 } })) end))
print(ok, e.k)                             -- expect: false	5
print(pcall(coroutine.resume, 1))
-- expect: false	bad argument #1 to 'coroutine.resume' (thread expected, got number)
print(pcall(coroutine.status))
-- expect: false	bad argument #1 to 'coroutine.status' (thread expected, got no value)
print(pcall(coroutine.create, 1))
-- expect: false	bad argument #1 to 'coroutine.create' (function expected, got number)
print(pcall(coroutine.wrap))
-- expect: false	bad argument #1 to 'coroutine.wrap' (function expected, got no value)
print(select(2, pcall(coroutine.wrap(function()
  table.sort({ 2, 1 }, function() coroutine.yield() end)
end))))                                    -- expect: attempt to yield across a C-call boundary

-- Closing
local function closer(name, fails)
  return setmetatable({}, { __close = function(_, err)
    print("close", name, err)
    if fails then error(fails, 0) end
  end })
end
co = coroutine.create(function()
  local a <close> = closer("a")
  local b <close> = closer("b")
  coroutine.yield()
end)
coroutine.resume(co)
print(coroutine.close(co), coroutine.status(co))
-- expect: close	b	nil
-- expect: close	a	nil
-- expect: true	dead
co = coroutine.create(function()
  local a <close> = closer("a", "from a")
  local b <close> = closer("b", "from b")
  coroutine.yield()
end)
coroutine.resume(co)
print(coroutine.close(co))
-- expect: close	b	nil
-- expect: close	a	from b
-- expect: false	from a
print(coroutine.close(coroutine.create(print)))                   -- expect: true
co = coroutine.create(error)
coroutine.resume(co, "err")
print(coroutine.close(co))                 -- expect: false	err
print(pcall(coroutine.wrap(function()
  local a <close> = closer("w", "other")
  error("first", 0)
end)))
-- expect: close	w	first
-- expect: false	other

-- Many values, and deep ones
local n = select("#", select(2, coroutine.resume(coroutine.create(function(...) return ... end),
                                                 table.unpack({}, 1, 200))))
print(n)                                   -- expect: 200
local function nest(depth)
  if depth == 0 then return "deep" end
  return coroutine.wrap(nest)(depth - 1)
end
print(nest(150))                           -- expect: deep
print((select(2, pcall(nest, 300)):match("C stack overflow")))    -- expect: C stack overflow

-- An iterator
local sum = 0
for i in coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end) do sum = sum + i end
print(sum)                                 -- expect: 5050
