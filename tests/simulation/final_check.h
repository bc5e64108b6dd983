#pragma once

#include <memory>
#include <string>

#include "runtime/recovery/recovery.h"
#include "tests/simulation/ledger.h"

namespace tenon::simulation {

struct FinalState {
  std::string path;  ///< of the store, which must be closed
  std::string vfs;
  runtime::ImageSource images;
  Ledger& ledger;  ///< receives the problems
};

/// Checks that the journal of the ledger's run, as the ledger has it, alone leads to the run's end, both from the first
/// record and from the newest snapshot.
void check_journal(journal::Store& store, const runtime::ImageSource& images, Ledger& ledger);

/// After the last process: checks that the store is intact, and that its journal alone leads to the run's end, both
/// from the first record and from the newest snapshot.
void check_final(const FinalState& state);

}  // namespace tenon::simulation
