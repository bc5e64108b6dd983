#include "engine/script_player.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/reader.h"
#include "runtime/runtime.h"
#include "vm/execution/tool_sets.h"

namespace tenon::engine {
namespace {

using bytecode::RequestKind;
using bytecode::ScriptedAnswer;

std::pair<RequestKind, std::string> key_of(const ScriptedAnswer& answer) {
  return {answer.kind, answer.kind == RequestKind::Select ? std::string() : answer.callee};
}

/// Whether the type is the answer of a judge: `List<Verdict>` of a fixed length.
bool is_verdicts(const types::TypeTable& types, types::TypeId type) {
  if (types.kind(type) != types::TypeKind::Refined) return false;
  const types::TypeId list = types.base(type);
  if (types.kind(list) != types::TypeKind::List) return false;
  const types::TypeId item = types.get(list).arguments[0];
  return types.kind(item) == types::TypeKind::Struct && types.struct_type(item).name == "Verdict";
}

/// `judge => true` applies to all requirements, `judge => [true, false]` to one requirement each.
Json verdicts_of(const types::TypeTable& types, types::TypeId type, const Json& scripted) {
  const auto verdict = [](bool holds) {
    return Json::object().set("holds", holds).set("reason", holds ? Json() : Json("so the script"));
  };
  Json all = Json::array();
  if (scripted.is_boolean()) {
    for (std::uint64_t at = 0; at < types.refinement(type).length_low.value_or(0); ++at) {
      all.push_back(verdict(scripted.as_boolean()));
    }
    return all;
  }
  if (!scripted.is_array()) return scripted;
  for (const Json& item : scripted.items()) {
    all.push_back(item.is_boolean() ? verdict(item.as_boolean()) : item);
  }
  return all;
}

/// What the answer is for, in words.
std::string shown_request(const ScriptedAnswer& answer) {
  if (answer.kind == RequestKind::Select) return "`select`";
  if (answer.kind != RequestKind::Fill) return "`" + answer.callee + "`";
  return answer.callee == "_" ? "missing arguments" : "the missing arguments of `" + answer.callee + "`";
}

vm::Outcome declined(const ScriptedAnswer& answer) {
  const bool native = answer.kind == RequestKind::Extern;
  return {vm::EffectFailure{native ? types::FailureKind::ToolFailed : types::FailureKind::ModelUnavailable,
                            answer.answer, native ? answer.callee : "script"},
          {}};
}

}  // namespace

ScriptPlayer::ScriptPlayer(const vm::LoadedProgram& program, const bytecode::TestCase& test)
    : program_(program),
      reader_(program.refinements()),
      secrets_([](effects::KeyUse) -> Result<SealingKey, std::string> { return SealingKey::random(); }) {
  for (const ScriptedAnswer& answer : test.answers) queues_[key_of(answer)].answers.push_back(&answer);
}

Result<vm::Outcome, std::string> ScriptPlayer::answer(const vm::Request& request) {
  const bytecode::Program& program = program_.program();
  if (request.kind == vm::RequestKind::Extern) {
    const bytecode::Extern& native = program.externs[request.subject];
    const types::BuiltinEffect call = native.builtin_effect;
    if (types::is_notification(call)) {
      return vm::Outcome{vm::ReturnedValue{vm::Value()}, {}};
    }
    auto outcome = value_answer(RequestKind::Extern, native.name, native.result);
    // Such a question fails only if it is not answered in time.
    if (outcome && call == types::BuiltinEffect::AskWithin) {
      if (auto* declined = std::get_if<vm::EffectFailure>(&outcome->what))
        declined->kind = types::FailureKind::TimedOut;
    }
    return outcome;
  }
  const bytecode::Site& site = program.sites[request.subject];
  switch (site.kind) {
    case bytecode::SiteKind::Completion: {
      std::string name = program.functions[site.function].name;
      return value_answer(RequestKind::Complete, name.substr(0, name.find('<')), site.result);
    }
    case bytecode::SiteKind::Fill:
      return fill_answer(site);
    case bytecode::SiteKind::Select:
      return select_answer(request);
  }
  return failure(std::string("a script cannot answer this request"));
}

Result<const ScriptedAnswer*, std::string> ScriptPlayer::next(RequestKind kind, const std::string& name,
                                                              std::string_view shown) {
  auto found = queues_.find({kind, name});
  if (found == queues_.end()) found = queues_.find({kind, "_"});  // `_ => fail("…")` answers any request
  if (found == queues_.end()) return failure(fmt::format("the script has no answer for {}", shown));
  Queue& queue = found->second;
  if (queue.answers.size() == 1) {
    queue.given = 1;
    return queue.answers[0];
  }
  if (queue.given == queue.answers.size()) {
    return failure(fmt::format("the script has only {} answers for {}", queue.given, shown));
  }
  return queue.answers[queue.given++];
}

Result<vm::Outcome, std::string> ScriptPlayer::value_answer(RequestKind kind, const std::string& name,
                                                            types::TypeId type) {
  const auto answer = next(kind, name, "`" + name + "`");
  if (!answer) {
    const std::string_view hint = is_verdicts(program_.types(), type)
                                      ? "; `judge => true` in `model { … }` satisfies all conditions of a call"
                                      : "";
    return failure(fmt::format("{}{}", answer.error(), hint));
  }
  if ((*answer)->fails) return declined(**answer);
  const auto json = parse_json((*answer)->answer);
  if (!json) return failure(json.error().message);
  auto value =
      reader_.read(type, is_verdicts(program_.types(), type) ? verdicts_of(program_.types(), type, *json) : *json);
  if (!value)
    return failure(inference::answers::describe(value.error().front(), fmt::format("the answer for `{}`", name)));
  auto sealed = secrets_.seal(*value, type, program_.types(), {"", "", name});
  if (!sealed) return failure(std::move(sealed.error().message));
  return vm::Outcome{vm::ReturnedValue{std::move(*sealed)}, {}};
}

Result<std::vector<vm::Value>, std::string> ScriptPlayer::read_holes(const bytecode::CallShape& call,
                                                                     const std::string& text) {
  const auto json = parse_json(text);
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

Result<vm::Outcome, std::string> ScriptPlayer::fill_answer(const bytecode::Site& site) {
  const auto answer = next(RequestKind::Fill, site.call.name, "the missing arguments of `" + site.call.name + "`");
  if (!answer) return failure(answer.error() + fmt::format("; write `_ => {}(…)`", site.call.name));
  if ((*answer)->fails) return declined(**answer);
  auto values = read_holes(site.call, (*answer)->answer);
  if (!values) return failure(values.error());
  return vm::Outcome{vm::FilledArguments{std::move(*values)}, {}};
}

Result<vm::Outcome, std::string> ScriptPlayer::select_answer(const vm::Request& request) {
  const auto answer = next(RequestKind::Select, "", "`select`");
  if (!answer) return failure(answer.error() + "; write `select => function(…)`");
  if ((*answer)->fails) return declined(**answer);
  const std::vector<vm::SelectOption> options = vm::options_of(request, program_.program());
  for (std::size_t option = 0; option < options.size(); ++option) {
    if (options[option].is_else || options[option].call->name != (*answer)->callee) continue;
    auto values = read_holes(*options[option].call, (*answer)->answer);
    if (!values) return failure(values.error());
    return vm::Outcome{vm::SelectedClause{static_cast<std::uint32_t>(option), std::move(*values)}, {}};
  }
  return failure(
      fmt::format("the script chooses `{}`, which is neither a clause nor a tool of this `select`", (*answer)->callee));
}

std::optional<std::string> ScriptPlayer::describe_unused() const {
  std::vector<const ScriptedAnswer*> unused;
  for (const auto& [key, queue] : queues_) {
    unused.insert(unused.end(), queue.answers.begin() + static_cast<std::ptrdiff_t>(queue.given), queue.answers.end());
  }
  if (unused.empty()) return std::nullopt;
  const auto in_order = [](const ScriptedAnswer* a, const ScriptedAnswer* b) {
    return a->place && b->place &&
           std::pair(a->place->line, a->place->column) < std::pair(b->place->line, b->place->column);
  };
  std::sort(unused.begin(), unused.end(), in_order);
  std::string text;
  for (const ScriptedAnswer* answer : unused) {
    const Queue& queue = queues_.at(key_of(*answer));
    if (answer->place) text += program_.describe(*answer->place) + ": ";
    text += fmt::format("error: unused scripted answer for {}", shown_request(*answer));
    if (queue.given > 0) text += fmt::format(" ({} of {} used)", queue.given, queue.answers.size());
    text += '\n';
  }
  return text;
}

std::string describe_unanswered(const vm::Machine& machine, vm::RequestId request, std::string problem) {
  vm::FailureReport report;
  report.message = std::move(problem);
  report.call_stack = machine.call_stack(request);
  if (!report.call_stack.entries.empty()) {
    report.place = machine.program().describe(report.call_stack.entries.front().place);
  }
  return runtime::describe_failure(machine.program(), report);
}

}  // namespace tenon::engine
