#pragma once

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks operators.
class OperatorChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_unary(NodeId node, Expectation expected);
  TypeId check_binary(NodeId node, Expectation expected);
  TypeId check_cast(NodeId node);

 private:
  TypeId check_default(NodeId node, Expectation expected);
  void hint_operands(diagnostics::Diagnostic& report, NodeId node, TypeId left_type, TypeId right_type) const;
  void hint_wider(diagnostics::Diagnostic& report, NodeId node, TypeId left_type, TypeId right_type) const;
};

}  // namespace tenon::types
