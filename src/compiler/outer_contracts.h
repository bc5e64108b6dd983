#pragma once

#include <unordered_map>
#include <vector>

#include "types/checked_program.h"

namespace tenon::compiler {

/// The contract of a caller that returns an instance's value as its own: of none, unless `function` exists.
struct OuterContract {
  types::FunctionId function;
  std::vector<types::TypeId> type_arguments;
  friend auto operator<=>(const OuterContract&, const OuterContract&) = default;
};

/// The calls, also of methods, whose values a function returns as they are: in `return call`, or at the end of its
/// block, of a branch or of an arm, also within `shield`, `finally` and `catch`; also a call that is bound to a
/// variable which is returned later, unless a statement in between can change it or end the function. Calls in branches
/// that run in parallel are not among them.
[[nodiscard]] std::vector<syntax::NodeId> list_returned_calls(const types::CheckedProgram& program,
                                                              const types::Module& module, syntax::NodeId body);

/// Which functions ask for the `violations` (stdlib/contracts.tn) of the values that they return, themselves or by a
/// call whose value they return.
class ViolationReaders {
 public:
  explicit ViolationReaders(const types::CheckedProgram& program) : program_(program) {}

  /// The function of stdlib/contracts.tn; absent in a program without contracts.
  [[nodiscard]] types::FunctionId violations() const;
  [[nodiscard]] bool contains(types::FunctionId function);

 private:
  [[nodiscard]] bool calls_violations(const types::Module& module, syntax::NodeId node) const;

  const types::CheckedProgram& program_;
  std::unordered_map<std::uint32_t, bool> known_;
};

}  // namespace tenon::compiler
