#include <gmock/gmock.h>

#include "journal/sqlite/statements.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;

class AppendTest : public test::JournalTest {
 protected:
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};

TEST_F(AppendTest, RecordsAreReadInOrder) {
  EXPECT_EQ(commit(make_append(run, 1, {"a", "b"})), std::nullopt);
  EXPECT_EQ(commit(make_append(run, 3, {"", std::string("\0x", 2)})), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "", std::string("\0x", 2)));
  reopen();
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "", std::string("\0x", 2)));
  EXPECT_EQ(store->journals().head(run)->records, 4U);
  EXPECT_EQ(store->journals().head(run)->created_at, 1'000);
  expect_clean(*store);
}

TEST_F(AppendTest, EachRefusalHasItsReasonAndLeavesNoTrace) {
  EXPECT_EQ(commit(make_append(run, 2, {"a"})), AppendRefusal::UnknownRun);
  EXPECT_EQ(store->journals().head(run).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(commit(make_append(run, 0, {"a"})), AppendRefusal::WrongNumber);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  EXPECT_EQ(commit(make_append(run, 1, {"a"})), AppendRefusal::WrongNumber);
  EXPECT_EQ(commit(make_append(run, 3, {"a"})), AppendRefusal::WrongNumber);

  Append ahead = make_append(run, 2, {"b"});
  ahead.snapshot = Snapshot{3, "state"};
  EXPECT_EQ(commit(ahead), AppendRefusal::WrongNumber);

  Append early = make_append(run, 2, {"b"});
  early.epoch = 1;  // it was never claimed
  EXPECT_EQ(commit(early), AppendRefusal::OldEpoch);

  // A new content would come with it, and a content of that one's is nowhere.
  Append referring = make_append(run, 2, {"b"});
  referring.contents.push_back(make_content("parent", {sha256("nowhere")}));
  referring.references = {referring.contents.front().hash};
  EXPECT_EQ(commit(referring), AppendRefusal::UnknownReference);
  EXPECT_EQ(store->journals().content(run, sha256("parent")).error().kind, StoreError::Kind::Missing);

  EXPECT_THAT(read_all(run), ElementsAre("a"));
  expect_clean(*store);
}

TEST_F(AppendTest, NotesAreFoundByTheirKeyUntilTheirTimeIsOver) {
  Append append = make_append(run, 1, {"a"});
  append.notes = {{"kept", "1", std::nullopt}, {"short", "2", 2'000}};
  ASSERT_EQ(commit(append), std::nullopt);
  reopen();
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "1");
  EXPECT_EQ(store->journals().find_note("short")->value().expires_at, 2'000);
  EXPECT_EQ(*store->journals().find_note("other"), std::nullopt);

  Append later = make_append(run, 2, {"b"});
  later.summary.updated_at = 2'000;
  later.notes = {{"kept", "3", std::nullopt}};
  ASSERT_EQ(commit(later), std::nullopt);
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "3");
  EXPECT_EQ(*store->journals().find_note("short"), std::nullopt);

  // One that comes with a refused append is not kept.
  Append refused = make_append(run, 9, {"c"});
  refused.notes = {{"kept", "4", std::nullopt}};
  EXPECT_EQ(commit(refused), AppendRefusal::WrongNumber);
  EXPECT_EQ(store->journals().find_note("kept")->value().bytes, "3");
  expect_clean(*store);
}

TEST_F(AppendTest, ANoteMayBelongToNoRun) {
  ASSERT_TRUE(store->admin().keep_note({"own", "1", std::nullopt}).has_value());
  ASSERT_TRUE(store->admin().keep_note({"own", "2", 2'000}).has_value());
  const auto reader = open({.durability = Durability::Process, .access = Access::Reader});
  EXPECT_EQ(reader->journals().find_note("own")->value(), (Note{"own", "2", 2'000}));
  EXPECT_EQ(reader->admin().keep_note({"own", "3", std::nullopt}).error().kind, StoreError::Kind::InUse);
  reopen();
  EXPECT_EQ(store->journals().find_note("own")->value().bytes, "2");
  expect_clean(*store);
}

TEST_F(AppendTest, AnAppendOfTooManyBytesIsRefused) {
  Append large = make_append(run, 1, {});
  large.records.emplace_back(append_bytes_max + 1, 'x');
  EXPECT_EQ(commit(large), AppendRefusal::TooLarge);
  EXPECT_EQ(store->journals().head(run).error().kind, StoreError::Kind::Missing);
}

TEST_F(AppendTest, ARefusalStopsNoOther) {
  const std::vector<Append> appends{make_append(run, 1, {"a"}), make_append(run, 1, {"again"}),
                                    make_append(other, 5, {"gap"}), make_append(run, 2, {"b"}),
                                    make_append(other, 1, {"x"})};
  const auto refusals = store->journals().commit(appends);
  ASSERT_TRUE(refusals.has_value());
  EXPECT_THAT(*refusals, ElementsAre(std::nullopt, AppendRefusal::WrongNumber, AppendRefusal::UnknownRun, std::nullopt,
                                     std::nullopt));
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  EXPECT_THAT(read_all(other), ElementsAre("x"));
  expect_clean(*store);
}

TEST_F(AppendTest, ClaimingShutsFormerOwnersOut) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto claimed = store->journals().claim(run);
  ASSERT_TRUE(claimed.has_value());
  EXPECT_EQ(claimed->epoch, 1U);
  EXPECT_EQ(claimed->records, 1U);
  EXPECT_EQ(commit(make_append(run, 2, {"late"})), AppendRefusal::OldEpoch);
  Append own = make_append(run, 2, {"b"});
  own.epoch = 1;
  EXPECT_EQ(commit(own), std::nullopt);
  reopen();
  EXPECT_EQ(store->journals().head(run)->epoch, 1U);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  EXPECT_EQ(store->journals().claim(other).error().kind, StoreError::Kind::Missing);
}

TEST_F(AppendTest, SummaryAndSnapshotAreReplacedWithoutRecords) {
  Append first = make_append(run, 1, {"a"});
  first.snapshot = Snapshot{1, "old state"};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(run, 2, {});
  second.summary = {RunState::Waiting, "title", "for ann", 77, 2'000};
  second.snapshot = Snapshot{1, "state"};
  ASSERT_EQ(commit(second), std::nullopt);
  const auto head = store->journals().head(run);
  EXPECT_EQ(head->records, 1U);
  EXPECT_EQ(head->summary.state, RunState::Waiting);
  EXPECT_EQ(head->summary.title, "title");
  EXPECT_EQ(head->summary.detail, "for ann");
  EXPECT_EQ(head->summary.wake_at, 77);
  EXPECT_EQ(head->summary.updated_at, 2'000);
  EXPECT_EQ(head->created_at, 1'000);
  const auto snapshot = store->journals().snapshot(run);
  ASSERT_TRUE(snapshot.has_value() && snapshot->has_value());
  EXPECT_EQ((*snapshot)->after, 1U);
  EXPECT_EQ((*snapshot)->bytes, "state");
  expect_clean(*store);
}

TEST_F(AppendTest, ARunKeepsItsContentsOnce) {
  const Content root = make_content("root");
  const Content leaf = make_content("leaf", {root.hash});
  Append first = make_append(run, 1, {"a"});
  first.contents = {leaf, root, make_content("unreferenced")};
  first.references = {leaf.hash};
  ASSERT_EQ(commit(first), std::nullopt);
  Append second = make_append(run, 2, {"b"});
  second.contents = {leaf};
  second.references = {leaf.hash, root.hash, root.hash};
  ASSERT_EQ(commit(second), std::nullopt);
  Append only_references = make_append(run, 3, {});
  only_references.references = {root.hash};
  ASSERT_EQ(commit(only_references), std::nullopt);
  EXPECT_EQ(store->journals().content(run, leaf.hash), "leaf");
  EXPECT_EQ(store->journals().content(run, root.hash), "root");
  EXPECT_EQ(store->journals().content(run, sha256("unreferenced")).error().kind, StoreError::Kind::Missing);
  ASSERT_EQ(commit(make_append(run, 3, {"c"})), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b", "c"));
  EXPECT_EQ(store->admin().check()->contents, 2U);

  // What another run has is its own.
  Append foreign = make_append(other, 1, {"x"});
  foreign.references = {leaf.hash};
  EXPECT_EQ(commit(foreign), AppendRefusal::UnknownReference);
  foreign.contents = {leaf, root};
  EXPECT_EQ(commit(foreign), std::nullopt);
  EXPECT_EQ(store->admin().check()->contents, 4U);
  expect_clean(*store);
}

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

TEST_F(AppendTest, AThousandRunsInterleaved) {
  constexpr std::size_t run_count = 1'000;
  constexpr std::uint64_t rounds = 5;
  std::vector<RunName> names;
  for (std::size_t at = 0; at < run_count; ++at) names.push_back(make_run_name(10));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<Append> appends;
    for (std::size_t at = 0; at < run_count; ++at) {
      const std::size_t turned = (at * 7 + round) % run_count;
      appends.push_back(make_append(names[turned], round + 1, {names[turned].text + " " + std::to_string(round)}));
    }
    const auto refusals = store->journals().commit(appends);
    ASSERT_TRUE(refusals.has_value());
    for (const auto& refusal : *refusals) EXPECT_EQ(refusal, std::nullopt);
  }
  reopen();
  for (const RunName& name : names) {
    const auto texts = read_all(name);
    ASSERT_EQ(texts.size(), rounds);
    for (std::uint64_t round = 0; round < rounds; ++round)
      EXPECT_EQ(texts[round], name.text + " " + std::to_string(round));
  }
  EXPECT_EQ(store->runs().list({})->size(), run_count);
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
