#pragma once

#include <string_view>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Checks `model { … }`, `extern { … }` and `person { … }` of a test.
class ScriptChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  void check_test_script(NodeId section);

 private:
  void report_unknown_script(source::Span span, std::string_view name);
  void check_script_entries(NodeId section);
  void check_condition(NodeId entry, bool is_prompted);
  void check_arguments(NodeId entry, const Target& target);
  void check_unanswered(NodeId entry, NodeId value);
  [[nodiscard]] Target find_ask_within() const;
  void check_scripted_call(NodeId entry, NodeId value);
};

}  // namespace tenon::types
