-- A handler that tells an actor in another vat and then computes: another worker lets that actor run
-- meanwhile, however long the handler goes on. It ends when the other has written a file, which is
-- looked for up to a deadline that no sound machine needs. A plain script, since a run with a seed has
-- one worker.
--
-- args: --workers 2 --vats 2
local actor = require "actor"

local path = os.tmpname()
os.remove(path)

local function exists()
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local function writer(where)
  local file = assert(io.open(where, "w"))
  file:close()
  return "written"
end

local far = actor.spawn_on(1, writer)

local teller = actor.spawn(function()
  actor.send(far, path)
  local deadline = actor.now() + 20000
  local looks, sum = 0, 0
  repeat
    for i = 1, 10000 do sum = sum + i % 7 end
    looks = looks + 1
  until exists() or actor.now() > deadline
  return looks > 0 and exists()
end)

print(actor.ask { teller, timeout = 30000 })  -- expect: true
os.remove(path)
