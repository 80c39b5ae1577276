-- counter.lua - adds up what it is told; an ask with a zero is answered with the sum.
--
-- SPDX-License-Identifier: MIT

return function()
  local count = 0
  return function(n)
    count = count + n
    return count
  end
end
