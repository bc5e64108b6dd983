#include "vm/execution/tool_sets.h"

#include <algorithm>

#include "base/ensure.h"
#include "json/text.h"
#include "vm/builtins/builtins.h"
#include "vm/values/json_reader.h"
#include "vm/values/object.h"
#include "vm/values/render.h"

namespace tenon::vm {
namespace {

using bytecode::Program;
using bytecode::Tool;
using bytecode::ToolIndices;

/// Reading a byte of an argument takes as long as copying this many.
constexpr std::uint64_t cost_per_byte_read = 4;

std::optional<std::uint32_t> find_tool(const Value& item, const Program& program) {
  if (item.tag() != Tag::Record || item.fields().empty() || item.fields()[0].tag() != Tag::Integer) return std::nullopt;
  const std::int64_t index = item.fields()[0].as_integer();
  if (index < 0 || static_cast<std::uint64_t>(index) >= program.tools.size()) return std::nullopt;
  const auto tool = static_cast<std::uint32_t>(index);
  const bool is_whole = item.fields().size() == 1 + program.tools[tool].given.size();
  return is_whole ? std::optional(tool) : std::nullopt;
}

// The operations of the language on sets.

OpStatus refuse_set(BuiltinCall& call) {
  return damage(call.state, "a set of tools was expected");
}

const std::string& name_of(const Program& program, std::uint32_t tool) {
  return program.tools[tool].call.name;
}

OpStatus tool_names(BuiltinCall& call) {
  const Program& program = call.state.program->program();
  const auto tools = find_tools(call.arguments[0], program);
  if (!tools) return refuse_set(call);
  std::vector<Value> names;
  for (const std::uint32_t tool : *tools) names.push_back(Value::string(name_of(program, tool)));
  call.result = Value::list(std::move(names));
  return OpStatus::Ok;
}

OpStatus fail_unknown(BuiltinCall& call, const ToolIndices& tools, std::string_view name) {
  const Program& program = call.state.program->program();
  std::string names;
  for (const std::uint32_t tool : tools) names += (names.empty() ? "" : ", ") + name_of(program, tool);
  return fail(
      call.state, types::FailureKind::Index,
      "the set has no tool " + make_json_string(name) + (names.empty() ? "; it is empty" : "; its tools are " + names),
      call.label);
}

enum class Kept : bool { Named, Others };

OpStatus filter(BuiltinCall& call, Kept kept) {
  const Program& program = call.state.program->program();
  const auto tools = find_tools(call.arguments[0], program);
  if (!tools || call.arguments[1].tag() != Tag::List) return refuse_set(call);
  for (const Value& name : call.arguments[1].items()) {
    if (name.tag() != Tag::String) return damage(call.state, "a name was expected");
    call.label = call.state.labels.join(call.label, name.label());  // each decides which tools are left
  }
  std::vector<bool> is_named(tools->size(), false);
  for (const Value& name : call.arguments[1].items()) {
    const auto found =
        std::ranges::find_if(*tools, [&](std::uint32_t tool) { return name_of(program, tool) == name.as_text(); });
    if (found == tools->end()) return fail_unknown(call, *tools, name.as_text());
    is_named[static_cast<std::size_t>(found - tools->begin())] = true;
  }
  const std::span<const Value> items = call.arguments[0].items();
  std::vector<Value> left;
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (is_named[at] == (kept == Kept::Named)) left.push_back(items[at]);
  }
  call.result = Value::list(std::move(left));
  return OpStatus::Ok;
}

OpStatus tools_only(BuiltinCall& call) {
  return filter(call, Kept::Named);
}
OpStatus tools_without(BuiltinCall& call) {
  return filter(call, Kept::Others);
}

OpStatus join_tools(BuiltinCall& call) {
  const Program& program = call.state.program->program();
  const auto left = find_tools(call.arguments[0], program);
  const auto right = find_tools(call.arguments[1], program);
  if (!left || !right) return refuse_set(call);
  for (const std::uint32_t tool : *right) {
    const std::string& name = name_of(program, tool);
    if (std::ranges::none_of(*left, [&](std::uint32_t other) { return name_of(program, other) == name; })) continue;
    // Programs of the first version keep their text (vm/messages.h).
    const bool is_loops_own = program.messages != MessageVersion::First &&
                              (name == "answer" || name.starts_with("read_") || name.starts_with("write_"));
    return fail(
        call.state, types::FailureKind::Conversion,
        "both sets have a tool " + make_json_string(name) + "; rename one of them with `as` where it is listed" +
            (is_loops_own ? " (a `core_loop` itself adds tools named `answer`, `read_FIELD` and `write_FIELD`)" : ""),
        call.label);
  }
  const std::span<const Value> first = call.arguments[0].items();
  const std::span<const Value> second = call.arguments[1].items();
  std::vector<Value> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  call.result = Value::list(std::move(all));
  return OpStatus::Ok;
}

OpStatus tool_signatures(BuiltinCall& call) {
  const Program& program = call.state.program->program();
  const auto tools = find_tools(call.arguments[0], program);
  if (!tools) return refuse_set(call);
  std::vector<Value> signatures;
  for (const std::uint32_t tool : *tools) {
    const bytecode::CallShape& shape = program.tools[tool].call;
    signatures.push_back(
        Value::string(shape.documentation.empty() ? shape.signature : shape.signature + " // " + shape.documentation));
  }
  call.result = Value::list(std::move(signatures));
  return OpStatus::Ok;
}

OpStatus find_named(BuiltinCall& call) {
  const Program& program = call.state.program->program();
  const auto tools = find_tools(call.arguments[0], program);
  if (!tools || call.arguments[1].tag() != Tag::String) return refuse_set(call);
  const std::string_view name = call.arguments[1].as_text();
  for (std::size_t at = 0; at < tools->size(); ++at) {
    if (name_of(program, (*tools)[at]) != name) continue;
    call.result = call.arguments[0].items()[at];
    return OpStatus::Ok;
  }
  return fail_unknown(call, *tools, name);
}

/// A text of a map as a value: text as it is, anything else as JSON, or as a name of a case.
Result<Value, std::string> read_argument(const BuiltinCall& call, types::TypeId type, std::string_view text) {
  const JsonReader& reader = *call.state.program->json_reader();
  const types::TypeTable& types = call.state.program->types();
  types::TypeId shown = types.base(type);
  while (types.kind(shown) == types::TypeKind::Option) shown = types.base(types.get(shown).arguments[0]);
  const types::TypeKind kind = types.kind(shown);
  const std::string quoted = make_json_string(text);
  if (kind == types::TypeKind::String || kind == types::TypeKind::Text) return reader.read(type, quoted);
  auto value = reader.read(type, text);
  const bool has_names = kind == types::TypeKind::Enum || kind == types::TypeKind::Union;
  return value || !has_names ? std::move(value) : reader.read(type, quoted);
}

OpStatus read_arguments(BuiltinCall& call) {
  const Program& program = call.state.program->program();
  const auto tool = find_tool(call.arguments[0], program);
  if (!tool || call.arguments[1].tag() != Tag::Map) return damage(call.state, "a tool and a map were expected");
  if (call.state.program->json_reader() == nullptr) {
    return damage(call.state, "the program was loaded without a reader of JSON");
  }
  const bytecode::CallShape& shape = program.tools[*tool].call;
  const auto refuse = [&](const std::string& why, LabelId label) {
    return fail(call.state, types::FailureKind::Conversion, "`" + shape.name + "`: " + why, label);
  };
  const auto has_parameter = [&](std::string_view name) {
    return std::ranges::any_of(shape.holes, [&](std::uint16_t hole) { return shape.parameter_names[hole] == name; });
  };
  for (const MapEntry& entry : call.arguments[1].entries()) {
    if (has_parameter(entry.key.as_text())) continue;
    return refuse("it has no parameter " + make_json_string(entry.key.as_text()) + "; it is " + shape.signature,
                  call.state.labels.join(call.label, entry.key.label()));
  }
  std::vector<Value> arguments;
  for (const std::uint16_t hole : shape.holes) {
    const std::string& name = shape.parameter_names[hole];
    const Value* const given = call.arguments[1].find_entry(name);
    if (given == nullptr) {
      const types::TypeTable& types = call.state.program->types();
      const bool is_option = types.kind(types.base(shape.parameters[hole])) == types::TypeKind::Option;
      if (!is_option) return refuse("`" + name + "` is missing; it is " + shape.signature, call.label);
      arguments.push_back(Value::none());
      continue;
    }
    if (given->tag() != Tag::String) return damage(call.state, "a text was expected");
    const LabelId label = call.state.labels.join(call.label, given->label());
    defer_cost(call.state, given->as_text().size() * cost_per_byte_read);
    auto value = read_argument(call, shape.parameters[hole], given->as_text());
    if (!value) return refuse("`" + name + "`: " + value.error(), label);
    const bool is_any_text = shape.parameters[hole] == types::TypeTable::string;
    if (!is_any_text) call.state.doubt = call.state.labels.join(call.state.doubt, label);
    add_label(*value, label, call.state.labels);
    arguments.push_back(std::move(*value));
  }
  call.result = Value::list(std::move(arguments));
  return OpStatus::Ok;
}

}  // namespace

