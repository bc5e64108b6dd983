#include "base/duration.h"

#include <charconv>

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

}  // namespace tenon
