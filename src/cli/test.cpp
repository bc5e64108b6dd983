#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "cli/program_file.h"
#include "inference/answers/json_parser.h"
#include "inference/answers/value_reader.h"
#include "runtime/runtime.h"
#include "vm/snapshot.h"

namespace tenon::cli {
namespace {

using bytecode::ScriptedAnswer;
using bytecode::ScriptKind;

/// Answers the requests of one test from its script. Several answers for one function are given in their order, and
/// then no more; a single one as often as it is asked for.
class ScriptPlayer {
 public:
  ScriptPlayer(const vm::LoadedProgram& program, const bytecode::TestCase& test)
      : program_(program), reader_(program.types()) {
    for (const ScriptedAnswer& answer : test.answers) queues_[key_of(answer)].answers.push_back(&answer);
  }

  /// The outcome, or why the script has none.
  Result<vm::Outcome, std::string> answer(const vm::Request& request) {
    const bytecode::Program& program = program_.program();
    if (request.kind == vm::RequestKind::Extern) {
      const bytecode::Extern& native = program.externs[request.subject];
      // That an agent's turn begins and ends is only told to the world.
      const types::WorldCall call = native.world_call;
      if (call == types::WorldCall::AgentCalled || call == types::WorldCall::AgentReturned) {
        return vm::Outcome{vm::Answered{vm::Value()}, {}};
      }
      auto outcome = value_answer(ScriptKind::Extern, native.name, native.result);
      if (outcome && call == types::WorldCall::AskWithin) {
        if (auto* declined = std::get_if<vm::Declined>(&outcome->what)) declined->kind = types::FailureKind::TimedOut;
      }
      return outcome;
    }
    const bytecode::Site& site = program.sites[request.subject];
    switch (site.kind) {
      case bytecode::SiteKind::Completion: {
        std::string name = program.functions[site.function].name;
        return value_answer(ScriptKind::Completion, name.substr(0, name.find('<')), site.result);
      }
      case bytecode::SiteKind::Fill:
        return fill_answer(site);
      case bytecode::SiteKind::Select:
        return select_answer(site);
    }
    return failure(std::string("nothing answers this"));
  }

 private:
  struct Queue {
    std::vector<const ScriptedAnswer*> answers;
    std::size_t given = 0;
  };
  using Key = std::pair<ScriptKind, std::string>;

  static Key key_of(const ScriptedAnswer& answer) {
    return {answer.kind, answer.kind == ScriptKind::Select ? std::string() : answer.callee};
  }

  Result<const ScriptedAnswer*, std::string> next(ScriptKind kind, const std::string& name, std::string_view shown) {
    auto found = queues_.find({kind, name});
    if (found == queues_.end()) found = queues_.find({kind, "_"});  // `_ => fail("…")`: whatever is asked for
    if (found == queues_.end()) return failure(fmt::format("the script says nothing for {}", shown));
    Queue& queue = found->second;
    if (queue.answers.size() == 1) return queue.answers[0];
    if (queue.given == queue.answers.size()) {
      return failure(fmt::format("the script's {} answers for {} are used up", queue.given, shown));
    }
    return queue.answers[queue.given++];
  }

  static vm::Outcome declined(const ScriptedAnswer& answer) {
    const bool native = answer.kind == ScriptKind::Extern;
    return {vm::Declined{native ? types::FailureKind::ToolFailed : types::FailureKind::ModelUnavailable, answer.answer,
                         native ? answer.callee : "script"},
            {}};
  }

  Result<vm::Outcome, std::string> value_answer(ScriptKind kind, const std::string& name, types::TypeId type) {
    const auto answer = next(kind, name, "`" + name + "`");
    if (!answer) return failure(answer.error());
    if ((*answer)->fails) return declined(**answer);
    const auto json = inference::answers::parse_json((*answer)->answer);
    if (!json) return failure(json.error().message);
    auto value = reader_.read(type, *json);
    if (!value)
      return failure(inference::answers::describe(value.error().front(), fmt::format("the answer for `{}`", name)));
    return vm::Outcome{vm::Answered{std::move(*value)}, {}};
  }

