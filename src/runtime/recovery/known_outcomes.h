#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "effects/record.h"
#include "journal/store.h"

namespace tenon::runtime {

/// Records of a run that are read at once.
inline constexpr std::size_t records_per_read = 4'096;

/// Outcomes that a fork inherited from its original run and has not reached yet. They are a content of the store
/// (effects::Started::known), so that a crash changes nothing of them; which of them were taken follows from the
/// requests that the fork has recorded since.
class KnownOutcomes {
 public:
  struct Entry {
    Hash request;                ///< its identity: effects::Requested::request
    effects::Finished finished;  ///< under the key that it has in the other run
  };
  /// `after`: the number of the last record that the fork began with; requests after it take from these.
  KnownOutcomes(std::uint64_t after, std::vector<Entry> entries);

  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Result<KnownOutcomes, std::string> decode(std::string_view bytes);

  /// The outcome for a new request: each is given once, that of the same key first. Null when nothing is known.
  [[nodiscard]] const effects::Finished* take(const Hash& request, std::string_view key);
  /// What `take` returned under this key, as long as no outcome is recorded; null otherwise.
  [[nodiscard]] const effects::Finished* find_taken(const std::string& key) const;
  /// Takes what the recorded requests took, up to record `until`.
  [[nodiscard]] Result<void, journal::StoreError> follow(journal::RunReader& store, const journal::RunName& run,
                                                         std::uint64_t until);
  /// One more record of the fork, read again.
  void follow(std::uint64_t number, const effects::Record& record);

  /// As given to the constructor.
  [[nodiscard]] std::uint64_t after() const { return after_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Calls `fill_in` for each value, which it may replace by the text of its content.
  template <class FillIn>
  void fill_in(const FillIn& fill_in) {
    for (Entry& entry : entries_) fill_in(entry.finished.value);
  }
  /// What nothing has taken, in its order.
  [[nodiscard]] std::vector<Entry> left() const;
  [[nodiscard]] bool is_empty() const { return entries_.empty(); }
  /// How many were taken.
  [[nodiscard]] std::uint64_t taken() const { return taken_count_; }

 private:
  std::uint64_t after_ = 0;
  std::vector<Entry> entries_;
  std::vector<bool> is_taken_;                                     ///< as `entries_`
  std::unordered_map<Hash, std::vector<std::size_t>> by_request_;  ///< places in `entries_`, in their order
  std::unordered_map<std::string, std::size_t> open_;              ///< by key: taken, and no outcome recorded
  std::uint64_t taken_count_ = 0;
};

}  // namespace tenon::runtime
