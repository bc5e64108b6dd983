#include "inference/answers/strict_mode.h"

#include <algorithm>
#include <array>

#include "inference/answers/json.h"
#include "inference/answers/json_parser.h"

namespace tenon::inference::answers {
namespace {

// The limits that OpenAI's guide to structured outputs names.
constexpr std::size_t properties_max = 5'000;
constexpr std::size_t enum_values_max = 1'000;
constexpr std::size_t object_depth_max = 10;

constexpr std::array<std::string_view, 5> unknown_keywords = {"prefixItems", "minLength", "maxLength", "allOf",
                                                              "oneOf"};

struct Totals {
  std::size_t properties = 0, enum_values = 0;
};

bool fits(const Json& schema, std::size_t depth, Totals& totals);

bool fits_each(const Json& schemas, std::size_t depth, Totals& totals) {
  if (schemas.is(Json::Kind::Array)) {
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
      additional != nullptr && !additional->is(Json::Kind::Boolean)) {
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

bool fits_strict_mode(std::string_view json_schema) {
  const Result<Json, ParseError> schema = parse_json(json_schema);
  if (!schema || !schema->is(Json::Kind::Object)) return false;
  Totals totals;
  return schema->find("properties") != nullptr && fits(*schema, 0, totals);
}

}  // namespace tenon::inference::answers
