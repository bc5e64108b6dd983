#pragma once

// What the random calls of tenon/tenon.h share: checks, handles of several threads, and work that was begun.
#include <tenon/tenon.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t handles_max = 12;

using Random = std::mt19937;

std::string place;  // for messages
std::atomic<long> call_count = 0;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", place.c_str(), why.c_str());
  std::_Exit(1);
}

/// Checks what a function has returned, and frees its error.
tenon_status check(tenon_status status, tenon_error* error) {
  ++call_count;
  if (status < TENON_OK || status >= TENON_FORKED) give_up("status " + std::to_string(status));
  const bool has_failed = status != TENON_OK && status != TENON_NOT_YET;
  if (has_failed != (error != nullptr)) give_up("an error does not fit the status " + std::to_string(status));
  if (error == nullptr) return status;
  if (tenon_error_status(error) != status || tenon_error_message(error).length == 0) give_up("an error says nothing");
  if (status == TENON_INTERNAL) give_up(tenon_error_message(error).data);
  if (tenon_error_json(error).length == 0) give_up("an error has no JSON");
  tenon_problem problem = {};
  problem.size = sizeof problem;
  for (std::size_t at = 0; tenon_error_problem(error, at, &problem); ++at) {
    if (problem.message.length == 0) give_up("a problem says nothing");
  }
  tenon_error_free(error);
  return status;
}

/// The same of a function that is called with a place for its error.
template <class Call>
tenon_status done(const Call& call) {
  tenon_error* error = nullptr;
  const tenon_status status = call(&error);
  return check(status, error);
}

/// Handles that the threads share. One may use a handle while others do, and frees it when no other one does.
template <class Handle>
class Pool {
 public:
  explicit Pool(void (*free)(Handle*)) : free_(free) {}
  ~Pool() { clear(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// It is freed by the last one that uses it.
  std::shared_ptr<Handle> add(Handle* handle) {
    if (handle == nullptr) return nullptr;
    const std::shared_ptr<Handle> added(handle, free_);
    const std::scoped_lock lock(mutex_);
    if (handles_.size() < handles_max) handles_.push_back(added);
    return added;
  }
  /// Null at times, as the header allows it.
  std::shared_ptr<Handle> pick(Random& random) {
    const std::scoped_lock lock(mutex_);
    if (handles_.empty() || random() % 40 == 0) return nullptr;
    return handles_[random() % handles_.size()];
  }
  void drop_one(Random& random) {
    std::shared_ptr<Handle> dropped;  // freed without the lock
    const std::scoped_lock lock(mutex_);
    if (handles_.empty()) return;
    dropped.swap(handles_[random() % handles_.size()]);
    std::erase(handles_, nullptr);
  }
  void clear() {
    std::vector<std::shared_ptr<Handle>> dropped;
    const std::scoped_lock lock(mutex_);
    dropped.swap(handles_);
  }

 private:
  void (*free_)(Handle*);
  std::mutex mutex_;
  std::vector<std::shared_ptr<Handle>> handles_;
};

/// What the externs and the model of the host have begun, to be ended by any thread.
class Begun {
 public:
  void add(std::function<void()> end) {
    const std::scoped_lock lock(mutex_);
    ends_.push_back(std::move(end));
  }
  bool end_one() {
    std::function<void()> end;
    {
      const std::scoped_lock lock(mutex_);
      if (ends_.empty()) return false;
      end = std::move(ends_.back());
      ends_.pop_back();
    }
    end();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> ends_;
};

Begun begun;

}  // namespace
