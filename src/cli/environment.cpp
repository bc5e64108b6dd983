#include "cli/environment.h"

#include <fmt/format.h>

namespace tenon::cli {

int tell(std::string_view message, const Environment& environment) {
  environment.write_error(fmt::format("tenon: {}\n", message));
  return exit_failed;
}

}  // namespace tenon::cli
