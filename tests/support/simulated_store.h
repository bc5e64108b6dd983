#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "journal/async_store.h"

namespace tenon::test {

/// A store on the caller's thread whose work takes time: each piece is performed at some `deliver` after it was begun,
/// reads in any order, and completed at the same or a later one. The seed determines everything.
class SimulatedStore final : public journal::AsyncStore {
 public:
  SimulatedStore(std::unique_ptr<journal::StoreConnection> owner, std::unique_ptr<journal::StoreConnection> reader,
                 std::uint64_t seed)
      : owner_(std::move(owner)), reader_(std::make_unique<Reader>(std::move(reader))), random_(seed) {}

  /// While reads are held, none is performed.
  void hold_reads(bool is_held) { are_reads_held_ = is_held; }
  /// Commits fail with this error; nothing: they succeed.
  void fail_commits(std::optional<journal::StoreError::Kind> error) { commit_error_ = error; }
  /// While queries for runs fail, reads find no run by its summary.
  void fail_queries(bool is_failing) { reader_->is_failing = is_failing; }
  /// The records of these runs cannot be read for now.
  void fail_runs(std::function<bool(const journal::RunName& run)> fails) { reader_->fails = std::move(fails); }
  /// Reads that were begun and not performed.
  [[nodiscard]] std::size_t waiting_reads() const { return reads_.size(); }
  /// Reads that were begun.
  [[nodiscard]] std::size_t reads() const { return begun_reads_; }

  /// Whether `on_progress` was called while a thread of a real store could have called the previous function.
  [[nodiscard]] bool has_raced() const { return has_raced_; }

  void on_progress(std::function<void()> /*notify*/) override { has_raced_ = has_raced_ || may_notify_; }
  void write(Work work, Done done) override {
    may_notify_ = true;
    ++in_progress_;
    writes_.push_back([this, work = std::move(work), done = std::move(done)] {
      work(*owner_);
      performed_.push_back(done);
    });
  }
  void read(Work work, Done done) override {
    may_notify_ = true;
    ++in_progress_;
    ++begun_reads_;
    reads_.push_back({std::move(work), std::move(done)});
  }
  std::size_t deliver() override {
    const bool is_all = std::exchange(delivers_all_, false);
    while (!writes_.empty() && (is_all || is_chosen())) perform_write();
    while (!reads_.empty() && !are_reads_held_ && (is_all || is_chosen())) perform_read();
    std::shuffle(performed_.begin(), performed_.end(), random_);
    std::vector<Done> delivered;
    while (!performed_.empty() && (is_all || is_chosen())) {
      delivered.push_back(std::move(performed_.back()));
      performed_.pop_back();
    }
    in_progress_ -= delivered.size();
    for (const Done& done : delivered) {
      if (done) done();
    }
    return delivered.size();
  }
  [[nodiscard]] std::size_t in_progress() const override { return in_progress_; }
  void finish() override {
    are_reads_held_ = false;
    delivers_all_ = true;
    may_notify_ = false;
  }
  [[nodiscard]] journal::Committer& committer() override { return committer_; }
  [[nodiscard]] journal::StoreConnection& owner() override { return *owner_; }
  [[nodiscard]] journal::Wakeups& wakeups() override { return owner_->wakeups(); }

 private:
  struct Read {
    Work work;
    Done done;
  };

  /// A connection whose queries for runs may fail, and that may not read some runs.
  class Reader final : public journal::StoreConnection, private journal::RunQueries, private journal::Store {
   public:
    explicit Reader(std::unique_ptr<journal::StoreConnection> connection) : connection_(std::move(connection)) {}
    journal::Store& journals() override { return *this; }
    journal::RunQueries& runs() override { return *this; }
    journal::Inbox& inbox() override { return connection_->inbox(); }
    journal::Ownership& ownership() override { return connection_->ownership(); }
    journal::Wakeups& wakeups() override { return connection_->wakeups(); }
    journal::StoreAdmin& admin() override { return connection_->admin(); }
    const std::vector<std::string>& notices() const override { return connection_->notices(); }

    bool is_failing = false;
    std::function<bool(const journal::RunName& run)> fails = [](const journal::RunName&) { return false; };

