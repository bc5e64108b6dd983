#include "bench/postgres/raw_session.h"

#include <poll.h>

#include <cstdio>
#include <cstdlib>

namespace tenon::bench {

RawSession::RawSession(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_) != CONNECTION_OK) fail("connecting");
  execute("SET client_min_messages = warning");
}

RawSession::~RawSession() {
  PQfinish(connection_);
}

void RawSession::fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, PQerrorMessage(connection_));
  std::exit(1);
}

void RawSession::check(PGresult* result, ExecStatusType expected) {
  const ExecStatusType status = PQresultStatus(result);
  if (status != expected && !(expected == PGRES_COMMAND_OK && status == PGRES_TUPLES_OK))
    fail(PQresultErrorMessage(result));
  PQclear(result);
}

void RawSession::execute(const std::string& sql) {
  check(PQexec(connection_, sql.c_str()), PGRES_COMMAND_OK);
}

void RawSession::prepare(const std::string& name, const std::string& sql) {
  check(PQprepare(connection_, name.c_str(), sql.c_str(), 0, nullptr), PGRES_COMMAND_OK);
}

std::string RawSession::query(const std::string& sql) {
  PGresult* const result = PQexec(connection_, sql.c_str());
  if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(PQresultErrorMessage(result));
  std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
  PQclear(result);
  return value;
}

namespace {

/// As libpq takes them.
struct Values {
  explicit Values(const std::vector<std::string_view>& parameters) : formats(parameters.size(), 1) {
    for (const std::string_view value : parameters) {
      values.push_back(value.data());
      lengths.push_back(static_cast<int>(value.size()));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(values.size()); }
  std::vector<const char*> values{};
  std::vector<int> lengths{};
  std::vector<int> formats;
};

}  // namespace

void RawSession::run(const Call& call) {
  const Values given(call.parameters);
  check(PQexecPrepared(connection_, std::string(call.name).c_str(), given.count(), given.values.data(),
                       given.lengths.data(), given.formats.data(), 1),
        PGRES_COMMAND_OK);
}

void RawSession::send(const Call& call) {
  const Values given(call.parameters);
  if (PQsendQueryPrepared(connection_, std::string(call.name).c_str(), given.count(), given.values.data(),
                          given.lengths.data(), given.formats.data(), 1) != 1)
    fail("sending");
}

void RawSession::run_pipelined(const std::vector<Call>& calls) {
  if (PQenterPipelineMode(connection_) != 1) fail("pipelining");
  for (const Call& call : calls) send(call);
  if (PQpipelineSync(connection_) != 1) fail("pipelining");
  for (std::size_t at = 0; at < calls.size(); ++at) {
    check(PQgetResult(connection_), PGRES_COMMAND_OK);
    PQgetResult(connection_);  // the null after it
  }
  check(PQgetResult(connection_), PGRES_PIPELINE_SYNC);
  if (PQexitPipelineMode(connection_) != 1) fail("pipelining");
}

void RawSession::await_notification() {
  while (true) {
    if (PGnotify* const notification = PQnotifies(connection_)) {
      PQfreemem(notification);
      return;
    }
    pollfd input{PQsocket(connection_), POLLIN, 0};
    ::poll(&input, 1, -1);
    if (PQconsumeInput(connection_) == 0) fail("notification");
  }
}

}  // namespace tenon::bench
