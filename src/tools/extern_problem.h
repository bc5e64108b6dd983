#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace tenon::tools {

/// Why a program's externs cannot be called; found before the program starts.
struct ExternProblem {
  std::string message;                   ///< the situation, without place
  std::vector<std::string> hints;        ///< what is known besides, and ways out
  std::optional<bytecode::Place> place;  ///< of the declaration; none for what concerns a library
};

}  // namespace tenon::tools
