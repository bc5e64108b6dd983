#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/extern_caller.h"
#include "tools/process/child_process.h"

namespace tenon::tools {

inline constexpr std::uint32_t extern_threads_default = 4;
inline constexpr std::uint32_t extern_threads_max = 256;

struct NativeCallerOptions {
  /// Threads of the pool, started as they are needed; `extern_threads_max` at most. 0: every call runs inline. A thread
  /// whose call was cancelled while its function ran is abandoned: it does not count until the function returns.
  std::uint32_t threads = extern_threads_default;
  /// How long the destructor waits for functions that still run. Threads whose functions have not returned then are
  /// detached, and end with their function.
  std::chrono::milliseconds stop_wait{100};
  /// Called on a thread of the pool when a call has ended, so that an owner who waits elsewhere can `poll`. May be
  /// empty.
  std::function<void()> notify;
  /// A call whose turn comes while this is false fails as unavailable: its function is not called. Called on the
  /// threads of the pool; may be empty.
  std::function<bool()> may_begin = {};
  /// Between SIGTERM and SIGKILL for processes that still run in the destructor.
  std::chrono::milliseconds process_stop_wait{1'000};
  /// The worker for externs that are declared `extern(process)`; without one such calls fail.
  WorkerCommand worker = {};
  /// The worker for functions in Python (tools/python); without one such calls fail.
  WorkerCommand python = {};
};

class ProcessSupervisor;
class WorkerPool;

/// Calls bound functions: of native libraries inline, on a pool of threads, or in processes; of Python files in
/// processes that stay.
class NativeCaller final : public ExternCaller {
 public:
  explicit NativeCaller(NativeCallerOptions options = {});
  ~NativeCaller() override;
  NativeCaller(const NativeCaller&) = delete;
  NativeCaller& operator=(const NativeCaller&) = delete;

  [[nodiscard]] std::optional<ExternOutcome> start(CallId id, ExternCall call, Placement placement,
                                                   ExternSink& sink) override;
  void cancel(CallId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override;
  /// Whether any caller of this process has left a function running in a thread when it was destroyed. The process then
  /// has to end without running destructors of static objects, which such a function may use.
  [[nodiscard]] static bool has_left_functions_running();

 private:
  struct Job;
  struct Pool;
  struct Pending {
    std::shared_ptr<Job> job;
    ExternSink* sink = nullptr;
  };

  static void work(const std::shared_ptr<Pool>& pool, std::size_t thread);
  [[nodiscard]] bool start_thread();
  [[nodiscard]] std::optional<ExternOutcome> start_process(CallId id, ExternCall call, ExternSink& sink);
  [[nodiscard]] WorkerPool& python_workers(const ExternCall& call);

  NativeCallerOptions options_;
  std::shared_ptr<Pool> pool_;  ///< shared with its threads, which may outlive the caller
  std::unordered_map<CallId, Pending> pending_;
  std::unique_ptr<ProcessSupervisor> processes_;                       ///< made when it is first needed
  std::map<std::string, std::unique_ptr<WorkerPool>> python_workers_;  ///< likewise, by PythonFile::greeting
};

}  // namespace tenon::tools
