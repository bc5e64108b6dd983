#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "types/table/type_table.h"
#include "vm/values/value.h"

namespace re2 {
class RE2;
}

namespace tenon::tools {

/// Whether scalars and texts, lists and maps as a whole, keep what their declared type promises beyond its kind: the
/// width of an i32, the literals of a union, the bounds and patterns of refinements. Immutable; for several threads at
/// once.
class PromiseChecker final {
 public:
  /// Compiles the patterns of all refinements. `types` must live as long.
  explicit PromiseChecker(const types::TypeTable& types);
  ~PromiseChecker();
  PromiseChecker(const PromiseChecker&) = delete;
  PromiseChecker& operator=(const PromiseChecker&) = delete;

  /// What is broken, as in "`150` is not in `Percent`"; nothing when all is kept. The value has the type's kind.
  [[nodiscard]] std::optional<std::string> find_broken(types::TypeId type, const vm::Value& value) const;

 private:
  [[nodiscard]] bool satisfies(types::TypeId refined, const vm::Value& value) const;
  [[nodiscard]] bool is_literal(types::TypeId literals, const vm::Value& value) const;

  const types::TypeTable& types_;
  std::unordered_map<std::uint32_t, std::unique_ptr<re2::RE2>> patterns_;  ///< by the refined type
};

/// A value in a message: a number or a short text as it is, cut after some 40 characters.
[[nodiscard]] std::string describe_value(const vm::Value& value);

}  // namespace tenon::tools