  Result<std::vector<vm::Value>, std::string> read_holes(const bytecode::CallShape& call, const std::string& text) {
    const auto json = inference::answers::parse_json(text);
    if (!json) return failure(json.error().message);
    if (json->items().size() != call.holes.size()) {
      return failure(fmt::format("the script gives `{}` {} arguments, and {} are missing", call.name,
                                 json->items().size(), call.holes.size()));
    }
    std::vector<vm::Value> values;
    for (std::size_t at = 0; at < call.holes.size(); ++at) {
      auto value = reader_.read(call.parameters[call.holes[at]], json->items()[at]);
      if (!value) {
        return failure(inference::answers::describe(
            value.error().front(),
            fmt::format("the argument `{}` of `{}`", call.parameter_names[call.holes[at]], call.name)));
      }
      values.push_back(std::move(*value));
    }
    return values;
  }

  Result<vm::Outcome, std::string> fill_answer(const bytecode::Site& site) {
    const auto answer = next(ScriptKind::Fill, site.call.name, "the missing arguments of `" + site.call.name + "`");
    if (!answer) return failure(answer.error() + fmt::format("; write `_ => {}(…)`", site.call.name));
    if ((*answer)->fails) return declined(**answer);
    auto values = read_holes(site.call, (*answer)->answer);
    if (!values) return failure(values.error());
    return vm::Outcome{vm::Filled{std::move(*values)}, {}};
  }

  Result<vm::Outcome, std::string> select_answer(const bytecode::Site& site) {
    const auto answer = next(ScriptKind::Select, "", "`select`");
    if (!answer) return failure(answer.error() + "; write `select => function(…)`");
    if ((*answer)->fails) return declined(**answer);
    for (std::size_t clause = 0; clause < site.clauses.size(); ++clause) {
      if (site.clauses[clause].is_else || site.clauses[clause].call.name != (*answer)->callee) continue;
      auto values = read_holes(site.clauses[clause].call, (*answer)->answer);
      if (!values) return failure(values.error());
      return vm::Outcome{vm::Chosen{static_cast<std::uint32_t>(clause), std::move(*values)}, {}};
    }
    return failure(fmt::format("the script chooses `{}`, which is no clause of this `select`", (*answer)->callee));
  }

  const vm::LoadedProgram& program_;
  inference::answers::ValueReader reader_;
  std::map<Key, Queue> queues_;
};

/// Everything that a run holds is data: writes it down, drops it and reads it back.
std::optional<std::string> reload(vm::Machine& machine, const std::shared_ptr<const vm::LoadedProgram>& program) {
  const std::string bytes = vm::encode(machine);
  auto decoded = vm::decode(program, bytes);
  if (!decoded) return "the state that was written down cannot be read: " + decoded.error().message;
  if (vm::encode(*decoded) != bytes) return "the state that was read back is another one";
  machine = std::move(*decoded);
  return std::nullopt;
}

/// Nothing when the test has passed; otherwise what went wrong.
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
    if (std::holds_alternative<vm::Finished>(step)) return std::nullopt;
    if (const auto* failed = std::get_if<vm::Failed>(&step)) return runtime::describe_failure(*program, failed->report);
    if (const auto* damaged = std::get_if<vm::Damaged>(&step)) return damaged->place + ": " + damaged->message;
    if (std::holds_alternative<vm::Paused>(step)) continue;
    static_cast<void>(machine.take_cancelled());
    static_cast<void>(machine.take_requests());
    for (const vm::Request& request : machine.pending_requests()) {
      auto outcome = script.answer(request);
      if (!outcome) {
        const vm::CallStack stack = machine.call_stack(request.id);
        const std::string place = stack.entries.empty() ? "" : program->describe(stack.entries.front().place) + ": ";
        return place + outcome.error() + "\n";
      }
      if (!machine.resume(request.id, std::move(*outcome))) return "the machine did not take an outcome";
    }
  }
}

}  // namespace

int test(const TestCommand& command, const Environment& environment) {
  const auto program = load_program(command.file, environment);
  if (!program) return exit_failed;
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const bytecode::TestCase& test : program->program().tests) {
    if (test.name.find(command.filter) == std::string::npos) continue;
    const auto problem = run_test(program, test, command.verify, environment.interrupted);
    problem ? ++failed : ++passed;
    environment.write_output(fmt::format("test {} … {}\n", test.name, problem ? "FAILED" : "ok"));
    if (problem) environment.write_error(*problem);
  }
  environment.write_output(fmt::format("{} passed, {} failed\n", passed, failed));
  return failed > 0 ? exit_failed : exit_done;
}

}  // namespace tenon::cli
