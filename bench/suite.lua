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

-- What is run. `named` and `far`: the scenario has that parameter. `forms`: it is run once in
-- each, with what that sets; `is_lua`: it has no native behaviors. `once`: near and with one
-- worker only.
local scenarios = {
  { name = "tell", named = true, far = true, small = "messages=20000" },
  { name = "tell-1k", far = true, small = "messages=2000" },
  { name = "four-into-one", far = true, small = "messages=2000" },
  { name = "one-into-64", far = true, small = "messages=100" },
  { name = "cpu-work", far = true, small = "messages=20" },
  { name = "ping-pong", named = true, far = true, small = "exchanges=2000" },
  { name = "ping-pong-10k", far = true, small = "exchanges=100" },
  { name = "ping-pong-pairs", far = true, small = "exchanges=20000" },
  { name = "in-process", far = true, small = "messages=2000" },
  { name = "ask", far = true, small = "asks=2000 warm_up=200",
    forms = { { "inside", "caller=inside" }, { "outside", "caller=outside" } } },
  { name = "ask-p50", far = true, small = "asks=500 warm_up=200",
    forms = { { "inside", "caller=inside" }, { "outside", "caller=outside" } } },
  { name = "many-asks", far = true, small = "callers=50 asks=20" },
  { name = "tell-outside", far = true, small = "messages=20000" },
  { name = "tell-batch", small = "messages=100 batches=5 warm_up=2",
    forms = { { "1000", "" }, { "10000", "messages=10000 batches=30 warm_up=15" } } },
  { name = "mesh", named = true, far = true, small = "hops=20" },
  { name = "spawn", named = true, small = "actors=2000" },
  { name = "spawn-stop", far = true, small = "actors=10 rounds=5 warm_up=2" },
  { name = "memory", named = true, once = true, small = "actors=2000" },
  { name = "skynet", named = true, far = true, small = "leaves=1000" },
  { name = "pi", far = true, small = "requests=50" },
  { name = "latency", far = true, small = "seconds=0.05",
    forms = { { "100k", "rate=100000" }, { "1M", "rate=1000000 seconds=2" } } },
  { name = "sleepers", once = true, small = "actors=1000 wait=200",
    forms = { { "timer", "form=timer" }, { "process", "form=process", is_lua = true } } },
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
  local function add(scenario, form, kind, place, workers)
    local name = form[1] and scenario.name .. " " .. form[1] or scenario.name
    local line = ("%-17s %-10s %-5s %7d"):format(name, kind.name, place, workers)
    if options.only and not line:find(options.only, 1, true) then return end
    local set = { kind.set }
    if place == "far" then set[#set + 1] = "far=true" end
    for setting in (form[2] or ""):gmatch("%S+") do set[#set + 1] = setting end
    for setting in (options.small and scenario.small or ""):gmatch("%S+") do
      set[#set + 1] = setting -- a later one counts
    end
    table.insert(arms,
      { scenario = scenario.name, set = set, workers = workers, line = line, runs = {} })
  end

  local function add_places(scenario, form, kind)
    add(scenario, form, kind, "near", 1)
    if options.workers == 1 or scenario.once then return end
    add(scenario, form, kind, "near", options.workers)
    if scenario.far then add(scenario, form, kind, "far", options.workers) end
  end

  for _, scenario in ipairs(scenarios) do
    for _, form in ipairs(scenario.forms or { {} }) do
      if not form.is_lua then
        add_places(scenario, form, { name = "native", set = "behavior=native" })
      end
      add_places(scenario, form, { name = "lua", set = "behavior=lua" })
      if scenario.named then
        add_places(scenario, form, { name = "lua-named", set = "named=true" })
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

-- What a run gave beside its rate: {{name, value, unit}, ..}.
local function read_beside(text)
  local list = {}
  for name, ns in (text:match('"samples":(%b{})') or ""):gmatch('"(p%d+)_ns":(%d+)') do
    list[#list + 1] = { name == "p999" and "p99.9" or name, tonumber(ns), "ns" }
  end
  local pattern = '"([^"]+)":{"value":([%d.e+-]+),"unit":"([^"]*)"}'
  for name, value, unit in (text:match('"figures":(%b{})') or ""):gmatch(pattern) do
    list[#list + 1] = { name, tonumber(value), unit }
  end
  if #list == 0 then return list end
  for _, key in ipairs { "user_s", "system_s" } do
    local seconds = text:match('"' .. key .. '":([%d.e+-]+)')
    if seconds then list[#list + 1] = { key:match("%l+"), tonumber(seconds), "s" } end
  end
  return list
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
    beside = read_beside(text),
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

-- The medians of what the runs of an arm gave beside their rates, in a line of their own.
local function print_beside(runs)
  local parts = {}
  for i, first in ipairs(runs[1].beside) do
    local values = {}
    for round, run in ipairs(runs) do values[round] = { value = run.beside[i][2] } end
    local median = figures_of(values, "value").median
    parts[i] = (median < 1000 and "%s %.4g %s" or "%s %.0f %s"):format(first[1], median, first[3])
  end
  if #parts > 0 then print("    " .. table.concat(parts, "; ")) end
end

local function print_table(arms, rounds)
  print(("Nanoseconds an operation, of %d rounds; x floor is the median of their multiples of the")
    :format(rounds))
  print("floor measured in the same run. A gap smaller than the deviation beside it is none.")
  print("Below is what else was measured, and the processor time while the clock ran: medians too.\n")
  print(("%-17s %-10s %-5s %7s %11s %11s %9s %11s %11s %8s"):format("scenario", "behavior", "place",
    "workers", "median", "mean", "deviation", "min", "max", "x floor"))
  for _, arm in ipairs(arms) do
    if arm.refused then
      print(("%s  refused: %s"):format(arm.line, arm.refused))
    else
      local f, floor = figures_of(arm.runs, "ns"), figures_of(arm.runs, "multiple")
      print(("%s %11.1f %11.1f %9.1f %11.1f %11.1f %8.2f"):format(arm.line, f.median, f.mean,
        f.deviation, f.min, f.max, floor.median))
      print_beside(arm.runs)
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
