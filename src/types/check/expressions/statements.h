#pragma once

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks blocks and statements.
class StatementChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_block(NodeId block, Expectation expected);
  void check_inject(NodeId statement);
  void check_condition(NodeId condition);

 private:
  TypeId check_statements(NodeId block, Expectation expected);
  TypeId check_tail(NodeId statement, Expectation expected);
  TypeId check_statement(NodeId statement);
  void check_let(NodeId statement);
  void check_assignment(NodeId statement);
  TypeId check_while(NodeId statement);
};

}  // namespace tenon::types
