#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/program_file.h"
#include "cli/script_player.h"
#include "cli/test_journal.h"
#include "runtime/runtime.h"
#include "vm/snapshot.h"

namespace tenon::cli {
namespace {

/// Encodes the machine, discards it, and continues with the decoded one. Returns what is wrong, if anything.
std::optional<std::string> reload(vm::Machine& machine, const std::shared_ptr<const vm::LoadedProgram>& program) {
  const std::string bytes = vm::encode(machine);
  auto decoded = vm::decode(program, bytes);
  if (!decoded) return "the encoded state cannot be decoded: " + decoded.error().message;
  if (vm::encode(*decoded) != bytes) return "the decoded state differs from the encoded one";
  machine = std::move(*decoded);
  return std::nullopt;
}

/// Returns nothing if the test has passed, otherwise why it failed.
std::optional<std::string> run_test(const std::shared_ptr<const vm::LoadedProgram>& program,
                                    const bytecode::TestCase& test, bool verify, const std::atomic<bool>* interrupted) {
  ScriptPlayer script(*program, test);
  vm::Machine machine(program, test.function, {});
  for (;;) {
    if (interrupted != nullptr && interrupted->load()) return "interrupted";
    const vm::Step step = machine.run(verify ? 1 : 10'000'000);
    if (verify && (std::holds_alternative<vm::Paused>(step) || std::holds_alternative<vm::Waiting>(step))) {
      const std::vector<vm::Request> requests =
          std::holds_alternative<vm::Waiting>(step) ? machine.take_requests() : std::vector<vm::Request>();
      if (auto problem = reload(machine, program)) return problem;
    }
    if (std::holds_alternative<vm::Finished>(step)) return script.describe_unused();
    if (const auto* failed = std::get_if<vm::Failed>(&step)) return runtime::describe_failure(*program, failed->report);
    if (const auto* damaged = std::get_if<vm::Damaged>(&step)) return damaged->place + ": " + damaged->message;
    if (std::holds_alternative<vm::Paused>(step)) continue;
    static_cast<void>(machine.take_cancelled());
    static_cast<void>(machine.take_requests());
    for (const vm::Request& request : machine.pending_requests()) {
      auto outcome = script.answer(request);
      if (!outcome) {
        return describe_unanswered(machine, request.id, outcome.error());
      }
      if (!machine.resume(request.id, std::move(*outcome))) return "the machine did not accept an outcome";
    }
  }
}

}  // namespace

int test(const TestCommand& command, const Environment& environment) {
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  const std::vector<bytecode::TestCase>& tests = program->program().tests;
  const auto is_selected = [&](const bytecode::TestCase& test) {
    return test.name.find(command.filter) != std::string::npos;
  };
  if (!command.filter.empty() && std::none_of(tests.begin(), tests.end(), is_selected)) {
    return fail(fmt::format("no test name contains `{}`", command.filter), environment);
  }
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const bytecode::TestCase& test : tests) {
    if (!is_selected(test)) continue;
    std::optional<std::string> problem;
    if (command.crash) {
      ScriptPlayer script(*program, test);
      const auto answer = [&](const vm::Request& request) -> Result<vm::Outcome, std::string> {
        if (environment.interrupted != nullptr && environment.interrupted->load()) {
          return failure(std::string("interrupted"));
        }
        return script.answer(request);
      };
      problem = run_test_through_journal(program, test.function, answer);
      if (!problem) problem = script.describe_unused();
    } else {
      problem = run_test(program, test, command.verify, environment.interrupted);
    }
    problem ? ++failed : ++passed;
    environment.write_output(fmt::format("test {} … {}\n", test.name, problem ? "FAILED" : "ok"));
    if (problem) environment.write_error(problem->ends_with('\n') ? *problem : *problem + "\n");
  }
  environment.write_output(fmt::format("{} passed, {} failed\n", passed, failed));
  return failed > 0 ? exit_failed : exit_done;
}

}  // namespace tenon::cli
