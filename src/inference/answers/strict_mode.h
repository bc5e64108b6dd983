#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenon::inference::answers {

/// A schema that make_schema wrote as OpenAI's strict mode can take it: it knows no `minLength` and `maxLength`, so the
/// lengths of texts are said in their descriptions. Nothing where that is not enough: it knows no objects with free
/// keys (`Map<T>`) and no `prefixItems` (tuples, and cases of several values), and bounds the number of keys, of
/// enumerated values and the nesting. Without strict mode the provider takes the schema as advice. What it gives is
/// read, validated and repaired either way.
[[nodiscard]] std::optional<std::string> make_strict_schema(std::string_view json_schema);

}  // namespace tenon::inference::answers
