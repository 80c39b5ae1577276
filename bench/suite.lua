-- suite.lua - runs the scenarios in all their forms, several times, and prints a table.
--
-- An arm is a scenario with its settings. Each run is a process of its own, and round 1 of all arms
-- comes before round 2, so that a busy machine hits all alike. A row is refused when a run of it
-- failed, did not do what was requested, or did another amount than the first.
--
-- SPDX-License-Identifier: MIT

local USAGE = [[
bench/run [OPTION ...]

  --rounds N     how often each arm is run (5)
  --workers N    workers of the arms that have several (the number of processors, but 2 at least);
                 1: none has
  --only TEXT    only the arms that have TEXT in their line
  --small        small sizes, to see that everything works
  --json FILE    writes the figures, and every run as the command printed it
]]

local folder = arg[0]:match("^(.*)/") or "."

-- What is run. `named` and `far`: the scenario has that parameter.
local scenarios = {
  { name = "tell", named = true, far = true, small = "messages=20000" },
  { name = "ping-pong", named = true, far = true, small = "exchanges=2000" },
  { name = "mesh", named = true, far = true, small = "hops=20" },
  { name = "spawn", named = true, small = "actors=2000" },
  { name = "skynet", named = true, far = true, small = "leaves=1000" },
  { name = "pi", far = true, small = "requests=50" },
}

local function usage(problem)
  io.stderr:write(problem, "\n", USAGE)
  os.exit(2)
end

