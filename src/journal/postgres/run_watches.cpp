#include "journal/postgres/run_watches.h"

#include <algorithm>

namespace tenon::journal::postgres {
namespace {

/// What a message takes besides its text, for the bound of what waits.
constexpr std::size_t message_overhead = 64;

}  // namespace

class RunWatches::Watch final : public Subscription {
 public:
  Watch(RunWatches& watches, RunName run, Wakeups::Watcher& watcher)
      : watches_(watches), run_(std::move(run)), watcher_(watcher) {}
  ~Watch() override { watches_.end(run_, watcher_); }

 private:
  RunWatches& watches_;
  const RunName run_;
  Wakeups::Watcher& watcher_;
};

std::unique_ptr<Subscription> RunWatches::watch(const RunName& run, Wakeups::Watcher& watcher) {
  {
    const std::scoped_lock lock(here_mutex_);
    here_[run.text].watchers.push_back(&watcher);
  }
  has_new_ = true;
  wake_();
  return std::make_unique<Watch>(*this, run, watcher);
}

void RunWatches::end(const RunName& run, Wakeups::Watcher& watcher) {
  const std::scoped_lock lock(here_mutex_);
  const auto found = here_.find(run.text);
  if (found == here_.end()) return;
  std::vector<Wakeups::Watcher*>& watchers = found->second.watchers;
  if (const auto at = std::ranges::find(watchers, &watcher); at != watchers.end()) watchers.erase(at);
  if (watchers.empty()) here_.erase(found);
}

std::vector<RunName> RunWatches::watched_here() const {
  const std::scoped_lock lock(here_mutex_);
  std::vector<RunName> runs;
  runs.reserve(here_.size());
  for (const auto& [name, here] : here_) runs.push_back({name});
  return runs;
}

void RunWatches::on_changed(std::span<const RunName> runs) {
  const std::scoped_lock lock(here_mutex_);
  for (const RunName& run : runs) {
    const auto found = here_.find(run.text);
    if (found == here_.end()) continue;
    for (Wakeups::Watcher* const watcher : found->second.watchers) watcher->on_changed();
  }
}

void RunWatches::on_seen(const RunName& run, std::int64_t owner, std::uint64_t appends) {
  const std::scoped_lock lock(here_mutex_);
  const auto found = here_.find(run.text);
  if (found == here_.end()) return;
  Here& here = found->second;
  const bool is_same = here.is_seen && here.owner == owner && here.appends == appends;
  here.is_seen = true;
  here.owner = owner;
  here.appends = appends;
  if (is_same) return;
  for (Wakeups::Watcher* const watcher : here.watchers) watcher->on_changed();
}

void RunWatches::on_messages(const MessagesNotice& notice) {
  const std::scoped_lock lock(here_mutex_);
  for (const MessagePiece& piece : notice.pieces) {
    const auto found = here_.find(piece.run.text);
    if (found == here_.end()) continue;
    Here& here = found->second;
    if (piece.part == 0) {
      here.sender = notice.sender;
      here.number = piece.number;
      here.parts = 0;
      here.text.clear();
    }
    // A message of which a part was lost is dropped.
    const bool is_next = here.sender == notice.sender && here.number == piece.number && here.parts == piece.part;
    if (!is_next) continue;
    here.text += piece.text;
    if (++here.parts < piece.parts) continue;
    const std::string message = decode_message(here.text);
    here.text.clear();
    here.parts = 0;
    here.number = UINT64_MAX;
    for (Wakeups::Watcher* const watcher : here.watchers) watcher->on_message(message);
  }
}

void RunWatches::on_watch(const WatchNotice& notice, std::chrono::nanoseconds now) {
  std::vector<RunName> begun;
  {
    const std::scoped_lock lock(elsewhere_mutex_);
    for (const RunName& run : notice.runs) {
      const auto [watch, is_new] = elsewhere_[run.text].try_emplace(notice.watcher);
      watch->second.until = now + watch_time;
      if (is_new) begun.push_back(run);
    }
    elsewhere_count_ = elsewhere_.size();
  }
  const std::scoped_lock lock(watched_mutex_);
  if (!watched_) return;
  for (const RunName& run : begun) watched_(run);
}

void RunWatches::on_watched(std::function<void(const RunName& run)> notify) {
  const std::scoped_lock lock(watched_mutex_);
  watched_ = std::move(notify);
}

bool RunWatches::is_watched(const RunName& run) const {
  if (elsewhere_count_ == 0) return false;
  const std::scoped_lock lock(elsewhere_mutex_);
  return elsewhere_.contains(run.text);
}

RunWatches::Phase& RunWatches::phase_at(std::size_t at) {
  if (outgoing_.size() <= at) outgoing_.resize(at + 1);
  return outgoing_[at];
}

void RunWatches::note_changed(std::span<const RunName> runs) {
  if (elsewhere_count_ == 0) return;
  bool has_new = false;
  {
    const std::scoped_lock lock(elsewhere_mutex_);
    for (const RunName& run : runs) {
      if (!elsewhere_.contains(run.text)) continue;
      Phase& phase = phase_at(phase_of_[run.text]);
      has_new = phase.changed.insert(run.text).second || has_new;
    }
  }
  if (has_new) wake_();
}

void RunWatches::publish(const RunName& run, std::string_view message) {
  if (elsewhere_count_ == 0) return;
  {
    const std::scoped_lock lock(elsewhere_mutex_);
    const std::size_t bytes = message.size() + message_overhead;
    if (!elsewhere_.contains(run.text) || outgoing_bytes_ + bytes > outgoing_bytes_max) return;
    std::size_t& at = phase_of_[run.text];
    if (phase_at(at).changed.contains(run.text)) ++at;  // it comes after the change
    phase_at(at).messages.emplace_back(run.text, message);
    const bool was_empty = outgoing_bytes_ == 0;
    outgoing_bytes_ += bytes;
    if (!was_empty) return;  // the keeper was woken
  }
  wake_();
}

bool RunWatches::has_outgoing() const {
  if (elsewhere_count_ == 0) return false;
  const std::scoped_lock lock(elsewhere_mutex_);
  return !outgoing_.empty();
}

std::vector<OutgoingNotice> RunWatches::take_outgoing(std::int64_t self, std::chrono::nanoseconds now) {
  const std::scoped_lock lock(elsewhere_mutex_);
  for (auto run = elsewhere_.begin(); run != elsewhere_.end();) {
    std::erase_if(run->second, [&](const auto& watcher) { return watcher.second.until < now; });
    run = run->second.empty() ? elsewhere_.erase(run) : std::next(run);
  }
  elsewhere_count_ = elsewhere_.size();
  std::vector<OutgoingNotice> notices;
  for (const Phase& phase : outgoing_) {
    std::map<std::int64_t, MessageNotices> messages;
    for (const auto& [run, message] : phase.messages) {
      const auto watchers = elsewhere_.find(run);
      if (watchers == elsewhere_.end()) continue;
      for (auto& [owner, watcher] : watchers->second)
        messages.try_emplace(owner, self).first->second.add({run}, watcher.next_number++, message);
    }
    for (auto& [owner, collected] : messages)
      for (std::string& text : collected.take()) notices.push_back({owner, std::move(text)});
    std::map<std::int64_t, std::vector<RunName>> changed;
    for (const std::string& run : phase.changed) {
      const auto watchers = elsewhere_.find(run);
      if (watchers == elsewhere_.end()) continue;
      for (const auto& [owner, watcher] : watchers->second) changed[owner].push_back({run});
    }
    for (const auto& [owner, runs] : changed)
      for (std::string& text : make_changed_notices(change_notices_, runs)) {
        notices.push_back({owner, std::move(text)});
        ++change_notices_;
      }
  }
  clear_outgoing();
  return notices;
}

void RunWatches::clear_outgoing() {
  outgoing_.clear();
  phase_of_.clear();
  outgoing_bytes_ = 0;
}

void RunWatches::forget_watched() {
  const std::scoped_lock lock(elsewhere_mutex_);
  elsewhere_.clear();
  elsewhere_count_ = 0;
  clear_outgoing();
}

}  // namespace tenon::journal::postgres
