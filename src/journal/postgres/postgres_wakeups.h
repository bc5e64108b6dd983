#pragma once

#include <memory>
#include <string>

#include "journal/postgres/keeper.h"
#include "journal/wakeups.h"

namespace tenon::journal::postgres {

/// Notices by NOTIFY, which an owner's keeper sends and receives. A reader has none: it looks by itself.
class PostgresWakeups final : public Wakeups {
 public:
  /// `keeper`: null for a reader.
  explicit PostgresWakeups(Keeper* keeper) : keeper_(keeper) {}

  [[nodiscard]] std::unique_ptr<Subscription> subscribe(std::function<void(Notice)> notify) override {
    return keeper_ == nullptr ? nullptr : keeper_->subscribe(std::move(notify));
  }
  [[nodiscard]] std::unique_ptr<Subscription> watch(const RunName& run, Watcher& watcher) override {
    return keeper_ == nullptr ? nullptr : keeper_->watches().runs.watch(run, watcher);
  }
  [[nodiscard]] std::unique_ptr<Subscription> watch_all(StoreWatcher& watcher) override {
    return keeper_ == nullptr ? nullptr : keeper_->watches().store.watch(watcher);
  }
  [[nodiscard]] bool is_watched(const RunName& run) override {
    return keeper_ != nullptr && keeper_->watches().runs.is_watched(run);
  }
  void on_watched(std::function<void(const RunName& run)> notify) override {
    if (keeper_ != nullptr) keeper_->watches().runs.on_watched(std::move(notify));
  }
  void publish(const RunName& run, std::string message) override {
    if (keeper_ != nullptr) keeper_->watches().runs.publish(run, message);
  }

 private:
  Keeper* const keeper_;
};

}  // namespace tenon::journal::postgres
