#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "engine/program.h"
#include "engine/program_tests.h"

namespace tenon::cli {

int test(const TestCommand& command, const Environment& environment) {
  const auto compiled = engine::compile({command.file}, environment.system);
  if (!compiled) return report(compiled.error(), environment);
  report(compiled->warnings, environment);
  const std::vector<bytecode::TestCase>& tests = compiled->loaded->program().tests;
  const auto is_selected = [&](const bytecode::TestCase& test) {
    return test.name.find(command.filter) != std::string::npos;
  };
  if (!command.filter.empty() && std::none_of(tests.begin(), tests.end(), is_selected)) {
    return fail(fmt::format("no test name contains `{}`", command.filter), environment);
  }
  const auto mode = command.crash    ? engine::TestMode::Journalled
                    : command.verify ? engine::TestMode::Reloaded
                                     : engine::TestMode::Plain;
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const bytecode::TestCase& test : tests) {
    if (!is_selected(test)) continue;
    const auto problem = engine::run_test(compiled->loaded, test, mode, environment.interrupted);
    problem ? ++failed : ++passed;
    environment.write_output(fmt::format("test {} … {}\n", test.name, problem ? "FAILED" : "ok"));
    if (problem) environment.write_error(problem->ends_with('\n') ? *problem : *problem + "\n");
  }
  environment.write_output(fmt::format("{} passed, {} failed\n", passed, failed));
  return failed > 0 ? exit_failed : exit_done;
}

}  // namespace tenon::cli