local function shell_word(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function processors()
  local pipe = assert(io.popen("getconf _NPROCESSORS_ONLN"))
  local n = tonumber(pipe:read("a"))
  pipe:close()
  return math.tointeger(n) or 1
end

local function read_options(words)
  local options = { rounds = 5, workers = math.max(2, processors()) }
  local i = 1
  local function value()
    i = i + 1
    return words[i] or usage(words[i - 1] .. " needs a value")
  end
  local function count()
    local name, n = words[i], math.tointeger(tonumber(value()))
    if not n or n < 1 then usage(name .. " takes a number from 1") end
    return n
  end
  local read = {
    ["--rounds"] = function() options.rounds = count() end,
    ["--workers"] = function() options.workers = count() end,
    ["--only"] = function() options.only = value() end,
    ["--json"] = function() options.json = value() end,
    ["--small"] = function() options.small = true end,
    ["--help"] = function() io.write(USAGE) os.exit(0) end,
  }
  while words[i] do
    (read[words[i]] or usage)("no such option: " .. words[i])
    i = i + 1
  end
  return options
end

-- The arms, in the order of the table: one worker and several, native and Lua apart.
local function list_arms(options)
  local arms = {}
  local function add(scenario, kind, place, workers)
    local line = ("%-10s %-10s %-5s %7d"):format(scenario.name, kind.name, place, workers)
    if options.only and not line:find(options.only, 1, true) then return end
    local set = { kind.set }
    if place == "far" then set[#set + 1] = "far=true" end
    if options.small then set[#set + 1] = scenario.small end
    table.insert(arms,
      { scenario = scenario.name, set = set, workers = workers, line = line, runs = {} })
  end

  for _, scenario in ipairs(scenarios) do
    local kinds = {
      { name = "native", set = "behavior=native" },
      { name = "lua", set = "behavior=lua" },
      scenario.named and { name = "lua-named", set = "named=true" },
    }
    for _, kind in ipairs(kinds) do
      add(scenario, kind, "near", 1)
      if options.workers > 1 then
        add(scenario, kind, "near", options.workers)
        if scenario.far then add(scenario, kind, "far", options.workers) end
      end
    end
  end
  return arms
end

local function command_of(arm)
  local words = {
    os.getenv("ACTORLUA") or "actorlua", "run",
    ("%s/../scenarios/%s.lua"):format(folder, arm.scenario),
    "--json", "--quiet", "--workers", tostring(arm.workers),
  }
  for _, setting in ipairs(arm.set) do
    words[#words + 1] = "--set"
    words[#words + 1] = setting
  end
  for i, word in ipairs(words) do words[i] = shell_word(word) end
  return table.concat(words, " ")
end

-- Runs the arm once; what is wrong with it goes to arm.refused.
local function run_once(arm)
  local pipe = assert(io.popen(command_of(arm)))
  local text = pipe:read("a"):gsub("%s+$", "")
  local _, how, status = pipe:close()
  local function number(key) return tonumber(text:match('"' .. key .. '":%s*(%-?[%d.e+-]+)')) end
  local run = {
    text = text,
    ns = number("ns_per_op"),
    multiple = number("floor_multiple"),
    requested = number("requested"),
    done = number("done"),
  }

  local first = arm.runs[1] or run
  if how ~= "exit" or status ~= 0 then
    arm.refused = ("the run ended with %s %d"):format(how, status)
  elseif not run.ns then
    arm.refused = "the run gave no rate"
  elseif run.done ~= run.requested then
    arm.refused = ("%s were done of %s"):format(run.done, run.requested)
  elseif run.requested ~= first.requested then
    arm.refused = ("one run was of %s, another of %s"):format(first.requested, run.requested)
  end
  arm.runs[#arm.runs + 1] = run
end

local function figures_of(runs, key)
  local values, sum, squares = {}, 0, 0
  for i, run in ipairs(runs) do
    values[i] = run[key]
    sum = sum + run[key]
  end
  table.sort(values)
  local n, mean = #values, sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return {
    median = (values[(n + 1) // 2] + values[n // 2 + 1]) / 2,
    mean = mean,
    deviation = n > 1 and math.sqrt(squares / (n - 1)) or 0,
    min = values[1],
    max = values[n],
  }
end

local function print_table(arms, rounds)
  print(("Nanoseconds an operation, of %d rounds; x floor is the median of their multiples of the")
    :format(rounds))
  print("floor measured in the same run. A gap smaller than the deviation beside it is none.\n")
  print(("%-10s %-10s %-5s %7s %11s %11s %9s %11s %11s %8s"):format("scenario", "behavior", "place",
    "workers", "median", "mean", "deviation", "min", "max", "x floor"))
  for _, arm in ipairs(arms) do
    if arm.refused then
      print(("%s  refused: %s"):format(arm.line, arm.refused))
    else
      local f, floor = figures_of(arm.runs, "ns"), figures_of(arm.runs, "multiple")
      print(("%s %11.1f %11.1f %9.1f %11.1f %11.1f %8.2f"):format(arm.line, f.median, f.mean,
        f.deviation, f.min, f.max, floor.median))
    end
  end
end

local function json_string(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function json_of(arm)
  local parts = {
    '"scenario":' .. json_string(arm.scenario),
    '"workers":' .. arm.workers,
    '"set":' .. json_string(table.concat(arm.set, " ")),
  }
  if arm.refused then
    parts[#parts + 1] = '"refused":' .. json_string(arm.refused)
  else
    local f = figures_of(arm.runs, "ns")
    for _, key in ipairs { "median", "mean", "deviation", "min", "max" } do
      parts[#parts + 1] = ('"%s_ns":%.6g'):format(key, f[key])
    end
    parts[#parts + 1] = ('"floor_multiple":%.6g'):format(figures_of(arm.runs, "multiple").median)
  end
  local runs = {}
  for i, run in ipairs(arm.runs) do runs[i] = run.text ~= "" and run.text or "null" end
  parts[#parts + 1] = '"runs":[' .. table.concat(runs, ",\n  ") .. "]"
  return "{" .. table.concat(parts, ",") .. "}"
end

local function write_json(path, arms)
  local rows = {}
  for i, arm in ipairs(arms) do rows[i] = json_of(arm) end
  local file = assert(io.open(path, "w"))
  file:write('{"arms":[\n', table.concat(rows, ",\n"), "\n]}\n")
  file:close()
end

local options = read_options(arg)
local shows_progress = os.getenv("BENCH_PROGRESS") ~= nil -- set by bench/run, at a terminal
local arms = list_arms(options)
if #arms == 0 then usage("no arm has that in its line: " .. options.only) end

for round = 1, options.rounds do
  for i, arm in ipairs(arms) do
    if shows_progress then
      io.stderr:write(("\r\27[Kround %d of %d, arm %d of %d")
        :format(round, options.rounds, i, #arms))
    end
    if not arm.refused then run_once(arm) end
  end
end
if shows_progress then io.stderr:write("\r\27[K") end

print_table(arms, options.rounds)
if options.json then write_json(options.json, arms) end
for _, arm in ipairs(arms) do
  if arm.refused then os.exit(1) end
end
