#include "runtime/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bytecode/agents.h"
#include "diagnostics/nearest.h"
#include "inference/answers/person_answer.h"

namespace tenon::runtime {
namespace {

bool is_context(const types::TypeTable& types, types::TypeId type) {
  return types.base(type) == types::TypeTable::context;
}

/// The names of the parameters that a caller passes.
std::vector<std::string_view> passed_names(const types::TypeTable& types, const bytecode::Function& function) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    if (!is_context(types, function.parameters[at])) names.push_back(function.parameter_names[at]);
  }
  return names;
}

std::string with_suggestion(std::string message, std::string_view name, const std::vector<std::string_view>& names) {
  if (const auto nearest = diagnostics::find_nearest(name, names)) {
    message += fmt::format("; did you mean `{}`?", *nearest);
  }
  return message;
}

vm::Argument named(vm::Value value, const std::string& name) {
  return {std::move(value), vm::Source{vm::SourceKind::Argument, name}};
}

/// Why an argument belongs to no parameter.
ArgumentProblem unused_argument(const types::TypeTable& types, const bytecode::Function& function,
                                const std::string& name) {
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    if (function.parameter_names[at] == name && is_context(types, function.parameters[at])) {
      return {ArgumentProblem::Kind::Context, name};
    }
  }
  return {ArgumentProblem::Kind::Unknown, name,
          with_suggestion(fmt::format("`{}` has no parameter `{}`", function.name, name), name,
                          passed_names(types, function))};
}

}  // namespace

Result<std::vector<vm::Argument>, std::vector<ArgumentProblem>> read_arguments(
    const vm::LoadedProgram& program, const bytecode::Function& function,
    std::span<const std::pair<std::string, std::string>> given) {
  const inference::answers::ValueReader reader(program.refinements());
  std::vector<vm::Argument> arguments;
  std::vector<ArgumentProblem> problems;
  std::vector<bool> used(given.size(), false);
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const std::string& name = function.parameter_names[at];
    const types::TypeId type = function.parameters[at];
    if (is_context(program.types(), type)) {
      arguments.push_back({vm::Value::empty_context(), std::nullopt});
      continue;
    }
    const auto found = std::find_if(given.begin(), given.end(), [&](const auto& pair) { return pair.first == name; });
    if (found == given.end()) {
      problems.push_back({ArgumentProblem::Kind::Missing, name, program.types().describe(type)});
      continue;
    }
    used[static_cast<std::size_t>(found - given.begin())] = true;
    auto value = inference::answers::read_person_answer(reader, type, found->second);
    if (value) {
      arguments.push_back(named(std::move(*value), name));
      continue;
    }
    for (const auto& mismatch : value.error()) {
      problems.push_back({ArgumentProblem::Kind::Invalid, name, inference::answers::describe(mismatch, "")});
    }
  }
  for (std::size_t at = 0; at < used.size(); ++at) {
    if (!used[at]) problems.push_back(unused_argument(program.types(), function, given[at].first));
  }
  if (!problems.empty()) return failure(std::move(problems));
  return arguments;
}

Result<std::vector<vm::Argument>, std::string> read_json_arguments(const ProgramImage& image,
                                                                   const bytecode::Function& function,
                                                                   std::string_view shown_name, const Json& arguments) {
  const types::TypeTable& types = image.program().types;
  std::string problems;
  const auto add = [&](std::string_view text) {
    if (!problems.empty()) problems += "; ";
    problems += text;
  };
  if (!arguments.is_object()) {
    return failure(
        fmt::format("`args`: expected an object with a member for each parameter, got {}", tenon::describe(arguments)));
  }
  const std::vector<std::string_view> names = passed_names(types, function);
  for (const auto& member : arguments.members()) {
    if (std::find(names.begin(), names.end(), member.name) != names.end()) continue;
    add(with_suggestion(fmt::format("`{}` has no parameter `{}`", shown_name, member.name), member.name, names));
  }
  std::vector<vm::Argument> values;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    const types::TypeId type = function.parameters[at];
    const std::string& parameter = function.parameter_names[at];
    if (is_context(types, type)) {
      values.push_back({vm::Value::empty_context(), std::nullopt});
      continue;
    }
    const Json* json = arguments.find(parameter);
    static const Json null;
    if (json == nullptr && types.kind(types.base(type)) == types::TypeKind::Option) json = &null;
    if (json == nullptr) {
      add(fmt::format("`{}` is missing ({})", parameter, types.describe(type)));
      continue;
    }
    auto value = image.reader().read(type, *json, parameter);
    if (value) {
      values.push_back(named(std::move(*value), parameter));
      continue;
    }
    for (const auto& mismatch : value.error()) add(inference::answers::describe(mismatch, parameter));
  }
  if (!problems.empty()) return failure(std::move(problems));
  return values;
}

Result<std::vector<vm::Argument>, std::string> take_arguments(const ProgramImage& image,
                                                              const bytecode::Function& function,
                                                              tools::ResultSlots& slots) {
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    if (is_context(image.program().types, function.parameters[at])) continue;
    if (auto missing = slots.find_missing(at)) return failure(std::move(*missing));
  }
  std::vector<vm::Argument> values;
  for (std::size_t at = 0; at < function.parameters.size(); ++at) {
    if (is_context(image.program().types, function.parameters[at])) {
      values.push_back({vm::Value::empty_context(), std::nullopt});
      continue;
    }
    auto value = slots.finish(at);
    if (!value) return failure(slots.failure_message().value_or("an argument is missing"));
    values.push_back(named(std::move(*value), function.parameter_names[at]));
  }
  return values;
}

std::string describe_unknown_function(const bytecode::Program& program, std::string_view name) {
  std::vector<std::string_view> names;
  for (const bytecode::Function& function : program.functions) names.push_back(function.name);
  return with_suggestion(fmt::format("cannot find function `{}` in the program", name), name, names);
}

std::string describe_unknown_agent(const bytecode::Program& program, std::string_view name) {
  return with_suggestion(fmt::format("cannot find agent `{}` in the program", name), name,
                         bytecode::agent_names(program));
}

}  // namespace tenon::runtime
