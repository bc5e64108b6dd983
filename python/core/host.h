#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/options.h"
#include "core/replies.h"
#include "core/waiting.h"

// Hosts and gateways of tenon/tenon.h. Each function waits without the interpreter's lock, and so that Ctrl-C is heard.

namespace tenon::python {

namespace nb = nanobind;

/// The events of a run, whichever process continues it.
class Follower {
 public:
  explicit Follower(tenon_follower* follower) : follower_(follower) {}
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Type and JSON of the next event; None after the timeout, and at the end of the run (`is_at_end`).
  [[nodiscard]] nb::object next(Timeout timeout);
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  /// A `tenon_run_state`, as far as the events were taken.
  [[nodiscard]] tenon_run_state state() const;
  [[nodiscard]] int descriptor() const { return tenon_follower_descriptor(follower_); }

 private:
  tenon_follower* follower_;
  bool is_at_end_ = false;
};

class Host {
 public:
  Host(tenon_host_role role, const std::vector<std::string>& files, std::shared_ptr<Setup> setup);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void begin() const;
  /// Stops the host on a thread of its own. Returns false if that takes longer than `timeout`; another call waits
  /// again.
  bool stop(double grace, Timeout timeout);
  [[nodiscard]] std::uint16_t serve(const std::string& address, std::uint16_t port, const std::string& token) const;

  // As JSON.
  [[nodiscard]] std::string status() const;
  [[nodiscard]] std::string owners() const;
  [[nodiscard]] std::string counts() const;
  [[nodiscard]] std::string pools_without_hosts() const;
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string placements() const;
  [[nodiscard]] std::string run(const std::string& name) const;
  [[nodiscard]] std::string runs(const std::optional<std::string>& state, const std::optional<std::string>& after,
                                 std::size_t limit) const;
  /// How many of at most `count` runs that only wait were given up.
  [[nodiscard]] std::size_t release(std::size_t count) const;
  /// As Run::outcome.
  [[nodiscard]] nb::object outcome(const std::string& run) const;

  /// Sends a request, and returns its number. `is_awaited`: its reply is one of `take_replies`.
  std::uint64_t send(tenon_request_kind kind, const std::string& name, const std::optional<std::string>& wait,
                     const std::string& input, const std::optional<std::string>& key, bool is_awaited);
  /// The name of the run and the number of its events before; None after the timeout. Raises a refusal.
  [[nodiscard]] nb::object wait_for_reply(std::uint64_t number, Timeout timeout);
  /// Of requests that are awaited: number, name of the run, events before; or number, None and the exception.
  [[nodiscard]] nb::list take_replies();
  /// The reply is not needed any more.
  void abandon(std::uint64_t number) { replies_->abandon(number); }
  /// Readable while `take_replies` has some.
  [[nodiscard]] int reply_descriptor() const { return replies_->descriptor(); }
  [[nodiscard]] std::unique_ptr<Follower> follow(const std::string& run, std::uint64_t after) const;

  /// The descriptor of what Python is to start, and what starts it.
  [[nodiscard]] int dispatch_descriptor() const { return setup_->dispatcher()->descriptor(); }
  void dispatch() { setup_->dispatch(); }
  void expect_loop(bool has_loop) { setup_->dispatcher()->expect_loop(has_loop); }

 private:
  void refuse_wait_within() const;

  struct Stopping;
  tenon_host* host_ = nullptr;
  std::shared_ptr<Setup> setup_;
  std::shared_ptr<Replies> replies_ = std::make_shared<Replies>();
  std::shared_ptr<Stopping> stopping_;
};

}  // namespace tenon::python
