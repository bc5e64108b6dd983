#include "journal/postgres/server_link.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/backoff.h"
#include "base/parse_number.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds connect_time{10'000};
/// Between attempts, in milliseconds.
constexpr Backoff backoff{.first = 20, .factor = 2, .most = 1'000};

const Statement select_synchronous_commit{"SELECT current_setting('synchronous_commit')"};

const Statement set_application_name{"SELECT set_config('application_name', $1::text, false)"};

/// A process that waits for its client has nothing to do: neither a lock nor the disk keeps it.
const Statement select_wait{R"sql(
  SELECT coalesce(wait_event_type = 'Client', false) FROM pg_stat_get_activity($1::bigint::integer)
  WHERE (extract(epoch FROM backend_start) * 1000000)::bigint = $2::bigint)sql"};

const Statement end_backend{R"sql(
  SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity($1::bigint::integer)
  WHERE (extract(epoch FROM backend_start) * 1000000)::bigint = $2::bigint)sql"};
/// Between looks whether a process of the server has ended, and for how long it is looked for.
constexpr milliseconds end_poll{5};
constexpr milliseconds end_patience{5'000};

/// libpq's own option, which it does not enforce itself where it does not wait.
milliseconds connect_time_of(const ServerAddress& address, std::optional<milliseconds> patience) {
  const std::string* const given = address.find("connect_timeout");
  const auto seconds = given == nullptr ? std::nullopt : parse_number<std::uint32_t>(*given);
  const milliseconds time = seconds && *seconds > 0 ? milliseconds(std::int64_t{1'000} * *seconds) : connect_time;
  return patience ? std::min(time, *patience) : time;
}

/// Whether the server may accept the next attempt by itself.
bool may_pass(const SessionError& error) {
  return error.kind == SessionError::Kind::Lost || error.state.starts_with("57P") || error.state.starts_with("53");
}

}  // namespace

Result<std::unique_ptr<Session>, SessionError> ServerLink::connect() {
  const std::size_t count = address_.host_count();
  SessionError problem;
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t host = (host_ + tried) % count;
    auto session = connect(host);
    if (session) {
      host_ = host;
      return session;
    }
    if (tried > 0) problem.message += "; ";
    problem = {session.error().kind, session.error().state, problem.message + session.error().message};
    if (stop_.is_stopped()) break;
  }
  return failure(std::move(problem));
}

Result<std::unique_ptr<Session>, SessionError> ServerLink::connect(std::size_t host) const {
  const milliseconds time = connect_time_of(address_, options_.patience);
  auto session = Session::connect(
      address_,
      {.application_name = options_.application_name,
       .host = host,
       .connect_time = time / static_cast<std::int64_t>(address_.host_count()),
       .reply_time = options_.reply_time,
       .silence = options_.silence,
       .waits_for_client = [this, host](const BackendId& backend) { return waits_for_client(host, backend); }},
      stop_);
  if (!session) return session;
  if (options_.durability == Durability::Process) {
    if (auto done = (*session)->execute("SET synchronous_commit = off"); !done) return failure(done.error());
    return session;
  }
  // The server may wait for its replicas as well; only "off" would not be durable.
  const auto setting = (*session)->run(select_synchronous_commit);
  if (!setting) return failure(setting.error());
  if (setting->get_bytes(0, 0) == "off")
    if (auto done = (*session)->execute("SET synchronous_commit = on"); !done) return failure(done.error());
  return session;
}

bool ServerLink::waits_for_client(std::size_t host, const BackendId& backend) const {
  const auto session = Session::connect(
      address_,
      {.application_name = "tenon", .host = host, .connect_time = options_.silence, .reply_time = options_.silence},
      stop_);
  // Nothing passes on a new connection, either, unless the server refuses it, which is an answer.
  if (!session) return session.error().kind == SessionError::Kind::Lost;
  const auto found = (*session)->run(select_wait, Parameters().integer(backend.process).integer(backend.started_us));
  return found && (found->size() == 0 || found->get_boolean(0, 0));
}

bool ServerLink::wait(milliseconds time) const {
  pollfd end{stop_.descriptor(), POLLIN, 0};
  static_cast<void>(::poll(&end, 1, static_cast<int>(time.count())));
  return !stop_.is_stopped();
}

/// Waits until the process no longer exists.
Result<void, SessionError> ServerLink::end_former(Session& session) const {
  if (former_.process == 0) return {};
  const auto deadline = steady_clock::now() + end_patience;
  while (true) {
    const auto found = session.run(end_backend, Parameters().integer(former_.process).integer(former_.started_us));
    if (!found) return failure(found.error());
    if (found->size() == 0) return {};
    if (!wait(end_poll) || steady_clock::now() >= deadline)
      return failure(
          SessionError{SessionError::Kind::Lost, {}, "the server does not end a former session of this process"});
  }
}

steady_clock::time_point ServerLink::deadline() const {
  return steady_clock::now() + options_.patience.value_or(link_patience);
}

Result<Session*, StoreError> ServerLink::get(Patience patience) {
  if (session_ != nullptr) session_->look_for_end();
  if (session_ != nullptr && !session_->is_lost()) return session_.get();
  if (session_ != nullptr) former_ = session_->backend();
  const bool is_hasty = options_.patience && patience != Patience::UntilStop;
  if (is_hasty && failed_ && steady_clock::now() < failed_->time + link_pause) return failure(failed_->error);
  const auto until = deadline();
  for (std::uint32_t attempts = 0;; ++attempts) {
    session_.reset();
    auto session = connect();
    auto ready = session ? end_former(**session) : failure(session.error());
    if (ready) {
      session_ = std::move(*session);
      former_ = {};
      failed_.reset();
      return session_.get();
    }
    const SessionError& reason = ready.error();
    const bool is_starting = reason.state == "57P03";
    const bool is_worth_waiting =
        patience == Patience::UntilStop ||
        (steady_clock::now() < until && (is_starting || (patience == Patience::Some && may_pass(reason))));
    const milliseconds pause{static_cast<std::int64_t>(backoff.wait_after(attempts))};
    if (is_worth_waiting && wait(pause)) continue;
    failed_ = Failure{steady_clock::now(), error(reason)};
    return failure(failed_->error);
  }
}

Result<std::vector<Rows>, StoreError> ServerLink::repeat(std::span<const Call> calls, Patience patience,
                                                         Session::Grouping grouping) {
  const auto until = deadline();
  while (true) {
    auto session = get(patience);
    if (!session) return failure(std::move(session.error()));
    auto rows = (*session)->run(calls, grouping);
    if (rows) return std::move(*rows);
    const bool may_repeat = rows.error().kind == SessionError::Kind::Lost || is_transient(rows.error());
    const bool is_late = patience != Patience::UntilStop && steady_clock::now() >= until;
    if (!may_repeat || is_late) return failure(error(rows.error()));
  }
}

Result<Rows, StoreError> ServerLink::query(const Statement& statement, const Parameters& parameters,
                                           Patience patience) {
  const Call call{&statement, &parameters};
  auto rows = repeat({&call, 1}, patience);
  if (!rows) return failure(std::move(rows.error()));
  return std::move(rows->front());
}

Result<void, SessionError> ServerLink::rename(std::string application_name) {
  options_.application_name = std::move(application_name);
  if (session_ == nullptr || session_->is_lost()) return {};
  const auto renamed = session_->run(set_application_name, Parameters().bytes(options_.application_name));
  return renamed ? Result<void, SessionError>() : failure(renamed.error());
}

}  // namespace tenon::journal::postgres
