#include "tests/support/tls_front.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/ensure.h"

namespace tenon::test {
namespace {

constexpr int tick_ms = 20;  ///< how often the end is polled

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

class TlsFront::Context {
 public:
  Context(const std::string& certificate_file, const std::string& key_file)
      : context_(SSL_CTX_new(TLS_server_method())) {
    ENSURE(context_ != nullptr);
    ENSURE(SSL_CTX_use_certificate_chain_file(context_, certificate_file.c_str()) == 1);
    ENSURE(SSL_CTX_use_PrivateKey_file(context_, key_file.c_str(), SSL_FILETYPE_PEM) == 1);
  }
  ~Context() { SSL_CTX_free(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] SSL_CTX* get() const { return context_; }

 private:
  SSL_CTX* context_;
};

TlsFront::TlsFront(const std::string& certificate_file, const std::string& key_file, std::uint16_t server_port)
    : context_(std::make_unique<Context>(certificate_file, key_file)), server_port_(server_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ENSURE(listener_ >= 0);
  sockaddr_in address = loopback(0);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ENSURE(::bind(listener_, generic, size) == 0);
  ENSURE(::listen(listener_, 16) == 0);
  ENSURE(::getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

TlsFront::~TlsFront() {
  is_ending_ = true;
  thread_.join();
  ::close(listener_);
}

void TlsFront::serve() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  while (!is_ending_) {
    pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, tick_ms) != 1) continue;
    const int socket = ::accept(listener_, nullptr, nullptr);
    if (socket < 0) continue;
    serve_one(socket);
    ::close(socket);
  }
}

void TlsFront::serve_one(int socket) {
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const std::unique_ptr<SSL, SslDeleter> ssl(SSL_new(context_->get()));
  SSL_set_fd(ssl.get(), socket);
  if (SSL_accept(ssl.get()) != 1) return;  // the client does not trust us
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(server_port_);
  ENSURE(::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  std::array<char, 16 * 1024> buffer{};
  while (!is_ending_) {
    std::array<pollfd, 2> waiting = {pollfd{.fd = socket, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = server, .events = POLLIN, .revents = 0}};
    if (SSL_pending(ssl.get()) == 0 && ::poll(waiting.data(), waiting.size(), tick_ms) == 0) continue;
    if (SSL_pending(ssl.get()) > 0 || waiting[0].revents != 0) {
      const int length = SSL_read(ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (length <= 0) break;
      if (::send(server, buffer.data(), static_cast<std::size_t>(length), MSG_NOSIGNAL) != length) break;
    }
    if (waiting[1].revents != 0) {
      const ssize_t length = ::recv(server, buffer.data(), buffer.size(), 0);
      if (length <= 0) break;
      if (SSL_write(ssl.get(), buffer.data(), static_cast<int>(length)) != length) break;
    }
  }
  ::close(server);
}

}  // namespace tenon::test
