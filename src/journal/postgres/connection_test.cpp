// Connections that are cut in the middle of a call.
#include <gmock/gmock.h>

#include <array>
#include <future>

#include "journal/postgres/server_link.h"
#include "tests/support/cutting_proxy.h"
#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::CuttingProxy;
using test::expect_soon;
using test::make_append;
using test::make_content;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Cut = CuttingProxy::Cut;

constexpr std::array<Cut, 4> all_cuts = {Cut::BeforeCommit, Cut::AfterCommit, Cut::AfterReply, Cut::OnlyClient};

struct HasProxy {
  CuttingProxy proxy{test::PostgresServer::shared().socket()};
};

class LostConnectionTest : protected HasProxy, public test::PostgresStoreTest {
 protected:
  explicit LostConnectionTest(const std::string& options = {}) : PostgresStoreTest(url_through(proxy) + options) {}

  static std::string url_through(const CuttingProxy& proxy) {
    std::string url = test::PostgresServer::shared().new_url();
    const std::string folder = test::PostgresServer::shared().socket_folder();
    return url.replace(url.find(folder), folder.size(), proxy.folder());
  }
  /// The next call that executes this statement loses its connection.
  void cut(Cut where, const std::string& statement) {
    expected_cuts_ = proxy.cuts() + 1;
    proxy.cut_next(where, statement);
  }
  void expect_was_cut() const {
    expect_soon([&] { return proxy.cuts() == expected_cuts_; });
  }

  std::uint64_t expected_cuts_ = 0;
  RunName run = make_run_name(1);
};

TEST_F(LostConnectionTest, AnOwnerThatHasNothingToDoExecutesFewStatements) {
  const auto executed_in_two_seconds = [&] {
    std::this_thread::sleep_for(milliseconds(500));  // what joining leaves to do
    const std::uint64_t before = proxy.executions();
    std::this_thread::sleep_for(seconds(2));
    return proxy.executions() - before;
  };
  EXPECT_LE(executed_in_two_seconds(), 2U * 3);  // it renews its lease, and looks for others
  const auto second = join();
  EXPECT_LE(executed_in_two_seconds(), 2U * 2 * 12);  // each looks ten times a second whether the other lives
}

TEST_F(LostConnectionTest, ACommitIsAppliedOnce) {
  ASSERT_EQ(commit(make_append(run, 1, {"0"})), std::nullopt);
  std::vector<std::string> expected = {"0"};
  for (int round = 0; round < 3; ++round)
    for (const Cut where : all_cuts) {
      SCOPED_TRACE(static_cast<int>(where));
      const std::string text = std::to_string(expected.size());
      Append append = make_append(run, expected.size() + 1, {text});
      append.contents = {make_content("content " + text), make_content("shared " + text)};
      append.contents.back().sharing = Sharing::Store;
      append.references = {append.contents.front().hash, append.contents.back().hash};
      append.snapshot = Snapshot{append.first, text};
      append.notes = {{"first " + text, text, std::nullopt, NoteUse::KeepFirst}, {"last", text, std::nullopt}};
      cut(where, "UPDATE runs AS r SET records");
      EXPECT_EQ(commit(append), std::nullopt);
      expect_was_cut();
      expected.push_back(text);
      EXPECT_EQ(read_all(run), expected);
      EXPECT_EQ(store->journals().find_note("last").value()->bytes, text);
      EXPECT_EQ(store->journals().content(run, append.references.back()).value(), "shared " + text);
    }
  expect_clean(*store);
}

