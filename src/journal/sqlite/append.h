#pragma once

#include <string>
#include <unordered_map>

#include "journal/sqlite/contents.h"

namespace tenon::journal::sqlite {

/// Turns appends into rows. Everything that could reject one is looked at before its first row is written.
class Appender {
 public:
  explicit Appender(Connection& connection) : connection_(connection), contents_(connection) {}

  /// In a transaction: writes one append, or returns why it was rejected.
  [[nodiscard]] Result<std::optional<AppendRefusal>, StoreError> apply(const Append& append,
                                                                       const OfferedContents& offered);
  /// Raises the epoch of the run, and returns it. It is written with the run's next append: there is one owner at a
  /// time, so no other process needs to know it before.
  [[nodiscard]] std::uint64_t claim(const RunHead& head);
  /// The appends of these runs were committed, and their epochs with them.
  void forget_claims(std::span<const Append> appends, const AppendOutcomes& outcomes);

 private:
  [[nodiscard]] Result<std::optional<AppendRefusal>, StoreError> find_refusal(const Append& append,
                                                                              const std::optional<RunRow>& run) const;
  [[nodiscard]] Result<RunRow, StoreError> insert_run(const Append& append);
  [[nodiscard]] Result<void, StoreError> write_batch(const Append& append, const RunRow& run);
  /// Whether a note that is to be kept first has an older one.
  [[nodiscard]] Result<bool, StoreError> has_older_note(const Append& append);
  [[nodiscard]] Result<void, StoreError> write_notes(const Append& append);
  [[nodiscard]] Result<void, StoreError> write_snapshot(const Snapshot& snapshot, std::int64_t run);

  Connection& connection_;
  Contents contents_;
  std::unordered_map<std::string, std::uint64_t> claimed_;  ///< epochs that no append has written yet
};

}  // namespace tenon::journal::sqlite
