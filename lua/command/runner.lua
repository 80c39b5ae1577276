-- runner.lua: the run actor, which runs a file's top level and, when that returns a scenario, the
-- scenario. It lives in vat 0; the command sends it "load", "run" and "quiet", each when the engine
-- is quiet. What comes of it is handed to the command through the functions of `host` (host.c).
--
-- SPDX-License-Identifier: MIT
local host = ...
local actor = require "actor"

local file = host.path
local scenario        -- what the file returned
local params          -- its parameters in this run
local deferred = {}   -- checks to be made once the engine is quiet: {name, function, place}
local figures = {}    -- the names of those that were given
local clock = "off"   -- "running" and "read" once report.clock was called

local function describe(value)
  local kind = math.type(value) or type(value)
  if kind == "nil" then return "nothing" end
  if kind == "string" then return ("the string %q"):format(value) end
  if kind == "integer" or kind == "float" or kind == "boolean" then
    return ("the %s %s"):format(kind, value)
  end
  return "a " .. kind
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- What was meant by the word, or what there is.
local function hint(word, names)
  local meant = host.suggest(word, names)
  if meant then return ("; did you mean '%s'?"):format(meant) end
  if #names == 0 then return "; it has none" end
  return "; it has " .. table.concat(names, ", ")
end

---------------------------------------------------------------------------------------------------
-- What a file returned. A function that may find something wrong returns it as a line of text, and
-- nothing when all is well.

local settable = { integer = true, float = true, boolean = true, string = true }

local function check_params(defaults)
  if defaults == nil then return end
  if type(defaults) ~= "table" then
    return ("%s has %s as 'params'; it must be a table of names and defaults")
      :format(file, describe(defaults))
  end
  for name, value in pairs(defaults) do
    if type(name) ~= "string" then
      return ("%s has %s in 'params' in place of a name"):format(file, describe(name))
    end
    if not settable[math.type(value) or type(value)] then
      return ("%s has %s as the default of the parameter '%s'; it must be a number, a boolean or a "
        .. "string"):format(file, describe(value), name)
    end
  end
end

local fields = { "about", "lossy", "name", "params", "refuse", "run" }

local function check_scenario(t)
  if type(t) ~= "table" then
    return ("%s returned %s; a scenario returns a table with 'run', a script returns nothing")
      :format(file, describe(t))
  end
  if type(t.run) ~= "function" then
    if t.run ~= nil then
      return ("%s has %s as 'run'; it must be a function"):format(file, describe(t.run))
    end
    for key in pairs(t) do
      if type(key) == "string" and host.suggest(key, { "run" }) then
        return ("%s returned a table without 'run', but with '%s'; did you mean 'run'?")
          :format(file, key)
      end
    end
    return file .. " returned a table without 'run'; a scenario has run = function(p, report), "
      .. "a script returns nothing"
  end
  for key in pairs(t) do
    local meant = type(key) == "string" and host.suggest(key, fields)
    if meant and meant ~= key and t[meant] == nil then
      return ("%s has a field '%s'; did you mean '%s'?"):format(file, key, meant)
    end
  end
  if t.refuse ~= nil and type(t.refuse) ~= "function" then
    return ("%s has %s as 'refuse'; it must be a function"):format(file, describe(t.refuse))
  end
  if t.lossy ~= nil and type(t.lossy) ~= "boolean" then
    return ("%s has %s as 'lossy'; it must be true or false"):format(file, describe(t.lossy))
  end
  for _, key in ipairs { "name", "about" } do
    if t[key] ~= nil and type(t[key]) ~= "string" then
      return ("%s has %s as '%s'; it must be a string"):format(file, describe(t[key]), key)
    end
  end
  return check_params(t.params)
end

---------------------------------------------------------------------------------------------------
-- Parameters: the defaults, and what --set says. A value has the type of its default.

local expected = {
  integer = "an integer",
  float = "a number",
  boolean = "true or false",
}

-- The text as a value of the default's type; nil when it is none.
local function coerce(text, default)
  local kind = math.type(default) or type(default)
  if kind == "string" then return text end
  if kind == "boolean" then
    if text == "true" then return true elseif text == "false" then return false end
    return nil
  end
  local number = tonumber(text)
  if not number or number ~= number then return nil end
  if kind == "integer" then return math.tointeger(number) end
  return number + 0.0
end

-- One --set: puts the value into `values`, or says what is wrong.
local function set(values, defaults, name, text)
  local default = defaults[name]
  if default == nil then
    return ("%s has no parameter '%s'%s"):format(file, name, hint(name, sorted_keys(defaults)))
  end
  local value = coerce(text, default)
  if value == nil then
    return ("%s takes %s as '%s', like %s, not '%s'")
      :format(file, expected[math.type(default) or type(default)], name, default, text)
  end
  values[name] = value
end

-- What every scenario means by these names.
local function check_common(values)
  local behavior = values.behavior
  if type(behavior) == "string" and behavior ~= "lua" and behavior ~= "native" then
    return ("%s takes lua or native as 'behavior', not '%s'"):format(file, behavior)
  end
  if values.far == true and actor.stats().vats < 2 then
    return file .. " needs two vats for far=true; give it --vats 2"
  end
end

