#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "types/checked_program.h"

namespace tenon::types {

/// The effects of functions, as far as their bodies and those of the functions that they call contain any.
class Purity {
 public:
  /// Examines `functions` and everything that they call.
  Purity(const CheckedProgram& program, const std::vector<FunctionId>& functions);

  /// The function's first effect, or first change that outlives its call, as text: "a hole in `judge_it`". Nothing if
  /// it only computes.
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
