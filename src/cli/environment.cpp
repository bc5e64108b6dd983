#include "cli/environment.h"

#include <fmt/format.h>

namespace tenon::cli {

int fail(std::string_view message, const Environment& environment, int code) {
  environment.write_error(fmt::format("error: {}\n", message));
  return code;
}

void warn(std::string_view message, const Environment& environment) {
  environment.write_error(fmt::format("warning: {}\n", message));
}

void notify(std::string_view message, const Environment& environment) {
  environment.write_error(fmt::format("tenon: {}\n", message));
}

void print_notice(engine::NoticeKind kind, std::string_view text, const Environment& environment) {
  if (kind == engine::NoticeKind::Warning) return warn(text, environment);
  environment.write_error(fmt::format("{}\n", text));
}

}  // namespace tenon::cli
