#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tenon {

/// Guards all LiveObjects. A process that is forked gets it unlocked.
[[nodiscard]] std::mutex& live_objects_mutex();

/// Objects that another program refers to by their addresses, until it says that it does not any more. A program that
/// says so twice, or uses an address afterwards, gets nothing; the address is not read. Any thread.
template <class T>
class LiveObjects final {
 public:
  LiveObjects() = default;
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  void add(const void* address, std::shared_ptr<T> object) {
    const std::scoped_lock lock(live_objects_mutex());
    objects_.insert_or_assign(address, std::move(object));
  }
  /// Null: there is no such object, or it was taken before.
  [[nodiscard]] std::shared_ptr<T> take(const void* address) {
    const std::scoped_lock lock(live_objects_mutex());
    const auto found = objects_.find(address);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  [[nodiscard]] std::shared_ptr<T> find(const void* address) const {
    const std::scoped_lock lock(live_objects_mutex());
    const auto found = objects_.find(address);
    return found == objects_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

}  // namespace tenon
