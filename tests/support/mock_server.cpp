#include "tests/support/mock_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/ascii.h"
#include "base/ensure.h"
#include "base/waker.h"
#include "json/text.h"

namespace tenon::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t read_size = 64 * 1024;

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  std::size_t at = head.find("\r\n");
  while (at != std::string_view::npos && at + 2 < head.size()) {
    const std::size_t begin = at + 2;
    const std::size_t end = std::min(head.find("\r\n", begin), head.size());
    std::string_view line = head.substr(begin, end - begin);
    at = end == head.size() ? std::string_view::npos : end;
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    const bool is_same =
        std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == to_lower(b); });
    if (!is_same) continue;
    line.remove_prefix(name.size() + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  return {};
}

std::string http_reply(int status, std::string_view body, std::string_view headers) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", status,
                     body.size(), headers, body);
}

std::string event_stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
}

std::string chat_reply_json(std::string_view content) {
  std::string json =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock-1","choices":[{"index":0,"message":{"role":"assistant","content":)";
  append_json_string(json, content);
  json +=
      R"(,"refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"cached_tokens":8}}})";
  return json;
}

/// The server's thread: connections by socket, and delayed connections by the time at which they continue.
class MockServer::Loop {
 public:
  Loop(RequestHandler handler, int listener) : handler_(std::move(handler)), listener_(listener) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    ENSURE(epoll_ >= 0 && stop_.is_open());
    watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
    watch(stop_.descriptor(), EPOLLIN, EPOLL_CTL_ADD);
  }
  ~Loop() {
    while (!connections_.empty()) drop(connections_.begin()->first);
    ::close(listener_);
    ::close(epoll_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run(milliseconds lifetime) {
    const auto end = Clock::now() + lifetime;
    std::array<epoll_event, 512> events{};
    while (Clock::now() < end) {
      auto wait = std::chrono::ceil<milliseconds>(end - Clock::now());
      if (!waiting_.empty())
        wait = std::min(wait, std::chrono::ceil<milliseconds>(waiting_.begin()->first - Clock::now()));
      const auto timeout = static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == stop_.descriptor()) return;
        if (event.data.fd == listener_) {
          accept_all();
        } else {
          serve(event.data.fd, event.events);
        }
      }
      const auto now = Clock::now();
      while (!waiting_.empty() && waiting_.begin()->first <= now) {
        const int socket = waiting_.begin()->second;
        waiting_.erase(waiting_.begin());
        connections_.at(socket).waits.reset();
        go_on(socket);
      }
    }
  }

  void stop() const { stop_.wake(); }

  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> in_progress{0};
  std::atomic<std::uint64_t> in_progress_max{0};

 private:
  using WaitingEntry = std::multimap<Clock::time_point, int>::iterator;

  struct Connection {
    std::string in;
    ReplyPlan plan;
    std::size_t step = 0;  ///< of the plan
    std::size_t sent = 0;  ///< bytes of the step
    bool is_replying = false;
    bool wants_write = false;
    std::optional<WaitingEntry> waits;
  };

  void watch(int socket, std::uint32_t interest, int operation) const {
    epoll_event event{};
    event.events = interest;
    event.data.fd = socket;
    ENSURE(::epoll_ctl(epoll_, operation, socket, &event) == 0);
  }

  void accept_all() {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) return;
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_.try_emplace(socket);
      watch(socket, EPOLLIN, EPOLL_CTL_ADD);
      ++accepted;
    }
  }

  void serve(int socket, std::uint32_t events) {
    const auto found = connections_.find(socket);
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    if ((events & EPOLLOUT) != 0 && connection.wants_write) {
      if (!go_on(socket)) return;
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    for (;;) {
      const ssize_t length = ::recv(socket, buffer_.data(), buffer_.size(), 0);
      if (length < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (length <= 0) {
        drop(socket);
        return;
      }
      connection.in.append(buffer_.data(), static_cast<std::size_t>(length));
      if (static_cast<std::size_t>(length) < buffer_.size()) break;
    }
    begin_reply(socket, connection);
  }

  /// Takes the next complete request, if there is one and the previous one has been answered.
  void begin_reply(int socket, Connection& connection) {
    if (connection.is_replying) return;
    const std::size_t head_end = connection.in.find("\r\n\r\n");
    if (head_end == std::string::npos) return;
    HttpRequest request;
    request.head = std::string_view(connection.in).substr(0, head_end);
    std::size_t body_size = 0;
    if (const auto length = request.header("content-length"); !length.empty()) {
      std::from_chars(length.data(), length.data() + length.size(), body_size);
    }
    const std::size_t size = head_end + 4 + body_size;
    if (connection.in.size() < size) return;
    request.body = std::string_view(connection.in).substr(head_end + 4, body_size);
    const std::size_t method_end = request.head.find(' ');
    const std::size_t path_end = request.head.find(' ', method_end + 1);
    request.method = request.head.substr(0, method_end);
    request.path = request.head.substr(method_end + 1, path_end - method_end - 1);
    request.ordinal = requests++;
    const std::uint64_t now_in_progress = ++in_progress;
    if (now_in_progress > in_progress_max) in_progress_max = now_in_progress;
    connection.plan = handler_(request);
    connection.in.erase(0, size);
    connection.step = 0;
    connection.sent = 0;
    connection.is_replying = true;
    go_on(socket);
  }

  /// Returns whether the connection still exists.
  bool go_on(int socket) {
    Connection& connection = connections_.at(socket);
    while (connection.step < connection.plan.size()) {
      const ReplyStep& step = connection.plan[connection.step];
      if (const auto* send_step = std::get_if<Send>(&step)) {
        const std::string& bytes = send_step->bytes;
        while (connection.sent < bytes.size()) {
          const ssize_t length =
              ::send(socket, bytes.data() + connection.sent, bytes.size() - connection.sent, MSG_NOSIGNAL);
          if (length < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return drop(socket);
            if (!connection.wants_write) watch(socket, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            connection.wants_write = true;
            return true;
          }
          connection.sent += static_cast<std::size_t>(length);
        }
        if (connection.wants_write) watch(socket, EPOLLIN, EPOLL_CTL_MOD);
        connection.wants_write = false;
        connection.sent = 0;
      } else if (const auto* wait_step = std::get_if<Wait>(&step)) {
        ++connection.step;
        connection.waits = waiting_.emplace(Clock::now() + wait_step->duration, socket);
        return true;
      } else if (std::holds_alternative<Close>(step)) {
        return drop(socket);
      } else if (std::holds_alternative<Reset>(step)) {
        const linger hard{1, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        return drop(socket);
      } else {
        return true;  // StaySilent
      }
      ++connection.step;
    }
    if (connection.is_replying) --in_progress;
    connection.is_replying = false;
    begin_reply(socket, connection);
    return connections_.contains(socket);
  }

  bool drop(int socket) {
    const auto found = connections_.find(socket);
    if (found->second.is_replying) --in_progress;
    if (found->second.waits) waiting_.erase(*found->second.waits);
    connections_.erase(found);
    ::close(socket);
    return false;
  }

  RequestHandler handler_;
  int listener_;
  int epoll_ = -1;
  const Waker stop_;
  std::unordered_map<int, Connection> connections_;
  std::multimap<Clock::time_point, int> waiting_;
  std::array<char, read_size> buffer_{};
};

MockServer::MockServer(RequestHandler handler, std::uint16_t port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ENSURE(listener >= 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ENSURE(::bind(listener, generic, size) == 0);
  ENSURE(::listen(listener, 4096) == 0);
  ENSURE(::getsockname(listener, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  loop_ = std::make_unique<Loop>(std::move(handler), listener);
}

MockServer::~MockServer() = default;

void MockServer::run(milliseconds lifetime) {
  loop_->run(lifetime);
}

void MockServer::stop() {
  loop_->stop();
}

ServerCounts MockServer::counts() const {
  return {loop_->requests, loop_->accepted, loop_->in_progress, loop_->in_progress_max};
}

MockServerThread::MockServerThread(RequestHandler handler)
    : server_([this, handler = std::move(handler)](const HttpRequest& request) {
        {
          const std::scoped_lock lock(mutex_);
          bodies_.emplace_back(request.body);
          heads_.emplace_back(request.head);
        }
        return handler(request);
      }),
      thread_([this] { server_.run(std::chrono::minutes(2)); }) {}

MockServerThread::~MockServerThread() {
  server_.stop();
  thread_.join();
}

std::vector<std::string> MockServerThread::bodies() const {
  const std::scoped_lock lock(mutex_);
  return bodies_;
}

std::vector<std::string> MockServerThread::heads() const {
  const std::scoped_lock lock(mutex_);
  return heads_;
}

}  // namespace tenon::test
