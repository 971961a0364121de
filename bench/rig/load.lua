-- This is the load of one round for wrk: it replaces the mark in a template by a key that is new for every request.
-- BENCH_TEMPLATES names files with bodies, separated by commas, taken in turn. BENCH_KEY is the first part of each key.
-- BENCH_WRAP is the number of keys after which the first comes again, or 0 for never. BENCH_PAUSE is the pause in
-- milliseconds between two requests of a connection.
local MARK = "@@@@@@@@@@@@@@@@@@@@@@@@"

local function split(text)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(MARK, from, true)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

function init()
  local names = os.getenv("BENCH_TEMPLATES")
  if not names or names == "" then return end
  local prefix = os.getenv("BENCH_KEY")
  local wrap = tonumber(os.getenv("BENCH_WRAP") or "0")
  local templates = {}
  for name in names:gmatch("[^,]+") do
    local file = assert(io.open(name, "rb"))
    local body = file:read("*a")
    file:close()
    -- A key has the length of the mark, so the head with its Content-Length is made once.
    templates[#templates + 1] = split(wrk.format("POST", nil, nil, body))
  end
  local count = #templates
  local width = #MARK - #prefix
  local number = -1 -- wrk asks once for a request that it does not send
  request = function()
    local parts = templates[number % count + 1]
    local key = prefix .. string.format("%0" .. width .. "d", number)
    number = number + 1
    if wrap > 0 and number >= wrap then number = 0 end
    return table.concat(parts, key)
  end
end

local pause = tonumber(os.getenv("BENCH_PAUSE") or "0")
if pause > 0 then
  function delay()
    return pause
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nBENCH {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