BuiltinFunction* find_tools_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::ToolNames) return tool_names;
  if (builtin == types::Builtin::ToolsOnly) return tools_only;
  if (builtin == types::Builtin::ToolsWithout) return tools_without;
  if (builtin == types::Builtin::ToolsJoin) return join_tools;
  if (builtin == types::Builtin::ToolSignatures) return tool_signatures;
  if (builtin == types::Builtin::ToolFind) return find_named;
  if (builtin == types::Builtin::ToolArguments) return read_arguments;
  return nullptr;
}

std::optional<ToolIndices> find_tools(const Value& set, const Program& program) {
  if (set.tag() != Tag::List) return std::nullopt;
  ToolIndices tools;
  for (const Value& item : set.items()) {
    const auto tool = find_tool(item, program);
    if (!tool) return std::nullopt;
    tools.push_back(*tool);
  }
  return tools;
}

std::vector<ToolIndices> sets_of(const Request& request, const Program& program) {
  std::vector<ToolIndices> sets;
  if (request.kind != RequestKind::Select) return sets;
  for (const Value& set : request.arguments) {
    auto tools = find_tools(set, program);
    ENSURE(tools.has_value());
    sets.push_back(std::move(*tools));
  }
  return sets;
}

std::vector<SelectOption> options_of(const Request& request, const Program& program) {
  const std::vector<bytecode::Clause>& clauses = program.sites[request.subject].clauses;
  const std::vector<ToolIndices> sets = sets_of(request, program);
  std::vector<SelectOption> options;
  std::uint32_t set = 0;
  for (std::uint32_t at = 0; at < clauses.size(); ++at) {
    if (!clauses[at].is_set) {
      options.push_back({&clauses[at].call, at, clauses[at].is_else, std::nullopt, 0, 0});
      continue;
    }
    for (std::uint32_t item = 0; item < sets[set].size(); ++item) {
      const std::uint32_t tool = sets[set][item];
      options.push_back({&program.tools[tool].call, at, false, tool, set, item});
    }
    ++set;
  }
  return options;
}

