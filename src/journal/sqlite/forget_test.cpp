#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "journal/sqlite/database.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;

class ForgetTest : public test::JournalTest {
 protected:
  [[nodiscard]] bool files_contain(std::string_view text) const {
    for (const char* const ending : {"", "-wal"}) {
      std::ifstream stream(path + ending, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(stream), {});
      if (bytes.find(text) != std::string::npos) return true;
    }
    return false;
  }
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};

TEST_F(ForgetTest, LeavesATombstone) {
  Append append = make_append(run, 1, {"a secret", "b"});
  append.summary = {RunState::Waiting, "title", "detail", 5, 1'000};
  append.snapshot = Snapshot{2, "a secret state"};
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_TRUE(store->inbox().send(run, "resume").has_value());
  const Hash chain = store->journals().head(run)->chain;
  ASSERT_TRUE(store->admin().forget(run, 9'000).has_value());

  const RunHead head = store->journals().head(run).value();
  EXPECT_EQ(head.summary.state, RunState::Forgotten);
  EXPECT_EQ(head.records, 2U);
  EXPECT_EQ(head.chain, chain);
  EXPECT_EQ(head.summary.updated_at, 9'000);
  EXPECT_EQ(head.summary.title, "");
  EXPECT_EQ(head.summary.detail, "");
  EXPECT_EQ(head.summary.wake_at, std::nullopt);
  EXPECT_EQ(store->runs().next_due(std::nullopt).value(), std::nullopt);
  EXPECT_TRUE(store->inbox().unanswered(10)->empty());
  for (const auto kind : {store->journals().read(run, 0, 1).error().kind, store->journals().snapshot(run).error().kind,
                          store->admin().export_run(run).error().kind, store->journals().claim(run).error().kind,
                          store->inbox().send(run, "x").error().kind})
    EXPECT_EQ(kind, StoreError::Kind::Missing);
  EXPECT_EQ(commit(make_append(run, 3, {"more"})), AppendRefusal::UnknownRun);
  EXPECT_EQ(commit(make_append(run, 1, {"anew"})), AppendRefusal::UnknownRun);

  ASSERT_TRUE(store->admin().forget(run, 10'000).has_value());
  EXPECT_EQ(store->journals().head(run)->summary.updated_at, 9'000);
  EXPECT_EQ(store->admin().forget(other, 1).error().kind, StoreError::Kind::Missing);
  EXPECT_FALSE(files_contain("secret"));
  expect_clean(*store);
}

TEST_F(ForgetTest, SharedContentsStayUntilTheLastRunGoes) {
  const Content root = make_content("the root");
  Content shared = make_content("for both", {root.hash});
  shared.sharing = Sharing::Store;
  const Content own = make_content("its own", {shared.hash});
  Append first = make_append(run, 1, {"a"});
  first.contents = {root, shared, own};
  first.references = {own.hash, shared.hash};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(other, 1, {"b"});
  second.contents = {root, shared};
  second.references = {shared.hash};
  ASSERT_EQ(commit(second), std::nullopt);

  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->journals().content(run, own.hash).error().kind, StoreError::Kind::Missing);
  EXPECT_FALSE(files_contain("its own"));
  EXPECT_EQ(store->journals().content(other, shared.hash), "for both");
  EXPECT_EQ(store->journals().content(other, root.hash), "the root");
  expect_clean(*store);

  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  EXPECT_FALSE(files_contain("for both"));
  EXPECT_FALSE(files_contain("the root"));
  expect_clean(*store);
}

TEST_F(ForgetTest, ALongChainOfContentsGoesAtOnce) {
  std::vector<Content> chain{make_content("0")};
  for (int at = 1; at < 20'000; ++at) chain.push_back(make_content(std::to_string(at), {chain.back().hash}));
  Append append = make_append(run, 1, {"a"});
  append.references = {chain.back().hash};
  append.contents = std::move(chain);
  ASSERT_EQ(commit(append), std::nullopt);
  EXPECT_EQ(store->admin().check()->contents, 20'000U);
  ASSERT_TRUE(store->admin().forget(run, 1).has_value());
  EXPECT_EQ(store->admin().check()->contents, 0U);
  expect_clean(*store);
}

TEST_F(ForgetTest, NothingIsRemovedFromADamagedRun) {
  for (std::uint64_t at = 1; at <= 3; ++at) ASSERT_EQ(commit(make_append(run, at, {"a"})), std::nullopt);
  {
    auto database = Database::open(path, {Access::Reader, {}});
    ASSERT_TRUE((*database)->execute("DELETE FROM batches WHERE first = 2").has_value());
  }
  EXPECT_EQ(store->admin().forget(run, 1).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(read_all(store->journals(), run, 2).size(), 1U);
}

TEST_F(ForgetTest, CompactingDropsSnapshotsAndNothingElse) {
  for (std::uint64_t at = 1; at <= 200; ++at) {
    Append append = make_append(run, at, {std::string(1'000, 'x')});
    append.contents = {make_content("content")};
    append.references = {append.contents.front().hash};
    append.snapshot = Snapshot{at, std::string(50'000, 's')};
    ASSERT_EQ(commit(append), std::nullopt);
    ASSERT_EQ(commit(make_append(other, at, {std::string(5'000, 'y')})), std::nullopt);
  }
  ASSERT_TRUE(store->admin().forget(other, 1).has_value());
  const auto before = read_all(run);
  const auto size = std::filesystem::file_size(path);
  ASSERT_TRUE(store->admin().compact().has_value());
  EXPECT_LT(std::filesystem::file_size(path), size / 2);
  EXPECT_EQ(read_all(run), before);
  EXPECT_EQ(store->journals().snapshot(run).value(), std::nullopt);
  EXPECT_EQ(store->journals().content(run, sha256("content")), "content");
  EXPECT_EQ(store->journals().head(other)->summary.state, RunState::Forgotten);
  EXPECT_FALSE(files_contain("ssssssss"));
  ASSERT_EQ(commit(make_append(run, 201, {"next"})), std::nullopt);
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