local function read_params(defaults)
  params = {}
  for name, value in pairs(defaults) do params[name] = value end
  for _, setting in ipairs(host.settings()) do
    local problem = set(params, defaults, setting[1], setting[2])
    if problem then return problem end
  end
  for _, name in ipairs(sorted_keys(params)) do host.param(name, params[name]) end

  local problem = check_common(params)
  if problem then return problem end
  local reason = scenario.refuse and scenario.refuse(params)
  if reason then return ("%s: %s"):format(file, reason) end
end

---------------------------------------------------------------------------------------------------
-- What a scenario's `run` is given.

local report = {}

-- Times f alone: the run's seconds are f's. Returns what f returns.
function report.clock(f)
  if type(f) ~= "function" then
    error(("report.clock takes a function, not %s"):format(describe(f)), 2)
  end
  if clock ~= "off" then
    error("report.clock may be called once in a run, and not inside itself", 2)
  end
  clock = "running"
  host.clock_start()
  local results = table.pack(f())
  host.clock_stop()
  clock = "read"
  return table.unpack(results, 1, results.n)
end

-- The file and line that called report's function.
local function caller()
  local info = debug.getinfo(3, "Sl")
  if info and info.currentline > 0 then
    return ("%s:%d"):format(info.source:match("^@(.*)") or info.short_src, info.currentline)
  end
end

-- ok: what holds now; or a function of actor.stats(), called once the engine is quiet.
function report.check(name, ok)
  if type(name) ~= "string" then
    error(("report.check takes a name first, not %s"):format(describe(name)), 2)
  end
  if type(ok) == "function" then
    deferred[#deferred + 1] = { name, ok, caller() }
    host.deferred()
  else
    host.check(name, not not ok, caller())
  end
end

function report.progress(done, total)
  if math.type(done) == nil or (total ~= nil and math.type(total) == nil) then
    error("report.progress takes two numbers: how much is done, and of how much", 2)
  end
  host.progress(done, total or 0)
end

-- A latency in nanoseconds, and how often it was met (1).
report.sample = host.sample

-- Latencies in nanoseconds, each packed as string.pack("j", ns) does it.
report.samples = host.samples

-- What was measured beside the rate: a name, a number and the unit it is in.
function report.figure(name, value, unit)
  if type(name) ~= "string" or math.type(value) == nil or type(unit) ~= "string" then
    error("report.figure takes a name, a number and a unit", 2)
  end
  if figures[name] then error(("report.figure was given '%s' before"):format(name), 2) end
  figures[name] = true
  host.figure(name, value, unit)
end

-- Returns two numbers of bytes: what the process has resident, and what the engine holds.
report.memory = host.memory

---------------------------------------------------------------------------------------------------
-- What `run` returned.

local wanted = "it returns { requested = a count, done = a count, unit = \"what one is\" }"

local function check_count(result, key)
  local value = result[key]
  if value == nil then return ("a table without '%s'; %s"):format(key, wanted) end
  if math.type(value) == nil or math.tointeger(value) == nil then
    return ("%s as '%s'; it must be an integer"):format(describe(value), key)
  end
  if value < 0 then return ("%s as '%s', which is negative"):format(describe(value), key) end
end

local function check_result(result)
  if type(result) ~= "table" then return ("%s; %s"):format(describe(result), wanted) end
  local problem = check_count(result, "requested") or check_count(result, "done")
  if problem then return problem end
  if result.unit == nil then return ("a table without 'unit'; %s"):format(wanted) end
  if type(result.unit) ~= "string" or result.unit == "" then
    return ("%s as 'unit'; it must say what one operation is, like \"message\"")
      :format(describe(result.unit))
  end
  if clock == "running" then return "before the function given to report.clock did" end
end

---------------------------------------------------------------------------------------------------

local function load()
  local returned = table.pack(host.chunk()(host.arguments()))
  host.loaded()
  if returned.n == 0 or (returned.n == 1 and returned[1] == nil) then
    if #host.settings() > 0 then
      host.usage(file .. " is a script, which has no parameters; give it arguments, not --set")
    end
    return
  end

  local problem = check_scenario(returned[1])
  if problem then return host.reject(problem) end
  if select("#", host.arguments()) > 0 then
    return host.usage(file .. " is a scenario, which takes no arguments: --set NAME=VALUE sets its "
      .. "parameters, and 'actorlua run FILE ...' runs several files")
  end
  scenario = returned[1]
  host.scenario(scenario.name, scenario.about, scenario.lossy)
  problem = read_params(scenario.params or {})
  if problem then host.usage(problem) end
end

local function run()
  host.clock_start()
  local result = scenario.run(params, report)
  if clock == "off" then host.clock_stop() end

  local problem = check_result(result)
  if problem then
    local line = debug.getinfo(scenario.run, "S").linedefined
    return host.reject(("%s:%d: 'run' returned %s"):format(file, line, problem))
  end
  host.returned(math.tointeger(result.requested), math.tointeger(result.done), result.unit)
end

local function quiet()
  for _, check in ipairs(deferred) do
    local stats = actor.stats()
    stats.alive = stats.alive - 1
    local fine, ok = pcall(check[2], stats)
    if fine then
      host.check(check[1], not not ok, check[3])
    else
      host.check(check[1], false, check[3], tostring(ok))
    end
  end
  host.checked()
end

-- A handler's return answers an ask, and these are told; so nothing is returned.
actor.behavior("actorlua.run", {
  receive = {
    load = function() load() end,
    run = function() run() end,
    quiet = function() quiet() end,
  },
})
