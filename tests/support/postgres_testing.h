#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "journal/postgres/session.h"
#include "tests/support/journal_testing.h"
#include "tests/support/postgres_server.h"

/// Shared by the tests of the store in PostgreSQL.
namespace tenon::test {

/// Waits for a condition, 60 seconds at most.
inline void expect_soon(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Several owners of one store, which are connections of this process. `store` is a host.
class PostgresStoreTest : public JournalTest {
 protected:
  PostgresStoreTest() : PostgresStoreTest(PostgresServer::shared().new_url()) {}
  /// With the store at this URL.
  explicit PostgresStoreTest(const std::string& url) : JournalTest(url) {}

  void SetUp() override { reopen(host); }
  [[nodiscard]] std::unique_ptr<journal::StoreConnection> join(journal::OwnerRole role = journal::OwnerRole::Host,
                                                               const std::string& pool = {}) {
    return open({.durability = journal::Durability::Process, .role = role, .pool = pool});
  }
  /// A session that knows nothing of the store, as an administrator's.
  [[nodiscard]] std::unique_ptr<journal::postgres::Session> connect(const std::string& application_name = "test") {
    const auto address = journal::postgres::parse_server_url(path);
    auto session = journal::postgres::Session::connect(*address, {.application_name = application_name}, never_);
    EXPECT_TRUE(session.has_value()) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }
  /// Executes SQL in a session of its own.
  void execute(const std::string& sql) {
    const auto done = connect()->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  /// The number that a query returns.
  [[nodiscard]] std::int64_t query_number(const std::string& sql) {
    const auto rows = connect()->run(journal::postgres::Statement(sql));
    EXPECT_TRUE(rows.has_value() && rows->size() == 1) << sql;
    return rows && rows->size() == 1 ? rows->get_integer(0, 0) : -1;
  }
  [[nodiscard]] static bool has(journal::StoreConnection& by, const journal::RunName& claimed,
                                journal::ClaimMode mode = journal::ClaimMode::IfFree) {
    return claim_run(by.journals(), claimed, mode).has_value();
  }

  const journal::StoreOptions host{.durability = journal::Durability::Process, .role = journal::OwnerRole::Host};
  const journal::postgres::StopSignal never_;
};

}  // namespace tenon::test
