#include "journal/postgres/postgres_inbox.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <semaphore>
#include <set>
#include <thread>

#include "tests/support/patience.h"
#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::seconds;
using test::make_append;
using testing::IsEmpty;
using testing::SizeIs;

/// Commands between several owners.
class PostgresInboxTest : public test::PostgresStoreTest {
 protected:
  void SetUp() override {
    reopen(host);
    second = join();
    gateway = join(OwnerRole::Gateway);
  }
  [[nodiscard]] static std::vector<Command> commands_of(StoreConnection& owner) {
    const auto adopted = owner.inbox().adopt(owner.ownership().self(), 10);
    EXPECT_TRUE(adopted.has_value()) << adopted.error().message;
    auto commands = owner.inbox().unanswered(owner.ownership().self(), 10);
    EXPECT_TRUE(commands.has_value()) << commands.error().message;
    return commands ? std::move(*commands) : std::vector<Command>{};
  }
  [[nodiscard]] std::uint64_t send(const NewCommand& command) const {
    const auto id = gateway->inbox().send(command);
    EXPECT_TRUE(id.has_value()) << id.error().message;
    return id.value_or(0);
  }
  /// Counts the notices of an owner.
  struct Notices {
    explicit Notices(StoreConnection& owner)
        : subscription(owner.wakeups().subscribe([this](Wakeups::Notice) { arrived.release(); })) {}
    [[nodiscard]] bool wait() { return arrived.try_acquire_for(test::patience); }
    std::counting_semaphore<> arrived{0};
    std::unique_ptr<Subscription> subscription;
  };

  std::unique_ptr<StoreConnection> second, gateway;
  RunName run = make_run_name(1);
};

TEST_F(PostgresInboxTest, ACommandGoesToTheOwnerOfItsRunAndTheReplyToTheSender) {
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  Notices of_second(*second), of_gateway(*gateway);
  const std::uint64_t id = send({.run = run, .bytes = "resume", .sender = gateway->ownership().self()});
  ASSERT_TRUE(of_second.wait());
  EXPECT_THAT(commands_of(*store), IsEmpty());
  EXPECT_THAT(commands_of(*gateway), IsEmpty());
  ASSERT_THAT(commands_of(*second), SizeIs(1));
  EXPECT_EQ(commands_of(*second).front().bytes, "resume");
  ASSERT_TRUE(second->inbox().answer(id, "done").has_value());
  ASSERT_TRUE(of_gateway.wait());
  EXPECT_EQ(gateway->inbox().take_reply(id).value(), "done");
}

