#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace tenon::test {

/// Terminates TLS on a free port of 127.0.0.1 and forwards to a server without TLS. One connection at a time, on its
/// own thread, which ends with this object.
class TlsFront {
 public:
  TlsFront(const std::string& certificate_file, const std::string& key_file, std::uint16_t server_port);
  ~TlsFront();
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  class Context;

  void serve();
  void serve_one(int socket);

  std::unique_ptr<Context> context_;
  std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace tenon::test
