#include "base/duration.h"

#include <array>
#include <charconv>
#include <utility>

namespace tenon {

std::optional<std::uint64_t> read_duration_ms(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::uint64_t factor = 0;
  if (unit == "ms") factor = 1;
  if (unit == "s") factor = 1'000;
  if (unit == "m") factor = 60'000;
  if (unit == "h") factor = 3'600'000;
  if (unit == "d") factor = 86'400'000;
  if (factor == 0 || number > UINT64_MAX / factor) return std::nullopt;
  return number * factor;
}

std::string describe_duration_ms(std::uint64_t milliseconds) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 4> units{
      {{86'400'000, " d"}, {3'600'000, " h"}, {60'000, " min"}, {1'000, " s"}}};
  for (const auto& [factor, unit] : units) {
    if (milliseconds > 0 && milliseconds % factor == 0) return std::to_string(milliseconds / factor) + unit;
  }
  return std::to_string(milliseconds) + " ms";
}

}  // namespace tenon