TEST_F(LostConnectionTest, AGroupIsAppliedOnce) {
  std::vector<RunName> runs;
  for (int at = 0; at < 10; ++at) runs.push_back(make_run_name(10 + at));
  std::uint64_t first = 1;
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    for (const char* const statement : {"INSERT INTO runs", "UPDATE runs AS r SET records"}) {
      if (first == 1 && std::string_view(statement).starts_with("UPDATE")) continue;
      std::vector<Append> appends;
      for (const RunName& one : runs) appends.push_back(make_append(one, first, {std::to_string(first)}));
      appends.push_back(make_append(make_run_name(1'000), 1, {"new"}));  // with a new run
      cut(where, statement);
      const auto outcomes = store->journals().commit(appends);
      ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
      for (const auto& refusal : *outcomes) EXPECT_EQ(refusal, std::nullopt);
      expect_was_cut();
      ++first;
    }
  }
  for (const RunName& one : runs) EXPECT_THAT(read_all(one), SizeIs(first - 1));
  expect_clean(*store);
}

/// Of an owner with the shortest lease: a connection that passes nothing on is soon given up.
class SilentConnectionTest : public LostConnectionTest {
 protected:
  SilentConnectionTest() : LostConnectionTest("&tenon.lease=500") {}
};

TEST_F(SilentConnectionTest, ACommitIsAppliedOnce) {
  ASSERT_EQ(commit(make_append(run, 1, {"0"})), std::nullopt);
  std::vector<std::string> expected = {"0"};
  for (const Cut where : {Cut::SilentBeforeCommit, Cut::SilentAfterReply}) {
    SCOPED_TRACE(static_cast<int>(where));
    const std::string text = std::to_string(expected.size());
    cut(where, "UPDATE runs AS r SET records");
    EXPECT_EQ(commit(make_append(run, expected.size() + 1, {text})), std::nullopt);
    expect_was_cut();
    expected.push_back(text);
    EXPECT_EQ(read_all(run), expected);
  }
  expect_clean(*store);
}

TEST_F(SilentConnectionTest, AnotherOwnerMayHaveTakenTheRunMeanwhile) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  cut(Cut::SilentBeforeCommit, "UPDATE runs AS r SET records");
  auto outcome = std::async(std::launch::async, [&] { return commit(make_append(run, 2, {"b"})); });
  expect_was_cut();
  // As another owner that finds this one dead.
  const auto self = std::to_string(store->ownership().self().number);
  execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tenon " + self +
          " of store %' AND state = 'idle in transaction'");
  execute("UPDATE runs SET epoch = epoch + 1, owner = NULL");
  EXPECT_EQ(outcome.get(), AppendRefusal::OldEpoch);
  EXPECT_THAT(read_all(run), ElementsAre("a"));
  expect_clean(*store);
}

TEST_F(SilentConnectionTest, AReadIsMadeAgain) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto reader = open({.access = Access::Reader});
  for (const Cut where : {Cut::SilentBeforeCommit, Cut::SilentAfterReply}) {
    cut(where, "FROM batches");
    const auto records = reader->journals().read(run, 0, SIZE_MAX);
    ASSERT_TRUE(records.has_value()) << records.error().message;
    EXPECT_THAT(*records, SizeIs(1));
    expect_was_cut();
  }
}

TEST_F(SilentConnectionTest, AnOwnerKeepsItsLeaseOrReturns) {
  const OwnerId self = store->ownership().self();
  cut(Cut::SilentAfterReply, "UPDATE owners SET lease_until");
  expect_was_cut();
  expect_soon([&] { return store->ownership().lease() != LeaseState::Held; });
  expect_soon([&] { return store->ownership().lease() == LeaseState::Held; });
  EXPECT_EQ(store->ownership().self(), self);
}

/// The server says that it works on the call, however long that takes.
TEST_F(SilentConnectionTest, ACallThatWaitsForALockIsNotGivenUp) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto holder = connect();
  ASSERT_TRUE(holder->execute("BEGIN; SELECT * FROM runs FOR UPDATE").has_value());
  auto outcome = std::async(std::launch::async, [&] { return commit(make_append(run, 2, {"b"})); });
  const std::string waiting =
      " FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'tenon%' AND datname = "
      "current_database()";
  expect_soon([&] { return query_number("SELECT count(*)" + waiting) == 1; });
  const std::int64_t process = query_number("SELECT pid::bigint" + waiting);
  std::this_thread::sleep_for(3 * silence_min);
  EXPECT_EQ(query_number("SELECT pid::bigint" + waiting), process);
  ASSERT_TRUE(holder->execute("COMMIT").has_value());
  EXPECT_EQ(outcome.get(), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
}

TEST_F(LostConnectionTest, AnAppendThatIsRefusedStaysRefused) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  ASSERT_TRUE(store->admin().keep_note({"key", "older", std::nullopt}, 1).has_value());
  for (const Cut where : all_cuts) {
    Append append = make_append(run, 2, {"b"});
    append.notes = {{"key", "newer", std::nullopt, NoteUse::KeepFirst}};
    cut(where, "UPDATE runs AS r SET records");
    EXPECT_EQ(commit(append), AppendRefusal::NoteExists);
    expect_was_cut();
  }
  EXPECT_THAT(read_all(run), ElementsAre("a"));
}

TEST_F(LostConnectionTest, AMoveIsMadeOnce) {
  const auto gpu = join(OwnerRole::Host, "gpu");
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    const RunName moved = make_run_name(100);
    ASSERT_EQ(commit(make_append(moved, 1, {"a"})), std::nullopt);
    Append append = make_append(moved, 2, {"b"});
    append.moves_to = "gpu";
    cut(where, "UPDATE runs AS r SET records");
    EXPECT_EQ(commit(append), std::nullopt);
    expect_was_cut();
    std::vector<RunHead> heads;  // it is given to the host by the append, and a notice says so
    expect_soon([&] {
      heads = gpu->ownership().claim_abandoned(10).value();
      return !heads.empty();
    });
    ASSERT_THAT(heads, SizeIs(1));
    EXPECT_EQ(heads.front().epoch, 1U);
    EXPECT_THAT(read_all(moved), ElementsAre("a", "b"));
  }
  expect_clean(*store);
}

