#include "server/shown_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "effects/value_form.h"
#include "runtime/migration.h"
#include "runtime/program_image.h"
#include "vm/render.h"

namespace tenon::server {
namespace {

using ParsedEvent = nlohmann::json;

constexpr std::string_view left_out_begin = R"({"left_out":{"hash":")";

std::string dumped(const ParsedEvent& value) {
  return value.dump(-1, ' ', false, ParsedEvent::error_handler_t::replace);
}

ShownValues::Json as_it_is(const ParsedEvent& value) {
  return ShownValues::Json::parse(dumped(value));
}

const ParsedEvent& field_of(const ParsedEvent& event, const char* name) {
  static const ParsedEvent null;
  const auto found = event.find(name);
  return found == event.end() ? null : *found;
}

std::string text_of(const ParsedEvent& event, const char* name) {
  const ParsedEvent& field = field_of(event, name);
  return field.is_string() ? field.get<std::string>() : std::string();
}

/// The result type of the agent or function with that name.
std::optional<types::TypeId> find_result(const bytecode::Program& program, std::string_view name) {
  if (const auto agent = runtime::find_agent(program, name)) {
    return program.functions[program.agents[*agent].turn].result;
  }
  const auto function = runtime::find_function(program, name);
  return function ? std::optional(program.functions[*function].result) : std::nullopt;
}

}  // namespace

ShownValues::Json ShownValues::plain(const ParsedEvent& value, types::TypeId type) const {
  const auto read = effects::read_value(dumped(value), type, program_->types());
  std::string json;
  if (!read || !vm::to_json(*read, program_->types(), json)) return as_it_is(value);
  return Json::parse(json);
}

/// The complete value, also where the event has left it out.
Result<ParsedEvent, std::string> ShownValues::whole(const ParsedEvent& value) const {
  const ParsedEvent& left_out = value.is_object() && value.size() == 1 ? field_of(value, "left_out") : ParsedEvent();
  const auto hash = left_out.is_object() ? Hash::from_hex(text_of(left_out, "hash")) : std::nullopt;
  if (!hash) return value;
  const ParsedEvent& bytes = field_of(left_out, "bytes");
  if (bytes.is_number_unsigned() && bytes.get<std::size_t>() > bytes_max_) {
    return failure(
        fmt::format("the answer has {} bytes (limit `answer_bytes`: {}); `tenon store export` returns all of it",
                    bytes.get<std::size_t>(), bytes_max_));
  }
  const auto content = store_.content(run_, *hash);
  if (!content) return value;
  ParsedEvent json = ParsedEvent::parse(effects::name_secrets(*content), nullptr, false);
  if (json.is_discarded()) return value;
  return json;
}

Result<ShownValues::Json, std::string> ShownValues::turn_value(const ParsedEvent& event) const {
  const auto value = whole(field_of(event, "value"));
  if (!value) return failure(value.error());
  const auto type = program_ == nullptr ? std::nullopt : find_result(program_->program(), text_of(event, "agent"));
  return type ? plain(*value, *type) : as_it_is(*value);
}

Result<std::string, std::string> ShownValues::text(const ParsedEvent& event) const {
  std::string text = text_of(event, "text");
  if (!text.starts_with(left_out_begin)) return text;
  const ParsedEvent parsed = ParsedEvent::parse(text, nullptr, false);
  const auto arguments = whole(parsed);
  if (!arguments) return failure(arguments.error());
  const bool has_text = arguments->is_array() && !arguments->empty() && (*arguments)[0].is_string();
  return has_text ? (*arguments)[0].get<std::string>() : text;
}

ShownValues::Json ShownValues::entries(const ParsedEvent& event, const char* field) const {
  const ParsedEvent& given = field_of(event, field);
  const auto agent =
      program_ == nullptr ? std::nullopt : runtime::find_agent(program_->program(), text_of(event, "agent"));
  if (!agent || !given.is_object()) return as_it_is(given);
  const types::TypeTable& types = program_->types();
  const types::TypeId state = types.base(program_->program().agents[*agent].state);
  if (types.kind(state) != types::TypeKind::Struct) return as_it_is(given);
  Json shown = Json::object();
  for (const types::Field& declared : types.struct_type(state).fields) {
    if (const auto found = given.find(declared.name); found != given.end()) {
      shown[declared.name] = plain(*found, declared.type);
    }
  }
  for (const auto& [name, value] : given.items()) {
    if (!shown.contains(name)) shown[name] = as_it_is(value);
  }
  return shown;
}

const bytecode::Extern* ShownValues::find_extern(const ParsedEvent& event) const {
  if (program_ == nullptr) return nullptr;
  const auto& externs = program_->program().externs;
  const std::string tool = text_of(event, "tool");
  const auto found = std::ranges::find(externs, tool, &bytecode::Extern::name);
  return found == externs.end() ? nullptr : &*found;
}

ShownValues::Json ShownValues::arguments(const ParsedEvent& event) const {
  const ParsedEvent& given = field_of(event, "arguments");
  const bytecode::Extern* const called = find_extern(event);
  const bool fits = called != nullptr && called->parameter_names.size() == called->parameters.size();
  if (!fits || (!given.is_null() && (!given.is_array() || given.size() != called->parameters.size()))) {
    return as_it_is(given);
  }
  Json shown = Json::object();
  for (std::size_t at = 0; at < given.size(); ++at) {
    shown[called->parameter_names[at]] = plain(given[at], called->parameters[at]);
  }
  return shown;
}

ShownValues::Json ShownValues::tool_value(const ParsedEvent& event) const {
  const bytecode::Extern* const called = find_extern(event);
  const ParsedEvent& value = field_of(event, "value");
  return called != nullptr ? plain(value, called->result) : as_it_is(value);
}

std::string shown(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tenon::server
