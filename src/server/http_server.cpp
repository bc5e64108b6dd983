#include "server/http_server.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <list>

#include "base/ascii.h"
#include "server/chunked_body.h"
#include "server/request_head.h"

namespace tenon::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// How often a silent stream sends a comment, so that proxies and clients do not give up on it.
constexpr std::chrono::seconds heartbeat{15};
/// After the time for requests in progress is over: for ending their responses.
constexpr std::chrono::seconds farewell_time{2};
/// For what a client sends after its request has been refused.
constexpr std::chrono::seconds linger_time{1};
constexpr std::string_view stopping = "the server is stopping; the run continues after its next start";
/// What may wait in the kernel for a reader, in addition to what waits here.
constexpr int send_buffer_bytes = 128 * 1024;
constexpr std::size_t head_bytes_per_read = 4096;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// Wakes a coroutine that waits on a timer; from any thread, and also after that coroutine has ended.
struct Signal {
  explicit Signal(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  bool is_set = false;
  std::atomic<bool> is_posted = false;
};

void set(const std::shared_ptr<Signal>& signal) {
  if (signal->is_posted.exchange(true)) return;
  asio::post(signal->timer.get_executor(), [signal] {
    signal->is_posted = false;
    signal->is_set = true;
    signal->timer.cancel();
  });
}

/// Waits until the signal is set, at most for `time`.
asio::awaitable<void> wait(std::shared_ptr<Signal> signal, std::chrono::steady_clock::duration time) {
  if (!signal->is_set) {
    signal->timer.expires_after(time);
    co_await signal->timer.async_wait(as_result);
  }
  signal->is_set = false;
}

/// Notices at once that a reader has closed its end of the connection, not only when something is written to it. Ends
/// with the coroutine that holds it, also with one that throws.
struct ReaderWatch {
  bool is_gone = false;
  bool is_over = false;  ///< the connection may be gone
};

std::shared_ptr<ReaderWatch> watch_reader(beast::tcp_stream& stream, const std::shared_ptr<Signal>& signal) {
  auto watch = std::make_shared<ReaderWatch>();
  const std::weak_ptr<ReaderWatch> held = watch;
  stream.socket().async_wait(tcp::socket::wait_read, [signal, held, &stream](error_code wait_error) {
    const auto held_watch = held.lock();
    if (!held_watch || held_watch->is_over || wait_error == asio::error::operation_aborted) return;
    char byte = 0;
    error_code peek_error;
    stream.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peek_error);
    if (!peek_error) return;  // its next request has arrived
    held_watch->is_gone = true;
    set(signal);
  });
  return watch;
}

void end_watch(beast::tcp_stream& stream, ReaderWatch& watch) {
  watch.is_over = true;
  error_code ignored;
  stream.socket().cancel(ignored);
}

/// Without the body. Taken before the body is read, whose trailers must not become headers.
HttpRequest to_request(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = std::string(message.method() == http::verb::head ? "GET" : message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    const auto [header, is_new] = request.headers.emplace(lower_case(field.name_string()), std::string(field.value()));
    if (!is_new) header->second += ", " + std::string(field.value());
  }
  resolve_absolute_target(request);
  return request;
}

template <class Body>
void set_head(http::response<Body>& message, const HttpResponse& head) {
  message.result(static_cast<unsigned>(head.status));
  message.set(http::field::server, "tenon");
  if (head.status != 204) message.set(http::field::content_type, head.content_type);
  for (const auto& [name, value] : head.headers) message.set(name, value);
}

}  // namespace

std::optional<bool> is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return std::nullopt;
  return address.is_loopback();
}

struct HttpServer::State {
  struct Connection {
    explicit Connection(tcp::socket socket) : stream(std::move(socket)) {}
    beast::tcp_stream stream;
    bool is_idle = true;  ///< between requests
    std::shared_ptr<Signal> signal;
  };

