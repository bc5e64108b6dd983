#include "tools/native/native_caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/ensure.h"
#include "base/signal_free_thread.h"
#include "tools/native/extern_table.h"
#include "tools/native/isolate.h"
#include "tools/native/result_slots.h"
#include "tools/process/process_supervisor.h"
#include "tools/process/worker_pool.h"

namespace tenon::tools {

namespace {

std::atomic<bool> functions_run_on{false};

}  // namespace

/// Belongs to the owner, then to one thread of the pool, then to the owner again; only `is_cancelled` is used by both,
/// and the pool's mutex guards the two after it.
struct NativeCaller::Job {
  CallId id = 0;
  ExternCall call;
  std::atomic<bool> is_cancelled = false;
  bool is_running = false;
  bool is_abandoned = false;  ///< cancelled while it ran: its thread does not count as one of the pool's
  std::optional<ExternOutcome> outcome;
  std::exception_ptr exception;          ///< thrown instead of an outcome
  std::optional<std::uint64_t> process;  ///< its number with the supervisor, or with `python`
  WorkerPool* python = nullptr;
  std::optional<ProcessEnd> process_end;
};

struct NativeCaller::Pool {
  struct Worker {
    std::thread thread;
    bool has_ended = true;  ///< or was never started
  };

  std::mutex mutex;
  std::condition_variable work_came, something_ended;
  std::deque<std::shared_ptr<Job>> waiting;
  std::vector<std::shared_ptr<Job>> ended;
  std::deque<Worker> workers;
  std::size_t idle = 0;
  std::size_t alive = 0;      ///< workers that have not ended
  std::size_t abandoned = 0;  ///< of them, those whose function runs on after its call was cancelled
  std::size_t threads_max = 0;
  bool is_stopping = false;
  bool is_woken = false;
  std::function<void()> notify;
  std::function<bool()> may_begin;

  /// The index of a worker without a thread: of one whose thread has ended, or of a new one.
  [[nodiscard]] std::size_t free_worker() {
    const auto found = std::ranges::find_if(workers, &Worker::has_ended);
    const auto index = static_cast<std::size_t>(found - workers.begin());
    if (found == workers.end()) {
      workers.emplace_back();
    } else if (found->thread.joinable()) {
      found->thread.join();  // one that has ended needs the mutex no more
    }
    return index;
  }

