#include "tests/support/store_contract.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/ensure.h"
#include "journal/postgres/session.h"
#include "journal/sqlite/database.h"
#include "tests/support/postgres_server.h"

namespace tenon::test {
namespace {

std::unique_ptr<journal::postgres::Session> connect(const std::string& url) {
  static const journal::postgres::StopSignal never;
  const auto address = journal::postgres::parse_server_url(url);
  ENSURE(address.has_value());
  auto session = journal::postgres::Session::connect(*address, {.application_name = "test"}, never);
  EXPECT_TRUE(session.has_value()) << session.error().message;
  return session ? std::move(*session) : nullptr;
}

}  // namespace

StoreContractTest::StoreContractTest()
    : JournalTest(GetParam() == StoreKind::Postgres ? PostgresServer::shared().new_url() : "") {}

std::string StoreContractTest::new_place() {
  static int count = 0;
  if (GetParam() == StoreKind::Postgres) return PostgresServer::shared().new_url();
  return folder.file(fmt::format("other_{}.db", ++count));
}

void StoreContractTest::execute(const std::string& sql) const {
  if (GetParam() == StoreKind::Postgres) {
    const auto session = connect(path);
    ASSERT_NE(session, nullptr);
    const auto done = session->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    return;
  }
  auto database = journal::sqlite::Database::open(path, {journal::Access::Reader, {}});
  ASSERT_TRUE(database.has_value());
  const auto done = (*database)->execute(sql);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

std::string StoreContractTest::query_bytes(const std::string& sql) const {
  if (GetParam() == StoreKind::Postgres) {
    const auto rows = connect(path)->run(journal::postgres::Statement(sql));
    EXPECT_TRUE(rows.has_value() && rows->size() == 1) << sql;
    return rows->get_text(0, 0);
  }
  auto database = journal::sqlite::Database::open(path, {journal::Access::Reader, {}});
  journal::sqlite::Statement statement(**database, sql.c_str());
  journal::sqlite::Execution query(statement);
  EXPECT_EQ(query.step(), journal::sqlite::StepResult::Row) << sql;
  return std::string(query.get_bytes(0));
}

bool StoreContractTest::contains(std::string_view text) const {
  if (GetParam() == StoreKind::Postgres) {
    for (const char* const table : {"runs", "batches", "contents", "shared_bodies", "snapshots", "inbox", "notes"}) {
      // A row as text has its bytes as hexadecimal digits.
      const std::string digits = literal(text).substr(3, 2 * text.size());
      const std::string sql = fmt::format(
          "SELECT count(*) FROM {0} AS t WHERE t::text LIKE '%{1}%' OR t::text LIKE '%{2}%'", table, digits, text);
      const auto rows = connect(path)->run(journal::postgres::Statement(sql));
      EXPECT_TRUE(rows.has_value()) << rows.error().message;
      if (rows->get_integer(0, 0) != 0) return true;
    }
    return false;
  }
  for (const char* const ending : {"", "-wal"}) {
    std::ifstream stream(path + ending, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string StoreContractTest::literal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return GetParam() == StoreKind::Postgres ? fmt::format("'\\x{}'::bytea", digits) : fmt::format("x'{}'", digits);
}

std::string name_of(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param == StoreKind::Postgres ? "Postgres" : "Sqlite";
}

}  // namespace tenon::test
