#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "effects/secret_vault.h"
#include "journal/async_store.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/inbox_command.h"
#include "runtime/host/requests/waiting_group.h"

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
  /// for a while, or there is no process that could take the command; then it was withdrawn. A process that lacks what
  /// the run needs (`Unequipped`) does not get the command again; when there is no other one, that is the reply.
  /// `refused`: by a first one.
  void forward(const journal::RunName& run, const InboxCommand& command, std::string pool, OnReply reply,
               std::optional<HostFailure> refused = std::nullopt);
  /// Takes replies that have come.
  void poll();
  /// Until `poll` looks by itself; the longest time: not before the host is woken.
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;
  void fail_all(const HostFailure& why);

 private:
  /// Commands that are sent together.
  static constexpr std::size_t commands_per_send = 256;
  /// A command on its way to a process that can perform it.
  struct Outgoing {
    journal::RunName run;
    std::string bytes;
    bool starts = false;
    std::string pool;
    OnReply reply;
    std::vector<journal::OwnerId> refusers;  ///< that lack something
    std::optional<HostFailure> refusal;      ///< of the last of them
  };
  struct Sent {
    std::shared_ptr<Outgoing> command;
    std::int64_t withdraw_at = 0;  ///< milliseconds since 1970
    std::int64_t look_at = 0;      ///< when it is seen whether there is someone to take it
    bool has_no_taker = false;
    bool is_withdrawing = false;
    bool was_withdrawn_late = false;  ///< it was answered, or is gone
  };
  void send(const std::shared_ptr<Outgoing>& command);
  void send_waiting();
  void on_sent(const std::shared_ptr<Outgoing>& command, const Result<std::uint64_t, journal::StoreError>& id);
  void refuse(const std::shared_ptr<Outgoing>& command, HostFailure why);
  void take_replies();
  void look_for_takers(std::vector<std::uint64_t> commands);
  void withdraw(std::uint64_t command);
  void end(std::uint64_t command, HostReply reply);

  const Parts parts_;
  WaitingGroup<std::shared_ptr<Outgoing>> to_send_{commands_per_send};
  std::map<std::uint64_t, Sent> sent_;
  std::atomic<bool> has_notice_{false};
  bool is_reading_ = false;
  std::int64_t read_at_ = 0;                             ///< milliseconds since 1970
  std::unique_ptr<journal::Subscription> subscription_;  ///< last: it uses the others
};

}  // namespace tenon::runtime
