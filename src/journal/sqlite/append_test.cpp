#include <gmock/gmock.h>

#include "journal/sqlite/statements.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;

class AppendTest : public test::JournalTest {
 protected:
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};

/// Two contents whose places are the same, and one whose place another one has taken.
TEST_F(AppendTest, ContentsThatStartWithTheSameBytesAreAdjacent) {
  const auto content_at = [](std::array<std::uint8_t, 4> place, std::string bytes) {
    Content content = make_content(std::move(bytes));
    std::copy(place.begin(), place.end(), content.hash.bytes.begin());
    return content;
  };
  Append append = make_append(run, 1, {"a"});
  for (const std::uint8_t last : std::initializer_list<std::uint8_t>{0xFF, 0xFF, 0xFF, 0xFE, 0xFE, 0xFF}) {
    append.contents.push_back(content_at({0xFF, 0xFF, 0xFF, last}, std::to_string(append.contents.size())));
    append.references.push_back(append.contents.back().hash);
  }
  ASSERT_EQ(commit(append), std::nullopt);
  append.first = 2;
  append.contents.clear();
  EXPECT_EQ(commit(append), std::nullopt);  // all are found again
  const CheckReport report = store->admin().check().value();
  EXPECT_EQ(report.contents, 6U);
  for (const std::string& problem : report.problems)
    EXPECT_THAT(problem, testing::HasSubstr("do not match its hash"));  // which this test has made up
  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->admin().check()->contents, 0U);
  expect_clean(*store);
}

TEST_F(AppendTest, LongContentsAndProgramsAreSharedByRuns) {
  Content program = make_content("a program");
  program.sharing = Sharing::Store;
  const Content part = make_content("short");
  const Content text = make_content(std::string(shared_content_bytes_min, 'x'), {part.hash});
  for (const RunName& one : {run, other}) {
    Append append = make_append(one, 1, {"a"});
    append.contents = {program, text, part};
    append.references = {program.hash, text.hash};
    ASSERT_EQ(commit(append), std::nullopt);
    append.first = 2;
    ASSERT_EQ(commit(append), std::nullopt);
  }
  auto database = Database::open(path, {Access::Reader, {}});
  EXPECT_EQ((*database)->query_integer("SELECT count(*) FROM shared_bodies"), 2);
  EXPECT_EQ((*database)->query_integer("SELECT sum(uses) FROM shared_contents"), 4);
  EXPECT_EQ((*database)->query_integer("SELECT count(*) FROM contents"), 6);
  expect_clean(*store);
  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->journals().content(other, program.hash), "a program");
  EXPECT_EQ(store->journals().content(other, text.hash), text.bytes);
  EXPECT_EQ(store->journals().content(other, part.hash), "short");
  expect_clean(*store);
  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  EXPECT_EQ((*database)->query_integer("SELECT count(*) FROM shared_bodies"), 0);
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