  State(Api& used_api, const Limits& used_limits, ServerCounts& used_counts)
      : api(used_api), limits(used_limits), counts(used_counts), acceptor(io), signals(io) {}

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::list<Connection>::iterator connection);
  void end(std::list<Connection>::iterator connection, const std::exception_ptr& thrown);
  asio::awaitable<bool> serve_one(Connection& connection, beast::flat_buffer& buffer);
  asio::awaitable<bool> read_head(Connection& connection, beast::flat_buffer& buffer, HttpResponse& refusal);
  asio::awaitable<bool> read_chunks(Connection& connection, beast::flat_buffer& buffer, ChunkedBody& chunks,
                                    HttpResponse& refusal);
  asio::awaitable<bool> refuse(Connection& connection, HttpAnswer refusal);
  asio::awaitable<bool> send(Connection& connection, HttpAnswer answer, bool keep_alive, unsigned version,
                             bool is_head);
  asio::awaitable<bool> send_stream(Connection& connection, HttpAnswer answer, bool keep_alive, unsigned version);
  asio::awaitable<HttpAnswer> ask(Connection& connection, HttpRequest request);
  void drain(std::chrono::seconds time);
  void end_drain();
  [[nodiscard]] HttpResponse header_too_large() const {
    return make_error(431, "too_large", fmt::format("the header has more than {} bytes", limits.header_bytes));
  }
  [[nodiscard]] HttpResponse body_too_large() const {
    return make_error(413, "too_large", fmt::format("the body has more than {} bytes", limits.body_bytes));
  }
  [[nodiscard]] HttpResponse chunks_refused(const HeadProblem& problem) const {
    if (problem.status == 413) return body_too_large();
    if (problem.status != 431) return make_error(problem.status, "bad_request", problem.message);
    return make_error(431, "too_large",
                      fmt::format("the header has more than {} bytes, with the extensions of chunks and the trailers",
                                  limits.header_bytes));
  }
  /// Whether the body is ended early.
  [[nodiscard]] bool cuts(const BodySource& body) const {
    return is_time_over || (is_draining && body.can_be_continued());
  }

  Api& api;
  const Limits& limits;
  ServerCounts& counts;
  asio::io_context io{1};
  tcp::acceptor acceptor;
  asio::signal_set signals;
  std::optional<asio::steady_timer> deadline;
  std::list<Connection> connections;
  bool is_draining = false;
  bool is_time_over = false;  ///< for requests that were in progress when draining began
};

asio::awaitable<void> HttpServer::State::accept() {
  while (!is_draining) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      // Usually there are no file descriptors left; some are freed when connections end.
      asio::steady_timer pause(io, std::chrono::milliseconds(50));
      co_await pause.async_wait(as_result);
      continue;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), ignored);
    if (connections.size() >= limits.connections) {
      ++counts.connections_refused;
      const HttpResponse refusal = make_error(503, "too_many_connections", "the server has too many connections");
      const std::string text = fmt::format(
          "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
          "Retry-After: 1\r\nContent-Length: {}\r\n\r\n{}",
          refusal.body.size(), refusal.body);
      socket.non_blocking(true, ignored);
      static_cast<void>(socket.write_some(asio::buffer(text), ignored));
      socket.shutdown(tcp::socket::shutdown_send, ignored);
      continue;
    }
    connections.emplace_front(std::move(socket));
    counts.connections = connections.size();
    asio::co_spawn(io, serve(connections.begin()),
                   [this, connection = connections.begin()](std::exception_ptr thrown) { end(connection, thrown); });
  }
}

asio::awaitable<void> HttpServer::State::serve(std::list<Connection>::iterator connection) {
  beast::flat_buffer buffer(limits.header_bytes + limits.chunk_bytes);
  while (co_await serve_one(*connection, buffer)) {
    if (is_draining) break;
  }
}

/// Closes a connection. `thrown`: what cut off its response; otherwise null.
void HttpServer::State::end(std::list<Connection>::iterator connection, const std::exception_ptr& thrown) {
  if (thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& problem) {
      api.report_thrown("a response was cut off", problem);
    }
  }
  error_code ignored;
  connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  connections.erase(connection);
  counts.connections = connections.size();
  if (is_draining && connections.empty()) io.stop();
}

