#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/waker.h"
#include "engine/engine.h"
#include "engine/outside_calls.h"
#include "tools/outside_call.h"

namespace tenon::engine {

/// An engine for callers on several threads. Its runs are continued by a thread that waits for one of them, in `wait`
/// or `next_event`: so a call needs no change of thread, and an engine without a waiting caller needs no thread at all.
/// For event loops, which wait for the descriptor, it gets a thread of its own; and when another process has left a
/// command for one of its runs.
///
/// **Calls outside.** A lone call of a provided function, which was quick before, is made by the thread that has run
/// the program: a change of thread would cost more than most functions take. It may block all the same. So that it then
/// stops nothing else, it is made after the step, when this thread has given the engine back (`make_outside_call`).
/// Nothing could continue at that moment, so no other thread is woken. What happens meanwhile:
///  - A caller (`call`, `post`, `wait`) finds the engine free, and uses it at once. If it leaves something to be
///    continued, it wakes a thread that can: one that waits for a run and is not in such a call itself, or else the
///    engine's own, or, if that is in the call, another one, which is started then and stays (`wake_own`).
///  - The engine's own threads let a call have `takeover_after` first, as most are shorter: then its thread continues
///    the runs, and no thread was changed in vain. Threads that wait for a run do not: it may be theirs.
///  - The call's run is cancelled, or the engine is stopped or given up: its result is dropped when it comes.
///  - The call returns, and the engine is free: what has become of it is the first of what is posted, so that the next
///    use of the engine reports it. Its thread then continues the runs as before.
///  - The call returns while another thread uses the engine: that may be in a step that waits. So the call is put into
///    the list of those that were finished on other threads, which ends the step's wait; and if it was no step, someone
///    continues the runs afterwards, as something has happened.
///  - A second call does not come outside before the first one is back, whatever it was before: it gets a thread of the
///    embedding program. So no more than one of the engine's own threads is ever missing, and two are enough.
///  - A thread that only takes a turn makes no lone call: it is not to wait for what may block.
///  - `stop` waits for the engine's own threads, and so for the call of one of them.
///
/// After a BrokenCondition the engine is given up, and each function throws that again; so it is after any exception
/// while the runs are continued, such as for lack of memory, as the state of the engine is not known then.
class SharedEngine final {
 public:
  /// `look`: called with the engine whenever something has happened, on any thread; returns whether the descriptor is
  /// to be readable although there are no events. May be empty.
  explicit SharedEngine(std::unique_ptr<Engine> engine, std::function<bool(Engine&)> look = {});
  /// As `stop` without a grace time, if it was not called.
  ~SharedEngine();
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  /// Calls `use` with the engine, which nothing else uses meanwhile, and returns its result. Any thread, but not within
  /// a function that the engine calls (`is_used_here`).
  template <class Use>
  std::invoke_result_t<Use&, Engine&> call(Use use) {
    const Turn turn(*this);
    return turn.with(use);
  }
  /// The same, unless another thread uses the engine or waits for it, or a run can continue: then it returns false at
  /// once, and does nothing. Afterwards no other thread is woken unless there is something to be continued.
  template <class Use>
  bool call_if_idle(Use use) {
    const Turn turn(*this, Turn::OnlyIfIdle{});
    if (turn.has_engine()) turn.with(use);
    return turn.has_engine();
  }
  /// Has `use` called with the engine before it continues the runs the next time, and before any other use. Returns at
  /// once, also while the engine is in use. `use` is not called after a BrokenCondition. Any thread.
  void post(std::function<void(Engine&)> use);
  /// What `wait` does when no run can continue until another thread answers a question or starts a run.
  enum class IdleEngine : bool { WaitOn, GiveUp };
  /// Continues the runs until `is_met` returns true, which is asked with the engine at once and whenever something has
  /// happened, on any thread. False: it was not met within `timeout`, or the engine is idle or was stopped, or the wait
  /// was interrupted. With a timeout of 0, as in `take_turn`.
  bool wait(std::function<bool(Engine&)> is_met, std::chrono::milliseconds timeout,
            IdleEngine idle = IdleEngine::WaitOn);
  /// The oldest event that was not taken, of this run or of any. Waits at most `timeout` for one.
  [[nodiscard]] std::optional<RunEvent> next_event(std::chrono::milliseconds timeout,
                                                   std::optional<runtime::RunId> run = std::nullopt);
  /// Gives each run that can continue one slice, and waits for nothing. Does nothing if another thread uses the engine,
  /// or the engine has a thread of its own.
  void take_turn();
  /// Ends the waits in progress of other threads, as if their time were over. Any thread, also within a function that
  /// the engine calls.
  void interrupt();

