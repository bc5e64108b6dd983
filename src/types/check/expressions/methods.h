#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "types/builtin_methods.h"
#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks calls of methods, and closures.
class MethodChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_method_call(NodeId node, Expectation expected);
  TypeId check_closure(NodeId node, std::span<const TypeId> parameters, Expectation expected);
  [[nodiscard]] std::optional<std::string> find_meant_call(TypeId receiver, std::string_view name);

 private:
  [[nodiscard]] bool is_method_of_result(TypeId receiver, std::string_view name);
  [[nodiscard]] Target find_declared(TypeId receiver, const std::string& name) const;
  TypeId check_declared_method(NodeId node, const Target& target, TypeId receiver, NodeId type_arguments,
                               std::span<const NodeId> arguments);
  TypeId check_parse(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments, Expectation expected);
  /// The arguments of a call of which nothing is known; returns the error type.
  TypeId check_unknown(std::span<const NodeId> arguments);
  void report_unknown_method(NodeId node, TypeId receiver, std::string_view name);
  bool check_receiver(NodeId node, TypeId receiver, std::string_view name);
  TypeId check_closure_argument(NodeId argument, TypeId parameter, const MethodSignature& method, TypeId first_argument,
                                Expectation expected);
  TypeId check_parse_json(NodeId node, NodeId type_arguments, std::span<const NodeId> arguments, Expectation expected);
  TypeId check_builtin_method(NodeId node, TypeId receiver, std::string_view name, NodeId type_arguments,
                              std::span<const NodeId> arguments, Expectation expected);
};

}  // namespace tenon::types