TEST_F(PostgresInboxTest, ACommandIsLeftAndAnsweredWhereNoNoticeCanBeSent) {
  test::PostgresServer server;  // of its own, because the right belongs to the database
  path = server.new_url();
  execute("CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain");
  path.replace(path.find("//") + 2, path.find('@') - path.find("//") - 2, "plain");
  SetUp();
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const std::string as_plain = path;
  path = server.url("administration");
  execute("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
  path = as_plain;
  const std::uint64_t id = send({.run = run, .bytes = "resume", .sender = gateway->ownership().self()});
  ASSERT_THAT(commands_of(*second), SizeIs(1));
  const auto answered = second->inbox().answer(id, "done");
  ASSERT_TRUE(answered.has_value()) << answered.error().message;
  EXPECT_EQ(gateway->inbox().take_reply(id).value(), "done");
  second.reset();
  gateway.reset();
  store.reset();
}

TEST_F(PostgresInboxTest, ACommandForARunWithoutAnOwnerGoesToTheHostWithTheFewestRuns) {
  store->ownership().report_load(10);
  second->ownership().report_load(5);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
  // The load is reported with the next renewal.
  for (bool is_reported = false; !is_reported;) {
    const auto owners = store->ownership().owners();
    is_reported = (*owners)[0].runs == 10 && (*owners)[1].runs == 5;
  }
  for (int at = 0; at < 3; ++at) static_cast<void>(send({.run = run, .bytes = "resume"}));
  EXPECT_THAT(commands_of(*second), SizeIs(3));
  EXPECT_THAT(commands_of(*store), IsEmpty());
  // Commands that wait count as well.
  for (int at = 0; at < 10; ++at) static_cast<void>(send({.run = run, .bytes = "resume"}));
  EXPECT_FALSE(commands_of(*store).empty());
}

TEST_F(PostgresInboxTest, ACommandThatStartsARunGoesToAHostOfItsPool) {
  const auto third = join(OwnerRole::Host, "gpu");
  const NewCommand start{.run = run, .bytes = "start", .starts_run = NewCommand::StartsRun::Yes, .pool = "gpu"};
  static_cast<void>(send(start));
  EXPECT_THAT(commands_of(*third), SizeIs(1));
  EXPECT_EQ(gateway->inbox().send({.run = run, .bytes = "x"}).error().kind, StoreError::Kind::Missing);
  // Until there is such a host the command waits.
  NewCommand other = start;
  other.pool = "tpu";
  static_cast<void>(send(other));
  for (const auto& owner : {&store, &second}) EXPECT_THAT(commands_of(**owner), IsEmpty());
  const auto fourth = join(OwnerRole::Host, "tpu");
  EXPECT_THAT(commands_of(*fourth), SizeIs(1));
}

TEST_F(PostgresInboxTest, CommandsOfAnOwnerThatHasLeftGoToAnother) {
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const std::uint64_t id = send({.run = run, .bytes = "resume"});
  EXPECT_THAT(commands_of(*store), IsEmpty());
  second.reset();
  const auto commands = commands_of(*store);
  ASSERT_THAT(commands, SizeIs(1));
  EXPECT_EQ(commands.front().id, id);
}

TEST_F(PostgresInboxTest, ACommandWhoseRunHasGoneElsewhereIsRedirected) {
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const std::uint64_t id = send({.run = run, .bytes = "resume"});
  // The run moves before the command is performed.
  ASSERT_TRUE(second->ownership().release({&run, 1}).has_value());
  ASSERT_TRUE(second->inbox().redirect(id).has_value());
  ASSERT_THAT(commands_of(*second), SizeIs(1));  // no one else has the run
  ASSERT_TRUE(claim_run(store->journals(), run).has_value());
  Notices of_store(*store);
  ASSERT_TRUE(second->inbox().redirect(id).has_value());
  ASSERT_TRUE(of_store.wait());
  EXPECT_THAT(commands_of(*second), IsEmpty());
  EXPECT_THAT(commands_of(*store), SizeIs(1));
  EXPECT_TRUE(second->inbox().redirect(12'345).has_value());
}

TEST_F(PostgresInboxTest, CommandsFollowARunThatMoves) {
  auto gpu = join(OwnerRole::Host, "gpu");
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const std::uint64_t first = send({.run = run, .bytes = "resume"});
  const std::uint64_t answered = send({.run = run, .bytes = "resume"});
  ASSERT_TRUE(second->inbox().answer(answered, "done").has_value());
  Append move = make_append(run, 2, {});
  move.moves_to = "gpu";
  Notices of_gpu(*gpu);
  ASSERT_EQ(commit(second->journals(), move), std::nullopt);
  ASSERT_TRUE(of_gpu.wait());
  EXPECT_THAT(commands_of(*second), IsEmpty());
  ASSERT_THAT(commands_of(*gpu), SizeIs(1));
  EXPECT_EQ(commands_of(*gpu).front().id, first);
  EXPECT_EQ(gateway->inbox().take_reply(answered).value(), "done");
  // The pool is the run's, whatever the sender thinks.
  static_cast<void>(send({.run = run, .bytes = "cancel", .starts_run = NewCommand::StartsRun::Yes, .pool = "tpu"}));
  EXPECT_THAT(commands_of(*gpu), SizeIs(2));
}

TEST_F(PostgresInboxTest, ACommandThatWasLeftWhileItsRunMovedIsPassedOn) {
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  Append move = make_append(run, 2, {});
  move.moves_to = "gpu";
  ASSERT_EQ(commit(second->journals(), move), std::nullopt);
  // As if the sender had still seen the former owner.
  const std::uint64_t id = send({.run = run, .bytes = "resume"});
  execute(fmt::format("UPDATE inbox SET target = {}, pool = '' WHERE id = {}", second->ownership().self().number, id));
  ASSERT_THAT(commands_of(*second), SizeIs(1));
  ASSERT_TRUE(second->inbox().redirect(id).has_value());
  EXPECT_THAT(commands_of(*second), IsEmpty());
  EXPECT_THAT(commands_of(*store), IsEmpty());
  EXPECT_THAT(*store->ownership().pools_without_hosts(), testing::ElementsAre("gpu"));
  EXPECT_THAT(commands_of(*join(OwnerRole::Host, "gpu")), SizeIs(1));
}

TEST_F(PostgresInboxTest, AnAdoptedCommandGoesToTheOwnerThatItsRunHasNow) {
  auto third = join();
  ASSERT_EQ(commit(third->journals(), make_append(run, 1, {"a"})), std::nullopt);
  static_cast<void>(send({.run = run, .bytes = "resume"}));
  third.reset();
  ASSERT_TRUE(claim_run(second->journals(), run).has_value());
  Notices of_second(*second);
  EXPECT_THAT(commands_of(*store), IsEmpty());  // it has looked, and passed the command on
  ASSERT_TRUE(of_second.wait());
  EXPECT_THAT(commands_of(*second), SizeIs(1));
}

TEST_F(PostgresInboxTest, HostsThatLookTogetherTakeEachCommandOnce) {
  NewCommand start{.run = run, .bytes = "start", .starts_run = NewCommand::StartsRun::Yes, .pool = "gpu"};
  for (int at = 0; at < 100; ++at) {
    start.run = make_run_name(at + 10);
    static_cast<void>(send(start));
  }
  std::vector<std::unique_ptr<StoreConnection>> hosts;
  for (int at = 0; at < 3; ++at) hosts.push_back(join(OwnerRole::Host, "gpu"));
  std::vector<std::vector<Command>> taken(hosts.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < hosts.size(); ++at)
      threads.emplace_back([&, at] {
        for (auto commands = commands_of(*hosts[at]); !commands.empty(); commands = commands_of(*hosts[at])) {
          for (const Command& command : commands) EXPECT_TRUE(hosts[at]->inbox().answer(command.id, "").has_value());
          taken[at].insert(taken[at].end(), commands.begin(), commands.end());
        }
      });
  }
  std::set<std::uint64_t> all;
  std::size_t count = 0;
  for (const auto& commands : taken)
    for (const Command& command : commands) {
      ++count;
      all.insert(command.id);
    }
  EXPECT_EQ(count, 100U);
  EXPECT_EQ(all.size(), 100U);
}

}  // namespace
}  // namespace tenon::journal::postgres
