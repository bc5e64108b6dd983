#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tenon/tenon.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/call_queue.h"
#include "core/contexts.h"
#include "core/externs.h"
#include "core/model.h"

// What an engine wants from Python and does not wait for.

namespace tenon::python {

namespace nb = nanobind;

/// Collects the calls of externs that complete later, the requests to a Python model, and their cancellations, in the
/// order in which the engine makes them. It does so without the interpreter's lock. An event loop that watches the
/// descriptor then starts all of them at once, with `run_ready`.
class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  /// `need_loop()` is called when something is added and no loop watches the descriptor (`expect_loop`).
  /// `start_thread` and `threads_max`: as for CallQueue. `has_externs`: whether there are calls to be made.
  Dispatcher(nb::object need_loop, nb::object start_thread, std::size_t threads_max, bool has_externs);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Readable while something was added that `run_ready` has not taken.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Of the engine: any thread, without the lock.
  void add_call(std::shared_ptr<Extern> performer, tenon_call* call);
  void add_cancelled(const tenon_call* call);
  void add_generation(tenon_generation* generation, std::string request);
  void add_cancelled(const tenon_generation* generation);

  /// Whether a loop watches the descriptor. At first none does.
  void expect_loop(bool has_loop);
  [[nodiscard]] bool has_loop() const { return has_loop_; }
  /// Starts what was added. With the lock. `start_model(generation, request)` is None if there is no model of Python.
  /// Externs and models return the task that is to be cancelled, or None.
  void run_ready(const nb::object& start_model);
  /// The call or generation has ended: it is not cancelled any more.
  void forget(const void* which) {
    started_.erase(which);
    calls_.forget(which);
  }
  /// The calls of plain functions.
  [[nodiscard]] CallQueue& calls() { return calls_; }
  [[nodiscard]] const CallQueue& calls() const { return calls_; }
  [[nodiscard]] const std::shared_ptr<Contexts>& contexts() const { return contexts_; }

 private:
  struct StartedCall {
    std::shared_ptr<Extern> performer;
    tenon_call* call;
  };
  struct StartedGeneration {
    tenon_generation* generation;
    std::string request;
  };
  struct Cancelled {
    const void* which;
  };
  using Item = std::variant<StartedCall, StartedGeneration, Cancelled>;

  void add(Item item);
  void ask_for_loop();
  [[nodiscard]] std::vector<Item> take_items();
  void fail_items(const std::string& why);
  void start(const StartedCall& started);
  void start(const StartedGeneration& started, const nb::object& start_model);
  void keep(const void* which, nb::object running);
  void cancel(const void* which);

  const nb::object need_loop_;
  CallQueue calls_;
  const std::shared_ptr<Contexts> contexts_;
  int descriptor_;
  std::mutex mutex_;
  std::atomic<bool> has_loop_ = false;  ///< set with the mutex
  std::vector<Item> items_;
  std::unordered_map<const void*, nb::object> started_;  ///< with the lock
};

/// Makes a dispatcher the receiver of an engine's cancellations and batches.
void set_hooks(tenon_options* options, const std::shared_ptr<Dispatcher>& dispatcher);

}  // namespace tenon::python
