#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// What functions do besides giving a value, as far as it stands in their bodies and in those of what they call.
class Purity {
 public:
  /// Looks at `functions` and at all that they lead to.
  Purity(const CheckedProgram& program, const std::vector<FunctionId>& functions);

  /// The first thing that the function asks the world for, or changes for longer than its call, in words: "a hole in
  /// `judge_it`". Nothing when it only computes.
  [[nodiscard]] std::optional<std::string> effect_of(FunctionId function) const;

 private:
  struct Found {
    std::optional<std::string> effect;
    std::vector<FunctionId> calls;
  };

  void look_at(FunctionId id, Found& found) const;
  void visit(const Module& module, syntax::NodeId node, const std::string& where, Found& found) const;

  const CheckedProgram& program_;
  std::map<std::uint32_t, Found> functions_;
};

}  // namespace tenon::types
