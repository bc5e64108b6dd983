#include "base/ensure.h"

#include <string_view>

namespace tenon {

void throw_broken_condition(const char* condition, const char* file, int line) {
  // From `src` on: where it was built is of no use.
  std::string_view path(file);
  if (const auto source = path.rfind("/src/"); source != std::string_view::npos) path.remove_prefix(source + 1);
  throw BrokenCondition("internal error at " + std::string(path) + ":" + std::to_string(line) + ": " + condition +
                        " does not hold");
}

}  // namespace tenon
