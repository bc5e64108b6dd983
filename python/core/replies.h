#pragma once

#include <tenon/tenon.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::python {

/// The replies to the requests of a host, which come on its threads. Nothing here needs the interpreter's lock.
class Replies : public std::enable_shared_from_this<Replies> {
 public:
  struct Reply {
    std::string run;
    std::uint64_t after = 0;
    tenon_error* error = nullptr;  ///< owned by the one who takes the reply
  };

  Replies();
  ~Replies();
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  /// A number for a request. `is_awaited`: an event loop takes its reply.
  [[nodiscard]] std::uint64_t expect(bool is_awaited);
  /// What `tenon_host_send` calls, with `user_of(number)`.
  static void take(void* user, tenon_text run, std::uint64_t after, tenon_error* error);
  [[nodiscard]] void* user_of(std::uint64_t number);
  /// The request was not sent: `user` is freed.
  void forget(std::uint64_t number, void* user);

  /// Waits for the reply of a request that is not awaited. TENON_NOT_YET, or TENON_OK with the reply.
  [[nodiscard]] tenon_status wait(std::uint64_t number, std::uint64_t milliseconds, Reply& reply);
  /// Makes `wait` of other threads return TENON_NOT_YET now. Any thread.
  void interrupt();
  struct Numbered {
    std::uint64_t number;
    Reply reply;
  };
  /// The replies to requests that are awaited.
  [[nodiscard]] std::vector<Numbered> take_awaited();
  /// The reply is dropped when it comes.
  void abandon(std::uint64_t number);
  /// Readable while `take_awaited` has some.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  struct Expected {
    bool is_awaited = false;
    bool has_come = false;
    Reply reply;
  };
  void add(std::uint64_t number, Reply reply);

  int descriptor_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::uint64_t numbers_ = 0;
  std::uint64_t interrupts_ = 0;
  std::unordered_map<std::uint64_t, Expected> expected_;
  std::vector<std::uint64_t> ready_;  ///< of those that are awaited
};

}  // namespace tenon::python
