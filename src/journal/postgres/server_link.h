#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/open_store.h"
#include "journal/postgres/server_errors.h"
#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// A session that is opened again after it was lost. The server's process of the lost one is ended before: what it did
/// is final, and it does nothing any more. Used by one thread at a time.
class ServerLink {
 public:
  struct Options {
    std::string application_name;
    Durability durability = Durability::Full;
    std::chrono::milliseconds reply_time{0};  ///< as Session::Options::reply_time
    std::chrono::milliseconds silence{0};     ///< as Session::Options::silence
    /// Instead of `link_patience`; while the server cannot be reached, most calls fail at once.
    std::optional<std::chrono::milliseconds> patience = std::nullopt;
  };
  /// Both outlive the link.
  ServerLink(const ServerAddress& address, const StopSignal& stop, Options options)
      : address_(address), stop_(stop), options_(std::move(options)) {}

  /// How long `get` tries to reach the server.
  enum class Patience : std::uint8_t {
    Once,       ///< one attempt; a server that is starting is waited for
    Some,       ///< `link_patience`
    UntilStop,  ///< until the store is closed
  };
  /// Returns a session. `Unavailable` if the server cannot be reached in that time; what does not change by waiting,
  /// such as a wrong password, is reported at once, except with `UntilStop`.
  [[nodiscard]] Result<Session*, StoreError> get(Patience patience = Patience::Some);
  /// Executes statements, as Session::run, that may be executed again when the session is lost.
  [[nodiscard]] Result<std::vector<Rows>, StoreError> repeat(
      std::span<const Call> calls, Patience patience = Patience::Some,
      Session::Grouping grouping = Session::Grouping::OneTransaction);
  /// The same for one statement.
  [[nodiscard]] Result<Rows, StoreError> query(const Statement& statement, const Parameters& parameters = {},
                                               Patience patience = Patience::Some);
  /// False if the store is being closed.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) const;

  /// The session, and each after it, has this name.
  [[nodiscard]] Result<void, SessionError> rename(std::string application_name);
  [[nodiscard]] const StopSignal& stop() const { return stop_; }
  [[nodiscard]] StoreError error(const SessionError& reason) const { return make_error(address_, reason); }

 private:
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const;
  /// Tries the servers of the address, beginning with the one that was used last. Each has an equal part of the time:
  /// one that does not reply does not hide the others.
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> connect();
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> connect(std::size_t host) const;
  /// As Session::Options::waits_for_client.
  [[nodiscard]] bool waits_for_client(std::size_t host, const BackendId& backend) const;
  [[nodiscard]] Result<void, SessionError> end_former(Session& session) const;

  const ServerAddress& address_;
  const StopSignal& stop_;
  Options options_;
  std::unique_ptr<Session> session_;
  std::size_t host_ = 0;  ///< of the address: the one that was used last
  BackendId former_;      ///< of the session that was lost
  struct Failure {
    std::chrono::steady_clock::time_point time;
    StoreError error;
  };
  std::optional<Failure> failed_;  ///< the last attempt to reach the server, if it failed
};

/// For how long a call that only reads waits for a server that has become unreachable.
inline constexpr std::chrono::milliseconds link_patience{10'000};
/// After a lease without a byte, but in these limits, a connection is looked at that may pass nothing on any more
/// (`Options::silence`).
inline constexpr std::chrono::milliseconds silence_min{1'000}, silence_max{10'000};
[[nodiscard]] constexpr std::chrono::milliseconds silence_of(std::chrono::milliseconds lease) {
  return std::clamp(lease, silence_min, silence_max);
}
/// With a patience of its own: the time after a failed attempt in which there is no other one.
inline constexpr std::chrono::milliseconds link_pause{1'000};

}  // namespace tenon::journal::postgres
