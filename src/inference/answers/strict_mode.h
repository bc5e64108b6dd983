#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenon::inference::answers {

/// Converts a schema from make_schema to one that OpenAI's strict mode accepts. Strict mode does not support
/// `minLength` and `maxLength`, so the descriptions of texts state their lengths. Returns nothing if the schema cannot
/// be converted: strict mode supports neither objects with free keys (`Map<T>`) nor `prefixItems` (tuples, and cases of
/// several values), and limits the number of keys and enumerated values and the nesting. Without strict mode the
/// provider treats the schema as advice. Its answers are read, validated and repaired either way.
[[nodiscard]] std::optional<std::string> make_strict_schema(std::string_view json_schema);

}  // namespace tenon::inference::answers
