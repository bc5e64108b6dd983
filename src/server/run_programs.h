#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "engine/event_reader.h"
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
  /// The program that makes the run's record of that number, or continues it if there is no such record; null if the
  /// store does not have it or it cannot be read. An error where the store cannot be read.
  [[nodiscard]] Result<std::shared_ptr<const vm::LoadedProgram>, journal::StoreError> find_at(
      journal::Store& store, const journal::RunName& run, std::uint64_t record);
  /// `find_at` in this store, for an EventReader. The store and this outlive the reader.
  [[nodiscard]] engine::ProgramAt program_at(journal::Store& store) {
    return [this, &store](const journal::RunName& run, std::uint64_t record) { return find_at(store, run, record); };
  }

 private:
  /// The programs of a run, each with the number of the record with which it begins.
  struct Programs {
    std::vector<std::pair<std::uint64_t, Hash>> begins;
    bool may_change = false;       ///< a conversation may be upgraded
    std::uint64_t read_until = 0;  ///< the newest record that was looked at
  };
  [[nodiscard]] Result<std::optional<Hash>, journal::StoreError> hash_at(journal::Store& store,
                                                                         const journal::RunName& run,
                                                                         std::uint64_t record);
  [[nodiscard]] std::shared_ptr<const vm::LoadedProgram> find_served(const Hash& hash) const;

  const Catalog& catalog_;
  std::map<std::string, Programs> runs_;                            ///< by name
  std::map<Hash, std::shared_ptr<const vm::LoadedProgram>> older_;  ///< not served; null: cannot be read
};

}  // namespace tenon::server
