-- Sends the requests of a file (method, path and body of one per line, between tabs), in its order, and prints the result as JSON.
local requests = {}
local next = 0

function init(args)
  wrk.headers["content-type"] = "application/json"
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^(%u+)\t([^\t]*)\t(.*)$")
    requests[#requests + 1] = wrk.format(method, path, nil, body ~= "" and body or nil)
  end
end

function request()
  next = next % #requests + 1
  return requests[next]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  local result = '{"requests":%d,"failed":%d,"seconds":%f,"p50":%f,"p99":%f,"p999":%f}\n'
  local of = function(percent) return latency:percentile(percent) / 1000 end
  io.write(result:format(summary.requests, failed, summary.duration / 1e6, of(50), of(99), of(99.9)))
end