std::optional<Value> write_arguments(const bytecode::CallShape& call, const std::vector<Value>& arguments,
                                     const types::TypeTable& types) {
  std::string text = "{";
  for (std::size_t at = 0; at < call.holes.size(); ++at) {
    if (at > 0) text += ',';
    append_json_string(text, call.parameter_names[call.holes[at]]);
    text += ':';
    if (!to_json(arguments[at], types, text)) return std::nullopt;
  }
  text += '}';
  auto written = Value::try_string(std::move(text));
  return written ? std::optional(std::move(*written)) : std::nullopt;
}

std::optional<std::uint32_t> tool_function(const Value* window, const Program& program, std::uint32_t Tool::*function) {
  const auto tool = find_tool(window[0], program);
  if (!tool || window[1].tag() != Tag::List) return std::nullopt;
  if (window[1].items().size() != program.tools[*tool].call.holes.size()) return std::nullopt;
  const std::uint32_t called = program.tools[*tool].*function;
  return called < program.functions.size() ? std::optional(called) : std::nullopt;
}

void pass_tool_arguments(MachineState& state, Value* window, Value* end) {
  const Program& program = state.program->program();
  const Value record = std::move(window[0]);
  const Value list = std::move(window[1]);
  for (Value* at = window; at < end; ++at) *at = Value();
  const Tool& tool = program.tools[*find_tool(record, program)];
  std::size_t given = 0;
  std::size_t hole = 0;
  // Given arguments keep their labels: the model has chosen the call, not these.
  while (given < tool.given.size() || hole < tool.call.holes.size()) {
    const bool is_given =
        hole == tool.call.holes.size() || (given < tool.given.size() && tool.given[given] < tool.call.holes[hole]);
    if (is_given) {
      *window++ = record.fields()[1 + given++];
      continue;
    }
    Value argument = list.items()[hole++];
    add_label(argument, list.label(), state.labels);
    *window++ = std::move(argument);
  }
}

}  // namespace tenon::vm