   private:
    Result<journal::RunHead, journal::StoreError> head(const journal::RunName& run) override {
      return connection_->journals().head(run);
    }
    Result<std::vector<journal::Record>, journal::StoreError> read(const journal::RunName& run, std::uint64_t after,
                                                                   std::size_t limit) override {
      if (fails(run)) return failure(error());
      return connection_->journals().read(run, after, limit);
    }
    Result<std::optional<journal::Snapshot>, journal::StoreError> snapshot(const journal::RunName& run) override {
      return connection_->journals().snapshot(run);
    }
    Result<std::string, journal::StoreError> content(const journal::RunName& run, const Hash& hash) override {
      return connection_->journals().content(run, hash);
    }
    Result<journal::AppendOutcomes, journal::StoreError> commit(std::span<const journal::Append> appends) override {
      return connection_->journals().commit(appends);
    }
    Result<journal::ClaimOutcomes, journal::StoreError> claim(std::span<const journal::RunName> runs,
                                                              journal::ClaimMode mode) override {
      return connection_->journals().claim(runs, mode);
    }
    Result<std::optional<journal::Note>, journal::StoreError> find_note(std::string_view key) override {
      return connection_->journals().find_note(key);
    }
    Result<void, journal::StoreError> maintain() override { return connection_->journals().maintain(); }

    using Heads = Result<std::vector<journal::RunHead>, journal::StoreError>;
    Heads list(const journal::RunFilter& filter) override {
      if (is_failing) return failure(error());
      return connection_->runs().list(filter);
    }
    Result<std::vector<journal::DueRun>, journal::StoreError> due(const journal::DueFilter& filter) override {
      if (is_failing) return failure(error());
      return connection_->runs().due(filter);
    }
    Result<std::optional<std::int64_t>, journal::StoreError> next_due(const std::optional<journal::DueRun>& after,
                                                                      journal::OwnerId owner) override {
      if (is_failing) return failure(error());
      return connection_->runs().next_due(after, owner);
    }
    Result<std::optional<journal::RunName>, journal::StoreError> newest() override {
      if (is_failing) return failure(error());
      return connection_->runs().newest();
    }
    Result<journal::StoreCounts, journal::StoreError> count() override {
      if (is_failing) return failure(error());
      return connection_->runs().count();
    }
    static journal::StoreError error() { return {journal::StoreError::Kind::InUse, "the query fails"}; }

    std::unique_ptr<journal::StoreConnection> connection_;
  };

  class Committer final : public journal::Committer {
   public:
    explicit Committer(SimulatedStore& store) : store_(store) {}
    void begin(std::span<const journal::Append> appends) override {
      ENSURE(!outcome_);
      store_.may_notify_ = true;
      store_.writes_.push_back([this, appends] {
        if (store_.commit_error_) {
          outcome_ = failure(journal::StoreError{*store_.commit_error_, "the disk fails"});
        } else {
          outcome_ = store_.owner_->journals().commit(appends);
        }
      });
    }
    std::optional<journal::CommitOutcome> take() override { return std::exchange(outcome_, std::nullopt); }
    journal::CommitOutcome finish() override {
      rest();
      return *std::exchange(outcome_, std::nullopt);
    }
    void rest() override {
      while (!store_.writes_.empty()) store_.perform_write();
    }

   private:
    SimulatedStore& store_;
    std::optional<journal::CommitOutcome> outcome_;
  };

  [[nodiscard]] bool is_chosen() { return random_() % 2 == 0; }
  void perform_write() {
    const std::function<void()> write = std::move(writes_.front());
    writes_.pop_front();
    write();
  }
  void perform_read() {
    const auto at = reads_.begin() + static_cast<std::ptrdiff_t>(random_() % reads_.size());
    const Read read = std::move(*at);
    reads_.erase(at);
    read.work(*reader_);
    performed_.push_back(read.done);
  }

  std::unique_ptr<journal::StoreConnection> owner_;
  std::unique_ptr<Reader> reader_;
  std::mt19937_64 random_;
  std::deque<std::function<void()>> writes_;
  std::vector<Read> reads_;
  std::vector<Done> performed_;
  std::size_t in_progress_ = 0;
  std::size_t begun_reads_ = 0;
  bool are_reads_held_ = false;
  bool delivers_all_ = false;
  bool may_notify_ = false;  ///< something was begun since the last `finish`
  bool has_raced_ = false;
  std::optional<journal::StoreError::Kind> commit_error_;
  Committer committer_{*this};
};

}  // namespace tenon::test
