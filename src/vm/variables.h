#pragma once

#include <string>
#include <vector>

#include "vm/machine.h"

namespace tenon::vm {

/// A variable of a call, as it is now.
struct Variable {
  std::string name;
  Value value;
};

/// The variables of each call of Machine::call_stack(), in its order: parameters first, then in the order of the text;
/// of several with one name the newest. Contexts are not among them, nor are variables of programs that do not have
/// their names (bytecode::Function::variables).
[[nodiscard]] std::vector<std::vector<Variable>> variables_of(const Machine& machine);

}  // namespace tenon::vm
