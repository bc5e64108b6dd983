#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/api.h"
#include "server/limits.h"

namespace tenon::server {

struct Address {
  std::string host = "127.0.0.1";  ///< an IP address, or `localhost`
  std::uint16_t port = 0;          ///< 0: any free port
};

/// Whether only this machine can reach the address. Nothing when it is not an IP address.
[[nodiscard]] std::optional<bool> is_loopback(const std::string& host);

/// What ends a server: SIGTERM and SIGINT, which it then handles, or `stop` alone.
enum class StoppedBy : std::uint8_t { Signals, Caller };

/// HTTP/1.1 on one thread: connections, their limits, and the end.
class HttpServer {
 public:
  HttpServer(Api& api, const Limits& limits, ServerCounts& counts, StoppedBy stopped_by);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Listens; returns the number of the port. The error is a message for the operator.
  [[nodiscard]] Result<std::uint16_t, std::string> listen(const Address& address);
  /// Serves until a signal stops it: then no connection is accepted, streams of events end, and other requests in
  /// progress get `drain_seconds`. `on_stop` is called with the signal then; signals are no longer handled here after
  /// that.
  void run(const std::function<void(int signal)>& on_stop = {});
  /// Stops without that time. From any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::server
