#include "journal/copy_store.h"

#include <gmock/gmock.h>

#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// From a store of each kind to one of the other kind.
class CopyStore : public test::StoreContractTest {
 protected:
  void SetUp() override {
    other_place = GetParam() == test::StoreKind::Postgres ? folder.file("copy.db") : new_database();
    for (int at = 0; at < 5; ++at) {
      runs.push_back(make_run_name(10 + at));
      Append append = make_append(runs.back(), 1, {"a", std::to_string(at)});
      append.contents = {make_content("own " + std::to_string(at)), make_content(std::string(20'000, 's'))};
      append.references = {append.contents[0].hash, append.contents[1].hash};
      append.summary.state = static_cast<RunState>(at);
      append.snapshot = Snapshot{1, "state " + std::to_string(at)};
      append.notes = {{"note " + std::to_string(at), std::to_string(at), std::nullopt}};
      ASSERT_EQ(commit(append), std::nullopt);
      append = make_append(runs.back(), 3, {"b"});
      append.summary.state = static_cast<RunState>(at);
      append.summary.wake_at = 7;
      ASSERT_EQ(commit(append), std::nullopt);
    }
    ASSERT_TRUE(store->admin().keep_note({"expired", "", 50}, 1).has_value());
    ASSERT_TRUE(store->admin().forget(runs[4], 2'000).has_value());
    other = open_other();
  }
  [[nodiscard]] static std::string new_database();
  [[nodiscard]] std::unique_ptr<StoreConnection> open_other() const {
    auto opened = open_store(other_place, test::without_waiting);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  [[nodiscard]] StoreCopy copy() {
    auto copied = copy_store(*store, *other, 100);
    EXPECT_TRUE(copied.has_value()) << copied.error().message;
    return copied ? std::move(*copied) : StoreCopy{};
  }

  std::vector<RunName> runs;
  std::string other_place;
  std::unique_ptr<StoreConnection> other;
};
TENON_INSTANTIATE_FOR_STORES(CopyStore);

std::string CopyStore::new_database() {
  return test::PostgresServer::shared().new_url();
}

TEST_P(CopyStore, CopiesRunsNotesAndSnapshots) {
  std::uint64_t done = 0;
  const auto copied = copy_store(*store, *other, 100, [&](std::uint64_t runs_done) { done = runs_done; });
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(copied->runs, 5U);
  EXPECT_EQ(copied->runs_there, 0U);
  EXPECT_EQ(copied->notes, 5U);
  EXPECT_THAT(copied->problems, IsEmpty());
  EXPECT_EQ(done, 5U);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const RunHead before = store->journals().head(runs[at]).value();
    const RunHead after = other->journals().head(runs[at]).value();
    EXPECT_EQ(after.records, before.records);
    EXPECT_EQ(after.chain, before.chain);
    EXPECT_EQ(after.epoch, before.epoch);
    EXPECT_EQ(after.created_at, before.created_at);
    EXPECT_EQ(after.summary, before.summary);
    if (at == 4) continue;  // it was forgotten
    EXPECT_EQ(read_all(other->journals(), runs[at]), read_all(runs[at]));
    EXPECT_EQ(other->journals().content(runs[at], sha256("own " + std::to_string(at))), "own " + std::to_string(at));
    const auto snapshot = other->journals().snapshot(runs[at]).value();
    ASSERT_EQ(snapshot.has_value(), !has_ended(before.summary.state));
    EXPECT_EQ(snapshot ? snapshot->bytes : "", has_ended(before.summary.state) ? "" : "state " + std::to_string(at));
    EXPECT_EQ(other->journals().find_note("note " + std::to_string(at)).value()->bytes, std::to_string(at));
  }
  EXPECT_EQ(other->journals().find_note("expired").value(), std::nullopt);
  expect_clean(*other);
  EXPECT_EQ(copy().runs_there, 5U);  // and nothing changes
  // A run continues in the copy, and can be copied back.
  Append next = make_append(runs[0], 4, {"c"});
  const auto claimed = claim_run(other->journals(), runs[0]);
  ASSERT_TRUE(claimed.has_value()) << claimed.error().message;
  next.epoch = claimed->epoch;
  ASSERT_EQ(commit(other->journals(), next), std::nullopt);
  const auto back = copy_store(*other, *store, 100);
  EXPECT_THAT(back->problems, ElementsAre(HasSubstr("a different run " + runs[0].text)));
  EXPECT_EQ(back->runs_there, 4U);
}

TEST_P(CopyStore, ContinuesWhereItWasInterrupted) {
  ASSERT_TRUE(other->admin().import_run(store->admin().export_run(runs[1]).value()).has_value());
  const StoreCopy copied = copy();
  EXPECT_EQ(copied.runs, 4U);
  EXPECT_EQ(copied.runs_there, 1U);
  expect_clean(*other);
}

TEST_P(CopyStore, ADamagedRunIsNamedAndTheOthersAreCopied) {
  execute("UPDATE batches SET bytes = " + literal("x") +
          " WHERE first = 3 AND run = (SELECT id FROM runs WHERE name = '" + runs[2].text + "')");
  const StoreCopy copied = copy();
  EXPECT_THAT(copied.problems, ElementsAre(HasSubstr(runs[2].text)));
  EXPECT_EQ(copied.runs, 4U);
  expect_clean(*other);
}

TEST_P(CopyStore, ARunThatWasForgottenAfterItWasCopiedIsNamed) {
  EXPECT_THAT(copy().problems, IsEmpty());
  ASSERT_TRUE(store->admin().forget(runs[3], 3'000).has_value());
  EXPECT_THAT(copy().problems, ElementsAre("run " + runs[3].text +
                                           " was forgotten in the first store, and the second one still has it; forget "
                                           "it there, too"));
  ASSERT_TRUE(other->admin().forget(runs[3], 3'000).has_value());
  EXPECT_THAT(copy().problems, IsEmpty());
}

TEST_P(CopyStore, ANoteThatDiffersIsNamed) {
  ASSERT_TRUE(other->admin().keep_note({"note 1", "different", std::nullopt}, 1).has_value());
  const StoreCopy copied = copy();
  EXPECT_THAT(copied.problems, ElementsAre(HasSubstr("`note 1`")));
  EXPECT_EQ(other->journals().find_note("note 1").value()->bytes, "different");
}

TEST_P(CopyStore, IsRefusedWhileAnotherOwnerLives) {
  const std::string database = GetParam() == test::StoreKind::Postgres ? path : other_place;
  const auto living = open_store(database, {.role = OwnerRole::Host});
  ASSERT_TRUE(living.has_value());
  const auto refused = copy_store(*store, *other, 100);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, StoreError::Kind::InUse);
  EXPECT_THAT(refused.error().message, HasSubstr("uses the store"));
  EXPECT_THAT(*other->runs().list({}), IsEmpty());
}

TEST_P(CopyStore, ABackupIsAFileWithEverythingInOneState) {
  const std::string file = folder.file("backup.db");
  const auto done = store->admin().backup(file);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(store->admin().backup(file).error().kind, StoreError::Kind::Conflict);
  auto backup = open_store(file, test::without_waiting);
  ASSERT_TRUE(backup.has_value()) << backup.error().message;
  EXPECT_THAT(*(*backup)->runs().list({}), testing::SizeIs(5));
  const auto same = copy_store(*store, **backup, 100);
  EXPECT_EQ(same->runs_there, 5U);
  EXPECT_EQ(same->notes, 5U);
  EXPECT_THAT(same->problems, IsEmpty());
  EXPECT_EQ((*backup)->journals().snapshot(runs[0]).value()->bytes, "state 0");
  expect_clean(**backup);
}

}  // namespace
}  // namespace tenon::journal
