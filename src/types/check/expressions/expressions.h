#pragma once

#include <string_view>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks expressions, and passes those of other kinds on to the other parts.
class ExpressionChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_items(NodeId items);
  TypeId check_expression(NodeId node, Expectation expected);
  TypeId check_value(NodeId node, TypeId type);
  TypeId check_kind(NodeId node, Expectation expected);
  TypeId check_integer(NodeId node, Expectation expected, bool negative);
  TypeId field_type(NodeId node, TypeId owner, std::string_view name, Target& target);

 private:
  TypeId check_string(NodeId node, Expectation expected);
  TypeId check_name(NodeId node, Expectation expected);
  void report_not_a_value(NodeId node, std::span<const syntax::TokenIndex> path);
  bool report_list_of_tools(NodeId node, TypeId tools);
  TypeId check_range(NodeId node);
  TypeId check_list(NodeId node, Expectation expected);
  TypeId check_tuple(NodeId node, Expectation expected);
  TypeId check_struct(NodeId node);
  TypeId check_index(NodeId node);
  static void hint_call(diagnostics::Diagnostic& report, std::string_view call, std::string_view name);
  void hint_field_of_option(diagnostics::Diagnostic& report, TypeId option, std::string_view name);
  bool reject_dot_of_case(NodeId node, NodeId owner, std::string_view name);
  TypeId check_field(NodeId node);
  TypeId check_try(NodeId node, Expectation expected);
  TypeId check_return(NodeId node);
};

}  // namespace tenon::types
