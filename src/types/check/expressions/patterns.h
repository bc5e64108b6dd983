#pragma once

#include <span>
#include <string_view>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks patterns, and whether those of a `match` cover its value.
class PatternChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  void check_pattern(NodeId pattern, TypeId type);
  [[nodiscard]] bool pattern_always_matches(NodeId pattern) const;
  void check_exhaustive(NodeId match, TypeId type, std::span<const NodeId> arms);

 private:
  void report_mismatch(NodeId pattern, TypeId type, std::string_view what);
  void check_name_pattern(NodeId pattern, TypeId type);
  void check_literal_pattern(NodeId pattern, TypeId type);
  void check_tuple_pattern(NodeId pattern, TypeId type);
  void check_or_pattern(NodeId pattern, TypeId type);
  [[nodiscard]] std::string written(std::span<const syntax::TokenIndex> path) const;
  void check_struct_pattern(NodeId pattern, TypeId type);
  LocalId bind_name(std::string_view name, TypeId type, source::Span span);
  void check_case_pattern(NodeId pattern, TypeId type);
};

}  // namespace tenon::types
