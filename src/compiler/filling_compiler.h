#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// An answer that may be asked for again.
struct Refill {
  Register before = 0;    ///< the context as it was
  Register attempt = 0;   ///< counts from 1
  Register answer = 0;    ///< the key of the answer's request
  std::size_t start = 0;  ///< where it is asked for
};

/// Arguments that a model supplies: what happens when they violate what the callee requires.
class FillingCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  [[nodiscard]] bool may_refuse(NodeId call, const CallShape& shape) const;
  Refill begin_refill();
  void fill(NodeId node, Site site, Register window, std::uint16_t budgets);
  void restore_on_failure(const Refill& refill, std::size_t end, std::uint16_t budgets);
  void hold_arguments(NodeId call, const CallShape& shape, Register window, const Refill& refill,
                      const std::string& prefix, const std::string& suffix);
  void inject_refusal(Register answer, Register reasons);
  void inject_reasons(Register reasons);
};

}  // namespace tenon::compiler
