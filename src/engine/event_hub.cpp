#include "engine/event_hub.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/remote_run.h"

namespace tenon::engine {
namespace {

std::size_t size_of(const effects::Record& record) {
  return effects::encode(record).size() + sizeof(effects::Record);
}

}  // namespace

Feed::Feed() = default;
Feed::~Feed() = default;

std::uint64_t Feed::add_reader(std::function<void()> notify) {
  const std::scoped_lock lock(mutex_);
  readers_.emplace(next_reader_, std::move(notify));
  return next_reader_++;
}

void Feed::remove_reader(std::uint64_t reader) {
  const std::scoped_lock lock(mutex_);
  readers_.erase(reader);
}

Feed::Window Feed::window() const {
  const std::scoped_lock lock(mutex_);
  return {begin_, begin_ + entries_.size(), changes_};
}

std::vector<std::shared_ptr<const FeedEntry>> Feed::entries(std::uint64_t position, std::size_t count_max) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<const FeedEntry>> found;
  for (std::uint64_t at = std::max(position, begin_); at < begin_ + entries_.size() && found.size() < count_max; ++at) {
    found.push_back(entries_[at - begin_]);
  }
  return found;
}

void Feed::append(std::shared_ptr<const FeedEntry> entry, std::size_t bytes_max) {
  const std::scoped_lock lock(mutex_);
  if (entry->is_change) ++changes_;
  bytes_ += entry->bytes;
  entries_.push_back(std::move(entry));
  while (bytes_ > bytes_max && entries_.size() > 1) {
    bytes_ -= entries_.front()->bytes;
    entries_.pop_front();
    ++begin_;
  }
}

void Feed::append_change(std::size_t bytes_max) {
  auto entry = std::make_shared<FeedEntry>();
  entry->is_change = true;
  entry->bytes = sizeof(FeedEntry);
  append(std::move(entry), bytes_max);
  notify();
}

void Feed::notify() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [reader, notify] : readers_) notify();
}

void Changes::watch(std::function<void()> notify) {
  const std::scoped_lock lock(mutex_);
  notify_ = std::move(notify);
}

std::optional<Change> Changes::take() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(has_missed_, false)) return Change{Change::Kind::Missed, {}};
  if (order_.empty()) return std::nullopt;
  Change change = std::move(order_.front());
  order_.pop_front();
  waiting_.erase(change);
  return change;
}

void Changes::add(Change change) {
  const std::scoped_lock lock(mutex_);
  if (has_missed_ || !waiting_.insert(change).second) return;
  order_.push_back(std::move(change));
  if (order_.size() > changes_max) {
    order_.clear();
    waiting_.clear();
    has_missed_ = true;
  }
  if (notify_) notify_();
}

void Changes::add_missed() {
  const std::scoped_lock lock(mutex_);
  order_.clear();
  waiting_.clear();
  has_missed_ = true;
  if (notify_) notify_();
}

void EventHub::watch_others(journal::Wakeups& wakeups) {
  const std::scoped_lock lock(mutex_);
  wakeups_ = &wakeups;
}

void EventHub::catch_up_by(Repeat repeat) {
  const std::scoped_lock lock(mutex_);
  repeat_ = std::move(repeat);
}

std::shared_ptr<Feed> EventHub::watch(const journal::RunName& run) {
  auto [feed, repeat] = open(run);
  if (repeat) repeat(run);
  return feed;
}

/// The feed, and what is to be called if it was created.
std::pair<std::shared_ptr<Feed>, EventHub::Repeat> EventHub::open(const journal::RunName& run) {
  const std::scoped_lock lock(mutex_);
  if (feeds_.size() >= sweep_at_) {
    std::erase_if(feeds_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, feeds_.size() * 2);
  }
  std::weak_ptr<Feed>& kept = feeds_[run.text];
  if (auto feed = kept.lock()) return {std::move(feed), nullptr};
  auto feed = std::make_shared<Feed>();
  if (wakeups_ != nullptr) {
    feed->remote_ = std::make_unique<RemoteRun>(
        *wakeups_, run, [this, &feed = *feed] { feed.append_change(queue_bytes_); },
        [this, run, &feed = *feed](const runtime::TextProgress& text) { add_text(feed, run, text); });
  }
  kept = feed;
  return {std::move(feed), repeat_};
}

