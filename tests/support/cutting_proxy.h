#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/waker.h"
#include "tests/support/temporary_folder.h"

namespace tenon::test {

/// Passes on what PostgreSQL's clients and a server send each other, and cuts a connection at a chosen place. It reads
/// as much of the protocol as it needs to know what a client executes.
/// https://www.postgresql.org/docs/15/protocol-message-formats.html
class CuttingProxy {
 public:
  /// `server`: the Unix socket of the server.
  explicit CuttingProxy(std::string server);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  /// Where a connection is cut, seen from the transaction that executes a statement.
  enum class Cut : std::uint8_t {
    BeforeCommit,  ///< the server has executed it, and does not receive the request to commit
    AfterCommit,   ///< the server has received that, and both sides are closed at once
    AfterReply,    ///< the server has committed and replied, and the client does not receive the reply
    OnlyClient,    ///< as `AfterCommit`, but the server does not notice that the client is gone
    // These leave both sides open, and pass nothing on any more.
    SilentBeforeCommit,  ///< as `BeforeCommit`
    SilentAfterReply,    ///< as `AfterReply`
  };
  /// Cuts the next connection that executes a statement whose text contains `statement`.
  void cut_next(Cut where, std::string statement);
  /// Announces another version of the server to new connections: its first two digits, as `12`.
  void announce_version(const std::string& digits);
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }
  /// How many statements clients have executed.
  [[nodiscard]] std::uint64_t executions() const { return executions_; }

  /// The folder of the proxy's socket: the host of its URL.
  [[nodiscard]] std::string folder() const { return folder_.file(""); }

 private:
  struct Connection;

  void serve();
  void accept();
  /// False when the connection is over.
  [[nodiscard]] bool take_from_client(Connection& connection);
  [[nodiscard]] bool take_from_server(Connection& connection);
  /// Reads a message of the client. True if it is passed on.
  [[nodiscard]] bool on_message(Connection& connection, char type, std::string_view body);

  TemporaryFolder folder_;
  const std::string server_;
  Descriptor listener_;
  Waker waker_;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::uint64_t> cuts_{0};
  std::atomic<std::uint64_t> executions_{0};

  struct Order {
    Cut where = Cut::BeforeCommit;
    std::string statement;
  };
  std::mutex mutex_;
  std::optional<Order> order_;
  std::string version_;

  std::vector<std::unique_ptr<Connection>> connections_;  ///< the thread's
  std::thread thread_;                                    ///< last: it uses the others
};

}  // namespace tenon::test
