#pragma once

#include <memory>
#include <string>

#include "runtime/recovery.h"
#include "tests/simulation/ledger.h"

namespace tenon::simulation {

struct FinalState {
  std::string path;  ///< of the store; nobody has it open
  std::string vfs;
  runtime::ImageSource images;
  Ledger& ledger;  ///< is told of problems
};

/// When all is over: the store is whole, and its journal alone leads to the run's end again, from the first record as
/// from the newest snapshot.
void check_final(const FinalState& state);

}  // namespace tenon::simulation
