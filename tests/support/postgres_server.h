#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace tenon::test {

/// A PostgreSQL server of the tests: Debian's programs, without privileges, in a temporary folder, on a Unix socket. It
/// ends with this object, and with the process. Throws std::runtime_error if it does not start.
class PostgresServer {
 public:
  /// What an acknowledged commit survives does not matter to most tests: only crashes of the server do.
  struct Options {
    std::vector<std::string> settings = {};  ///< as `work_mem=1MB`
    std::string data_folder = {};            ///< for the data; empty: in the temporary folder
    /// A role of this name needs its password; all others need none.
    std::string role_with_password = "with_password";
    std::vector<std::string> environment = {};  ///< more variables of the server, as `NAME=VALUE`
  };
  PostgresServer() : PostgresServer(Options{}) {}
  explicit PostgresServer(Options options);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// The server that the tests of one program share. It starts at the first use.
  [[nodiscard]] static PostgresServer& shared();

  /// The URL of a store in this schema of the database `postgres`. `options` follow, as `tenon.lease=1000`.
  [[nodiscard]] std::string url(const std::string& schema, const std::string& options = {}) const;
  /// The URL of a new store.
  [[nodiscard]] std::string new_url();
  /// The folder with the socket, and the socket's name.
  [[nodiscard]] std::string socket_folder() const { return folder_.file(""); }
  [[nodiscard]] std::string socket() const { return folder_.file(".s.PGSQL.5432"); }

  enum class Stop : std::uint8_t {
    Fast,       ///< sessions are ended, then everything is written
    Immediate,  ///< as a crash: nothing is written, and the next start recovers
  };
  void stop(Stop how);
  void start();

 private:
  [[nodiscard]] std::vector<std::string> as_server_user(std::vector<std::string> command) const;
  void wait_until_ready();

  TemporaryFolder folder_;
  Options options_;
  std::string data_;
  pid_t process_ = 0;  ///< 0: it does not run
  int schemas_ = 0;
};

}  // namespace tenon::test
