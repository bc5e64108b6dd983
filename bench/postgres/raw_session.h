#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::bench {

/// libpq as a program would use it that keeps bytes in PostgreSQL itself: the floor of every measurement. Ends the
/// process after an error.
class RawSession {
 public:
  explicit RawSession(const std::string& url);
  ~RawSession();
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  /// Several statements without parameters or rows.
  void execute(const std::string& sql);
  void prepare(const std::string& name, const std::string& sql);
  /// The value of the first column of the first row; empty if there is none.
  std::string query(const std::string& sql);

  /// A prepared statement whose parameters are bytes.
  struct Call {
    std::string_view name;
    std::vector<std::string_view> parameters;
  };
  /// Executes one, and waits for its commit.
  void run(const Call& call);
  /// Executes all in one transaction, without waiting in between.
  void run_pipelined(const std::vector<Call>& calls);
  /// Waits for a notification.
  void await_notification();

 private:
  void fail(const char* what);
  void check(PGresult* result, ExecStatusType expected);
  void send(const Call& call);

  PGconn* connection_;
};

}  // namespace tenon::bench
