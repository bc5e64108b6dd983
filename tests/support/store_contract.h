#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "journal/open_store.h"
#include "tests/support/journal_testing.h"
#include "tests/support/postgres_server.h"

/// Shared by the tests of what every store promises.
namespace tenon::test {

enum class StoreKind : std::uint8_t { Sqlite, Postgres };

/// The test's parameter is the kind of the store.
class StoreContractTest : public JournalTest, public testing::WithParamInterface<StoreKind> {
 protected:
  StoreContractTest();

  /// The URL of another store of this kind, which does not exist yet.
  [[nodiscard]] std::string new_place();
  /// Executes SQL that the store does not know of.
  void execute(const std::string& sql) const;
  /// The bytes of the one column of the one row that a query returns.
  [[nodiscard]] std::string query_bytes(const std::string& sql) const;
  /// Whether a text is anywhere in what is stored: in the files of a store in a file, else in the rows of its tables.
  [[nodiscard]] bool contains(std::string_view text) const;
  /// Bytes in the SQL of the store.
  [[nodiscard]] static std::string literal(std::string_view bytes);
};

[[nodiscard]] std::string name_of(const testing::TestParamInfo<StoreKind>& kind);

}  // namespace tenon::test

#define TENON_INSTANTIATE_FOR_STORES(SUITE)                                                                   \
  INSTANTIATE_TEST_SUITE_P(Stores, SUITE,                                                                     \
                           testing::Values(tenon::test::StoreKind::Sqlite, tenon::test::StoreKind::Postgres), \
                           [](const auto& kind) { return tenon::test::name_of(kind); })
