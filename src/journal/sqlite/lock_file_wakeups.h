#pragma once

#include <string>

#include "journal/wakeups.h"

namespace tenon::journal::sqlite {

/// Announces by setting the times of the owner's lock file, which subscribers watch with inotify. Nothing is written: a
/// watch on the store's log would also report each commit of the owner itself.
class LockFileWakeups final : public Wakeups {
 public:
  explicit LockFileWakeups(const std::string& store_path) : path_(store_path + ".lock") {}

  [[nodiscard]] std::unique_ptr<Subscription> subscribe(std::function<void(Notice)> notify) override;
  /// No other process owns a run while this one watches.
  [[nodiscard]] std::unique_ptr<Subscription> watch(const RunName& /*run*/, Watcher& /*watcher*/) override {
    return nullptr;
  }
  [[nodiscard]] bool is_watched(const RunName& /*run*/) override { return false; }
  void publish(const RunName& /*run*/, std::string /*message*/) override {}
  /// There is something in the inbox, and it is durable.
  void announce();

 private:
  const std::string path_;
};

}  // namespace tenon::journal::sqlite
