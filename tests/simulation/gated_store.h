#pragma once

#include "journal/store.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/world.h"

namespace tenon::simulation {

/// How a store breaks its guarantees, to test whether this is detected.
enum class Betrayal : std::uint8_t {
  None,
  AcknowledgesEarly,  ///< acknowledges a commit, and performs it with the next one
  SyncsTooLittle,     ///< SQLite's `synchronous=NORMAL`: a power loss removes commits from the end of the log
};

/// A store that reports acknowledged commits to the ledger, and in which a process can end before and after a commit.
class GatedStore final : public journal::Store {
 public:
  GatedStore(journal::Store& store, Ledger& ledger, Moments& moments, Betrayal betrayal)
      : store_(store), ledger_(ledger), moments_(moments), betrayal_(betrayal) {}

  ~GatedStore() override {
    if (!held_.empty()) static_cast<void>(store_.commit(held_));
  }

  Result<std::vector<std::optional<journal::AppendRefusal>>, journal::StoreError> commit(
      std::span<const journal::Append> appends) override {
    moments_.pass();
    using Refusals = std::vector<std::optional<journal::AppendRefusal>>;
    Result<Refusals, journal::StoreError> committed = Refusals(appends.size());
    if (betrayal_ == Betrayal::AcknowledgesEarly) {
      if (!held_.empty()) static_cast<void>(store_.commit(held_));
      held_.assign(appends.begin(), appends.end());
    } else {
      committed = store_.commit(appends);
    }
    moments_.pass();
    if (!committed) return committed;
    for (std::size_t at = 0; at < appends.size(); ++at) {
      if (!(*committed)[at]) ledger_.acknowledge(appends[at]);
    }
    return committed;
  }
  Result<journal::ClaimOutcomes, journal::StoreError> claim(std::span<const journal::RunName> runs,
                                                            journal::ClaimMode mode) override {
    return store_.claim(runs, mode);
  }
  Result<journal::RunHead, journal::StoreError> head(const journal::RunName& run) override { return store_.head(run); }
  Result<std::vector<journal::Record>, journal::StoreError> read(const journal::RunName& run, std::uint64_t after,
                                                                 std::size_t limit) override {
    return store_.read(run, after, limit);
  }
  Result<std::optional<journal::Snapshot>, journal::StoreError> snapshot(const journal::RunName& run) override {
    return store_.snapshot(run);
  }
  Result<std::string, journal::StoreError> content(const journal::RunName& run, const Hash& hash) override {
    return store_.content(run, hash);
  }
  Result<std::optional<journal::Note>, journal::StoreError> find_note(std::string_view key) override {
    return store_.find_note(key);
  }
  Result<void, journal::StoreError> maintain() override { return store_.maintain(); }

 private:
  journal::Store& store_;
  Ledger& ledger_;
  Moments& moments_;
  Betrayal betrayal_;
  std::vector<journal::Append> held_;
};

}  // namespace tenon::simulation
