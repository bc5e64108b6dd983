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
  std::uint16_t port = 0;          ///< 0: any that is free
};

/// Whether only this machine can reach it. Nothing when it is no IP address.
[[nodiscard]] std::optional<bool> is_loopback(const std::string& host);

/// HTTP/1.1 on one thread: connections, their limits, and the end of it all on SIGTERM or SIGINT.
class HttpServer {
 public:
  HttpServer(Api& api, const Limits& limits, ServerCounts& counts);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Takes the port; gives its number. The error is for people.
  [[nodiscard]] Result<std::uint16_t, std::string> listen(const Address& address);
  /// Serves until a signal stops it: then no connection is taken any more, streams of events end, and other requests
  /// under way get `drain_seconds`.
  void run();
  /// Stops without that time. From any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::server
