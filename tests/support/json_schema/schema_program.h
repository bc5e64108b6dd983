#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/json.h"
#include "tests/support/json_schema/json_schema.h"

/// What the compiler of schemas hands to the validator.
namespace tenon::test {

using SchemaIndex = std::uint32_t;
inline constexpr SchemaIndex no_schema = UINT32_MAX;

/// The bits of SchemaNode::types.
enum class InstanceType : std::uint8_t {
  Null = 1,
  Boolean = 2,
  Integer = 4,
  Number = 8,
  String = 16,
  Array = 32,
  Object = 64
};

/// One subschema: what each keyword asks, or nothing.
struct SchemaNode {
  std::optional<bool> verdict;  ///< of the schemas `true` and `false`
  std::uint8_t types = 0;       ///< allowed ones; 0: all
  std::optional<Json> constant;
  std::optional<Json::Array> enumeration;

  std::optional<Json> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
  std::optional<std::uint64_t> length_min, length_max;
  std::shared_ptr<const re2::RE2> pattern;
  std::string pattern_text;

  std::vector<SchemaIndex> prefix_items;
  SchemaIndex items = no_schema, contains = no_schema;
  std::optional<std::uint64_t> contains_min, contains_max, items_min, items_max;
  bool items_are_unique = false;

  std::vector<std::pair<std::string, SchemaIndex>> properties;
  std::unordered_map<std::string, SchemaIndex> property_index;
  std::vector<std::pair<std::shared_ptr<const re2::RE2>, SchemaIndex>> pattern_properties;
  SchemaIndex additional_properties = no_schema, property_names = no_schema;
  std::vector<std::string> required;
  std::optional<std::uint64_t> properties_min, properties_max;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, SchemaIndex>> dependent_schemas;

  std::vector<SchemaIndex> all_of, any_of, one_of;
  SchemaIndex negated = no_schema, condition = no_schema, consequence = no_schema, alternative = no_schema,
              reference = no_schema;
};

struct Schema::Program {
  std::vector<SchemaNode> nodes;  ///< the root first
};

}  // namespace tenon::test
