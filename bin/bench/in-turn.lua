-- For wrk: asks for the lines of a file in turn, each made into a request before the load begins.
local requests = {}
local last = 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("GET", line)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end
