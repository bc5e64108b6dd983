local sum = 0
for round = 1, 10 do
  local xs = {}
  for i = 0, 499999 do xs[#xs + 1] = i end
  for i = 1, #xs do xs[i] = xs[i] + xs[i] end
  for _, x in ipairs(xs) do sum = sum + x end
end
print(sum)
