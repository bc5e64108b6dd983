#include "journal/committer.h"

#include <utility>

namespace tenon::journal {
namespace {

/// What a queued append takes, roughly.
std::size_t size_of(const Append& append) {
  std::size_t size = sizeof(Append) + append.summary.title.size() + append.summary.detail.size() +
                     append.references.size() * Hash::size + (append.snapshot ? append.snapshot->bytes.size() : 0);
  for (const std::string& record : append.records) size += sizeof record + record.size();
  for (const Content& content : append.contents)
    size += sizeof content + content.bytes.size() + content.refers.size() * Hash::size;
  return size;
}

}  // namespace

Committer::Committer(std::unique_ptr<Store> store, Options options)
    : options_(std::move(options)), store_(std::move(store)), thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool Committer::submit(Append& append, std::uint64_t token) {
  const std::size_t size = size_of(append);
  bool was_empty = false;
  {
    const std::scoped_lock lock(mutex_);
    if (bytes_ != 0 && bytes_ + size > options_.bytes_max) return false;
    bytes_ += size;
    was_empty = queue_.empty();
    queue_.push_back({std::move(append), token, size});
  }
  if (was_empty) changed_.notify_one();
  return true;
}

std::optional<Result<std::optional<AppendRefusal>, StoreError>> Committer::commit_now(const Append& append) {
  const std::unique_lock store_lock(store_mutex_, std::try_to_lock);
  if (!store_lock) return std::nullopt;
  {
    // Whoever submits from here on comes after this one: its commit needs the store.
    const std::scoped_lock lock(mutex_);
    if (!queue_.empty() || is_committing_) return std::nullopt;
  }
  auto refusals = store_->commit({&append, 1});
  if (!refusals) return Result<std::optional<AppendRefusal>, StoreError>(failure(refusals.error()));
  return Result<std::optional<AppendRefusal>, StoreError>(refusals->front());
}

std::vector<Completion> Committer::poll() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(completions_, {});
}

std::unique_lock<std::mutex> Committer::lock_store() {
  {
    const std::scoped_lock lock(mutex_);
    ++store_waiters_;
  }
  std::unique_lock store_lock(store_mutex_);
  {
    const std::scoped_lock lock(mutex_);
    --store_waiters_;
  }
  changed_.notify_one();
  return store_lock;
}

void Committer::run() {
  while (true) {
    std::vector<Queued> queued;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return store_waiters_ == 0 && (!queue_.empty() || is_ending_); });
      if (queue_.empty()) return;
      queued.swap(queue_);
      is_committing_ = true;
    }
    commit(std::move(queued));
  }
}

void Committer::commit(std::vector<Queued> queued) {
  std::vector<Append> appends;
  appends.reserve(queued.size());
  std::size_t bytes = 0;
  for (Queued& one : queued) {
    appends.push_back(std::move(one.append));
    bytes += one.bytes;
  }
  const std::scoped_lock store_lock(store_mutex_);
  const auto refusals = store_->commit(appends);
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t at = 0; at < queued.size(); ++at) {
      if (refusals)
        completions_.push_back({queued[at].token, (*refusals)[at]});
      else
        completions_.push_back({queued[at].token, failure(refusals.error())});
    }
    bytes_ -= bytes;
    is_committing_ = false;
  }
  if (options_.notify) options_.notify();
  // An error of the housekeeping is one of the store: the next commit gives it.
  static_cast<void>(store_->maintain());
}

}  // namespace tenon::journal
