#include <gmock/gmock.h>

#include "journal/sqlite/statements.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadTest : public test::JournalTest {
 protected:
  /// Appends of 1, 2, 3, … records in turn, until there are at least `count`; each record is its number.
  std::uint64_t fill(std::uint64_t count, std::size_t batch_max) {
    std::uint64_t next = 1;
    for (std::size_t size = 1; next <= count; size = size % batch_max + 1) {
      std::vector<std::string> records;
      for (std::size_t at = 0; at < size; ++at) records.push_back(std::to_string(next + at));
      EXPECT_EQ(commit(make_append(run, next, std::move(records))), std::nullopt);
      next += size;
    }
    return next - 1;
  }
  /// Without the store's knowledge.
  void execute(const std::string& sql) {
    auto database = Database::open(path, {Access::Reader, {}});
    ASSERT_TRUE(database.has_value());
    const auto done = (*database)->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void expect_damage(std::string_view place) {
    const auto records = store->journals().read(run, 0, SIZE_MAX);
    ASSERT_FALSE(records.has_value()) << place;
    EXPECT_EQ(records.error().kind, StoreError::Kind::Damaged);
    EXPECT_THAT(records.error().message, HasSubstr(run.text + ", " + std::string(place)));
    EXPECT_THAT(store->admin().check()->problems, testing::Contains(HasSubstr(std::string(place))));
  }
  RunName run = make_run_name(1);
};

TEST_F(ReadTest, FromEveryNumberOnAndWithEveryLimit) {
  for (const std::size_t batch_max : {1U, 7U, 150U}) {
    run = make_run_name(1);
    const std::uint64_t count = fill(400, batch_max);
    for (std::uint64_t after = 0; after <= count + 1; ++after)
      for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, SIZE_MAX}) {
        const auto texts = read_all(store->journals(), run, after, limit);
        ASSERT_EQ(texts.size(), std::min<std::uint64_t>(limit, after > count ? 0 : count - after));
        for (std::size_t at = 0; at < texts.size(); ++at) ASSERT_EQ(texts[at], std::to_string(after + at + 1));
      }
  }
  EXPECT_THAT(read_all(store->journals(), run, UINT64_MAX), IsEmpty());
  expect_clean(*store);
}

TEST_F(ReadTest, AnUnknownRunIsMissing) {
  EXPECT_EQ(store->journals().read(run, 0, 1).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->journals().snapshot(run).error().kind, StoreError::Kind::Missing);
}

TEST_F(ReadTest, ReportsAMissingRecord) {
  fill(200, 1);
  execute("DELETE FROM batches WHERE first = 77");
  expect_damage("record 77:");
  EXPECT_TRUE(store->journals().read(run, 77, 50).has_value());  // what does not depend on it is still there
}

TEST_F(ReadTest, ReportsAMissingLastRecord) {
  fill(10, 1);
  execute("DELETE FROM batches WHERE first = 10");
  expect_damage("record 10:");
}

TEST_F(ReadTest, ReportsAnExchangedRecord) {
  fill(10, 1);
  execute("UPDATE batches SET bytes = (SELECT bytes FROM batches WHERE first = 4) WHERE first = 6");
  expect_damage("record 6:");
}

TEST_F(ReadTest, ReportsAForgedChain) {
  fill(10, 1);
  // A record that another chain's beginning would make right.
  execute(
      "UPDATE batches SET chain = (SELECT chain FROM batches WHERE first = 4), "
      "bytes = (SELECT bytes FROM batches WHERE first = 4) WHERE first = 6");
  expect_damage("record 6:");
}

TEST_F(ReadTest, ReportsAnAlteredHead) {
  fill(10, 1);
  execute("UPDATE runs SET chain = zeroblob(32)");
  expect_damage("record 10:");
}

TEST_F(ReadTest, ReportsEachAlteredByteOfEachRow) {
  Append append = make_append(run, 1, {"first", "second"});
  append.contents = {make_content("content")};
  append.references = {append.contents.front().hash};
  ASSERT_EQ(commit(append), std::nullopt);
  ASSERT_EQ(commit(make_append(run, 3, {"third"})), std::nullopt);
  for (const char* const column : {"bytes", "chain"})
    for (const char* const first : {"1", "3"}) {
      const std::string where = std::string(" FROM batches WHERE first = ") + first;
      std::string original;
      {
        auto database = Database::open(path, {Access::Reader, {}});
        const std::string sql = std::string("SELECT ") + column + where;
        Statement statement(**database, sql.c_str());
        Execution query(statement);
        ASSERT_EQ(query.step(), StepResult::Row);
        original = query.get_bytes(0);
      }
      ASSERT_FALSE(original.empty());
      const auto put = [&](const std::string& value) {
        auto database = Database::open(path, {Access::Reader, {}});
        const std::string sql = std::string("UPDATE batches SET ") + column + " = ?1 WHERE first = " + first;
        Statement statement(**database, sql.c_str());
        ASSERT_TRUE(Execution(statement).blob(value).finish().has_value());
      };
      for (std::size_t at = 0; at < original.size(); ++at) {
        std::string altered = original;
        altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ (1U << (at % 8)));
        put(altered);
        const auto records = store->journals().read(run, 0, SIZE_MAX);
        ASSERT_FALSE(records.has_value()) << column << " of " << first << ", byte " << at;
        EXPECT_EQ(records.error().kind, StoreError::Kind::Damaged);
        EXPECT_FALSE(store->admin().check()->problems.empty());
      }
      put(original);
    }
  EXPECT_THAT(read_all(run), ElementsAre("first", "second", "third"));
  expect_clean(*store);
}

