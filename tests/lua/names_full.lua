-- Data that is sent often cannot use up the names: behaviors can still be declared.
local actor = require "actor"

local got = 0
local sink = actor.spawn(function(word) if word == "how many" then return got end got = got + 1 end)
for i = 1, 66000 do
  local word = "data" .. i
  for _ = 1, 16 do sink:send(word) end
  if i % 1000 == 0 then sink:ask("how many") end
end
print(sink:ask("how many"))              -- expect: 1056000

local Late = actor.behavior("late", { receive = { hello = function() return "here" end } })
print(actor.spawn(Late):ask("hello"))    -- expect: here
