#include "journal/postgres/session.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "journal/postgres/pq_library.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// For how long a call that was begun may still wait once the store is being closed.
constexpr milliseconds stop_grace{3'000};
/// How long a reply may be on its way when the server has nothing left to do.
constexpr milliseconds delivery_time{1'000};

/// Settings of the connection itself, unless the URL has them: a network that has failed is noticed by both sides after
/// about ten seconds.
constexpr std::array<std::pair<const char*, const char*>, 4> network_settings = {{
    {"keepalives_idle", "5"},
    {"keepalives_interval", "1"},
    {"keepalives_count", "5"},
    {"tcp_user_timeout", "10000"},
}};

/// libpq's messages end with a line end, and may have several lines.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') line += ';';
    line += c == '\n' || c == '\t' ? ' ' : c;
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
  return line;
}

bool is_state(std::string_view text) {
  return text.size() == 5 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

/// An error of the connection's beginning, for which libpq has only a message: `…: FATAL:  3D000: database … `, and
/// lines for the server's developers.
SessionError connection_error(std::string_view message) {
  constexpr std::string_view mark = ":  ";
  for (std::size_t at = message.find(mark); at != std::string_view::npos; at = message.find(mark, at + 1)) {
    const std::string_view state = message.substr(at + mark.size(), 5);
    std::string_view rest = message.substr(std::min(at + mark.size() + state.size(), message.size()));
    if (!is_state(state) || !rest.starts_with(": ")) continue;
    rest.remove_prefix(2);
    return {SessionError::Kind::Rejected, std::string(state), in_one_line(rest.substr(0, rest.find('\n')))};
  }
  // libpq has not asked any server.
  constexpr std::array<std::string_view, 5> of_settings = {"invalid ", "could not match ", "definition of service ",
                                                           "syntax error in service file", "service file "};
  const bool is_of_settings =
      std::ranges::any_of(of_settings, [&](std::string_view begin) { return message.starts_with(begin); });
  if (is_of_settings) return {SessionError::Kind::Rejected, std::string(wrong_settings_state), in_one_line(message)};
  return {SessionError::Kind::Lost, {}, in_one_line(message)};
}

void ignore_notice(void* /*argument*/, const pg_result* /*notice*/) {}

const Statement select_backend{R"sql(
  SELECT pid::bigint, (extract(epoch FROM backend_start) * 1000000)::bigint
  FROM pg_stat_get_activity(pg_backend_pid()))sql"};

}  // namespace

Statement::Statement(std::string sql)
    : sql_(std::move(sql)), number_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()) {}

Session::Session(pg_conn* connection, const Options& options, const StopSignal& stop)
    : connection_(connection), stop_(stop), options_(options) {
  pq().set_notice_receiver(connection_, &ignore_notice, nullptr);
  pq().set_error_verbosity(connection_, PQERRORS_VERBOSE);  // with SQLSTATE
}

Session::~Session() {
  pq().finish(connection_);
}

Result<std::unique_ptr<Session>, SessionError> Session::connect(const ServerAddress& address, const Options& options,
                                                                const StopSignal& stop) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  const auto add = [&](const char* keyword, const char* value) {
    keywords.push_back(keyword);
    values.push_back(value);
  };
  const auto settings = address.settings_of_host(options.host);
  for (const auto& [keyword, value] : settings)
    if (keyword != "application_name" && keyword != "client_encoding") add(keyword.c_str(), value.c_str());
  for (const auto& [keyword, value] : network_settings)
    if (address.find(keyword) == nullptr) add(keyword, value);
  add("application_name", options.application_name.c_str());
  add("client_encoding", "UTF8");
  add(nullptr, nullptr);
  pg_conn* const connection = pq().connect_start_params(keywords.data(), values.data(), 0);
  if (connection == nullptr) return failure(SessionError{SessionError::Kind::Lost, {}, "out of memory"});
  std::unique_ptr<Session> session(new Session(connection, options, stop));
  if (auto done = session->finish_connecting(options.connect_time); !done) return failure(done.error());
  if (auto done = session->set_up(address.schema); !done) return failure(done.error());
  return session;
}

