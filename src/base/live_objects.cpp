#include "base/live_objects.h"

#include <pthread.h>

namespace tenon {

std::mutex& live_objects_mutex() {
  static auto* const mutex = [] {
    auto* const made = new std::mutex;  // also for threads that are alive when the process ends
    ::pthread_atfork([] { live_objects_mutex().lock(); }, [] { live_objects_mutex().unlock(); },
                     [] { live_objects_mutex().unlock(); });
    return made;
  }();
  return *mutex;
}

}  // namespace tenon
