#include "inference/answers/strict_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "json/json.h"
#include "json/reader.h"

namespace tenon::inference::answers {
namespace {

// The limits that OpenAI's guide to structured outputs names.
constexpr std::size_t properties_max = 5'000;
constexpr std::size_t enum_values_max = 1'000;
constexpr std::size_t object_depth_max = 10;

constexpr std::array<std::string_view, 3> unknown_keywords = {"prefixItems", "allOf", "oneOf"};

std::optional<Json> extract(Json& schema, std::string_view keyword) {
  Json::Object& members = schema.mutable_members();
  const auto found = std::ranges::find(members, keyword, &JsonMember::name);
  if (found == members.end()) return std::nullopt;
  Json value = std::move(found->value);
  members.erase(found);
  return value;
}

std::string say_length(const std::optional<Json>& low, const std::optional<Json>& high) {
  const auto characters = [](const Json& count) {
    return fmt::format("{} {}", count.dump(), count.as_integer() == 1 ? "character" : "characters");
  };
  if (!low) return fmt::format("At most {}.", characters(*high));
  if (!high) return fmt::format("At least {}.", characters(*low));
  if (*low == *high) return fmt::format("Exactly {}.", characters(*low));
  return fmt::format("From {} to {}.", low->dump(), characters(*high));
}

/// Puts the bounds of a text's length into its description.
void say_lengths(Json& schema) {
  if (!schema.is_object()) return;
  const auto low = extract(schema, "minLength");
  const auto high = extract(schema, "maxLength");
  if (low || high) {
    const auto described = extract(schema, "description");
    std::string text = described ? described->as_string() : std::string();
    if (!text.empty()) text += text.ends_with('.') ? " " : ". ";
    schema.set("description", text + say_length(low, high));
  }
  for (JsonMember& member : schema.mutable_members()) {
    if (member.name == "items") say_lengths(member.value);
    if (member.name == "anyOf") std::ranges::for_each(member.value.mutable_items(), say_lengths);
    if (member.name == "properties" || member.name == "$defs") {
      for (JsonMember& named : member.value.mutable_members()) say_lengths(named.value);
    }
  }
}

struct Totals {
  std::size_t properties = 0, enum_values = 0;
};

bool fits(const Json& schema, std::size_t depth, Totals& totals);

bool fits_each(const Json& schemas, std::size_t depth, Totals& totals) {
  if (schemas.is_array()) {
    return std::ranges::all_of(schemas.items(), [&](const Json& schema) { return fits(schema, depth, totals); });
  }
  return std::ranges::all_of(schemas.members(),
                             [&](const JsonMember& member) { return fits(member.value, depth, totals); });
}

bool fits(const Json& schema, std::size_t depth, Totals& totals) {
  if (depth > object_depth_max) return false;
  if (std::ranges::any_of(unknown_keywords, [&](std::string_view keyword) { return schema.find(keyword) != nullptr; }))
    return false;
  if (const Json* const additional = schema.find("additionalProperties");
      additional != nullptr && !additional->is_boolean()) {
    return false;
  }
  if (const Json* const values = schema.find("enum")) totals.enum_values += values->items().size();
  if (const Json* const properties = schema.find("properties")) {
    totals.properties += properties->members().size();
    if (!fits_each(*properties, depth + 1, totals)) return false;
  }
  if (const Json* const items = schema.find("items"); items != nullptr && !fits(*items, depth + 1, totals))
    return false;
  if (const Json* const alternatives = schema.find("anyOf");
      alternatives != nullptr && !fits_each(*alternatives, depth, totals))
    return false;
  if (const Json* const definitions = schema.find("$defs");
      definitions != nullptr && !fits_each(*definitions, 1, totals))
    return false;
  return totals.properties <= properties_max && totals.enum_values <= enum_values_max;
}

}  // namespace

std::optional<std::string> make_strict_schema(std::string_view json_schema) {
  Result<Json, JsonError> schema = parse_json(json_schema);
  if (!schema || !schema->is_object() || schema->find("properties") == nullptr) return std::nullopt;
  say_lengths(*schema);
  Totals totals;
  if (!fits(*schema, 0, totals)) return std::nullopt;
  return schema->dump(JsonForm::Shortest);
}

}  // namespace tenon::inference::answers
