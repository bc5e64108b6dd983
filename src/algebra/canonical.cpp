#include "algebra/canonical.h"

#include "json/reader.h"

namespace tenon::algebra {

Result<std::string, CanonicalError> canonicalize(std::string_view text) {
  const auto value = parse_json(text, artifact_limits);
  if (value) return value->dump(JsonForm::Canonical);
  const bool is_too_deep = value.error().kind == JsonErrorKind::TooDeep;
  return failure(CanonicalError{is_too_deep ? "the JSON is nested too deeply" : "invalid JSON"});
}

}  // namespace tenon::algebra
