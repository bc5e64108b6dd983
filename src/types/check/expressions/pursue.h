#pragma once

#include <map>
#include <string>
#include <vector>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks `pursue`.
class PursueChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_pursue(NodeId node, Expectation expected);

 private:
  TypeId bound_type(NodeId bound);
  [[nodiscard]] bool has_name(NodeId action) const;
  std::string action_name(NodeId action, std::map<std::string, std::uint32_t>& uses) const;
  TypeId check_action(NodeId node, std::vector<TypeId>& taken);
};

}  // namespace tenon::types
