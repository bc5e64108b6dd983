#include "base/counted.h"

#include <fmt/format.h>

namespace tenon {

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

std::string counted_were(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "was" : "were");
}

}  // namespace tenon
