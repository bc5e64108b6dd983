#include "protocol/event_schema.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "json/json.h"
#include "protocol/event_types.h"
#include "protocol/record_events.h"

namespace tenon::protocol {
namespace {

Json schema_of(const EventField& field) {
  Json schema = Json::object();
  switch (field.form) {
    case FieldForm::Text:
      schema["type"] = "string";
      break;
    case FieldForm::Integer:
      schema["type"] = "integer";
      schema["minimum"] = 0;
      break;
    case FieldForm::Time:
      schema["type"] = "integer";
      break;
    case FieldForm::Value:
      break;
    case FieldForm::Schema:
      schema["type"] = Json::array({"object", "boolean"});
      break;
  }
  schema["description"] = field.meaning;
  return schema;
}

Json schema_of(const EventType& type) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const EventField& field : common_fields()) {
    if (field.name == "number" && type.kind == EventKind::TextDelta) continue;
    properties[field.name] = schema_of(field);
    if (field.presence == Presence::Always || field.name == "number") required.push_back(field.name);
  }
  properties["type"] = Json::object({{"const", type.name}});
  for (const EventField& field : type.fields) {
    properties[field.name] = schema_of(field);
    if (field.presence == Presence::Always) required.push_back(field.name);
  }
  return Json::object({{"description", type.meaning},
                       {"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", std::move(required)}});
}

/// An event of a type that is not in the table: the others are `known`.
Json schema_of_unrecognized(Json known) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const EventField& field : common_fields()) {
    properties[field.name] = schema_of(field);
    if (field.presence == Presence::Always) required.push_back(field.name);
  }
  properties["type"] = Json::object({{"type", "string"}, {"not", Json::object({{"enum", std::move(known)}})}});
  return Json::object({{"description", "An event of a later version, which a reader ignores."},
                       {"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", std::move(required)}});
}

std::string_view shown(FieldForm form) {
  switch (form) {
    case FieldForm::Text:
      return "text";
    case FieldForm::Integer:
      return "integer";
    case FieldForm::Time:
      return "time";
    case FieldForm::Value:
      return "value";
    case FieldForm::Schema:
      return "JSON Schema";
  }
  ENSURE(false);
}

void append_rows(std::string& page, std::span<const EventField> fields) {
  page += "| field | form | | meaning |\n|---|---|---|---|\n";
  for (const EventField& field : fields) {
    page += fmt::format("| `{}` | {} | {} | {} |\n", field.name, shown(field.form),
                        field.presence == Presence::Always ? "always" : "", field.meaning);
  }
}

}  // namespace

std::string make_event_schema() {
  Json any = Json::array();
  Json definitions = Json::object();
  Json known = Json::array();
  for (const EventType& type : event_types()) {
    if (type.direction == Direction::Down) continue;
    definitions[type.name] = schema_of(type);
    any.push_back(Json::object({{"$ref", fmt::format("#/$defs/{}", type.name)}}));
    known.push_back(type.name);
  }
  definitions[unrecognized_event] = schema_of_unrecognized(std::move(known));
  any.push_back(Json::object({{"$ref", fmt::format("#/$defs/{}", unrecognized_event)}}));
  const Json schema = Json::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                    {"title", "An event of the Tenon agent protocol"},
                                    {"oneOf", std::move(any)},
                                    {"$defs", std::move(definitions)}});
  return schema.dump(JsonForm::Pretty) + "\n";
}

std::string make_event_reference() {
  std::string page = fmt::format(
      "# Events\n\n"
      "Generated from `src/protocol/event_types.cpp`; [events.schema.json](events.schema.json) is their JSON "
      "Schema, which accepts fields and types that it does not list.\n\n"
      "An event is a JSON object. It starts with these fields:\n\n");
  append_rows(page, common_fields());
  page += fmt::format(
      "\nA **time** is in milliseconds since 1970.\n\n"
      "A **value** is plain JSON, as the schemas of `/v1/agents` and of questions describe it: what an event says can "
      "be sent as an argument or as an answer of that type. Numbers are JSON numbers, also an `i64` beyond 2^53, which "
      "needs a reader that keeps it (JavaScript's `JSON.parse` rounds it). A map is an object, `None` is null, and an "
      "enum case is its name, or {{\"Name\":…}} with its payload, a list for several items. What arguments cannot have "
      "are `NaN`, `Infinity` and `-Infinity`, which are strings, a secret, which is \"[secret]\", and a result, "
      "{{\"Ok\":…}} or {{\"Err\":…}}.\n\n"
      "The types are those of the program that the run had when the event was recorded. A value has the journal's form "
      "if that program cannot be read, if it does not say which of several types the value has, or if the value "
      "contains a Context: then an `i64` is a string of digits, a map is a list of `[key, value]`, a case with a "
      "payload "
      "is {{\"Name\":[…]}}, and a result is {{\"ok\":…}} or {{\"err\":…}}.\n\n"
      "A value that takes more than {} bytes in the journal is replaced by "
      "{{\"left_out\":{{\"hash\":…,\"bytes\":…}}}}; `tenon store export` contains it. \"in_pieces\":true is added "
      "if the hash is that of a list of its pieces.\n\n"
      "A reader must ignore types and fields that it does not recognize.\n",
      event_value_bytes_max);
  const auto append = [&](Direction direction, std::string_view title) {
    page += fmt::format("\n## {}\n", title);
    for (const EventType& type : event_types()) {
      if (type.direction != direction) continue;
      page += fmt::format("\n### `{}`\n{}\n\n", type.name, type.meaning);
      append_rows(page, type.fields);
    }
  };
  append(Direction::Up, "From an agent");
  append(Direction::Both, "To an agent, and published as events once they are recorded");
  append(Direction::Down, "To an agent");
  return page;
}

}  // namespace tenon::protocol
