#include <gmock/gmock.h>

#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;

class SqliteInboxTest : public test::JournalTest {
 protected:
  void SetUp() override { ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt); }
  RunName run = make_run_name(1);
};

TEST_F(SqliteInboxTest, RepliesThatAreNotTakenAreBounded) {
  std::vector<std::uint64_t> ids;
  for (std::size_t at = 0; at < replies_kept_max + 5; ++at) {
    ids.push_back(store->inbox().send({run, "x"}).value());
    ASSERT_TRUE(store->inbox().answer(ids.back(), "done").has_value());
  }
  EXPECT_EQ(store->inbox().take_reply(ids[4]).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->inbox().take_reply(ids[5]).value(), "done");
}

}  // namespace
}  // namespace tenon::journal::sqlite
