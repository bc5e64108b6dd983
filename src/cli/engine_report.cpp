#include "cli/engine_report.h"

#include <fmt/format.h>

namespace tenon::cli {

void report(const engine::Problems& problems, const Environment& environment) {
  for (const engine::Problem& problem : problems.list) {
    if (environment.error_is_terminal && !problem.styled.empty()) {
      environment.write_styled(problem.styled);
    } else {
      environment.write_error(problem.text);
    }
  }
  if (problems.left_out > 0) environment.write_error(fmt::format("and {} more\n", problems.left_out));
}

int report(const engine::EngineError& error, const Environment& environment) {
  using Kind = engine::EngineError::Kind;
  report(error.problems, environment);
  const bool is_usage = error.kind == Kind::Usage || error.kind == Kind::WrongInput;
  if (error.message.empty()) return is_usage ? exit_usage : exit_failed;
  const std::string message =
      error.setting.empty() ? error.message : fmt::format("invalid value for `--{}`: {}", error.setting, error.message);
  return fail(message, environment, is_usage ? exit_usage : exit_failed);
}

}  // namespace tenon::cli