/// The server still works on the lost commit when the client asks what became of it.
TEST_F(LostConnectionTest, ALostCommitThatWaitsInTheServerIsEndedBeforeItIsRepeated) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto holder = connect();
  ASSERT_TRUE(holder->execute("BEGIN; SELECT * FROM runs FOR UPDATE").has_value());
  cut(Cut::OnlyClient, "UPDATE runs AS r SET records");
  auto outcome = std::async(std::launch::async, [&] { return commit(make_append(run, 2, {"b"})); });
  expect_was_cut();
  // The second attempt waits for the row as well, in another session.
  expect_soon([&] {
    return query_number(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE "
               "runs AS r SET records%' AND application_name LIKE 'tenon%'") == 1;
  });
  ASSERT_TRUE(holder->execute("COMMIT").has_value());
  EXPECT_EQ(outcome.get(), std::nullopt);
  EXPECT_THAT(read_all(run), ElementsAre("a", "b"));
  expect_clean(*store);
}

TEST_F(LostConnectionTest, AnotherOwnerMayHaveTakenTheRunMeanwhile) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto second = join();
  const auto holder = connect();
  ASSERT_TRUE(holder->execute("BEGIN; SELECT * FROM runs FOR UPDATE").has_value());
  cut(Cut::OnlyClient, "UPDATE runs AS r SET records");
  auto outcome = std::async(std::launch::async, [&] { return commit(make_append(run, 2, {"b"})); });
  expect_was_cut();
  const auto self = static_cast<std::int64_t>(second->ownership().self().number);
  ASSERT_TRUE(
      holder->execute("UPDATE runs SET epoch = epoch + 1, owner = " + std::to_string(self) + "; COMMIT").has_value());
  EXPECT_EQ(outcome.get(), AppendRefusal::OldEpoch);
  EXPECT_THAT(read_all(run), ElementsAre("a"));
  expect_clean(*store);
}

TEST_F(LostConnectionTest, ClaimsAndReleasesAreMadeAgain) {
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    const RunName claimed = make_run_name(200);
    ASSERT_EQ(commit(make_append(claimed, 1, {"a"})), std::nullopt);
    cut(where, "UPDATE runs SET owner = NULL");
    ASSERT_TRUE(store->ownership().release({&claimed, 1}).has_value());
    expect_was_cut();
    cut(where, "SET epoch = r.epoch + 1");
    const auto heads = store->ownership().claim_abandoned(10);
    ASSERT_TRUE(heads.has_value()) << heads.error().message;
    ASSERT_THAT(*heads, SizeIs(1));
    expect_was_cut();
    Append append = make_append(claimed, 2, {"b"});
    append.epoch = heads->front().epoch;
    EXPECT_EQ(commit(append), std::nullopt);
  }
  expect_clean(*store);
}

TEST_F(LostConnectionTest, AClaimWhoseReplyIsLostInALongOutageIsFound) {
  const auto opened = open_store(path, {.role = OwnerRole::Host, .patience = milliseconds(300)});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  StoreConnection& host = **opened;
  const std::string socket = proxy.folder() + ".s.PGSQL.5432", away = socket + ".away";
  for (const Cut where : {Cut::BeforeCommit, Cut::AfterReply}) {
    SCOPED_TRACE(static_cast<int>(where));
    const RunName claimed = make_run_name(300 + static_cast<std::int64_t>(where));
    ASSERT_EQ(commit(make_append(claimed, 1, {"a"})), std::nullopt);
    ASSERT_TRUE(store->ownership().release({&claimed, 1}).has_value());
    cut(where, "SET epoch = r.epoch + 1");
    ASSERT_EQ(std::rename(socket.c_str(), away.c_str()), 0);  // no new connections
    const auto failed = host.ownership().claim_abandoned(10);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().kind, StoreError::Kind::Unavailable);
    ASSERT_EQ(std::rename(away.c_str(), socket.c_str()), 0);
    std::vector<RunHead> heads;
    expect_soon([&] {
      auto claims = host.ownership().claim_abandoned(10);
      if (claims) heads = std::move(*claims);
      return !heads.empty();
    });
    ASSERT_THAT(heads, SizeIs(1));
    EXPECT_EQ(heads.front().run, claimed);
    Append append = make_append(claimed, 2, {"b"});
    append.epoch = heads.front().epoch;
    const auto refusals = host.journals().commit({&append, 1});
    ASSERT_TRUE(refusals.has_value()) << refusals.error().message;
    EXPECT_EQ(refusals->front(), std::nullopt);
    EXPECT_THAT(*host.ownership().claim_abandoned(10), IsEmpty());
  }
}

