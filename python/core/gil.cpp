#include "core/gil.h"

#include <atomic>
#include <utility>
#include <vector>

namespace tenon::python {
namespace {

std::atomic<bool> has_ended = false;
thread_local int depth = 0;                                // of the callbacks of this thread
thread_local std::vector<std::function<void()>> to_free;  // after the outermost callback

}  // namespace

Callback::Callback() : is_allowed_(!has_ended) {
  if (!is_allowed_) return;
  state_ = PyGILState_Ensure();
  ++depth;
}

Callback::~Callback() {
  if (!is_allowed_) return;
  --depth;
  PyGILState_Release(state_);
}

void free_outside(std::function<void()> free) {
  if (depth > 0) {
    to_free.push_back(std::move(free));
    return;
  }
  without_lock([&] {
    for (const auto& kept : std::exchange(to_free, {})) kept();
    free();
  });
}

void end_callbacks() {
  has_ended = true;
}

}  // namespace tenon::python
