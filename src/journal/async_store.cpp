#include "journal/async_store.h"

namespace tenon::journal {

ThreadedStore::ThreadedStore(std::unique_ptr<StoreConnection> owner, std::unique_ptr<StoreConnection> reader)
    : owner_(std::move(owner)),
      reader_(std::move(reader)),
      committer_(owner_->journals(), writes_, [this] { notify(); }) {}

ThreadedStore::~ThreadedStore() {
  stop_waiting();
  finish();
}

void ThreadedStore::stop_waiting() {
  owner_->stop_waiting();
  reader_->stop_waiting();
}

void ThreadedStore::begin(WorkQueue& queue, StoreConnection& store, Work work, Done done) {
  ++in_progress_;
  queue.begin([this, &store, work = std::move(work), done = std::move(done)]() mutable {
    std::exception_ptr exception;
    try {
      // What the work holds is destroyed here at the latest, and what `done` holds by the caller's thread.
      std::exchange(work, nullptr)(store);
    } catch (...) {
      exception = std::current_exception();
    }
    {
      const std::scoped_lock lock(mutex_);
      finished_.push_back(std::move(done));
      if (exception) exception_ = exception;
    }
    notify();
  });
}

std::size_t ThreadedStore::deliver() {
  std::vector<Done> finished;
  {
    const std::scoped_lock lock(mutex_);
    if (exception_) std::rethrow_exception(exception_);
    finished.swap(finished_);
  }
  in_progress_ -= finished.size();
  for (const Done& done : finished) {
    if (done) done();
  }
  return finished.size();
}

void ThreadedStore::finish() {
  writes_.finish();
  reads_.finish();
}

}  // namespace tenon::journal
