-- kit_same.lua: whether two values are the same, and how a value is shown; for kit.lua.
--
-- Tables are the same when they hold the same under the same keys, to any depth, whatever their
-- metatables, unless their __eq says so. NaN is the same as NaN, and 1 as 1.0.
--
-- SPDX-License-Identifier: MIT
local DEEP, MANY, LONG = 6, 40, 200   -- what is shown: tables in tables, elements, bytes of a string

local any = setmetatable({}, {
  __name = "test.any",
  __tostring = function() return "anything" end,
})

local function show_string(s)
  local shown = #s > LONG and s:sub(1, LONG // 2) .. s:sub(-LONG // 4) or s
  local text = ("%q"):format(shown):gsub("\\\n", "\\n"):gsub("\r", "\\r"):gsub("\t", "\\t")
  return #s > LONG and ("%s (shortened, %d bytes)"):format(text, #s) or text
end

-- Numbers first, then strings, then the others: the same order for the same keys, where there is one.
local function is_before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then
    if kind_a == "number" or kind_b == "number" then return kind_a == "number" end
    if kind_a == "string" or kind_b == "string" then return kind_a == "string" end
    return kind_a < kind_b
  end
  if kind_a == "number" or kind_a == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, is_before)
  return keys
end

local function show_key(key, show)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return key end
  return "[" .. show(key) .. "]"
end

-- `open`: the tables around this one.
local function show(value, open)
  if value == nil or type(value) == "boolean" or type(value) == "number" then return tostring(value) end
  if type(value) == "string" then return show_string(value) end
  if type(value) == "function" then
    local info = debug.getinfo(value, "S")
    return info.what == "C" and "a C function" or ("function <%s:%d>"):format(info.short_src, info.linedefined)
  end
  local meta = debug.getmetatable(value)
  if type(value) ~= "table" or (type(meta) == "table" and rawget(meta, "__tostring")) then
    local ok, text = pcall(tostring, value)
    return ok and text or "a " .. type(value) .. " without a text"
  end

  open = open or { n = 0 }
  if open[value] then return "{ itself }" end
  if next(value) == nil then return "{}" end
  if open.n == DEEP then return "{ ... }" end
  open[value], open.n = true, open.n + 1
  local shown, length = {}, 0
  while rawget(value, length + 1) ~= nil do length = length + 1 end
  for _, key in ipairs(sorted_keys(value)) do
    if #shown == MANY then
      shown[#shown + 1] = "..."
      break
    end
    local text = show(rawget(value, key), open)
    local is_listed = math.type(key) == "integer" and key >= 1 and key <= length
    shown[#shown + 1] = is_listed and text or show_key(key, show) .. " = " .. text
  end
  open[value], open.n = nil, open.n - 1
  return "{ " .. table.concat(shown, ", ") .. " }"
end

-- The values of a message, or of a call.
local function show_list(list)
  local shown = {}
  for i = 1, list.n do shown[i] = show(list[i]) end
  return "(" .. table.concat(shown, ", ") .. ")"
end

local function step(path, key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return path .. "." .. key end
  return path .. "[" .. show(key) .. "]"
end

-- Nothing when `found` is what was wanted; else where they differ, and what is there in both.
local function differ(found, wanted, path, seen)
  if rawequal(wanted, any) or rawequal(found, wanted) then return end
  if type(wanted) == "function" and type(found) ~= "function" then
    if wanted(found) then return end
    return path, found, wanted
  end
  if found == wanted or (found ~= found and wanted ~= wanted) then return end
  if type(found) ~= "table" or type(wanted) ~= "table" then return path, found, wanted end

  if seen[found] == wanted then return end
  seen[found] = wanted
  for _, key in ipairs(sorted_keys(wanted)) do
    local at, x, y = differ(rawget(found, key), rawget(wanted, key), step(path, key), seen)
    if at then return at, x, y end
  end
  for _, key in ipairs(sorted_keys(found)) do
    if rawget(wanted, key) == nil then return step(path, key), rawget(found, key), nil end
  end
end

return {
  any = any,
  show = show,
  show_list = show_list,
  differ = function(found, wanted) return differ(found, wanted, "", {}) end,
}
