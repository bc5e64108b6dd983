#include "server/shown_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/agents.h"
#include "effects/value_form.h"
#include "json/reader.h"
#include "runtime/program_image.h"
#include "runtime/recovery/recovery.h"
#include "vm/values/render.h"

namespace tenon::server {
namespace {

constexpr std::string_view left_out_begin = R"({"left_out":{"hash":")";

/// The result type of the agent or function with that name.
std::optional<types::TypeId> find_result(const bytecode::Program& program, std::string_view name) {
  if (const auto agent = bytecode::find_agent(program, name)) {
    return program.functions[program.agents[*agent].turn].result;
  }
  const auto function = runtime::find_function(program, name);
  return function ? std::optional(program.functions[*function].result) : std::nullopt;
}

}  // namespace

Json ShownValues::plain(const Json& value, types::TypeId type) const {
  const auto read = effects::convert_value(value, type, program_->types());
  std::string json;
  if (!read || !vm::to_json(*read, program_->types(), json)) return value;
  return parse_own_json(json);
}

/// The complete value, also where the event has left it out.
Result<Json, std::string> ShownValues::whole(const Json& value) const {
  const Json& left_out = value.get("left_out");
  const auto hash = value.size() == 1 ? Hash::from_hex(left_out.text_or("hash", "")) : std::nullopt;
  if (!hash) return value;
  const std::uint64_t bytes = left_out.count_or("bytes", 0);
  if (bytes > bytes_max_) {
    return failure(
        fmt::format("the answer has {} bytes (limit `answer_bytes`: {}); `tenon store export` returns all of it", bytes,
                    bytes_max_));
  }
  const bool is_in_pieces = left_out.boolean_or("in_pieces", false);
  const auto content = runtime::resolve(store_, run_, {{}, *hash, is_in_pieces});
  if (!content) return value;
  auto json = parse_json(effects::name_secrets(*content), own_json_limits);
  return json ? std::move(*json) : value;
}

Result<Json, std::string> ShownValues::turn_value(const Json& event) const {
  const auto value = whole(event.get("value"));
  if (!value) return failure(value.error());
  const auto type = program_ == nullptr ? std::nullopt : find_result(program_->program(), event.text_or("agent", ""));
  return type ? plain(*value, *type) : *value;
}

Result<std::string, std::string> ShownValues::text(const Json& event) const {
  std::string text = event.text_or("text", "");
  if (!text.starts_with(left_out_begin)) return text;
  const Json parsed = parse_own_json(text);
  const auto arguments = whole(parsed);
  if (!arguments) return failure(arguments.error());
  const Json::Array& items = arguments->items_or_none();
  const bool has_text = !items.empty() && items.front().is_string();
  return has_text ? items.front().as_string() : text;
}

Json ShownValues::entries(const Json& event, const char* field) const {
  const Json& given = event.get(field);
  const auto agent =
      program_ == nullptr ? std::nullopt : bytecode::find_agent(program_->program(), event.text_or("agent", ""));
  if (!agent || !given.is_object()) return given;
  const types::TypeTable& types = program_->types();
  const types::TypeId state = types.base(program_->program().agents[*agent].state);
  if (types.kind(state) != types::TypeKind::Struct) return given;
  Json shown = Json::object();
  for (const types::Field& declared : types.struct_type(state).fields) {
    if (const Json* const found = given.find(declared.name)) shown.set(declared.name, plain(*found, declared.type));
  }
  for (const auto& [name, value] : given.members()) {
    if (!shown.contains(name)) shown.set(name, value);
  }
  return shown;
}

const bytecode::Extern* ShownValues::find_extern(const Json& event) const {
  if (program_ == nullptr) return nullptr;
  const auto& externs = program_->program().externs;
  const std::string tool = event.text_or("tool", "");
  const auto found = std::ranges::find(externs, tool, &bytecode::Extern::name);
  return found == externs.end() ? nullptr : &*found;
}

Json ShownValues::arguments(const Json& event) const {
  const Json& given = event.get("arguments");
  const bytecode::Extern* const called = find_extern(event);
  const bool fits = called != nullptr && called->parameter_names.size() == called->parameters.size();
  if (!fits || (!given.is_null() && (!given.is_array() || given.size() != called->parameters.size()))) {
    return given;
  }
  Json shown = Json::object();
  for (std::size_t at = 0; at < given.size(); ++at) {
    shown.set(called->parameter_names[at], plain(given.items()[at], called->parameters[at]));
  }
  return shown;
}

Json ShownValues::tool_value(const Json& event) const {
  const bytecode::Extern* const called = find_extern(event);
  const Json& value = event.get("value");
  return called != nullptr ? plain(value, called->result) : value;
}

std::string shown(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.dump();
}

}  // namespace tenon::server
