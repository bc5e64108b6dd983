#include "journal/postgres/store_watches.h"

#include <algorithm>
#include <utility>

namespace tenon::journal::postgres {

class StoreWatches::Watch final : public Subscription {
 public:
  Watch(StoreWatches& watches, Wakeups::StoreWatcher& watcher) : watches_(watches), watcher_(watcher) {}
  ~Watch() override {
    const std::scoped_lock lock(watches_.here_mutex_);
    std::erase(watches_.here_, &watcher_);
  }

 private:
  StoreWatches& watches_;
  Wakeups::StoreWatcher& watcher_;
};

std::unique_ptr<Subscription> StoreWatches::watch(Wakeups::StoreWatcher& watcher) {
  {
    const std::scoped_lock lock(here_mutex_);
    here_.push_back(&watcher);
  }
  has_new_ = true;
  wake_();
  return std::make_unique<Watch>(*this, watcher);
}

bool StoreWatches::has_watchers_here() const {
  const std::scoped_lock lock(here_mutex_);
  return !here_.empty();
}

void StoreWatches::on_changed(std::span<const RunName> runs) {
  const std::scoped_lock lock(here_mutex_);
  for (Wakeups::StoreWatcher* const watcher : here_) {
    for (const RunName& run : runs) watcher->on_changed(run);
    if (runs.empty()) watcher->on_missed();
  }
}

void StoreWatches::on_watch(std::int64_t watcher, std::chrono::nanoseconds now) {
  const std::scoped_lock lock(elsewhere_mutex_);
  elsewhere_[watcher] = now + watch_time;
  watcher_count_ = elsewhere_.size();
}

void StoreWatches::note_changed(std::span<const RunName> runs) {
  if (!is_watched()) return;
  {
    const std::scoped_lock lock(elsewhere_mutex_);
    const bool was_empty = changed_.empty() && !has_too_many_;
    for (const RunName& run : runs) {
      if (has_too_many_) break;
      changed_.insert(run.text);
      has_too_many_ = changed_.size() > changed_runs_max;
    }
    if (has_too_many_) changed_.clear();
    if (!was_empty) return;  // the keeper was woken
  }
  wake_();
}

bool StoreWatches::has_outgoing() const {
  if (!is_watched()) return false;
  const std::scoped_lock lock(elsewhere_mutex_);
  return has_too_many_ || !changed_.empty();
}

std::vector<OutgoingNotice> StoreWatches::take_outgoing(std::chrono::nanoseconds now) {
  const std::scoped_lock lock(elsewhere_mutex_);
  std::erase_if(elsewhere_, [&](const auto& watcher) { return watcher.second < now; });
  watcher_count_ = elsewhere_.size();
  const bool has_too_many = std::exchange(has_too_many_, false);
  std::vector<RunName> runs;
  for (const std::string& run : std::exchange(changed_, {})) runs.push_back({run});
  if (runs.empty() && !has_too_many) return {};
  const std::vector<std::string> texts = make_any_changed_notices(notices_, runs);
  notices_ += texts.size();
  std::vector<OutgoingNotice> notices;
  for (const auto& [owner, until] : elsewhere_)
    for (const std::string& text : texts) notices.push_back({owner, text});
  return notices;
}

void StoreWatches::forget_watched() {
  const std::scoped_lock lock(elsewhere_mutex_);
  elsewhere_.clear();
  watcher_count_ = 0;
  changed_.clear();
  has_too_many_ = false;
}

}  // namespace tenon::journal::postgres
