#include "engine/event_hub.h"

#include <algorithm>
#include <chrono>

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

std::shared_ptr<Feed> EventHub::watch(const journal::RunName& run) {
  const std::scoped_lock lock(mutex_);
  if (feeds_.size() >= sweep_at_) {
    std::erase_if(feeds_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, feeds_.size() * 2);
  }
  std::weak_ptr<Feed>& kept = feeds_[run.text];
  auto feed = kept.lock();
  if (!feed) {
    feed = std::make_shared<Feed>();
    if (wakeups_ != nullptr) {
      feed->remote_ = std::make_unique<RemoteRun>(
          *wakeups_, run, [this, &feed = *feed] { feed.append_change(queue_bytes_); },
          [this, run, &feed = *feed](const runtime::TextProgress& text) { add_text(feed, run, text); });
    }
    kept = feed;
  }
  return feed;
}

void EventHub::forget_others() {
  std::vector<std::shared_ptr<Feed>> feeds;
  {
    const std::scoped_lock lock(mutex_);
    wakeups_ = nullptr;
    for (const auto& [run, kept] : feeds_) {
      if (auto feed = kept.lock()) feeds.push_back(std::move(feed));
    }
  }
  for (const auto& feed : feeds) feed->remote_.reset();
}

std::shared_ptr<Feed> EventHub::find(const journal::RunName& run) {
  const std::scoped_lock lock(mutex_);
  const auto found = feeds_.find(run.text);
  return found == feeds_.end() ? nullptr : found->second.lock();
}

void EventHub::on_recorded(const journal::RunName& run, std::string_view, std::uint64_t first,
                           std::span<const effects::Record> records) {
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

void EventHub::add_text(Feed& feed, const journal::RunName& run, const runtime::TextProgress& text) const {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  auto entry = std::make_shared<FeedEntry>();
  entry->delta = protocol::make_text_delta({run.text, text.author, 0}, now,
                                           {text.generation, text.attempt, text.offset, text.piece});
  entry->is_answer = text.is_answer;
  entry->bytes = entry->delta.json.size() + sizeof(FeedEntry);
  feed.append(std::move(entry), queue_bytes_);
  feed.notify();
}

void EventHub::on_changed(const journal::RunName& run) {
  if (const auto feed = find(run)) feed->append_change(queue_bytes_);
}

void EventHub::on_broken(std::string_view message) {
  report_(message);
  stop_(message);
}

}  // namespace tenon::engine