  /// Starts the engine's own thread, which from now on continues the runs while no other one does.
  void start_thread();
  /// A file descriptor that is readable while there are events. Belongs to this object, and is only polled. Starts the
  /// thread.
  [[nodiscard]] int descriptor();
  /// Makes the descriptor unreadable until something happens. For callers that then take everything that there is.
  void clear_descriptor() const { news_.clear(); }
  /// Whether this thread is in a function that the engine calls, also in a call outside.
  [[nodiscard]] bool is_used_here() const;

  /// Engine::stop, and the end of the thread. Events can still be taken.
  void stop(std::chrono::milliseconds grace);

 private:
  /// The right to use the engine, for one call.
  class Turn {
   public:
    struct OnlyIfIdle {};
    explicit Turn(SharedEngine& owner);
    Turn(SharedEngine& owner, OnlyIfIdle);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] bool has_engine() const { return has_engine_; }
    template <class Use>
    std::invoke_result_t<Use&, Engine&> with(Use& use) const {
      try {
        owner_.run_posted();
        return use(*owner_.engine_);
      } catch (const BrokenCondition&) {
        owner_.give_up();
        throw;
      }
    }

   private:
    SharedEngine& owner_;
    bool has_engine_ = true;
    /// Whether the runs are to be looked at afterwards, whatever the engine says.
    bool may_continue_ = true;
  };
  struct Waiter {
    const std::function<bool(Engine&)>& is_met;
    std::condition_variable changed;
    bool is_asked = false;  ///< once at least
    bool is_done = false;
    bool is_outside = false;          ///< its thread makes a call, and cannot continue the runs
    std::exception_ptr problem = {};  ///< what `is_met` has thrown
  };

  void acquire(std::unique_lock<std::mutex>& lock);
  void release(const std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] static bool is_over(Waiter& waiter, Engine& engine);
  [[nodiscard]] bool has_driver() const;
  bool wake_next();
  void wake_own();
  void step(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait);
  enum class Thread : bool { Callers, Own };
  bool make_outside_call(std::unique_lock<std::mutex>& lock, Thread thread, Waiter* waiter = nullptr);
  void return_call(const std::shared_ptr<tools::OutsideCall>& call) noexcept;
  void run_posted();
  void take_command();
  void look_after_step() noexcept;
  void give_up() noexcept;
  void give_up_locked() noexcept;
  void throw_if_broken() const;
  void loop();

  std::unique_ptr<Engine> engine_;
  Engine& used_;  ///< the same; it exists even when it was given up
  tools::ProvidedFunctions* const functions_;  ///< of the engine; null: it has none
  const std::function<bool(Engine&)> look_;
  const Waker news_;  ///< woken while there are events
  mutable std::mutex mutex_;
  std::condition_variable free_;  ///< for callers
  std::condition_variable own_;   ///< for the engine's own threads
  std::thread::id user_;          ///< who uses the engine; none: it is free
  unsigned callers_ = 0;          ///< that wait for the engine to be free
  std::uint64_t interrupts_ = 0;  ///< calls of `interrupt`
  std::list<Waiter*> waiters_;
  std::vector<std::function<void(Engine&)>> posted_;
  bool may_continue_ = true;  ///< for the own threads: something has happened since the last step
  OutsideCalls outside_;
  bool has_descriptor_ = false;
  std::atomic<bool> has_thread_ = false;
  bool is_stopping_ = false;
  bool is_stopped_ = false;
  bool is_broken_ = false;
  std::string why_broken_;  ///< empty: there was no memory for it
  std::thread thread_;
  std::thread spare_;  ///< a second one, from the first time on that the first one was in a call and was needed
};

}  // namespace tenon::engine
