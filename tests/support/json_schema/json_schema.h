#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/answers/mismatch.h"
#include "json/json.h"
#include "tests/support/sanitized.h"

namespace tenon::test {

using inference::answers::Mismatch;
using inference::answers::mismatches_max;

/// Why a text is not a schema, or not one that can be checked exactly.
struct SchemaError {
  enum class Kind : std::uint8_t {
    NotJson,
    Malformed,    ///< a keyword's value is not what JSON Schema asks for
    Unsupported,  ///< JSON Schema, but more of it than this understands; `keyword` names it
  };
  Kind kind = Kind::NotJson;
  std::string pointer;  ///< where in the schema, as a JSON pointer
  std::string keyword;
  std::string message;
};

/// A JSON Schema, 2020-12, ready to check instances. What it does not understand it refuses when it is made, by name,
/// so that it never accepts an instance that the schema forbids: `$dynamicRef`, `$dynamicAnchor`, `$vocabulary`,
/// `unevaluatedItems`, `unevaluatedProperties`, `$id` below the root, references to other documents, patterns that RE2
/// has no like for, references that lead back to themselves without looking into the instance, and every keyword that
/// JSON Schema does not know (but for those that begin with `x-`). `format`, `contentEncoding` and the like are
/// annotations. Numbers are compared exactly within i64 and as f64 beyond it. Immutable; any thread may use it.
class Schema {
 public:
  /// How many subschemas one check may apply. A schema whose alternatives multiply is given up beyond it: the instance
  /// is not accepted then.
  static constexpr std::size_t steps_max = test::cases(10'000'000);
  /// How deep subschemas may be applied within each other.
  static constexpr std::size_t depth_max = 1'000;

  [[nodiscard]] static Result<Schema, SchemaError> compile(std::string_view text);
  [[nodiscard]] static Result<Schema, SchemaError> compile(const Json& schema);

  [[nodiscard]] Result<void, std::vector<Mismatch>> validate(const Json& instance) const;

  /// The compiled form; of use to the validator alone.
  struct Program;

 private:
  explicit Schema(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace tenon::test
