#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "journal/async_store.h"

namespace tenon::journal {

/// One connection to a store for a thread that accepts to wait for the disk: `deliver` performs the work. Used by one
/// thread.
class InlineStore final : public AsyncStore {
 public:
  /// `committer`: of that connection. Both outlive this.
  InlineStore(StoreConnection& store, Committer& committer) : store_(store), committer_(committer) {}
  InlineStore(const InlineStore&) = delete;
  InlineStore& operator=(const InlineStore&) = delete;

  /// Only `deliver` has anything for the caller.
  void on_progress(std::function<void()> /*notify*/) override {}
  void write(Work work, Done done) override { begun_.emplace_back(std::move(work), std::move(done)); }
  void read(Work work, Done done) override { write(std::move(work), std::move(done)); }
  std::size_t deliver() override;
  [[nodiscard]] std::size_t in_progress() const override { return begun_.size() + performed_.size(); }
  void finish() override;
  [[nodiscard]] Committer& committer() override { return committer_; }
  [[nodiscard]] StoreConnection& owner() override { return store_; }
  [[nodiscard]] Wakeups& wakeups() override { return store_.wakeups(); }

 private:
  StoreConnection& store_;
  Committer& committer_;
  std::vector<std::pair<Work, Done>> begun_;
  std::vector<Done> performed_;
};

}  // namespace tenon::journal
