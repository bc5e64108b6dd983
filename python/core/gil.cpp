#include "core/gil.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::python {
namespace {

std::atomic<bool> has_ended = false;
std::atomic<int> taking = 0;          // threads that are about to take the lock
thread_local bool is_ending = false;  // the thread that ends the interpreter
constexpr std::chrono::seconds taking_max{2};
thread_local int depth = 0;     // of the callbacks of this thread
thread_local int unlocked = 0;  // how often this thread has released the lock

/// What was to be freed in callbacks: the engine's own threads leave theirs to the next thread that frees something.
struct Kept {
  std::mutex mutex;
  std::vector<std::function<void()>> list;
};

Kept& kept() {
  static auto* const held = new Kept();  // never destroyed: threads may end later
  return *held;
}

std::vector<std::function<void()>> take_kept() {
  const std::scoped_lock lock(kept().mutex);
  return std::exchange(kept().list, {});
}

/// Takes the lock with `take`. Returns false, without the lock, if the interpreter ends.
template <class Take>
bool take_lock(Take take) {
  ++taking;
  const bool may_take = is_ending || !has_ended;
  if (may_take) take();
  --taking;
  return may_take;
}

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {
  ++unlocked;
}

Unlocked::~Unlocked() {
  --unlocked;
  if (take_lock([this] { PyEval_RestoreThread(state_); })) return;
  for (;;) ::pause();
}

bool is_callers_thread() {
  return unlocked > 0;
}

Callback::Callback() : is_allowed_(take_lock([this] { state_ = PyGILState_Ensure(); })) {
  if (is_allowed_) ++depth;
}

Callback::~Callback() {
  if (!is_allowed_) return;
  --depth;
  PyGILState_Release(state_);
}

void free_outside(Freeing freeing, std::function<void()> free) {
  if (depth > 0) {
    const std::scoped_lock lock(kept().mutex);
    return kept().list.push_back(std::move(free));
  }
  const auto earlier = take_kept();
  if (freeing == Freeing::AtOnce && earlier.empty()) return free();
  without_lock([&] {
    for (const auto& free_earlier : earlier) free_earlier();
    free();
  });
}

void begin_end() {
  is_ending = true;
  has_ended = true;
  const Unlocked unlocked;
  const auto end = std::chrono::steady_clock::now() + taking_max;
  while (taking > 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace tenon::python
