#include "core/signal_watch.h"

#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tenon::python {
namespace {

/// How long an interrupted wait has to end before it is interrupted again: it may not have begun the first time.
constexpr std::chrono::milliseconds retry_time{10};

/// Makes signals come through a descriptor, or through none for -1. Returns the former one.
int set_signal_descriptor(int descriptor) {
  namespace nb = nanobind;
  return nb::cast<int>(nb::module_::import_("signal").attr("set_wakeup_fd")(descriptor));
}

}  // namespace

/// What the watches of a process share. Never freed: its thread ends with the process.
class SignalWatch::Reader {
 public:
  /// The reader of this process.
  static Reader& get() {
    if (reader == nullptr || reader->process_ != ::getpid()) reader = new Reader();
    return *reader;
  }

  [[nodiscard]] int write_end() const { return write_end_; }
  /// Returns the former watch.
  SignalWatch* set_watch(SignalWatch* watch) {
    const std::scoped_lock lock(mutex_);
    acknowledge_locked();
    return std::exchange(watch_, watch);
  }
  void set_former_descriptor(int descriptor) {
    const std::scoped_lock lock(mutex_);
    former_descriptor_ = descriptor;
  }
  void acknowledge() {
    const std::scoped_lock lock(mutex_);
    acknowledge_locked();
  }

 private:
  Reader() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe2");
    read_end_ = ends[0];
    write_end_ = ends[1];
    static_cast<void>(::fcntl(write_end_, F_SETFL, O_NONBLOCK));
    // Python's handlers belong on the main thread, whose system calls they interrupt.
    sigset_t all{};
    sigset_t former{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &former);
    std::thread([this] { read(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  }

  void acknowledge_locked() {
    has_signal_ = false;
    acknowledged_.notify_one();
  }

  void read() {
    std::array<char, 64> numbers{};
    ssize_t count = 0;
    while ((count = ::read(read_end_, numbers.data(), numbers.size())) > 0) {
      std::unique_lock lock(mutex_);
      if (former_descriptor_ >= 0) {
        static_cast<void>(!::write(former_descriptor_, numbers.data(), static_cast<std::size_t>(count)));
      }
      has_signal_ = true;
      while (watch_ != nullptr && has_signal_) {
        watch_->interrupt_();
        acknowledged_.wait_for(lock, retry_time);
      }
    }
  }

  const pid_t process_ = ::getpid();
  int read_end_ = -1;
  int write_end_ = -1;
  std::mutex mutex_;
  std::condition_variable acknowledged_;
  SignalWatch* watch_ = nullptr;  ///< the innermost one
  bool has_signal_ = false;       ///< that the watch has not acknowledged
  int former_descriptor_ = -1;
};

SignalWatch::Reader* SignalWatch::reader = nullptr;

SignalWatch::SignalWatch(std::function<void()> interrupt)
    : reader_(Reader::get()), interrupt_(std::move(interrupt)), outer_(reader_.set_watch(this)) {
  if (outer_ != nullptr) return;
  try {
    former_descriptor_ = set_signal_descriptor(reader_.write_end());
  } catch (...) {
    reader_.set_watch(nullptr);
    throw;
  }
  reader_.set_former_descriptor(former_descriptor_);
}

SignalWatch::~SignalWatch() {
  reader_.set_watch(outer_);
  if (outer_ != nullptr) return;
  reader_.set_former_descriptor(-1);
  try {
    set_signal_descriptor(former_descriptor_);
  } catch (const nanobind::python_error&) {
    set_signal_descriptor(-1);  // its owner has closed it
  }
}

void SignalWatch::acknowledge() {
  reader_.acknowledge();
}

}  // namespace tenon::python
