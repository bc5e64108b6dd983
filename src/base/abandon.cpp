#include "base/abandon.h"

#include <mutex>
#include <vector>

namespace tenon {

void keep_forever(void* object) noexcept {
  try {
    static std::mutex mutex;
    static auto* const objects = new std::vector<void*>;  // reachable to the end, so that it does not count as a leak
    const std::scoped_lock lock(mutex);
    objects->push_back(object);
  } catch (...) {  // without memory nothing refers to it, and it exists all the same
  }
}

}  // namespace tenon
