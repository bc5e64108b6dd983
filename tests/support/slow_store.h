#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "journal/open_store.h"

namespace tenon::test {

/// A store whose commits take at least a given time.
class SlowStore final : public journal::StoreConnection, private journal::Store {
 public:
  SlowStore(std::unique_ptr<journal::StoreConnection> store, std::chrono::milliseconds commit_time)
      : store_(std::move(store)), commit_time_(commit_time) {}

  [[nodiscard]] journal::Store& journals() override { return *this; }
  [[nodiscard]] journal::RunQueries& runs() override { return store_->runs(); }
  [[nodiscard]] journal::Inbox& inbox() override { return store_->inbox(); }
  [[nodiscard]] journal::Ownership& ownership() override { return store_->ownership(); }
  [[nodiscard]] journal::Wakeups& wakeups() override { return store_->wakeups(); }
  [[nodiscard]] journal::StoreAdmin& admin() override { return store_->admin(); }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return store_->notices(); }

 private:
  using Error = journal::StoreError;

  Result<journal::AppendOutcomes, Error> commit(std::span<const journal::Append> appends) override {
    std::this_thread::sleep_for(commit_time_);
    return store_->journals().commit(appends);
  }
  Result<journal::ClaimOutcomes, Error> claim(std::span<const journal::RunName> runs,
                                              journal::ClaimMode mode) override {
    return store_->journals().claim(runs, mode);
  }
  Result<std::optional<journal::Note>, Error> find_note(std::string_view key) override {
    return store_->journals().find_note(key);
  }
  Result<void, Error> maintain() override { return store_->journals().maintain(); }
  Result<journal::RunHead, Error> head(const journal::RunName& run) override { return store_->journals().head(run); }
  Result<std::vector<journal::Record>, Error> read(const journal::RunName& run, std::uint64_t after,
                                                   std::size_t limit) override {
    return store_->journals().read(run, after, limit);
  }
  Result<std::optional<journal::Snapshot>, Error> snapshot(const journal::RunName& run) override {
    return store_->journals().snapshot(run);
  }
  Result<std::string, Error> content(const journal::RunName& run, const Hash& hash) override {
    return store_->journals().content(run, hash);
  }

  std::unique_ptr<journal::StoreConnection> store_;
  std::chrono::milliseconds commit_time_;
};

}  // namespace tenon::test