/// Receives a request's head and checks its bytes, before it is parsed. False when there is none to parse: then
/// `refusal` has a body, or the client is gone or was silent for too long.
asio::awaitable<bool> HttpServer::State::read_head(Connection& connection, beast::flat_buffer& buffer,
                                                   HttpResponse& refusal) {
  HeadScan head;
  for (;;) {
    const std::string_view received(static_cast<const char*>(buffer.data().data()), buffer.size());
    if (received.starts_with("\r\n")) {  // some clients end the body before it with an empty line
      buffer.consume(2);
      head = HeadScan();
      continue;
    }
    const auto scanned = head.scan(received);
    if (scanned && *scanned) co_return true;
    if (scanned) {
      const HeadProblem& problem = scanned->error();
      refusal = make_error(problem.status, problem.status == 501 ? "not_implemented" : "bad_request", problem.message);
      co_return false;
    }
    if (received.size() > limits.header_bytes) {
      refusal = header_too_large();
      co_return false;
    }
    const auto space = buffer.prepare(std::min<std::size_t>(limits.chunk_bytes, head_bytes_per_read));
    auto [error, bytes] = co_await connection.stream.async_read_some(space, as_result);
    if (error) co_return false;
    buffer.commit(bytes);
  }
}

/// Sends a refusal, if it has a body, and ends the connection: false. What the client still sends is dropped for a
/// moment: closing a connection with unread bytes resets it, and the client might lose the refusal.
asio::awaitable<bool> HttpServer::State::refuse(Connection& connection, HttpAnswer refusal) {
  if (refusal.head.body.empty()) co_return false;
  co_await send(connection, std::move(refusal), false, 11, false);
  error_code ignored;
  connection.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  connection.stream.expires_after(linger_time);
  std::array<char, head_bytes_per_read> dropped{};
  for (;;) {
    auto [error, bytes] = co_await connection.stream.async_read_some(asio::buffer(dropped), as_result);
    if (error) co_return false;
  }
}

/// Receives a body in chunks. False when it does not arrive: then `refusal` has a body, or the client is gone or was
/// silent for too long.
asio::awaitable<bool> HttpServer::State::read_chunks(Connection& connection, beast::flat_buffer& buffer,
                                                     ChunkedBody& chunks, HttpResponse& refusal) {
  for (;;) {
    const auto taken = chunks.take({static_cast<const char*>(buffer.data().data()), buffer.size()});
    if (!taken) {
      refusal = chunks_refused(taken.error());
      co_return false;
    }
    buffer.consume(*taken);
    if (chunks.is_complete()) co_return true;
    auto [error, bytes] = co_await connection.stream.async_read_some(buffer.prepare(limits.chunk_bytes), as_result);
    if (error) co_return false;
    buffer.commit(bytes);
  }
}

/// Serves one request; false when the connection ends.
asio::awaitable<bool> HttpServer::State::serve_one(Connection& connection, beast::flat_buffer& buffer) {
  beast::tcp_stream& stream = connection.stream;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  stream.expires_after(std::chrono::seconds(limits.idle_seconds));
  connection.is_idle = true;
  HttpAnswer refusal;
  const bool has_head = co_await read_head(connection, buffer, refusal.head);
  connection.is_idle = false;
  if (!has_head) {
    co_return co_await refuse(connection, std::move(refusal));
  }
  auto [header_error, header_bytes] = co_await http::async_read_header(stream, buffer, parser, as_result);
  error_code error = header_error;
  HttpRequest request;
  if (!error) {
    request = to_request(parser.get());
    if (parser.content_length().value_or(0) > limits.body_bytes) error = http::error::body_limit;
    if (!error && beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      http::response<http::empty_body> continuing{http::status::continue_, 11};
      auto [sent_error, sent] = co_await http::async_write(stream, continuing, as_result);
      error = sent_error;
    }
    if (!error && parser.chunked()) {
      ChunkedBody chunks(limits.body_bytes, limits.header_bytes - std::min(limits.header_bytes, header_bytes));
      if (!co_await read_chunks(connection, buffer, chunks, refusal.head)) {
        co_return co_await refuse(connection, std::move(refusal));
      }
      request.body = std::move(chunks.body());
    } else if (!error) {
      auto [body_error, body_bytes] = co_await http::async_read(stream, buffer, parser, as_result);
      error = body_error;
      if (!error) request.body = std::move(parser.get().body());
    }
  }
  if (error) {
    if (error == http::error::body_limit) {
      refusal.head = body_too_large();
    } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      refusal.head = header_too_large();
    } else if (error.category() == make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      refusal.head = make_error(400, "bad_request", "this is not an HTTP/1.1 request: " + error.message());
    } else {
      co_return false;  // gone, or silent for too long
    }
    co_return co_await refuse(connection, std::move(refusal));
  }
  auto message = parser.release();
  const bool keep_alive = message.keep_alive() && !is_draining;
  const unsigned version = message.version();
  const bool is_head = message.method() == http::verb::head;
  HttpAnswer answer = co_await ask(connection, std::move(request));
  co_return co_await send(connection, std::move(answer), keep_alive, version, is_head);
}