  /// Whether a thread should be started: calls wait, and no abandoned function may keep them from being made.
  [[nodiscard]] bool needs_thread() const {
    return waiting.size() > idle && alive - abandoned < threads_max && alive < extern_threads_max;
  }
};

NativeCaller::NativeCaller(NativeCallerOptions options)
    : options_(std::move(options)), pool_(std::make_shared<Pool>()) {
  options_.threads = std::min(options_.threads, extern_threads_max);
  pool_->notify = options_.notify;
  pool_->may_begin = options_.may_begin;
  pool_->threads_max = options_.threads;
}

bool NativeCaller::has_left_functions_running() {
  return functions_run_on;
}

NativeCaller::~NativeCaller() {
  for (auto& [id, pending] : pending_) pending.job->is_cancelled.store(true, std::memory_order_relaxed);
  processes_.reset();
  python_workers_.clear();
  std::unique_lock lock(pool_->mutex);
  pool_->is_stopping = true;
  pool_->waiting.clear();
  pool_->notify = nullptr;
  pool_->work_came.notify_all();
  const auto all_ended = [&] { return std::ranges::all_of(pool_->workers, &Pool::Worker::has_ended); };
  pool_->something_ended.wait_for(lock, options_.stop_wait, all_ended);
  for (Pool::Worker& worker : pool_->workers) {
    // One that has ended needs the mutex no more.
    if (worker.has_ended) {
      if (worker.thread.joinable()) worker.thread.join();
    } else {
      worker.thread.detach();
      functions_run_on = true;
    }
  }
}

std::optional<ExternOutcome> NativeCaller::start(CallId id, ExternCall call, Placement placement, ExternSink& sink) {
  if (call.table == nullptr) {
    return failure(ExternError{types::FailureKind::ToolFailed, "no library defines it", ""});
  }
  if (call.table->kind(call.subject) == BindingKind::Provided) {
    return failure(ExternError{types::FailureKind::ToolFailed, "the program that runs this one does not provide it",
                               call.table->blame(call.subject)});
  }
  if (call.table->is_process(call.subject) || call.table->kind(call.subject) == BindingKind::Python)
    return start_process(id, std::move(call), sink);
  if (placement == Placement::Inline || options_.threads == 0) {
    return call.table->call(call.subject, call.arguments,
                            {.key = call.key, .input = call.input, .is_cancelled = nullptr});
  }
  for (vm::Value& argument : call.arguments) {
    if (!isolate(argument)) {
      return failure(ExternError{types::FailureKind::ToolFailed,
                                 fmt::format("an argument is nested more than {} levels deep", extern_depth_max),
                                 call.table->blame(call.subject)});
    }
  }
  auto job = std::make_shared<Job>();
  job->id = id;
  job->call = std::move(call);
  const bool is_new = pending_.try_emplace(id, Pending{job, &sink}).second;
  ENSURE(is_new);
  const std::lock_guard lock(pool_->mutex);
  pool_->waiting.push_back(job);
  if (pool_->needs_thread() && !start_thread() && pool_->alive == pool_->abandoned) {
    pool_->waiting.pop_back();
    pending_.erase(id);
    return failure(ExternError{types::FailureKind::ToolFailed, "the system starts no thread for it",
                               job->call.table->blame(job->call.subject)});
  }
  pool_->work_came.notify_one();
  return std::nullopt;
}

std::optional<ExternOutcome> NativeCaller::start_process(CallId id, ExternCall call, ExternSink& sink) {
  const bool is_python = call.table->kind(call.subject) == BindingKind::Python;
  if ((is_python ? options_.python : options_.worker).path.empty()) {
    return failure(ExternError{types::FailureKind::ToolFailed,
                               "no program of this host runs externs in processes: it sets none, and "
                               "`tenon_extern_worker` is not beside libtenon",
                               call.table->blame(call.subject)});
  }
  auto request = call.table->worker_request(call.subject, call.arguments, call.key, call.input);
  if (!request) return failure(std::move(request.error()));
  WorkerPool* const python = is_python ? &python_workers(call) : nullptr;
  if (!is_python && processes_ == nullptr) {
    processes_ = std::make_unique<ProcessSupervisor>(options_.worker, options_.process_stop_wait);
  }
  auto job = std::make_shared<Job>();
  job->id = id;
  const std::string key = call.key;
  call.arguments.clear();
  job->call = std::move(call);
  const bool is_new = pending_.try_emplace(id, Pending{job, &sink}).second;
  ENSURE(is_new);
  const auto on_end = [pool = pool_, job](ProcessEnd end) {
    const std::lock_guard lock(pool->mutex);
    job->process_end = std::move(end);
    pool->ended.push_back(job);
    pool->something_ended.notify_all();
    if (pool->notify) pool->notify();
  };
  job->python = python;
  job->process =
      is_python ? python->start(std::move(*request), on_end) : processes_->start(std::move(*request), key, on_end);
  return std::nullopt;
}

WorkerPool& NativeCaller::python_workers(const ExternCall& call) {
  const std::string& greeting = call.table->python_file(call.subject).greeting();
  std::unique_ptr<WorkerPool>& workers = python_workers_[greeting];
  if (workers == nullptr) {
    workers = std::make_unique<WorkerPool>(options_.python, greeting, options_.process_stop_wait);
  }
  return *workers;
}

/// With the pool's mutex held. False if the system starts no more threads.
bool NativeCaller::start_thread() {
  const std::size_t index = pool_->free_worker();
  Pool::Worker& worker = pool_->workers[index];
  try {
    worker.thread = start_signal_free_thread([pool = pool_, index] { work(pool, index); });
    worker.has_ended = false;
    ++pool_->alive;
  } catch (const std::system_error&) {
    // The worker remains free.
  }
  return !worker.has_ended;
}

void NativeCaller::work(const std::shared_ptr<Pool>& pool, std::size_t thread) {
  std::unique_lock lock(pool->mutex);
  for (;;) {
    ++pool->idle;
    pool->work_came.wait(lock, [&] { return pool->is_stopping || !pool->waiting.empty(); });
    --pool->idle;
    if (pool->is_stopping) break;
    std::shared_ptr<Job> job = std::move(pool->waiting.front());
    pool->waiting.pop_front();
    job->is_running = true;
    // Under the lock, so that it is not asked after the caller's end.
    const bool may_begin = !pool->may_begin || pool->may_begin();
    lock.unlock();
    ExternCall& call = job->call;
    try {
      if (!may_begin) {
        job->outcome = failure(ExternError{.message = "this process is not the owner of its runs now",
                                           .blame = call.table->blame(call.subject),
                                           .is_unavailable = true});
      } else {
        job->outcome = call.table->call(call.subject, call.arguments,
                                        {.key = call.key, .input = call.input, .is_cancelled = &job->is_cancelled});
      }
    } catch (...) {
      job->exception = std::current_exception();
    }
    call.arguments.clear();
    lock.lock();
    job->is_running = false;
    if (job->is_abandoned) {
      --pool->abandoned;
      if (pool->alive - pool->abandoned > pool->threads_max) break;  // another thread has taken its place
      continue;
    }
    pool->ended.push_back(std::move(job));
    pool->something_ended.notify_all();
    // Under the lock, so that the notification does not outlive the caller.
    if (pool->notify) pool->notify();
  }
  --pool->alive;
  pool->workers[thread].has_ended = true;
  pool->something_ended.notify_all();
}

void NativeCaller::cancel(CallId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  const Pending cancelled = std::move(found->second);
  pending_.erase(found);
  cancelled.job->is_cancelled.store(true, std::memory_order_relaxed);
  if (cancelled.job->process) {
    const std::uint64_t number = *cancelled.job->process;
    cancelled.job->python != nullptr ? cancelled.job->python->give_up(number) : processes_->give_up(number);
  }
  std::string blame;
  {
    const std::lock_guard lock(pool_->mutex);
    std::erase(pool_->waiting, cancelled.job);
    if (cancelled.job->is_running) {
      cancelled.job->is_abandoned = true;
      ++pool_->abandoned;
      // Without another thread, the calls that wait begin when the function returns.
      if (pool_->needs_thread()) static_cast<void>(start_thread());
    }
    blame = cancelled.job->call.table->blame(cancelled.job->call.subject);
  }
  cancelled.sink->on_returned(
      id, failure(ExternError{types::FailureKind::Cancelled, "the call was cancelled", std::move(blame)}));
}

void NativeCaller::poll(std::chrono::milliseconds wait) {
  std::vector<std::shared_ptr<Job>> ended;
  {
    std::unique_lock lock(pool_->mutex);
    const auto is_due = [&] { return pool_->is_woken || !pool_->ended.empty(); };
    pool_->something_ended.wait_for(lock, wait, is_due);
    pool_->is_woken = false;
    ended.swap(pool_->ended);
  }
  for (const std::shared_ptr<Job>& job : ended) {
    const auto found = pending_.find(job->id);
    // A cancelled call has been reported, and its id may be another call's by now.
    if (found == pending_.end() || found->second.job != job) continue;
    ExternSink& sink = *found->second.sink;
    pending_.erase(found);
    if (job->exception) std::rethrow_exception(job->exception);
    if (job->process_end) job->outcome = job->call.table->read_end(job->call.subject, *job->process_end);
    sink.on_returned(job->id, std::move(*job->outcome));
  }
}

void NativeCaller::wake() {
  const std::lock_guard lock(pool_->mutex);
  pool_->is_woken = true;
  pool_->something_ended.notify_all();
}

}  // namespace tenon::tools
