#include "core/gil.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::python {
namespace {

std::atomic<bool> has_ended = false;
std::atomic<bool> have_loops_ended = false;
std::atomic<int> taking = 0;          // threads that are about to take the lock
thread_local bool is_ending = false;  // the thread that ends the interpreter
constexpr std::chrono::seconds taking_max{2};
using Clock = std::chrono::steady_clock;
/// Until when a thread is expected to release the lock (expect_release), as Clock counts; 0: none is.
std::atomic<Clock::rep> releasing_until = 0;
constexpr std::chrono::milliseconds release_max{1};
constexpr std::chrono::milliseconds linger_max{2};
constexpr std::chrono::microseconds linger_piece{250};
constexpr std::chrono::milliseconds uncontended_max{1};
constexpr int spins_max = 1'000;
thread_local int depth = 0;                 // of the callbacks of this thread
thread_local int unlocked = 0;              // how often this thread has released the lock
thread_local bool passes_lock = false;      // this thread releases it with wait_released
thread_local bool waits_contended = false;  // and another thread computed when it took the lock again

/// The threads that wait for the release. One that yielded its processor meanwhile, or slept, would find that the
/// thread which computes was faster. So they sleep until the lock is offered to one, which then stays awake.
struct Heirs {
  std::mutex mutex;
  std::condition_variable came;
  std::condition_variable offered;
  int count = 0;
  bool is_offered = false;
  std::atomic<bool> is_awake = false;  ///< the one that the lock was offered to
};

Heirs& heirs() {
  static auto* const held = new Heirs();  // never destroyed: threads may end later
  return *held;
}

/// That the end of the interpreter has begun.
struct EndSignal {
  std::mutex mutex;
  std::condition_variable came;
};

EndSignal& end_signal() {
  static auto* const held = new EndSignal();  // never destroyed: threads may end later
  return *held;
}

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

bool is_releasing() {
  const Clock::rep until = releasing_until;
  return until != 0 && Clock::now().time_since_epoch().count() < until;
}

void expect_release_within(Clock::duration time) {
  releasing_until = (Clock::now() + time).time_since_epoch().count();
}

/// Returns when the lock was just released to this thread, or none is expected to release it any more.
void await_release() {
  if (!is_releasing()) return;
  {
    std::unique_lock lock(heirs().mutex);
    ++heirs().count;
    heirs().came.notify_all();
    while (!heirs().is_offered && is_releasing()) {
      heirs().offered.wait_until(lock, Clock::time_point(Clock::duration(releasing_until)));
    }
    --heirs().count;
    if (!std::exchange(heirs().is_offered, false)) return;
  }
  heirs().is_awake = true;
  for (int spins = 0; is_releasing(); ++spins) {
    if (spins > spins_max) std::this_thread::yield();  // the other thread may need this processor
  }
}

/// Keeps the lock until a thread comes for it, which is then awake, or `has_more()`, or for linger_max. Returns whether
/// there is more.
bool linger(const std::function<bool()>& has_more) {
  if (!is_releasing()) return has_more();
  expect_release_within(linger_max);
  {
    std::unique_lock lock(heirs().mutex);
    while (heirs().count == 0 && is_releasing()) {
      if (has_more()) return true;
      heirs().came.wait_for(lock, linger_piece);
    }
    if (heirs().count == 0) return false;
    heirs().is_awake = false;
    heirs().is_offered = true;
    expect_release_within(linger_max);
  }
  heirs().offered.notify_one();
  while (!heirs().is_awake && is_releasing()) std::this_thread::yield();
  return false;
}

/// Takes the lock with `take`. Returns false, without the lock, if the interpreter ends.
template <class Take>
bool take_lock(Take take) {
  ++taking;
  const bool may_take = is_ending || !(passes_lock ? have_loops_ended : has_ended);
  if (may_take) take();
  --taking;
  return may_take;
}

template <class Take>
void take_lock_or_stop(Take take) {
  if (take_lock(take)) return;
  for (;;) ::pause();
}

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {
  ++unlocked;
}

Unlocked::~Unlocked() {
  --unlocked;
  await_release();
  take_lock_or_stop([this] { PyEval_RestoreThread(state_); });
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

void expect_release() {
  if (waits_contended) expect_release_within(release_max);
}

void note_release() {
  if (releasing_until.exchange(0) == 0) return;
  const std::scoped_lock lock(heirs().mutex);
  heirs().is_offered = false;  // not taken
  heirs().offered.notify_all();
}

Waited wait_released(const std::function<bool()>& has_more, const std::function<void()>& wait) {
  passes_lock = true;
  if (linger(has_more)) {
    note_release();
    return Waited::Not;
  }
  PyThreadState* const state = PyEval_SaveThread();
  note_release();
  ++unlocked;
  wait();
  --unlocked;
  const Clock::time_point end = Clock::now();
  take_lock_or_stop([state] { PyEval_RestoreThread(state); });
  waits_contended = Clock::now() - end > uncontended_max;
  return waits_contended ? Waited::Contended : Waited::Alone;
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

namespace {

/// Until no other thread is about to take the lock.
void await_takers() {
  const Unlocked while_waiting;
  const auto end = Clock::now() + taking_max;
  while (taking > 0 && Clock::now() < end) std::this_thread::yield();
}

}  // namespace

void begin_end() {
  is_ending = true;
  {
    const std::scoped_lock lock(end_signal().mutex);
    has_ended = true;
  }
  end_signal().came.notify_all();
  await_takers();
}

bool is_before_end() {
  const nb::module_ threading = nb::module_::import_("threading");
  const nb::object main = threading.attr("main_thread")();
  return !nb::cast<bool>(main.attr("is_alive")()) && !main.is(threading.attr("current_thread")());
}

bool await_end() {
  std::unique_lock lock(end_signal().mutex);
  return end_signal().came.wait_for(lock, taking_max, [] { return has_ended.load(); });
}

void end_loops() {
  have_loops_ended = true;
  await_takers();
}

}  // namespace tenon::python
