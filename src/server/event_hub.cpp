#include "server/event_hub.h"

#include <algorithm>
#include <chrono>

namespace tenon::server {
namespace {

std::size_t size_of(const effects::Record& record) {
  return effects::encode(record).size() + sizeof(effects::Record);
}

}  // namespace

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
  return {begin_, changes_};
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
  bytes_ += entry->bytes;
  entries_.push_back(std::move(entry));
  while (bytes_ > bytes_max && entries_.size() > 1) {
    bytes_ -= entries_.front()->bytes;
    entries_.pop_front();
    ++begin_;
  }
}

void Feed::notify_change() {
  {
    const std::scoped_lock lock(mutex_);
    ++changes_;
  }
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
    kept = feed;
  }
  return feed;
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
  const auto feed = find(run);
  if (!feed) return;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  auto entry = std::make_shared<FeedEntry>();
  entry->delta = protocol::make_text_delta({run.text, text.author, 0}, now,
                                           {text.generation, text.attempt, text.offset, text.piece});
  entry->is_answer = text.is_answer;
  entry->bytes = entry->delta.json.size() + sizeof(FeedEntry);
  feed->append(std::move(entry), queue_bytes_);
  feed->notify();
}

void EventHub::on_changed(const journal::RunName& run) {
  if (const auto feed = find(run)) feed->notify_change();
}

void EventHub::on_broken(std::string_view message) {
  report_(message);
  stop_();
}

}  // namespace tenon::server
