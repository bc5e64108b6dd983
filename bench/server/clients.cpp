// The clients of bench/server: many connections from one thread, as cheap as possible, so that the figures show the
// server. Prints one line of JSON.
//   readers PORT RUN COUNT     reads a run's stream COUNT times at once, to its end
//   post PORT CONNECTIONS      sends a POST for each line `TARGET BODY` of stdin; times until the answer's header
//                              arrives
//   seed STORE RUN COUNT       not a client: puts waiting conversations into a store that no process uses
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "seed.h"

namespace {

int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      std::perror("send");
      std::exit(1);
    }
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

double percentile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The milliseconds from the recording of an event to its arrival, for all events of all readers.
int read_streams(std::uint16_t port, const std::string& run, std::size_t count) {
  struct Reader {
    int socket = -1;
    std::string rest;
  };
  const int poll = ::epoll_create1(0);
  std::vector<Reader> readers(count);
  for (std::size_t at = 0; at < count; ++at) {
    readers[at].socket = connect_to(port);
    send_all(readers[at].socket, "GET /v1/runs/" + run + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    epoll_event event{EPOLLIN, {}};
    event.data.u64 = at;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, readers[at].socket, &event);
  }
  std::vector<double> lags;
  std::size_t open = count, events = 0;
  const auto began = std::chrono::system_clock::now();
  std::vector<char> buffer(1U << 16U);
  std::vector<epoll_event> ready(1'024);
  while (open > 0) {
    const int found = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), 60'000);
    if (found <= 0) return 1;
    for (int index = 0; index < found; ++index) {
      Reader& reader = readers[ready[static_cast<std::size_t>(index)].data.u64];
      const ssize_t got = ::recv(reader.socket, buffer.data(), buffer.size(), 0);
      const auto now = std::chrono::system_clock::now();
      if (got > 0) reader.rest.append(buffer.data(), static_cast<std::size_t>(got));
      const std::string_view key = "\"time\":";
      std::size_t taken = 0;
      for (std::size_t at = reader.rest.find(key); at != std::string::npos; at = reader.rest.find(key, taken)) {
        if (reader.rest.size() < at + key.size() + 14) break;
        taken = at + key.size();
        ++events;
        const auto recorded = std::chrono::system_clock::time_point(
            std::chrono::milliseconds(number_in(std::string_view(reader.rest).substr(taken))));
        // Events that were recorded before the readers connected say nothing about the lag.
        if (recorded > began) lags.push_back(std::chrono::duration<double, std::milli>(now - recorded).count());
      }
      const bool is_over = got <= 0 || reader.rest.find("\r\n0\r\n\r\n", taken) != std::string::npos;
      const std::size_t keep = std::max(taken, reader.rest.size() > 16 ? reader.rest.size() - 16 : 0);
      reader.rest.erase(0, keep);
      if (!is_over) continue;
      ::close(reader.socket);
      --open;
    }
  }
  std::printf(R"({"readers":%zu,"events":%zu,"lag_ms_p50":%.2f,"lag_ms_p99":%.2f,"lag_ms_max":%.2f})"
              "\n",
              count, events, percentile(lags, 0.5), percentile(lags, 0.99), percentile(lags, 1));
  return 0;
}

/// Keeps one request in progress on each connection.
int post_all(std::uint16_t port, std::size_t count) {
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int socket = -1;
    Clock::time_point sent;
    std::string answer;
  };
  const int poll = ::epoll_create1(0);
  std::vector<Connection> connections(count);
  std::string line;
  std::size_t in_progress = 0, done = 0, refused = 0;
  const auto send_next = [&](Connection& connection) {
    if (!std::getline(std::cin, line)) return false;
    const std::size_t blank = line.find(' ');
    const std::string body = line.substr(blank + 1);
    connection.answer.clear();
    connection.sent = Clock::now();
    send_all(connection.socket,
             "POST " + line.substr(0, blank) +
                 " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n\r\n" + body);
    ++in_progress;
    return true;
  };
  for (std::size_t at = 0; at < count; ++at) {
    connections[at].socket = connect_to(port);
    epoll_event event{EPOLLIN, {}};
    event.data.u64 = at;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, connections[at].socket, &event);
    if (!send_next(connections[at])) break;
  }
  std::vector<double> times;
  std::vector<char> buffer(1U << 16U);
  std::vector<epoll_event> ready(256);
  const auto began = Clock::now();
  while (in_progress > 0) {
    const int found = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), 60'000);
    if (found <= 0) return 1;
    for (int index = 0; index < found; ++index) {
      Connection& connection = connections[ready[static_cast<std::size_t>(index)].data.u64];
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got <= 0) return 1;
      connection.answer.append(buffer.data(), static_cast<std::size_t>(got));
      if (connection.answer.back() != '\n' || connection.answer.find("\r\n\r\n") == std::string::npos) continue;
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - connection.sent).count());
      ++done;
      if (connection.answer.compare(0, 10, "HTTP/1.1 2") != 0) ++refused;
      --in_progress;
      static_cast<void>(send_next(connection));
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::printf(R"({"requests":%zu,"refused":%zu,"per_second":%.0f,"ms_p50":%.2f,"ms_p99":%.2f})"
              "\n",
              done, refused, static_cast<double>(done) / seconds, percentile(times, 0.5), percentile(times, 0.99));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string_view mode = argv[1];
  if (mode == "seed" && argc == 5) return seed_conversations(argv[2], argv[3], number_in(argv[4]));
  const auto port = static_cast<std::uint16_t>(number_in(argv[2]));
  if (mode == "readers" && argc == 5) return read_streams(port, argv[3], number_in(argv[4]));
  if (mode == "post") return post_all(port, number_in(argv[3]));
  return 2;
}
