#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/table/type_table.h"
#include "vm/values/value.h"

namespace re2 {
class RE2;
}

namespace tenon::vm {

/// Checks values against the refinements and unions of a program: bounds, lengths, patterns, literals. Patterns are
/// compiled once. Immutable; several threads can use it at once.
class Refinements final {
 public:
  /// `types` must live as long, and gets no more types.
  explicit Refinements(const types::TypeTable& types);
  ~Refinements();
  Refinements(const Refinements&) = delete;
  Refinements& operator=(const Refinements&) = delete;

  [[nodiscard]] const types::TypeTable& types() const { return types_; }

  /// Of the refinements of `type`, from the outermost to its base, and its base if that is a union: the first that the
  /// value is not one of; an absent id if it is one of each.
  [[nodiscard]] types::TypeId find_broken(types::TypeId type, const Value& value) const;

  /// Whether the text matches the pattern of the refined type as a whole. Any text does if there is no pattern, none if
  /// the pattern is faulty.
  [[nodiscard]] bool matches(types::TypeId refined, std::string_view text) const;

  /// Why a pattern cannot be used: "`Code` has a faulty pattern: …". Empty if all can.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  [[nodiscard]] bool satisfies(types::TypeId refined, const Value& value) const;

  const types::TypeTable& types_;
  std::unordered_map<types::TypeId, std::unique_ptr<const re2::RE2>> patterns_;  ///< by the refined type
  std::string problem_;
};

}  // namespace tenon::vm