TEST_F(ReadTest, ReportsAlteredContentsAndSnapshots) {
  Append append = make_append(run, 1, {"a"});
  append.contents = {make_content("content")};
  append.references = {append.contents.front().hash};
  append.snapshot = Snapshot{1, "state"};
  ASSERT_EQ(commit(append), std::nullopt);
  execute("UPDATE contents SET bytes = x'00'; UPDATE snapshots SET bytes = x'00'");
  EXPECT_EQ(store->journals().content(run, append.references.front()).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(store->journals().snapshot(run).error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(store->admin().check()->problems.size(), 2U);
}

TEST_F(ReadTest, NamesTheRunsThatHaveAnAlteredSharedContent) {
  Content program = make_content("a program");
  program.sharing = Sharing::Store;
  const RunName other = make_run_name(2);
  for (const RunName& one : {run, other}) {
    Append append = make_append(one, 1, {"a"});
    append.contents = {program};
    append.references = {program.hash};
    ASSERT_EQ(commit(append), std::nullopt);
  }
  execute("UPDATE shared_bodies SET bytes = x'00'");
  const auto [first, second] = std::minmax(run.text, other.text);
  EXPECT_THAT(store->admin().check()->problems, ElementsAre("runs " + first + ", " + second + ", content " +
                                                            program.hash.hex() + ": its bytes do not match its hash"));
}

TEST_F(ReadTest, RunsAreListedByNameStateAndTime) {
  std::vector<RunName> names;
  for (int at = 0; at < 10; ++at) {
    names.push_back(make_run_name(at + 1));
    Append append = make_append(names.back(), 1, {"a"});
    append.summary.state = at % 2 == 0 ? RunState::Waiting : RunState::Done;
    if (at % 2 == 0) append.summary.wake_at = 1'000 - at;
    ASSERT_EQ(commit(append), std::nullopt);
  }
  const auto texts = [](const auto& heads) {
    std::vector<RunName> result;
    for (const auto& head : heads.value()) result.push_back(head.run);
    return result;
  };
  EXPECT_EQ(texts(store->runs().list({})), names);
  EXPECT_THAT(texts(store->runs().list({RunState::Done, names[3].text, 2})), ElementsAre(names[5], names[7]));
  EXPECT_THAT(texts(store->runs().list({std::nullopt, names[7].text, SIZE_MAX})), ElementsAre(names[8], names[9]));
  EXPECT_THAT(texts(store->runs().list({RunState::Failed, "", SIZE_MAX})), IsEmpty());
  EXPECT_THAT(texts(store->runs().due({.now = 996})), ElementsAre(names[8], names[6], names[4]));
  EXPECT_THAT(texts(store->runs().due({.now = 996, .limit = 1})), ElementsAre(names[8]));
  EXPECT_THAT(texts(store->runs().due({.now = 991})), IsEmpty());
  EXPECT_EQ(store->runs().next_due(std::nullopt).value(), 992);
  Append woken = make_append(names[8], 2, {});
  ASSERT_EQ(commit(woken), std::nullopt);
  EXPECT_EQ(store->runs().next_due(std::nullopt).value(), 994);
  EXPECT_EQ(texts(store->runs().list({RunState::Running, "", SIZE_MAX})), std::vector<RunName>{names[8]});
}

TEST_F(ReadTest, RunsThatWaitAreListedInPieces) {
  std::vector<RunName> names;
  for (int at = 0; at < 7; ++at) {
    names.push_back(make_run_name(at + 1));
    Append append = make_append(names.back(), 1, {"a"});
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = at < 5 ? 10 : 11 + at;  // five at the same time
    ASSERT_EQ(commit(append), std::nullopt);
  }
  std::vector<RunName> seen;
  DueFilter filter{.now = 16, .limit = 2};
  while (true) {
    const auto due = store->runs().due(filter);
    ASSERT_TRUE(due.has_value());
    if (due->empty()) break;
    for (const DueRun& one : *due) seen.push_back(one.run);
    filter.after = due->back();
  }
  EXPECT_EQ(seen, std::vector<RunName>(names.begin(), names.begin() + 6));
  EXPECT_EQ(store->runs().next_due(filter.after).value(), 17);
  EXPECT_EQ(store->runs().next_due(DueRun{10, names[0]}).value(), 10);
  EXPECT_EQ(store->runs().next_due(DueRun{17, names[6]}).value(), std::nullopt);
}

/// A row whose checksum does not match has no time that could be trusted.
TEST_F(ReadTest, ARunWithADamagedSummaryKeepsItsPlaceAmongThoseThatWait) {
  Append append = make_append(run, 1, {"a"});
  append.summary.wake_at = 10;
  ASSERT_EQ(commit(append), std::nullopt);
  execute("UPDATE runs SET detail = 'altered'");
  const auto due = store->runs().due({.now = 10});
  ASSERT_EQ(due->size(), 1U);
  EXPECT_EQ(due->front().wake_at, 10);
  EXPECT_TRUE(store->runs().due({.now = 10, .after = due->front()})->empty());
}

}  // namespace
}  // namespace tenon::journal::sqlite
