local pieces = {}
for i = 0, 1999999 do pieces[#pieces + 1] = "ab" end
local s = table.concat(pieces)
local n = #s
for i = 0, 299999 do
  local t = "item " .. i .. ";"
  n = n + #t
end
print(n)
