#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// An answer that may be asked for again.
struct Refill {
  Register before = 0;    ///< the context as it was
  Register attempt = 0;   ///< counts from 1
  Register answer = 0;    ///< the key of the answer's request
  std::size_t start = 0;  ///< where it is requested
};

/// Arguments that a model supplies: what happens when they violate what the callee requires.
class FillingCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// Whether arguments that a model supplies for the holes can violate a computed `requires` of the callee.
  [[nodiscard]] bool may_refuse(NodeId call, const CallShape& shape) const;
  /// What is requested from here on can be requested again.
  Refill begin_refill();
  /// window = the arguments, of which the model supplies the missing ones. `budgets`: the number of budgets that are
  /// open around the call, without its own.
  void fill(NodeId node, Site site, Register window, std::uint16_t budgets);
  /// Removes the entries about refused arguments also if no further answer comes. `end`: of the code that requests
  /// them.
  void restore_on_failure(const Refill& refill, std::size_t end, std::uint16_t budgets);
  /// Checks the arguments in the window against the computed `requires`. If they violate one, the model sees its
  /// answer, between `prefix` and `suffix`, and why, and is asked again. Afterwards the context is as it was. If the
  /// attempts do not help, the call reports what is violated.
  void hold_arguments(NodeId call, const CallShape& shape, Register window, const Refill& refill,
                      const std::string& prefix, const std::string& suffix);
  /// Shows the model its answer in the function's context, and why it is refused.
  void inject_refusal(Register answer, Register reasons);
  /// Adds the reasons why an answer is refused to the function's context. They are sent through the prompt template
  /// `refused`, which says whether the answer itself is shown before them.
  void inject_reasons(Register reasons);
};

}  // namespace tenon::compiler
