-- hello.lua - one actor that greets: a behavior, a spawn, two asks.
--
-- SPDX-License-Identifier: MIT

local actor = require "actor"

local Greeter = actor.behavior("greeter", {
  init = function(self, greeting) self.greeting, self.count = greeting, 0 end,
  receive = {
    greet = function(self, name)
      self.count = self.count + 1
      return self.greeting .. ", " .. name .. "!"
    end,
    count = function(self) return self.count end,
  },
})

return {
  name = "hello",
  about = "One actor greets.",
  run = function(_, report)
    local greeter = actor.spawn(Greeter, "Hello")
    local text = greeter:ask("greet", "world")
    print(text)
    report.check("the greeting is right", text == "Hello, world!")
    return { requested = 1, done = greeter:ask("count"), unit = "greeting" }
  end,
}
