#pragma once

#include <set>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// Patterns: they test a value and bind its parts to variables.
class PatternCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Binds the pattern's names; the jumps that are added to `fails` are taken if the value does not match.
  void pattern(NodeId node, Register value, std::vector<std::size_t>& fails);
  /// The same for a pattern that every value matches.
  void bind_to(NodeId node, Register value);

 private:
  void bind_all(NodeId node);
  void bind_pattern(std::uint32_t local, Register value);
  Register bind_local(std::uint32_t local);

  std::set<std::uint32_t> shared_locals_;  ///< of the alternatives `a | b` that are being compiled
};

}  // namespace tenon::compiler