TEST_F(LostConnectionTest, ACommandIsLeftAnsweredAndTakenOnce) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const OwnerId self = store->ownership().self();
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    cut(where, "INSERT INTO inbox");
    const auto id = store->inbox().send({.run = run, .bytes = "resume"});
    ASSERT_TRUE(id.has_value()) << id.error().message;
    expect_was_cut();
    cut(where, "SELECT id, run, bytes FROM inbox");
    const auto commands = store->inbox().unanswered(self, 10);
    ASSERT_THAT(*commands, SizeIs(1));
    EXPECT_EQ(commands->front().id, *id);
    expect_was_cut();
    cut(where, "SET reply =");
    ASSERT_TRUE(store->inbox().answer(*id, "done").has_value());
    expect_was_cut();
    cut(where, "SELECT id, reply FROM inbox");
    EXPECT_EQ(store->inbox().take_reply(*id).value(), "done");
    expect_was_cut();
    const auto withdrawn = store->inbox().send({.run = run, .bytes = "cancel"});
    cut(where, "DELETE FROM inbox WHERE id = $1");
    EXPECT_TRUE(store->inbox().withdraw(*withdrawn).value());
    expect_was_cut();
    EXPECT_FALSE(store->inbox().withdraw(*withdrawn).value());
    EXPECT_THAT(*store->inbox().unanswered(self, 10), IsEmpty());
  }
}

TEST_F(LostConnectionTest, CommandsThatAreSentTogetherAreLeftAndAnsweredOnce) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const OwnerId self = store->ownership().self();
  const auto ids_of = [](const std::vector<Result<std::uint64_t, StoreError>>& sent) {
    std::vector<std::uint64_t> ids;
    for (const auto& id : sent) ids.push_back(id.value());
    return ids;
  };
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    cut(where, "INSERT INTO inbox");
    const std::vector<NewCommand> commands = {{.run = run, .bytes = "first"}, {.run = run, .bytes = "second"}};
    const auto ids = ids_of(store->inbox().send_all(commands));
    expect_was_cut();
    const auto taken = store->inbox().unanswered(self, 10);
    ASSERT_THAT(*taken, SizeIs(2));
    EXPECT_EQ(taken->front().bytes, "first");
    EXPECT_THAT(ids, ElementsAre(taken->front().id, taken->back().id));
    cut(where, "SET reply = a.reply");
    const std::vector<CommandAnswer> answers = {{ids[0], "1"}, {ids[1], "2"}};
    ASSERT_TRUE(store->inbox().answer_all(answers).has_value());
    expect_was_cut();
    EXPECT_EQ(store->inbox().take_reply(ids[0]).value(), "1");
    EXPECT_EQ(store->inbox().take_reply(ids[1]).value(), "2");

    // No host takes these.
    using StartsRun = NewCommand::StartsRun;
    std::vector<NewCommand> starts;
    for (int at = 0; at < 2; ++at)
      starts.push_back({.run = make_run_name(1), .bytes = "start", .starts_run = StartsRun::Yes, .pool = "empty"});
    cut(where, "INSERT INTO inbox");
    const auto left = ids_of(store->inbox().send_all(starts));
    expect_was_cut();
    for (const std::uint64_t id : left) EXPECT_TRUE(store->inbox().withdraw(id).value());
    EXPECT_NE(left[0], left[1]);
    EXPECT_THAT(*store->inbox().unanswered(self, 10), IsEmpty());
  }
}

TEST_F(LostConnectionTest, AnImportAndARemovalAreMadeOnce) {
  Append append = make_append(run, 1, {"a"});
  append.contents = {make_content("content")};
  append.references = {append.contents.front().hash};
  ASSERT_EQ(commit(append), std::nullopt);
  const std::string exported = store->admin().export_run(run).value();
  for (const Cut where : all_cuts) {
    SCOPED_TRACE(static_cast<int>(where));
    execute("DELETE FROM runs; DELETE FROM batches; DELETE FROM contents");
    reopen(host);
    cut(where, "COMMIT");
    const auto imported = store->admin().import_run(exported);
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    EXPECT_EQ(imported->outcome, ImportOutcome::Imported);
    expect_was_cut();
    expect_clean(*store);
  }
  for (const Cut where : {Cut::BeforeCommit, Cut::AfterCommit, Cut::AfterReply}) {
    SCOPED_TRACE(static_cast<int>(where));
    execute("DELETE FROM runs; DELETE FROM batches; DELETE FROM contents");
    reopen(host);
    ASSERT_TRUE(store->admin().import_run(exported).has_value());
    cut(where, "COMMIT");
    const auto forgotten = store->admin().forget(run, 1);
    ASSERT_TRUE(forgotten.has_value()) << forgotten.error().message;
    expect_was_cut();
    expect_clean(*store);
  }
}

}  // namespace
}  // namespace tenon::journal::postgres
