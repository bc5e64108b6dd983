#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "effects/secret_vault.h"
#include "journal/async_store.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/inbox_command.h"

namespace tenon::runtime {

/// Leaves a host's requests for runs of other owners in the store's inbox, and takes the replies. Used by the host's
/// thread.
class RequestForwarder {
 public:
  struct Parts {
    journal::AsyncStore& store;
    effects::SecretVault* secrets = nullptr;  ///< null: commands are not encrypted
    std::function<std::int64_t()> now_ms;     ///< by the monotonic clock
    std::function<void()> wake;               ///< on any thread: there is something to poll for
  };
  explicit RequestForwarder(Parts parts);
  RequestForwarder(const RequestForwarder&) = delete;
  RequestForwarder& operator=(const RequestForwarder&) = delete;

  /// `pool`: of the hosts that may take the command while no owner has the run. `Unavailable` if there was no reply
  /// for a while; then the command was withdrawn.
  void forward(const journal::RunName& run, const InboxCommand& command, std::string pool, OnReply reply);
  /// Takes replies that have come.
  void poll();
  /// Until `poll` looks by itself.
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;
  void fail_all(const HostFailure& why);

 private:
  struct Sent {
    OnReply reply;
    std::int64_t withdraw_at = 0;  ///< milliseconds since 1970
    bool is_withdrawing = false;
    bool was_withdrawn_late = false;  ///< it was answered, or is gone
  };
  void take_replies();
  void withdraw(std::uint64_t command);
  void end(std::uint64_t command, HostReply reply);

  const Parts parts_;
  std::map<std::uint64_t, Sent> sent_;
  std::atomic<bool> has_notice_{false};
  bool is_reading_ = false;
  std::int64_t read_at_ = 0;                             ///< milliseconds since 1970
  std::unique_ptr<journal::Subscription> subscription_;  ///< last: it uses the others
};

}  // namespace tenon::runtime
