#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/program_files.h"
#include "engine/program.h"
#include "engine/program_tests.h"

namespace tenon::cli {
namespace {

struct Counts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t broken = 0;  ///< programs that do not compile
};

/// Runs the selected tests of a program. `prefix` comes before their names.
void test_program(const std::string& file, const std::string& prefix, const TestCommand& command,
                  const Environment& environment, Counts& counts) {
  const auto compiled = engine::compile({file}, environment.system);
  if (!compiled) {
    report(compiled.error(), environment);
    ++counts.broken;
    return;
  }
  report(compiled->warnings, environment);
  const auto mode = command.crash    ? engine::TestMode::Journalled
                    : command.verify ? engine::TestMode::Reloaded
                                     : engine::TestMode::Plain;
  for (const bytecode::TestCase& test : compiled->loaded->program().tests) {
    if (test.name.find(command.filter) == std::string::npos) continue;
    const auto problem = engine::run_test(compiled->loaded, test, mode, environment.interrupted);
    problem ? ++counts.failed : ++counts.passed;
    environment.write_output(fmt::format("test {}{} … {}\n", prefix, test.name, problem ? "FAILED" : "ok"));
    if (problem) environment.write_error(problem->ends_with('\n') ? *problem : *problem + "\n");
  }
}

}  // namespace

int test(const TestCommand& command, const Environment& environment) {
  const auto files = find_programs(command.files);
  if (!files) return fail(files.error(), environment);
  Counts counts;
  for (const std::string& file : *files) {
    test_program(file, files->size() > 1 ? file + ": " : "", command, environment, counts);
  }
  if (counts.broken == files->size()) return exit_failed;
  if (!command.filter.empty() && counts.passed + counts.failed == 0 && counts.broken == 0) {
    return fail(fmt::format("no test name contains `{}`", command.filter), environment);
  }
  environment.write_output(fmt::format("{} passed, {} failed\n", counts.passed, counts.failed));
  if (counts.broken > 0) {
    return fail(counts.broken == 1
                    ? "a program does not compile, and its tests were not run"
                    : fmt::format("{} programs do not compile, and their tests were not run", counts.broken),
                environment);
  }
  return counts.failed > 0 ? exit_failed : exit_done;
}

}  // namespace tenon::cli
