#include "tests/support/cutting_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/signal_free_thread.h"

namespace tenon::test {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path of a socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// Sends all of it. False if the other side is gone.
bool send_all(const Descriptor& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Adds what has arrived. False at the end.
bool receive(const Descriptor& from, std::string& bytes) {
  std::array<char, 65'536> piece{};
  const ssize_t size = ::recv(from.number(), piece.data(), piece.size(), 0);
  if (size <= 0) return false;
  bytes.append(piece.data(), static_cast<std::size_t>(size));
  return true;
}

std::uint32_t size_at(std::string_view bytes) {
  std::uint32_t size = 0;
  for (const char byte : bytes.substr(0, 4)) size = size << 8U | static_cast<unsigned char>(byte);
  return size;
}

/// Takes a text that ends with a zero.
std::string_view take_text(std::string_view& body) {
  const std::size_t end = std::min(body.find('\0'), body.size());
  const std::string_view text = body.substr(0, end);
  body.remove_prefix(std::min(end + 1, body.size()));
  return text;
}

constexpr char parse_message = 'P';
constexpr char bind_message = 'B';
constexpr char sync_message = 'S';
constexpr char ready_reply = 'Z';

/// Takes messages off the front, each a type, its size, which counts itself, and its body.
template <class Visit>
void take_messages(std::string& bytes, Visit visit) {
  std::size_t at = 0;
  while (bytes.size() - at >= 5) {
    const std::size_t size = 1 + size_at(std::string_view(bytes).substr(at + 1));
    if (bytes.size() - at < size) break;
    const std::string_view whole = std::string_view(bytes).substr(at, size);
    at += size;
    if (!visit(whole)) break;
  }
  bytes.erase(0, at);
}

}  // namespace

struct CuttingProxy::Connection {
  Descriptor client, server;
  bool has_started = false;                       ///< the first message, which has no type, is over
  std::string of_client, of_server;               ///< beginnings of messages
  std::map<std::string, std::string> statements;  ///< texts of prepared statements by their names
  std::optional<Cut> cut;                         ///< at the end of the transaction
  bool waits_for_reply = false;                   ///< and then the connection is cut
  bool becomes_silent = false;                    ///< instead of being closed
  bool is_silent = false;
};

CuttingProxy::CuttingProxy(std::string server) : server_(std::move(server)) {
  ::chmod(folder_.file("").c_str(), 0755);
  const sockaddr_un address = address_of(folder_.file(".s.PGSQL.5432"));
  listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.number(), 64) != 0)
    throw std::runtime_error("the proxy cannot listen");
  thread_ = start_signal_free_thread([this] { serve(); });
}

CuttingProxy::~CuttingProxy() {
  is_ending_ = true;
  waker_.wake();
  thread_.join();
}

void CuttingProxy::cut_next(Cut where, std::string statement) {
  const std::scoped_lock lock(mutex_);
  order_ = Order{where, std::move(statement)};
}

void CuttingProxy::announce_version(const std::string& digits) {
  const std::scoped_lock lock(mutex_);
  version_ = digits;
}

void CuttingProxy::accept() {
  auto connection = std::make_unique<Connection>();
  connection->client = Descriptor(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection->client.is_open()) return;
  connection->server = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(server_);
  if (::connect(connection->server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    connections_.push_back(std::move(connection));  // otherwise the client sees the end
}

bool CuttingProxy::on_message(Connection& connection, char type, std::string_view body) {
  if (type == parse_message) {
    const std::string name(take_text(body));
    connection.statements[name] = take_text(body);
  } else if (type == bind_message) {
    ++executions_;
    take_text(body);  // the portal
    const std::string& statement = connection.statements[std::string(take_text(body))];
    const std::scoped_lock lock(mutex_);
    if (order_ && statement.find(order_->statement) != std::string::npos) {
      connection.cut = order_->where;
      order_.reset();
    }
  }
  const bool is_cut = connection.cut == Cut::BeforeCommit || connection.cut == Cut::SilentBeforeCommit;
  return !(type == sync_message && is_cut);
}

bool CuttingProxy::take_from_client(Connection& connection) {
  if (!receive(connection.client, connection.of_client)) return false;
  std::string passed;
  if (!connection.has_started) {
    if (connection.of_client.size() < 4 || connection.of_client.size() < size_at(connection.of_client)) return true;
    passed = connection.of_client.substr(0, size_at(connection.of_client));
    connection.of_client.erase(0, passed.size());
    connection.has_started = true;
  }
  bool is_over = false;
  take_messages(connection.of_client, [&](std::string_view whole) {
    const bool passes = on_message(connection, whole.front(), whole.substr(5));
    if (passes) passed += whole;
    is_over = connection.cut && whole.front() == sync_message;
    return !is_over;
  });
  if (!send_all(connection.server, passed)) return false;
  if (!is_over) return true;
  const Cut cut = *std::exchange(connection.cut, std::nullopt);
  if (cut == Cut::AfterReply || cut == Cut::SilentAfterReply) {
    connection.waits_for_reply = true;
    connection.becomes_silent = cut == Cut::SilentAfterReply;
    return true;
  }
  connection.is_silent = cut == Cut::SilentBeforeCommit;
  if (cut == Cut::OnlyClient) connection.client.reset();
  ++cuts_;
  return cut == Cut::OnlyClient || connection.is_silent;
}

bool CuttingProxy::take_from_server(Connection& connection) {
  std::string arrived;
  if (!receive(connection.server, arrived)) return false;
  constexpr std::string_view parameter("server_version\0", 15);
  if (const std::size_t at = arrived.find(parameter); at != std::string::npos) {
    const std::scoped_lock lock(mutex_);
    arrived.replace(at + parameter.size(), version_.size(), version_);
  }
  if (!connection.waits_for_reply) return !connection.client.is_open() || send_all(connection.client, arrived);
  connection.of_server += arrived;
  bool has_replied = false;
  take_messages(connection.of_server, [&](std::string_view whole) {
    has_replied = whole.front() == ready_reply;
    return !has_replied;
  });
  if (!has_replied) return true;
  ++cuts_;
  connection.is_silent = connection.becomes_silent;
  return connection.is_silent;
}

void CuttingProxy::serve() {
  while (!is_ending_) {
    std::vector<pollfd> waits = {{waker_.descriptor(), POLLIN, 0}, {listener_.number(), POLLIN, 0}};
    for (const auto& connection : connections_) {
      waits.push_back({connection->is_silent ? -1 : connection->client.number(), POLLIN, 0});
      waits.push_back({connection->is_silent ? -1 : connection->server.number(), POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    for (std::size_t at = connections_.size(); at-- > 0;) {
      const auto has_news = [&](std::size_t side) { return waits[2 + 2 * at + side].revents != 0; };
      Connection& connection = *connections_[at];
      bool lives = !has_news(0) || take_from_client(connection);
      if (lives && has_news(1)) lives = take_from_server(connection);
      if (!lives) connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (waits[1].revents != 0) accept();
  }
}

}  // namespace tenon::test
