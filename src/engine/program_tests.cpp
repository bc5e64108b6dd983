#include "engine/program_tests.h"

#include "engine/script_player.h"
#include "engine/test_journal.h"
#include "runtime/runtime.h"
#include "vm/snapshot/snapshot.h"

namespace tenon::engine {
namespace {

bool is_interrupted(const std::atomic<bool>* interrupted) {
  return interrupted != nullptr && interrupted->load();
}

/// Encodes the machine, discards it, and continues with the decoded one. Returns what is wrong, if anything.
std::optional<std::string> reload(vm::Machine& machine, const std::shared_ptr<const vm::LoadedProgram>& program) {
  const std::string bytes = vm::encode(machine);
  auto decoded = vm::decode(program, bytes);
  if (!decoded) return "the encoded state cannot be decoded: " + decoded.error().message;
  if (vm::encode(*decoded) != bytes) return "the decoded state differs from the encoded one";
  machine = std::move(*decoded);
  return std::nullopt;
}

std::optional<std::string> run_machine(const std::shared_ptr<const vm::LoadedProgram>& program,
                                       const bytecode::TestCase& test, bool reloads,
                                       const std::atomic<bool>* interrupted) {
  ScriptPlayer script(program, test);
  vm::Machine machine(program, test.function, {});
  for (;;) {
    if (is_interrupted(interrupted)) return "interrupted";
    const vm::Step step = machine.run(reloads ? 1 : 10'000'000);
    if (reloads && (std::holds_alternative<vm::Paused>(step) || std::holds_alternative<vm::Waiting>(step))) {
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
      if (!outcome) return describe_unanswered(machine, request.id, outcome.error());
      if (!machine.resume(request.id, std::move(*outcome))) return "the machine did not accept an outcome";
    }
  }
}

}  // namespace

std::optional<std::string> run_test(const std::shared_ptr<const vm::LoadedProgram>& program,
                                    const bytecode::TestCase& test, TestMode mode,
                                    const std::atomic<bool>* interrupted) {
  if (mode != TestMode::Journalled) return run_machine(program, test, mode == TestMode::Reloaded, interrupted);
  ScriptPlayer script(program, test);
  const auto answer = [&](const vm::Request& request) -> Result<vm::Outcome, std::string> {
    if (is_interrupted(interrupted)) return failure(std::string("interrupted"));
    return script.answer(request);
  };
  if (auto problem = run_test_through_journal(program, test.function, answer)) return problem;
  return script.describe_unused();
}

}  // namespace tenon::engine
