#include "engine/script_player.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/utf8.h"
#include "inference/answers/person_answer.h"
#include "inference/prompting/prompt_templates.h"
#include "json/reader.h"
#include "json/text.h"
#include "runtime/prompts.h"
#include "runtime/runtime.h"
#include "vm/execution/tool_sets.h"
#include "vm/values/render.h"

namespace tenon::engine {
namespace {

using bytecode::RequestKind;
using bytecode::ScriptedAnswer;

/// A longer text of what was asked is cut in messages.
constexpr std::size_t shown_asked_bytes_max = 2'000;

/// Whose requests it answers: the tool that a `select` chooses does not matter.
std::string_view name_of(const ScriptedAnswer& answer) {
  return answer.kind == RequestKind::Select ? std::string_view() : std::string_view(answer.callee);
}

/// Whether both are for the same requests, so that they are used one after the other.
bool are_in_turn(const ScriptedAnswer& one, const ScriptedAnswer& other) {
  return one.kind == other.kind && name_of(one) == name_of(other) && one.contained == other.contained &&
         one.arguments == other.arguments;
}

/// The end of the text, with each line indented.
std::string shown_asked(std::string_view text) {
  std::string shown = "\n  ";
  if (text.size() > shown_asked_bytes_max) {
    std::size_t begin = text.size() - shown_asked_bytes_max;
    while (begin < text.size() && is_utf8_continuation(text[begin])) ++begin;
    text.remove_prefix(begin);
    shown += "…";
  }
  for (const char c : text) {
    shown += c;
    if (c == '\n') shown += "  ";
  }
  return shown;
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

ScriptPlayer::ScriptPlayer(std::shared_ptr<const vm::LoadedProgram> program, const bytecode::TestCase& test)
    : loaded_(std::move(program)),
      program_(*loaded_),
      reader_(program_.refinements()),
      secrets_([](effects::KeyUse) -> Result<SealingKey, std::string> { return SealingKey::random(); }) {
  for (const ScriptedAnswer& answer : test.answers) {
    const auto same =
        std::ranges::find_if(queues_, [&](const Queue& queue) { return are_in_turn(*queue.answers.front(), answer); });
    (same == queues_.end() ? queues_.emplace_back() : *same).answers.push_back(&answer);
  }
}

Result<vm::Outcome, std::string> ScriptPlayer::answer(const vm::Request& request) {
  const bytecode::Program& program = program_.program();
  if (request.kind == vm::RequestKind::Extern) {
    const bytecode::Extern& native = program.externs[request.subject];
    const types::BuiltinEffect call = native.builtin_effect;
    if (types::is_notification(call)) {
      return vm::Outcome{vm::ReturnedValue{vm::Value()}, {}};
    }
    auto outcome = value_answer(request, native.name, native.result);
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
      return value_answer(request, name.substr(0, name.find('<')), site.result);
    }
    case bytecode::SiteKind::Fill:
      return fill_answer(request, site);
    case bytecode::SiteKind::Select:
      return select_answer(request);
  }
  return failure(std::string("a script cannot answer this request"));
}

Result<const ScriptedAnswer*, std::string> ScriptPlayer::next(const vm::Request& request, std::string_view name,
                                                              std::string_view shown, std::string_view hint) {
  std::vector<std::string> differences;
  for (const std::string_view wanted : {name, std::string_view("_")}) {  // `_ => fail("…")`: any one
    for (Queue& queue : queues_) {
      const ScriptedAnswer& first = *queue.answers.front();
      if (first.kind != request.kind || name_of(first) != wanted) continue;
      if (std::optional<std::string> difference = find_difference(request, first)) {
        if (std::ranges::find(differences, *difference) == differences.end()) differences.push_back(*difference);
        continue;
      }
      if (queue.answers.size() == 1) {
        queue.given = 1;
        return &first;
      }
      if (queue.given == queue.answers.size()) {
        return failure(fmt::format("the script has only {} for {}{}", counted(queue.given, "answer"), shown, hint));
      }
      return queue.answers[queue.given++];
    }
  }
  if (differences.empty()) return failure(fmt::format("the script has no answer for {}{}", shown, hint));
  std::string problem = fmt::format("the script has no answer for this call of {}:", shown);
  for (const std::string& difference : differences) problem += "\n  " + difference;
  if (const std::string asked = asked_text(request); !asked.empty()) problem += "\n  asked:" + shown_asked(asked);
  return failure(std::move(problem));
}

std::optional<std::string> ScriptPlayer::find_difference(const vm::Request& request, const ScriptedAnswer& answer) {
  if (!answer.contained.empty()) {
    const std::string asked = asked_text(request);
    for (const std::string& text : answer.contained) {
      if (asked.find(text) == std::string::npos) {
        return fmt::format("what is asked does not contain {}", make_json_string(text));
      }
    }
  }
  return find_other_argument(request, answer);
}

std::optional<std::string> ScriptPlayer::find_other_argument(const vm::Request& request, const ScriptedAnswer& answer) {
  if (answer.arguments.empty()) return std::nullopt;
  const bytecode::Extern& callee = program_.program().externs[request.subject];
  for (std::size_t at = 0; at < std::min(answer.arguments.size(), request.arguments.size()); ++at) {
    if (answer.arguments[at] == bytecode::any_argument) continue;
    const auto json = parse_json(answer.arguments[at]);
    if (!json) return json.error().message;
    const auto expected = reader_.read(callee.parameters[at], *json);
    if (!expected) {
      return inference::answers::describe(expected.error().front(),
                                          fmt::format("the expected `{}`", callee.parameter_names[at]));
    }
    if (vm::equal(*expected, request.arguments[at])) continue;
    std::string given;
    if (!vm::to_json(request.arguments[at], program_.types(), given)) given = "another value";
    return fmt::format("`{}` is {}, and {} is expected", callee.parameter_names[at], given, answer.arguments[at]);
  }
  return std::nullopt;
}

std::string ScriptPlayer::asked_text(const vm::Request& request) {
  if (request.kind == RequestKind::Extern) {
    const bool is_question = types::asks_person(program_.program().externs[request.subject].builtin_effect);
    return is_question ? std::string(vm::asked_by(request, program_.program())) : std::string();
  }
  if (!image_) {
    image_ = std::make_unique<const runtime::ProgramImage>(loaded_, inference::prompting::PromptTemplates::builtin(),
                                                           nullptr);
  }
  std::string asked;
  for (const inference::Message& message : runtime::prompt_of(*image_, {}, request).messages) {
    if (!asked.empty()) asked += '\n';
    asked += message.text;
  }
  return asked;
}

Result<vm::Outcome, std::string> ScriptPlayer::value_answer(const vm::Request& request, const std::string& name,
                                                            types::TypeId type) {
  const std::string_view hint = is_verdicts(program_.types(), type)
                                    ? "; `judge => true` in `model { … }` satisfies all conditions of a call"
                                    : "";
  const auto answer = next(request, name, "`" + name + "`", hint);
  if (!answer) return failure(answer.error());
  if ((*answer)->fails) return declined(**answer);
  const auto json = parse_json((*answer)->answer);
  if (!json) return failure(json.error().message);
  if (vm::asks_approval(request, program_.program())) {
    const types::TypeId shown = program_.types().get(type).arguments[0];
    // A call has no type that a program can name: another one is given as the text of its JSON.
    const std::string& text = json->is_string() ? json->as_string() : (*answer)->answer;
    auto approved = inference::answers::read_approval(reader_, shown, request.arguments[0], text);
    if (approved) return vm::Outcome{vm::ReturnedValue{std::move(*approved)}, {}};
    return failure(inference::answers::describe(approved.error().front(), "the answer for `approve`"));
  }
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
    return failure(fmt::format("the script gives `{}` {}, and its missing ones are {}", call.name,
                               counted(json->items().size(), "argument"), call.holes.size()));
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

Result<vm::Outcome, std::string> ScriptPlayer::fill_answer(const vm::Request& request, const bytecode::Site& site) {
  const auto answer = next(request, site.call.name, "the missing arguments of `" + site.call.name + "`",
                           fmt::format("; write `_ => {}(…)`", site.call.name));
  if (!answer) return failure(answer.error());
  if ((*answer)->fails) return declined(**answer);
  auto values = read_holes(site.call, (*answer)->answer);
  if (!values) return failure(values.error());
  return vm::Outcome{vm::FilledArguments{std::move(*values)}, {}};
}

Result<vm::Outcome, std::string> ScriptPlayer::select_answer(const vm::Request& request) {
  const auto answer = next(request, "", "`select`", "; write `select => function(…)`");
  if (!answer) return failure(answer.error());
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
  struct Unused {
    const ScriptedAnswer* answer;
    const Queue* queue;
  };
  std::vector<Unused> unused;
  for (const Queue& queue : queues_) {
    for (std::size_t at = queue.given; at < queue.answers.size(); ++at) unused.push_back({queue.answers[at], &queue});
  }
  if (unused.empty()) return std::nullopt;
  const auto in_order = [](const Unused& a, const Unused& b) {
    const std::optional<bytecode::Place>& left = a.answer->place;
    const std::optional<bytecode::Place>& right = b.answer->place;
    return left && right && std::pair(left->line, left->column) < std::pair(right->line, right->column);
  };
  std::ranges::sort(unused, in_order);
  std::string text;
  for (const auto& [answer, queue] : unused) {
    if (answer->place) text += program_.describe(*answer->place) + ": ";
    text += fmt::format("error: unused scripted answer for {}", shown_request(*answer));
    if (queue->given > 0) text += fmt::format(" ({} of {} used)", queue->given, queue->answers.size());
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
