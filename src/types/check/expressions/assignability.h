#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// What can be done with an `Option` where a value is needed.
inline constexpr std::string_view option_hint =
    "the value may be `None`: handle that with `??`, `if let Some(x) = …` or `.unwrap()`";

/// The same for a `Result`.
inline constexpr std::string_view result_hint =
    "it may be a failure: handle that with `match`, `.unwrap_or(…)` or `.unwrap()`";
/// The hint for a value of that kind where what it holds is needed; empty for other kinds.
constexpr std::string_view handling_hint(TypeKind kind) {
  return kind == TypeKind::Option ? option_hint : kind == TypeKind::Result ? result_hint : std::string_view();
}

/// Decides which values are accepted where a type is expected.
class Assignability : public BodyPart {
 public:
  using BodyPart::BodyPart;

  bool reject_secret(TypeId type, NodeId node, std::string_view how);
  [[nodiscard]] bool is_assignable(TypeId from, TypeId to) const;
  /// Reports a `from` where a `to` is expected, if it is not accepted; notes a check at run time where one is needed.
  bool coerce(NodeId node, TypeId from, TypeId to);
  /// Whether an error of the body has left the type, or a part of it, open.
  [[nodiscard]] bool has_reported(TypeId type) const;
  /// Adds how a `from` becomes a `to`, to the report of a value that is not accepted.
  void hint_mismatch(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const;
  /// Adds what can be done with a value of that type where what it holds is needed, if it is an `Option` or a `Result`.
  void hint_handling(diagnostics::Diagnostic& report, TypeId type) const;
  [[nodiscard]] TypeId substitute(TypeId type, std::span<const TypeId> parameters, std::span<const TypeId> arguments);
  /// The type that values of both branches have, or nothing.
  std::optional<TypeId> common_type(TypeId left, TypeId right);
  [[nodiscard]] bool is_answerable(TypeId type, Answerer answerer = Answerer::Model) const;
  /// How a text or a number becomes a value of a text type or a union; `given`: how the value is called there.
  [[nodiscard]] std::string conversion_hint(TypeId type) const;
  [[nodiscard]] std::string conversion_hint(TypeId type, std::string_view given) const;
  /// How a value of a struct is made: ``construct it with `Point { x: …, y: … }` ``.
  [[nodiscard]] std::string construction_hint(TypeId type) const;

 private:
  bool hint_block(diagnostics::Diagnostic& report, NodeId node, TypeId from) const;
  void hint_integer_union(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const;
  void hint_text_for_number(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const;
  void hint_text_for_case(diagnostics::Diagnostic& report, NodeId node, TypeId to) const;
  void hint_number(diagnostics::Diagnostic& report, NodeId node, TypeId from, TypeId to) const;
  [[nodiscard]] bool is_subset(TypeId from, TypeId to) const;
};

}  // namespace tenon::types
