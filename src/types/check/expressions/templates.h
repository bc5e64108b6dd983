#pragma once

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks template strings.
class TemplateChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  void check_template_pieces(NodeId owner);

 private:
  void check_template_value(NodeId node);
  void check_template_for(NodeId node);
  void check_template_if(NodeId node);
};

}  // namespace tenon::types
