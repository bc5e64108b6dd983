#pragma once

#include <map>
#include <memory>

#include "base/sha256.h"
#include "journal/store.h"
#include "server/catalog.h"
#include "vm/loaded_program.h"

namespace tenon::server {

/// The programs of runs: those that are served, and older ones, which the store has. Used by one thread at a time.
class RunPrograms {
 public:
  /// `catalog` outlives this.
  explicit RunPrograms(const Catalog& catalog) : catalog_(catalog) {}

  /// The program that a run continues with; null if it cannot be read.
  [[nodiscard]] std::shared_ptr<const vm::LoadedProgram> find(journal::Store& store, const journal::RunName& run);

 private:
  [[nodiscard]] std::shared_ptr<const vm::LoadedProgram> find_served(const Hash& hash) const;

  const Catalog& catalog_;
  std::map<Hash, std::shared_ptr<const vm::LoadedProgram>> older_;  ///< no longer served
};

}  // namespace tenon::server
