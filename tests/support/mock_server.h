#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::test {

/// One received request. The views are only valid during the handler's call.
struct HttpRequest {
  std::string_view method;
  std::string_view path;
  std::string_view head;  ///< request line and headers, as sent
  std::string_view body;
  std::uint64_t ordinal = 0;  ///< counted from 0 over all connections

  /// The value of a header, empty if there is none. `name` is in lower case.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// The steps of the server's reply to one request, correct or faulty. After the last step the connection waits for the
/// next request.
struct Send {
  std::string bytes;
};
struct Wait {
  std::chrono::milliseconds duration;
};
struct Close {};       ///< closes the connection properly
struct Reset {};       ///< resets it: the peer's next read fails
struct StaySilent {};  ///< never sends another byte
using ReplyStep = std::variant<Send, Wait, Close, Reset, StaySilent>;
using ReplyPlan = std::vector<ReplyStep>;
using RequestHandler = std::function<ReplyPlan(const HttpRequest&)>;

/// A complete HTTP reply with its Content-Length. `headers`: lines that end in CRLF.
[[nodiscard]] std::string http_reply(int status, std::string_view body, std::string_view headers = {});
/// The head of a reply that ends when the connection closes, for event streams.
[[nodiscard]] std::string event_stream_head();
/// A chat completion whose answer is `content`.
[[nodiscard]] std::string chat_reply_json(std::string_view content);

struct ServerCounts {
  std::uint64_t requests = 0;
  std::uint64_t connections = 0;
  std::uint64_t in_progress = 0;  ///< requests whose steps are not finished
  std::uint64_t in_progress_max = 0;
};

/// An HTTP/1.1 server on 127.0.0.1 for tests and benchmarks, with one thread, epoll and persistent connections, that
/// executes the steps of its handler. Not for untrusted clients: it trusts the framing of requests.
class MockServer {
 public:
  /// Uses a free port, or `port`. The handler runs on the serving thread.
  explicit MockServer(RequestHandler handler, std::uint16_t port = 0);
  ~MockServer();
  MockServer(const MockServer&) = delete;
  MockServer& operator=(const MockServer&) = delete;

  /// Serves until `stop`, or until `lifetime` is over.
  void run(std::chrono::milliseconds lifetime);
  void stop();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] ServerCounts counts() const;

 private:
  class Loop;

  std::uint16_t port_ = 0;
  std::unique_ptr<Loop> loop_;
};

/// A MockServer on its own thread, which ends with this object, or after two minutes.
class MockServerThread {
 public:
  explicit MockServerThread(RequestHandler handler);
  ~MockServerThread();

  [[nodiscard]] std::string base_url() const { return server_.url() + "/v1"; }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] ServerCounts counts() const { return server_.counts(); }
  /// The bodies received so far, in order.
  [[nodiscard]] std::vector<std::string> bodies() const;
  /// Request lines and headers received so far, in order.
  [[nodiscard]] std::vector<std::string> heads() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> bodies_;
  std::vector<std::string> heads_;
  MockServer server_;
  std::thread thread_;
};

}  // namespace tenon::test