Result<void, SessionError> Session::finish_connecting(milliseconds time) {
  const auto deadline = steady_clock::now() + time;
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (true) {
    if (state == PGRES_POLLING_FAILED || pq().status(connection_) == CONNECTION_BAD) {
      is_lost_ = true;
      SessionError error = connection_error(pq().error_message(connection_));
      const bool needs_password = pq().connection_needs_password(connection_) != 0;
      if (error.state.empty() && needs_password)
        error = {SessionError::Kind::Rejected, "28P01", "no password supplied"};
      return failure(std::move(error));
    }
    if (state == PGRES_POLLING_OK) break;
    if (stop_.is_stopped()) return failure(SessionError{SessionError::Kind::Stopped, {}, "the store is being closed"});
    if (auto done = wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline); !done) return done;
    state = pq().connect_poll(connection_);
  }
  if (pq().setnonblocking(connection_, 1) != 0) return failure(lost());
  return {};
}

Result<void, SessionError> Session::set_up(const std::string& schema) {
  // A database or a role may have other defaults. Names are looked up in the system's schema first, so that a table
  // or function of the store's schema never takes the place of one of the server's.
  std::string settings = fmt::format(
      "SET search_path = pg_catalog, \"{}\", pg_temp; SET default_transaction_isolation = 'read committed'; "
      "SET client_min_messages = error; SET jit = off; SET plan_cache_mode = force_generic_plan; "
      "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0",
      schema);
  // A join of a group looks each row up once.
  if (server_version() >= 140'000) settings += "; SET idle_session_timeout = 0; SET enable_memoize = off";
  if (server_version() >= 170'000) settings += "; SET transaction_timeout = 0";
  if (auto done = execute(settings); !done) return done;
  if (pq().enter_pipeline_mode(connection_) != 1) return failure(lost());
  is_set_up_ = true;
  const auto rows = run(select_backend);
  if (!rows) return failure(rows.error());
  if (rows->size() == 1) backend_ = {rows->get_integer(0, 0), rows->find_integer(0, 1).value_or(0)};
  return {};
}

bool Session::is_read_only_by_default() const {
  const auto says = [&](const char* parameter, std::string_view value) {
    const char* const said = pq().parameter_status(connection_, parameter);
    return said != nullptr && said == value;
  };
  return says("in_hot_standby", "off") && says("default_transaction_read_only", "on");
}

int Session::server_version() const {
  return pq().server_version(connection_);
}

int Session::descriptor() const {
  return pq().socket(connection_);
}

SessionError Session::lost() {
  return lost(in_one_line(pq().error_message(connection_)));
}

SessionError Session::lost(std::string message) {
  is_lost_ = true;
  if (message.empty()) message = "the connection to the server was closed";
  return {SessionError::Kind::Lost, {}, std::move(message)};
}

SessionError Session::error_of(const pg_result* result) {
  const auto field = [&](int code) {
    const char* const text = pq().result_error_field(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity.empty()) return lost();  // libpq's own error
  // After a FATAL error the session ends. It may have come when the transaction was being committed.
  const bool has_ended = severity == "FATAL" || severity == "PANIC";
  // A server that only reads does so until it is promoted; the address may lead to another one by now.
  const bool only_reads = field(PG_DIAG_SQLSTATE) == "25006";
  if (has_ended || only_reads) is_lost_ = true;
  std::string state =
      only_reads && is_read_only_by_default() ? std::string(read_only_default_state) : field(PG_DIAG_SQLSTATE);
  return {has_ended ? SessionError::Kind::Lost : SessionError::Kind::Rejected, std::move(state),
          in_one_line(field(PG_DIAG_MESSAGE_PRIMARY))};
}

void Session::look_for_end() {
  if (is_lost_) return;
  pollfd connection{descriptor(), POLLRDHUP, 0};
  if (::poll(&connection, 1, 0) > 0) is_lost_ = true;
}

Session::Deadline Session::begin_call() {
  note_sign_of_life();
  if (options_.reply_time.count() == 0) return std::nullopt;
  return steady_clock::now() + options_.reply_time;
}

void Session::note_sign_of_life() {
  look_at_ = steady_clock::now() + options_.silence;
}

/// A server that works on a call, or waits for a lock or its disk, is waited for. One that waits for its client has
/// sent everything, or has not received everything.
bool Session::is_cut_off(short events) const {
  const bool is_known = backend_.process != 0;  // otherwise it has only to say which one it is
  if (is_known && !(options_.waits_for_client && options_.waits_for_client(backend_))) return false;
  std::array<pollfd, 2> waits{pollfd{descriptor(), events, 0}, pollfd{stop_.descriptor(), POLLIN, 0}};
  return ::poll(waits.data(), waits.size(), static_cast<int>(delivery_time.count())) == 0;
}

Result<void, SessionError> Session::wait(short events, Deadline deadline) {
  const bool was_stopped = stop_.is_stopped();
  if (was_stopped) {
    const steady_clock::time_point end{std::chrono::nanoseconds(stop_.stopped_at_ns()) + stop_grace};
    deadline = deadline ? std::min(*deadline, end) : end;
  }
  const auto now = steady_clock::now();
  if (deadline && now >= *deadline) {
    is_lost_ = true;
    if (was_stopped) return failure(SessionError{SessionError::Kind::Stopped, {}, "the server does not reply"});
    return failure(lost("the server does not reply"));
  }
  const bool is_in_call = look_at_ != steady_clock::time_point::max();
  const bool looks = options_.silence.count() != 0 && !was_stopped && is_in_call;
  if (looks && now >= look_at_) {
    if (is_cut_off(events)) return failure(lost("the connection is open, and passes nothing on"));
    look_at_ = steady_clock::now() + options_.silence;
    return {};
  }
  std::array<pollfd, 2> waits{pollfd{descriptor(), events, 0}, pollfd{stop_.descriptor(), POLLIN, 0}};
  Deadline until = deadline;
  if (looks) until = until ? std::min(*until, look_at_) : look_at_;
  int timeout = -1;
  if (until) {
    const auto left = std::chrono::ceil<milliseconds>(*until - now);
    timeout = static_cast<int>(std::min<std::int64_t>(left.count(), INT32_MAX));
  }
  if (::poll(waits.data(), was_stopped ? 1 : 2, timeout) < 0 && errno != EINTR && errno != EAGAIN)
    return failure(lost(std::generic_category().message(errno)));
  if (waits[0].revents != 0 && is_in_call) note_sign_of_life();
  return {};
}

Result<void, SessionError> Session::flush(Deadline deadline) {
  while (true) {
    const int left = pq().flush(connection_);
    if (left < 0) return failure(lost());
    if (left == 0) return {};
    // The server may not read before what it has sent is read.
    if (auto done = wait(POLLIN | POLLOUT, deadline); !done) return done;
    if (pq().consume_input(connection_) == 0) return failure(lost());
  }
}

Result<pg_result*, SessionError> Session::next_result(Deadline deadline) {
  while (pq().is_busy(connection_) != 0) {
    if (auto done = wait(POLLIN, deadline); !done) return failure(done.error());
    if (pq().consume_input(connection_) == 0) return failure(lost());
  }
  return pq().get_result(connection_);
}

Result<void, SessionError> Session::send(const Call& call, std::vector<SentItem>& sent) {
  auto& name = prepared_[call.statement->number()];
  if (name.empty()) {
    name = "s" + std::to_string(++prepared_count_);
    if (pq().send_prepare(connection_, name.c_str(), call.statement->sql().c_str(), 0, nullptr) != 1)
      return failure(lost());
    sent.push_back({call.statement, SentItem::Kind::Preparation, call.may_fail});
  }
  static const Parameters none;
  const Parameters& given = call.parameters == nullptr ? none : *call.parameters;
  if (pq().send_query_prepared(connection_, name.c_str(), given.count(), given.values(), given.lengths(),
                               given.formats(), 1) != 1)
    return failure(lost());
  sent.push_back({call.statement, SentItem::Kind::Execution, call.may_fail});
  return {};
}

Result<void, SessionError> Session::send_sync(std::vector<SentItem>& sent) {
  if (pq().pipeline_sync(connection_) != 1) return failure(lost());
  sent.push_back({nullptr, SentItem::Kind::Sync});
  return {};
}

Result<std::vector<Rows>, SessionError> Session::run(std::span<const Call> calls, Grouping grouping) {
  if (is_lost_) return failure(lost({}));
  const Deadline deadline = begin_call();
  std::vector<SentItem> sent;
  auto rows = [&]() -> Result<std::vector<Rows>, SessionError> {
    for (const Call& call : calls) {
      if (auto done = send(call, sent); !done) return failure(done.error());
      if (grouping == Grouping::OneTransaction && &call != &calls.back()) continue;
      if (auto done = send_sync(sent); !done) return failure(done.error());
    }
    if (auto done = flush(deadline); !done) return failure(done.error());
    return receive(sent, deadline);
  }();
  // After an error it is not known which of them the server has prepared.
  if (!rows)
    for (const SentItem& item : sent)
      if (item.kind == SentItem::Kind::Preparation) prepared_.erase(item.statement->number());
  return rows;
}

/// Receives the results of each item. Those of a statement end with a null; a synchronization has one result.
Result<std::vector<Rows>, SessionError> Session::receive(const std::vector<SentItem>& sent, Deadline deadline) {
  std::vector<Rows> rows;
  std::optional<SessionError> problem;
  for (std::size_t at = 0; at < sent.size();) {
    auto received = next_result(deadline);
    if (!received) return failure(received.error());
    if (*received == nullptr) {
      ++at;
      continue;
    }
    Rows result(*received);
    switch (pq().result_status(*received)) {
      case PGRES_PIPELINE_SYNC:
        if (sent[at].kind != SentItem::Kind::Sync) return failure(lost("the server's reply is not understood"));
        ++at;
        break;
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        if (sent[at].kind == SentItem::Kind::Execution) rows.push_back(std::move(result));
        break;
      case PGRES_PIPELINE_ABORTED:
        if (sent[at].may_fail && sent[at].kind == SentItem::Kind::Execution) rows.emplace_back();
        break;
      default: {
        SessionError error = error_of(*received);
        if (!problem && (is_lost_ || !sent[at].may_fail)) problem = std::move(error);
        if (is_lost_) return failure(std::move(*problem));
        if (!sent[at].may_fail) break;
        if (sent[at].kind == SentItem::Kind::Execution) {
          rows.emplace_back();
        } else {
          prepared_.erase(sent[at].statement->number());
        }
      }
    }
  }
  if (problem) return failure(std::move(*problem));
  return rows;
}

Result<Rows, SessionError> Session::run(const Statement& statement, const Parameters& parameters) {
  const Call call{&statement, &parameters};
  auto rows = run({&call, 1});
  if (!rows) return failure(std::move(rows.error()));
  return std::move(rows->front());
}

Result<void, SessionError> Session::execute(const std::string& sql) {
  if (is_lost_) return failure(lost({}));
  const bool is_in_pipeline = is_set_up_;
  if (is_in_pipeline && pq().exit_pipeline_mode(connection_) != 1) return failure(lost());
  const Deadline deadline = begin_call();
  if (pq().send_query(connection_, sql.c_str()) != 1) return failure(lost());
  if (auto done = flush(deadline); !done) return done;
  std::optional<SessionError> problem;
  while (true) {
    auto received = next_result(deadline);
    if (!received) return failure(received.error());
    if (*received == nullptr) break;
    const Rows result(*received);
    const auto status = pq().result_status(*received);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !problem) problem = error_of(*received);
    if (is_lost_) break;
  }
  if (!is_lost_ && is_in_pipeline && pq().enter_pipeline_mode(connection_) != 1) return failure(lost());
  if (problem) return failure(std::move(*problem));
  return {};
}

Result<std::vector<Notification>, SessionError> Session::take_notifications() {
  if (is_lost_ || pq().consume_input(connection_) == 0) return failure(lost());
  std::vector<Notification> arrived;
  while (pgNotify* const notification = pq().notifies(connection_)) {
    arrived.push_back({notification->relname, notification->extra});
    pq().freemem(notification);
  }
  return arrived;
}

}  // namespace tenon::journal::postgres
