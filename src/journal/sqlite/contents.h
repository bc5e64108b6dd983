#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/sqlite/connection.h"

namespace tenon::journal::sqlite {

/// Contents that come with an append, by their hashes.
using OfferedContents = std::unordered_map<Hash, const Content*>;

/// The tables of contents. Rows of a run are stored next to each other, so that reading or extending a run touches few
/// pages; the bytes of shared contents are kept once, for all runs that have a row of them. Every function is called in
/// a transaction.
class Contents {
 public:
  explicit Contents(Connection& connection) : connection_(connection) {}

  struct Body {
    std::vector<Hash> refers;
    std::string bytes;
  };
  /// Returns a content of a run. Its bytes match the hash, or the error is `Damaged`.
  [[nodiscard]] Result<Body, StoreError> read(std::int64_t run, const Hash& hash);

  /// Collects in `added` the contents that an append refers to and that its run (null: a new one) does not have yet.
  [[nodiscard]] Result<std::optional<AppendRefusal>, StoreError> find_new(const Append& append,
                                                                          const OfferedContents& offered,
                                                                          const RunRow* run,
                                                                          std::vector<const Content*>& added);
  [[nodiscard]] Result<void, StoreError> write(const RunRow& run, const std::vector<const Content*>& added);
  /// Removes a run's contents, and those shared ones that no other run has.
  [[nodiscard]] Result<void, StoreError> forget(const RunRow& run);

 private:
  /// Returns the id of the run's row.
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> find(std::int64_t run, const Hash& hash);
  /// Counts one more run that has a shared content.
  [[nodiscard]] Result<void, StoreError> share(const Content& content);

  Connection& connection_;
};

}  // namespace tenon::journal::sqlite
