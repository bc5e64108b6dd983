#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::http_client {

struct HttpClientOptions {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  std::chrono::milliseconds connect_timeout{10'000};
  std::size_t reply_bytes_max = std::size_t{32} << 20U;
  std::size_t connections_kept_max = 1'024;
  std::string ca_file;   ///< PEM file of the authorities to trust; empty: the system's
  std::string proxy;     ///< URL; empty: none
  std::string no_proxy;  ///< hosts that are reached without the proxy, separated by commas
};

/// How the transfer of a request ended.
enum class TransferResult : std::uint8_t {
  Replied,        ///< the whole reply arrived, whatever its status
  CannotConnect,  ///< no address, no listener, or no connection in time
  Cut,            ///< the connection ended before the reply did
  NotHttp,        ///< the reply does not follow the protocol
  CertificateRefused,
  ReplyTooLong,
  OutOfSockets,  ///< the process cannot open more files; nothing was sent
  Failed,        ///< any other error that sending again does not fix
};

/// Whether the reply's bytes are read as they arrive or when the reply is complete.
enum class Reading : bool { AtEnd, AsItComes };

/// What marks the end of the reply. A reply that ends with its connection may have been cut without a sign.
enum class ReplyFraming : bool { ByConnection, ByLength };

/// One POST and its reply. Acquired from an HttpClient, and returned to it with `release`.
class HttpRequest {
 public:
  virtual ~HttpRequest() = default;

  std::string body;       ///< of the request; must not change while it is being sent
  std::string received;   ///< the reply's bytes; the reader may take them out
  void* owner = nullptr;  ///< the caller's own

  TransferResult result = TransferResult::Replied;
  int status = 0;      ///< HTTP; 0: none was received
  std::string reason;  ///< of a failure, in words that are the same each time
  std::string detail;  ///< of a failure, with addresses and times in it; for people

  [[nodiscard]] virtual ReplyFraming framing() const = 0;
  /// The value of one of the reply's headers; the case of `name` does not matter.
  [[nodiscard]] virtual std::optional<std::string> find_header(const char* name) const = 0;
};

/// Sends POST requests to one URL over kept connections, many at once, on the caller's thread: libcurl says which
/// sockets and timers matter, and one epoll waits for them. A step costs what is ready, not what is in progress.
class HttpClient {
 public:
  /// Fails with a sentence when the options cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<HttpClient>, std::string> open(const HttpClientOptions& options);
  virtual ~HttpClient() = default;

  /// A request whose `body` is to be written next. It is sent by the `poll` that follows its `begin`.
  [[nodiscard]] virtual HttpRequest& acquire() = 0;
  virtual void begin(HttpRequest& request, Reading reading) = 0;
  /// Returns a request to the client, in any state. One in progress is aborted.
  virtual void release(HttpRequest& request) = 0;

  /// Does the pending work; if there is none, waits at most `wait` for some. Adds the requests that received bytes
  /// (only those that are read as they arrive) and then those that ended.
  virtual void poll(std::chrono::milliseconds wait, std::vector<HttpRequest*>& received,
                    std::vector<HttpRequest*>& ended) = 0;
  /// Ends a `poll` that waits. From any thread and from signal handlers.
  virtual void wake() = 0;

 protected:
  HttpClient() = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
};

/// Loads libcurl, once for the process. Fails with a sentence when it is missing; then nothing else here can be used.
[[nodiscard]] Result<void, std::string> load_http_library();

/// "host" or "host:port" of a URL, without a user and password in it. Nothing if it is not an http(s) URL.
[[nodiscard]] std::optional<std::string> find_host(const std::string& url);

/// `url` with `suffix` added to its path, its query kept. Nothing if it is not an http(s) URL.
[[nodiscard]] std::optional<std::string> add_to_path(const std::string& url, std::string_view suffix);

/// The time that an HTTP date (RFC 9110, 5.6.7) names; nothing if `text` is not a date.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> read_http_date(std::string_view text);

}  // namespace tenon::http_client
