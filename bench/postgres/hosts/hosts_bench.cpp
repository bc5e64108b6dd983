// What a client of one process waits for when another process continues the run: a host of the store in a process of
// its own, and a gateway here. Beside it, with libpq: an INSERT and a NOTIFY that another session receives.
#include <libpq-fe.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/postgres/hosts/command_rates.h"
#include "bench/postgres/processor_time.h"

namespace {

using nlohmann::ordered_json;

tenon::host::Host open_host(const std::string& url, const std::string& program, tenon::host::Host::Role role) {
  tenon::host::Options options;
  options.set("store", url);
  options.set("pool", "desks");
  options.set_model("none", [](tenon::host::Generation, std::string_view) {});
  tenon::host::Host host(options, role, {program});
  host.begin();
  return host;
}

/// Continues the runs in a process that ends with this one.
pid_t start_host(const std::string& url, const std::string& program) {
  int ready[2];
  if (pipe(ready) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const tenon::host::Host host = open_host(url, program, tenon::host::Host::Role::Host);
    if (write(ready[1], "!", 1) != 1) std::exit(1);
    while (true) pause();
  }
  char byte = 0;
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) std::exit(1);
  close(ready[0]);
  return child;
}

/// The floor: two sessions of libpq.
class InsertAndNotify {
 public:
  explicit InsertAndNotify(const std::string& url) : writer_(connect(url)), listener_(connect(url)) {
    execute(writer_,
            "SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS raw; CREATE TABLE IF NOT EXISTS "
            "raw.commands(id bigint GENERATED ALWAYS AS "
            "IDENTITY PRIMARY KEY, bytes bytea NOT NULL)");
    PQclear(PQprepare(writer_, "command", "INSERT INTO raw.commands(bytes) VALUES($1::bytea)", 0, nullptr));
    PQclear(PQprepare(writer_, "notify", "SELECT pg_notify('raw_hosts', '')", 0, nullptr));
    execute(listener_, "LISTEN raw_hosts");
  }
  ~InsertAndNotify() {
    PQfinish(writer_);
    PQfinish(listener_);
  }
  InsertAndNotify(const InsertAndNotify&) = delete;
  InsertAndNotify& operator=(const InsertAndNotify&) = delete;

  /// Of the server's process for one of the sessions.
  [[nodiscard]] pid_t backend() const { return static_cast<pid_t>(PQbackendPID(writer_)); }

  void perform(const std::string& bytes) {
    const char* const value = bytes.data();
    const int length = static_cast<int>(bytes.size());
    const int format = 1;
    check(PQexecPrepared(writer_, "command", 1, &value, &length, &format, 1));
    check(PQexecPrepared(writer_, "notify", 0, nullptr, nullptr, nullptr, 1));
    while (true) {
      if (PGnotify* const notification = PQnotifies(listener_)) return PQfreemem(notification);
      pollfd input{PQsocket(listener_), POLLIN, 0};
      ::poll(&input, 1, -1);
      if (PQconsumeInput(listener_) == 0) std::exit(1);
    }
  }

 private:
  static PGconn* connect(const std::string& url) {
    PGconn* const connection = PQconnectdb(url.c_str());
    if (PQstatus(connection) == CONNECTION_OK) return connection;
    std::fprintf(stderr, "%s\n", PQerrorMessage(connection));
    std::exit(1);
  }
  static void check(PGresult* result) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
      std::fprintf(stderr, "%s\n", PQresultErrorMessage(result));
      std::exit(1);
    }
    PQclear(result);
  }
  static void execute(PGconn* connection, const char* sql) { check(PQexec(connection, sql)); }

  PGconn* const writer_;
  PGconn* const listener_;
};

void await_turn_end(const tenon::host::Follower& follower) {
  std::optional<tenon::host::Event> event;
  while (true) {
    if (follower.next(event, std::chrono::seconds(20)) != tenon::host::Follower::State::Event) {
      std::fprintf(stderr, "the turn does not end\n");
      std::exit(1);
    }
    if (event->type() == "turn_end") return;
  }
}

/// Conversations that take commands at the same time; a host keeps as many in memory.
constexpr std::size_t conversations_max = 1'000;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "bench_postgres_hosts URL RAW_URL PROGRAM RESULTS.json\n");
    return 2;
  }
  const bool is_quick = std::getenv("TENON_BENCH_QUICK") != nullptr;
  const std::size_t rounds = is_quick ? 60 : 400;
  const pid_t child = start_host(argv[1], argv[3]);
  ordered_json results;
  {
    const tenon::host::Host gateway = open_host(argv[1], argv[3], tenon::host::Host::Role::Gateway);
    InsertAndNotify floor(argv[2]);
    const std::string run = gateway.start("Clerk", "\"hello\"");
    const tenon::host::Follower follower = gateway.follow(run);
    await_turn_end(follower);
    std::vector<double> accepted, answered, raw;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto since = [&](std::chrono::steady_clock::time_point begin) {
      return std::chrono::duration<double, std::micro>(now() - begin).count();
    };
    for (std::size_t round = 0; round < rounds + 10; ++round) {
      const std::string text = std::string(200, 'x') + std::to_string(round);
      auto begin = now();
      gateway.prompt(run, '"' + text + '"', {.timeout = std::chrono::seconds(20)});
      const double to_reply = since(begin);
      await_turn_end(follower);
      const double to_answer = since(begin);
      begin = now();
      floor.perform(text);
      const double to_notice = since(begin);
      if (round < 10) continue;
      accepted.push_back(to_reply);
      answered.push_back(to_answer);
      raw.push_back(to_notice);
    }
    const double floor_us = median(raw);
    const auto report = [&](const char* name, std::vector<double>& times) {
      const double us = median(times);
      results[name] = {{"rounds", times.size()}, {"us", us}, {"floor_us", floor_us}, {"ratio", us / floor_us}};
      std::printf("%-32s %9.1f us   libpq %9.1f us   ratio %5.2f\n", name, us, floor_us, us / floor_us);
    };
    report("request through another host", accepted);
    report("turn through another host", answered);
    std::vector<std::string> conversations;
    for (std::size_t at = 0; at < conversations_max; ++at) conversations.push_back(gateway.start("Clerk", "\"hello\""));
    const tenon::bench::ServerProcessorTime database(floor.backend());
    results["commands at constant rates"] = tenon::bench::measure_command_rates(
        {.host = gateway, .conversations = conversations, .owner = child, .database = database},
        {500, 1'000, 2'000, 3'000, 5'000}, is_quick ? 2 : 10);
    gateway.stop(std::chrono::seconds(5));
  }
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
  std::FILE* const file = std::fopen(argv[4], "w");
  if (file == nullptr) return 1;
  std::fputs(results.dump(2).c_str(), file);
  std::fclose(file);
  return 0;
}