asio::awaitable<HttpAnswer> HttpServer::State::ask(Connection& connection, HttpRequest request) {
  struct Waiting {
    std::mutex mutex;
    std::optional<HttpAnswer> answer;
  };
  auto waiting = std::make_shared<Waiting>();
  auto signal = std::make_shared<Signal>(connection.stream.get_executor());
  connection.stream.expires_never();
  api.handle(request, [waiting, signal](HttpAnswer answer) {
    {
      const std::scoped_lock lock(waiting->mutex);
      waiting->answer = std::move(answer);
    }
    set(signal);
  });
  for (;;) {
    {
      const std::scoped_lock lock(waiting->mutex);
      if (waiting->answer) co_return std::move(*waiting->answer);
    }
    co_await wait(signal, std::chrono::hours(24));
  }
}

asio::awaitable<bool> HttpServer::State::send(Connection& connection, HttpAnswer answer, bool keep_alive,
                                              unsigned version, bool is_head) {
  if (answer.body && !is_head) {
    if (answer.is_streamed) co_return co_await send_stream(connection, std::move(answer), keep_alive, version);
    auto signal = std::make_shared<Signal>(connection.stream.get_executor());
    connection.signal = signal;
    answer.body->watch([signal] { set(signal); });
    const auto watch = watch_reader(connection.stream, signal);
    while (!watch->is_gone) {
      answer.head.body += answer.body->take(limits.chunk_bytes);
      if (answer.body->is_done()) break;
      if (cuts(*answer.body)) {
        answer.head.body = answer.body->break_off(stopping);
        break;
      }
      co_await wait(signal, heartbeat);
    }
    connection.signal.reset();
    end_watch(connection.stream, *watch);
    if (watch->is_gone) co_return false;
    if (const auto status = answer.body->status()) answer.head.status = *status;
    answer.body.reset();
  }
  keep_alive = keep_alive && !is_draining;
  http::response<http::string_body> message;
  message.version(version);
  set_head(message, answer.head);
  message.keep_alive(keep_alive);
  message.body() = std::move(answer.head.body);
  message.prepare_payload();
  if (is_head) message.body().clear();
  connection.stream.expires_after(std::chrono::seconds(limits.write_seconds));
  auto [error, bytes] = co_await http::async_write(connection.stream, message, as_result);
  co_return !error && keep_alive;
}

