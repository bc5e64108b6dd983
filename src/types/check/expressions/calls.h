#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks calls of functions, externs and constructors.
class CallChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  bool expect_count(NodeId node, const std::string& name, std::size_t expected, std::size_t given);
  TypeId check_call(NodeId node, Expectation expected);
  bool reject_other_agent(NodeId callee, std::span<const syntax::TokenIndex> path);
  bool reject_qualified_case(NodeId node, std::string_view owner, std::string_view name);
  TypeId check_case(NodeId node, TypeId enum_type, std::string_view name, source::Span name_span,
                    std::span<const NodeId> arguments, bool is_call);
  void check_arguments(NodeId node, const std::string& name, std::span<const Parameter> parameters,
                       std::span<const TypeId> types, std::span<const NodeId> arguments);
  /// Makes one report of several arguments that do not fit `types`, among the diagnostics from position `first` on.
  /// `declared`: the call as it is declared, such as `f(a: i32, b: String)`.
  void join_mismatches(std::size_t first, std::span<const NodeId> arguments, std::span<const TypeId> types,
                       const std::string& declared);

 private:
  TypeId check_handoff(NodeId node, FunctionId id, std::span<const NodeId> arguments);
  TypeId check_endorse(NodeId node, std::span<const NodeId> arguments);
  TypeId check_approve(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments);
  TypeId check_value_of_any_type(NodeId node);
  std::optional<TypeId> check_known_call(NodeId node, std::string_view name, std::span<const NodeId> arguments,
                                         Expectation expected);
  std::optional<TypeId> check_associated_call(NodeId node, NodeId callee, std::span<const NodeId> arguments,
                                              Expectation expected);
  TypeId check_conversion(NodeId node, TypeId type, std::span<const NodeId> arguments);
  TypeId check_function_call(NodeId node, FunctionId id, NodeId type_arguments, std::span<const NodeId> arguments);
  TypeId check_extern_call(NodeId node, ExternId id, NodeId type_arguments, std::span<const NodeId> arguments);
  /// A call of a declared function or extern with what it is given.
  template <class Declaration>
  TypeId check_declared(NodeId node, const Declaration& callee, NodeId type_arguments,
                        std::span<const NodeId> arguments);
  std::vector<TypeId> check_type_arguments(NodeId node, const std::string& name, std::size_t expected,
                                           NodeId type_arguments);
  void check_hole(NodeId hole, const std::string& name, TypeId type);
};

}  // namespace tenon::types
