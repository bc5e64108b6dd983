#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks sets of tools.
class ToolChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_tools(NodeId node);
  void check_tool_names(NodeId receiver, NodeId argument);

 private:
  [[nodiscard]] std::vector<std::string> names_of_tools(NodeId node) const;
  /// What the model sees it as; empty where that is not known.
  [[nodiscard]] std::string tool_name(NodeId entry) const;
  void check_tool_entry(NodeId entry);
  void check_given(std::span<const NodeId> arguments);
  std::optional<Target> find_tool(NodeId expression, NodeId callee, std::span<const NodeId> arguments);
};

}  // namespace tenon::types
