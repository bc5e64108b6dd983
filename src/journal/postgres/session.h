#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "journal/postgres/parameters.h"
#include "journal/postgres/rows.h"
#include "journal/postgres/server_address.h"
#include "journal/postgres/stop_signal.h"

struct pg_conn;

namespace tenon::journal::postgres {

/// Where the server's SQLSTATE does not say enough, or libpq gives none: the settings cannot be used, so that no server
/// was asked; the server writes, but the role or the database has a default for transactions that only read.
inline constexpr std::string_view wrong_settings_state = "TN010";
inline constexpr std::string_view read_only_default_state = "TN011";

/// Why a call failed.
struct SessionError {
  enum class Kind : std::uint8_t {
    Rejected,  ///< the server reports an error: the call changed nothing
    Lost,      ///< the session has ended: what the call did is not known
    Stopped,   ///< the store is being closed, and the server does not reply: as `Lost`
  };
  Kind kind = Kind::Rejected;
  std::string state;    ///< SQLSTATE, five characters; empty: libpq's own error
  std::string message;  ///< for people, in one line
};

/// SQL that is prepared in each session at its first use, and stays prepared: there is a bounded number of statements.
/// Its parameters have casts, so that the server knows their types.
class Statement {
 public:
  explicit Statement(std::string sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  [[nodiscard]] const std::string& sql() const { return sql_; }
  /// Different from that of every other statement of the process.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  const std::string sql_;
  const std::uint64_t number_;
};

/// One execution of a statement.
struct Call {
  const Statement* statement = nullptr;
  const Parameters* parameters = nullptr;
  /// Its failure is not one of the group, and it returns no rows then. Only with `EachAlone`.
  bool may_fail = false;
};

/// Identifies a process of the server. Its number alone may be given to another one later.
struct BackendId {
  std::int64_t process = 0;
  std::int64_t started_us = 0;  ///< microseconds since 1970, by the server's clock
  friend bool operator==(const BackendId&, const BackendId&) = default;
};

struct Notification {
  std::string channel;
  std::string payload;
};

/// A connection to the server. Used by one thread at a time. Once it is lost it stays lost.
class Session {
 public:
  struct Options {
    std::string application_name;
    std::size_t host = 0;  ///< which of the address' servers
    /// How long the server may take to accept the connection.
    std::chrono::milliseconds connect_time{10'000};
    /// How long it may take to reply to a call; 0: as long as the connection lasts.
    std::chrono::milliseconds reply_time{0};
    /// After so long without a byte while a reply is due, it is found out whether the connection still passes anything;
    /// 0: never.
    std::chrono::milliseconds silence{0};
    /// Whether the server's process waits for its client as well, or has ended, or the server cannot be reached.
    std::function<bool(const BackendId&)> waits_for_client = {};
  };
  /// `stop` outlives the session.
  [[nodiscard]] static Result<std::unique_ptr<Session>, SessionError> connect(const ServerAddress& address,
                                                                              const Options& options,
                                                                              const StopSignal& stop);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  enum class Grouping : std::uint8_t {
    OneTransaction,
    EachAlone,  ///< each is a transaction, and begins when the one before it has been committed or has failed
  };
  /// Executes calls with one round trip. Returns what each returned, or the error of the first that failed.
  [[nodiscard]] Result<std::vector<Rows>, SessionError> run(std::span<const Call> calls,
                                                            Grouping grouping = Grouping::OneTransaction);
  [[nodiscard]] Result<Rows, SessionError> run(const Statement& statement, const Parameters& parameters = {});
  /// Executes several statements without parameters, separated by `;`, in one transaction unless they say otherwise.
  [[nodiscard]] Result<void, SessionError> execute(const std::string& sql);

  [[nodiscard]] bool is_lost() const { return is_lost_; }
  /// Looks whether the server has ended the session since the last call; then it is lost.
  void look_for_end();
  [[nodiscard]] const BackendId& backend() const { return backend_; }
  /// As 150004 for 15.4.
  [[nodiscard]] int server_version() const;
  /// Readable when the server has sent something, or has ended the session.
  [[nodiscard]] int descriptor() const;
  /// The notifications that have arrived. Does not wait.
  [[nodiscard]] Result<std::vector<Notification>, SessionError> take_notifications();

 private:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  struct SentItem {
    const Statement* statement = nullptr;
    enum class Kind : std::uint8_t { Preparation, Execution, Sync } kind = Kind::Execution;
    bool may_fail = false;
  };

  Session(pg_conn* connection, const Options& options, const StopSignal& stop);
  [[nodiscard]] Result<void, SessionError> finish_connecting(std::chrono::milliseconds time);
  [[nodiscard]] Result<void, SessionError> set_up(const std::string& schema);
  /// Whether the server writes, but the session's transactions only read unless they say otherwise.
  [[nodiscard]] bool is_read_only_by_default() const;
  /// A call begins. Returns until when its reply may take.
  [[nodiscard]] Deadline begin_call();
  /// Something has come, or was taken by the server.
  void note_sign_of_life();
  /// Whether the connection passes nothing on, although neither side has closed it: both ends wait for each other.
  [[nodiscard]] bool is_cut_off(short events) const;
  /// Waits for what libpq waits for: `events` as of poll(2).
  [[nodiscard]] Result<void, SessionError> wait(short events, Deadline deadline);
  [[nodiscard]] Result<void, SessionError> flush(Deadline deadline);
  [[nodiscard]] Result<pg_result*, SessionError> next_result(Deadline deadline);
  [[nodiscard]] Result<void, SessionError> send(const Call& call, std::vector<SentItem>& sent);
  [[nodiscard]] Result<void, SessionError> send_sync(std::vector<SentItem>& sent);
  [[nodiscard]] Result<std::vector<Rows>, SessionError> receive(const std::vector<SentItem>& sent, Deadline deadline);
  SessionError lost();
  SessionError lost(std::string message);
  SessionError error_of(const pg_result* result);

  pg_conn* const connection_;
  const StopSignal& stop_;
  const Options options_;
  /// When it is found out whether the connection passes anything; while it is made, that is limited by `connect_time`.
  std::chrono::steady_clock::time_point look_at_ = std::chrono::steady_clock::time_point::max();
  std::unordered_map<std::uint64_t, std::string> prepared_;  ///< names of prepared statements by their numbers
  std::size_t prepared_count_ = 0;
  BackendId backend_;
  bool is_set_up_ = false;  ///< and in libpq's pipeline mode
  bool is_lost_ = false;
};

}  // namespace tenon::journal::postgres