/// Sends until the body is done, the reader is gone or too slow, or the server stops.
asio::awaitable<bool> HttpServer::State::send_stream(Connection& connection, HttpAnswer answer, bool keep_alive,
                                                     unsigned version) {
  beast::tcp_stream& stream = connection.stream;
  auto signal = std::make_shared<Signal>(stream.get_executor());
  connection.signal = signal;
  const std::unique_ptr<BodySource> body = std::move(answer.body);
  body->watch([signal] { set(signal); });
  const bool is_chunked = version >= 11;
  http::response<http::empty_body> head;
  head.version(version);
  set_head(head, answer.head);
  head.keep_alive(keep_alive && is_chunked);
  if (is_chunked) head.chunked(true);
  http::response_serializer<http::empty_body> serializer(head);
  const std::chrono::seconds write_time(limits.write_seconds);
  stream.expires_after(write_time);
  auto [head_error, head_bytes] = co_await http::async_write_header(stream, serializer, as_result);
  error_code error = head_error;
  const auto watch = watch_reader(stream, signal);
  auto quiet_since = std::chrono::steady_clock::now();
  while (!error && !watch->is_gone) {
    std::string text = body->take(limits.chunk_bytes);
    if (!body->is_done() && cuts(*body)) text += body->break_off(stopping);
    if (text.empty() && !body->is_done()) {
      if (std::chrono::steady_clock::now() - quiet_since < heartbeat) {
        stream.expires_never();
        co_await wait(signal, heartbeat);
        continue;
      }
      text = ":\n\n";
    }
    quiet_since = std::chrono::steady_clock::now();
    if (!text.empty()) {
      stream.expires_after(write_time);
      if (is_chunked) {
        auto [sent_error, sent] = co_await asio::async_write(stream, http::make_chunk(asio::buffer(text)), as_result);
        error = sent_error;
      } else {
        auto [sent_error, sent] = co_await asio::async_write(stream, asio::buffer(text), as_result);
        error = sent_error;
      }
      if (error == beast::error::timeout) ++counts.readers_cut;
    }
    if (body->is_done()) break;
  }
  connection.signal.reset();
  if (!error && is_chunked && !watch->is_gone) {
    stream.expires_after(write_time);
    auto [sent_error, sent] = co_await asio::async_write(stream, http::make_chunk_last(), as_result);
    error = sent_error;
  }
  end_watch(stream, *watch);
  if (error || watch->is_gone || !is_chunked) {
    stream.close();
    co_return false;
  }
  co_return keep_alive;
}

/// Accepts nothing new; requests in progress get `time`.
void HttpServer::State::drain(std::chrono::seconds time) {
  if (is_draining) return;
  is_draining = true;
  api.begin_draining();
  error_code ignored;
  acceptor.close(ignored);
  for (Connection& connection : connections) {
    if (connection.signal) set(connection.signal);
    if (connection.is_idle) connection.stream.socket().cancel(ignored);
  }
  if (connections.empty()) return io.stop();
  deadline.emplace(io, time);
  deadline->async_wait([this](error_code error) {
    if (!error) end_drain();
  });
}

/// The time is over: responses are ended, and connections that do not read are closed.
void HttpServer::State::end_drain() {
  is_time_over = true;
  for (const Connection& connection : connections) {
    if (connection.signal) set(connection.signal);
  }
  deadline->expires_after(farewell_time);
  deadline->async_wait([this](error_code error) {
    if (!error) io.stop();
  });
}

HttpServer::HttpServer(Api& api, const Limits& limits, ServerCounts& counts, StoppedBy stopped_by)
    : state_(std::make_unique<State>(api, limits, counts)) {
  if (stopped_by == StoppedBy::Caller) return;
  state_->signals.add(SIGINT);
  state_->signals.add(SIGTERM);
}

HttpServer::~HttpServer() = default;

Result<std::uint16_t, std::string> HttpServer::listen(const Address& address) {
  error_code error;
  const auto ip = asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, error);
  if (error) return failure(fmt::format("`{}` is not an IP address", address.host));
  const tcp::endpoint endpoint(ip, address.port);
  tcp::acceptor& acceptor = state_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failure(fmt::format("{}:{}: {}", address.host, address.port, error.message()));
  return acceptor.local_endpoint().port();
}

void HttpServer::run(const std::function<void(int signal)>& on_stop) {
  State& state = *state_;
  // Without signals to wait for, this never happens; it does not keep the server from ending.
  state.signals.async_wait([&](error_code error, int signal) {
    if (error) return;
    error_code ignored;
    state.signals.clear(ignored);
    if (on_stop) on_stop(signal);
    state.drain(std::chrono::seconds(state.limits.drain_seconds));
  });
  asio::co_spawn(state.io, state.accept(), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);  // out of `run`: without it, the server would accept nothing
  });
  state.io.run();
}

void HttpServer::stop() {
  asio::post(state_->io, [state = state_.get()] { state->drain(std::chrono::seconds(0)); });
}

}  // namespace tenon::server