void EventHub::forget_others() {
  std::vector<std::shared_ptr<Feed>> feeds;
  std::vector<std::shared_ptr<Changes>> watchers;
  {
    const std::scoped_lock lock(mutex_);
    wakeups_ = nullptr;
    repeat_ = nullptr;
    for (const auto& [run, kept] : feeds_) {
      if (auto feed = kept.lock()) feeds.push_back(std::move(feed));
    }
    for (const auto& watcher : watchers_) {
      if (auto changes = watcher.lock()) watchers.push_back(std::move(changes));
    }
  }
  for (const auto& changes : watchers) changes->others_.reset();
  for (const auto& feed : feeds) feed->remote_.reset();
}

std::shared_ptr<Changes> EventHub::watch_all() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(watchers_, [](const auto& watcher) { return watcher.expired(); });
  auto changes = std::make_shared<Changes>();
  if (wakeups_ != nullptr) changes->others_ = wakeups_->watch_all(*changes);
  watchers_.push_back(changes);
  has_watchers_ = true;
  return changes;
}

void EventHub::add_program_change(const std::string& program) {
  add_change({Change::Kind::Program, program});
}

void EventHub::add_change(const Change& change) {
  if (!has_watchers_) return;
  std::vector<std::shared_ptr<Changes>> watchers;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& watcher : watchers_) {
      if (auto changes = watcher.lock()) watchers.push_back(std::move(changes));
    }
    if (watchers.empty()) has_watchers_ = false;
  }
  for (const auto& changes : watchers) changes->add(change);
}

std::shared_ptr<Feed> EventHub::find(const journal::RunName& run) {
  const std::scoped_lock lock(mutex_);
  const auto found = feeds_.find(run.text);
  return found == feeds_.end() ? nullptr : found->second.lock();
}

void EventHub::on_recorded(const journal::RunName& run, std::string_view, std::uint64_t first,
                           std::span<const effects::Record> records) {
  add_change({Change::Kind::Run, run.text});
  const auto feed = find(run);
  if (!feed) return;
  for (const effects::Record& record : records) {
    auto entry = std::make_shared<FeedEntry>();
    entry->number = first++;
    entry->record = record;
    entry->bytes = size_of(record);
    feed->append(std::move(entry), queue_bytes_);
  }
  feed->notify();
}

void EventHub::on_text(const journal::RunName& run, const runtime::TextProgress& text) {
  if (const auto feed = find(run)) add_text(*feed, run, text);
}

void EventHub::add_text(Feed& feed, const journal::RunName& run, const runtime::TextProgress& received) const {
  const std::scoped_lock lock(feed.text_mutex_);
  const auto joined = feed.text_.take(received);
  if (!joined) return;
  const runtime::TextProgress& text = *joined;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  auto entry = std::make_shared<FeedEntry>();
  entry->delta = protocol::make_text_delta({run.text, text.author, 0}, now,
                                           {text.generation, text.attempt, text.offset, text.piece});
  entry->generation = text.generation;
  entry->is_answer = text.is_answer;
  entry->bytes = entry->delta.json.size() + entry->generation.size() + sizeof(FeedEntry);
  feed.append(std::move(entry), queue_bytes_);
  feed.notify();
}

void EventHub::on_changed(const journal::RunName& run) {
  add_change({Change::Kind::Run, run.text});
  if (const auto feed = find(run)) feed->append_change(queue_bytes_);
}

void EventHub::on_broken(std::string_view message) {
  report_(message);
  stop_(message);
}

}  // namespace tenon::engine
