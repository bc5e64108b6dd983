#include "journal/postgres/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <semaphore>
#include <set>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "journal/postgres/channels.h"
#include "tests/support/patience.h"
#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::expect_soon;
using test::make_append;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Several owners of one store.
class KeeperTest : public test::PostgresStoreTest {
 protected:
  KeeperTest() : PostgresStoreTest(test::PostgresServer::shared().new_url() + "&tenon.lease=1000") {}

  /// A process that owns `run` and says so; see tests/support/owning_process_main.cpp.
  class OwningProcess {
   public:
    OwningProcess(const std::string& url, const RunName& run) {
      int ends[2];
      EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
      said_ = Descriptor(ends[0]);
      const Descriptor output(ends[1]);
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      posix_spawn_file_actions_adddup2(&actions, output.number(), 1);
      std::string program = TENON_OWNING_PROCESS, store = url, name = run.text;
      char* const arguments[] = {program.data(), store.data(), name.data(), nullptr};
      EXPECT_EQ(posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ), 0);
      posix_spawn_file_actions_destroy(&actions);
    }
    ~OwningProcess() {
      signal(SIGKILL);
      int status = 0;
      waitpid(process_, &status, 0);
    }
    OwningProcess(const OwningProcess&) = delete;
    OwningProcess& operator=(const OwningProcess&) = delete;
    void signal(int number) const { kill(process_, number); }
    /// What it says next; 0 when it has ended.
    [[nodiscard]] char next() const {
      char said = 0;
      return read(said_.number(), &said, 1) == 1 ? said : '\0';
    }
    /// Takes what it has said up to now.
    void forget_said() const {
      pollfd ready{said_.number(), POLLIN, 0};
      while (poll(&ready, 1, 0) == 1 && next() != '\0') {
      }
    }
    /// Until it has recorded something, and may act.
    void wait_until_it_acts() const {
      char said = next();
      while (said == 's') said = next();
      ASSERT_EQ(said, 'h');
    }

   private:
    Descriptor said_;
    pid_t process_ = 0;
  };

  RunName run = make_run_name(1);
};

TEST_F(KeeperTest, OwnersSeeEachOther) {
  const auto second = join(OwnerRole::Visitor);
  const auto owners = store->ownership().owners();
  ASSERT_THAT(*owners, SizeIs(2));
  EXPECT_NE((*owners)[0].id, (*owners)[1].id);
  EXPECT_EQ((*owners)[1].role, OwnerRole::Visitor);
  EXPECT_GT((*owners)[1].lease_ms, 0);
  EXPECT_LE((*owners)[1].lease_ms, 1'000);
}

TEST_F(KeeperTest, ARunOfALivingOwnerCannotBeClaimed) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto second = join();
  for (const ClaimMode mode : {ClaimMode::IfMine, ClaimMode::IfFree, ClaimMode::IfExpired}) {
    const auto claimed = claim_run(second->journals(), run, mode);
    ASSERT_FALSE(claimed.has_value());
    EXPECT_EQ(claimed.error().kind, StoreError::Kind::Owned);
    EXPECT_THAT(claimed.error().message, HasSubstr("process " + std::to_string(getpid())));
  }
  EXPECT_THAT(*second->ownership().claim_abandoned(10), IsEmpty());
  EXPECT_EQ(commit(make_append(run, 2, {"b"})), std::nullopt);
  EXPECT_EQ(claim_run(store->journals(), run, ClaimMode::IfMine)->epoch, 1U);
  ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
  EXPECT_FALSE(has(*second, run, ClaimMode::IfMine));
  EXPECT_TRUE(has(*second, run));
}

TEST_F(KeeperTest, WhatAnOwnerLeavesIsFreeAtOnce) {
  auto second = join();
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  std::counting_semaphore<> noticed{0};
  const auto subscription = store->wakeups().subscribe([&](Wakeups::Notice) { noticed.release(); });
  const std::uint64_t before = store->ownership().abandonments();
  second.reset();
  EXPECT_TRUE(has(*store, run));
  ASSERT_TRUE(noticed.try_acquire_for(test::patience));
  expect_soon([&] { return store->ownership().abandonments() > before; });
}

TEST_F(KeeperTest, AnOwnerThatLeavesBeforeItWasSeenIsNoticed) {
  const std::uint64_t before = store->ownership().abandonments();
  const std::int64_t number = query_number("SELECT number FROM store");
  execute("SELECT pg_notify('" + owners_channel(number) + "', 'gone')");
  expect_soon([&] { return store->ownership().abandonments() > before; });
}

TEST_F(KeeperTest, AnOwnerThatIsClosedAtOnceHasLeft) {
  for (int round = 0; round < 20; ++round) static_cast<void>(join());
  EXPECT_THAT(*store->ownership().owners(), SizeIs(1));
}

TEST_F(KeeperTest, AHostTakesRunsOfItsPoolOnly) {
  auto second = join(OwnerRole::Host, "gpu");
  Append append = make_append(run, 1, {"a"});
  append.pool = "gpu";
  ASSERT_EQ(commit(second->journals(), append), std::nullopt);
  second.reset();
  EXPECT_THAT(*store->ownership().claim_abandoned(10), IsEmpty());
  const auto refused = claim_run(store->journals(), run);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, StoreError::Kind::Owned);
  EXPECT_THAT(refused.error().message, HasSubstr("pool `gpu`"));
  second = join(OwnerRole::Host, "gpu");
  EXPECT_THAT(*second->ownership().claim_abandoned(10), SizeIs(1));
  second.reset();
  EXPECT_TRUE(has(*join(OwnerRole::Visitor), run));
}

TEST_F(KeeperTest, PoolsWithWorkAndWithoutAHostAreFound) {
  EXPECT_THAT(*store->ownership().pools_without_hosts(), IsEmpty());
  auto second = join(OwnerRole::Host, "gpu");
  std::vector<Append> appends;
  for (const RunState state : {RunState::Running, RunState::Waiting, RunState::Idle, RunState::Done}) {
    appends.push_back(make_append(make_run_name(10 + static_cast<int>(state)), 1, {"a"}));
    appends.back().summary.state = state;
    appends.back().pool = "pool " + std::string(name_of(state));
  }
  appends[1].summary.wake_at = 5;  // its time has come
  ASSERT_TRUE(second->journals().commit(appends).has_value());
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);  // of a host that lives
  EXPECT_THAT(*store->ownership().pools_without_hosts(), IsEmpty());
  second.reset();
  NewCommand start{.run = make_run_name(2), .bytes = "start", .starts_run = NewCommand::StartsRun::Yes, .pool = "tpu"};
  ASSERT_TRUE(store->inbox().send(start).has_value());
  EXPECT_THAT(*store->ownership().pools_without_hosts(), ElementsAre("pool running", "pool waiting", "tpu"));
}

TEST_F(KeeperTest, ARunThatMovesIsGivenToAHostOfItsPool) {
  const auto gpu = join(OwnerRole::Host, "gpu");
  std::counting_semaphore<> noticed{0};
  const auto subscription = gpu->wakeups().subscribe([&](Wakeups::Notice) { noticed.release(); });
  const std::uint64_t before_here = store->ownership().given();
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  Append move = make_append(run, 2, {"b"});
  move.moves_to = "gpu";
  // What follows in the same commit comes too late.
  const std::vector<Append> appends = {move, make_append(run, 3, {"late"}), make_append(make_run_name(2), 1, {"c"})};
  EXPECT_THAT(*store->journals().commit(appends), ElementsAre(std::nullopt, AppendRefusal::OldEpoch, std::nullopt));
  EXPECT_EQ(commit(make_append(run, 3, {"late"})), AppendRefusal::OldEpoch);
  EXPECT_THAT(*store->ownership().claim_abandoned(10), IsEmpty());
  EXPECT_FALSE(has(*store, run));
  ASSERT_TRUE(noticed.try_acquire_for(test::patience));
  expect_soon([&] { return gpu->ownership().given() > 0; });
  EXPECT_EQ(store->ownership().given(), before_here);
  const auto claimed = gpu->ownership().claim_abandoned(10);
  ASSERT_THAT(*claimed, SizeIs(1));
  EXPECT_EQ(claimed->front().run, run);
  EXPECT_EQ(claimed->front().epoch, 1U);
  EXPECT_THAT(*gpu->ownership().claim_abandoned(10), IsEmpty()) << "each is returned once";
  EXPECT_THAT(read_all(gpu->journals(), run), ElementsAre("a", "b"));
  // And back.
  move = make_append(run, 3, {"c"});
  move.epoch = 1;
  move.moves_to = "";
  EXPECT_EQ(commit(gpu->journals(), move), std::nullopt);
  EXPECT_THAT(*store->ownership().claim_abandoned(10), SizeIs(1));
  Append next = make_append(run, 4, {"d"});
  next.epoch = 2;
  EXPECT_EQ(commit(next), std::nullopt);
  expect_clean(*store);
}

TEST_F(KeeperTest, ARunThatWasGivenIsFoundWithoutANotice) {
  const auto gpu = join(OwnerRole::Host, "gpu");
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  execute(fmt::format("UPDATE runs SET owner = {}, pool = 'gpu', epoch = epoch + 1", gpu->ownership().self().number));
  EXPECT_THAT(*store->ownership().claim_abandoned(10), IsEmpty());
  EXPECT_THAT(*gpu->ownership().claim_abandoned(10), SizeIs(1));
  EXPECT_THAT(*gpu->ownership().claim_abandoned(10), IsEmpty());
}

TEST_F(KeeperTest, ARunThatWasGivenToAHostThatDiesIsTakenByAnother) {
  auto first = join(OwnerRole::Host, "gpu");
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  Append move = make_append(run, 2, {"b"});
  move.moves_to = "gpu";
  ASSERT_EQ(commit(move), std::nullopt);
  const auto second = join(OwnerRole::Host, "gpu");
  EXPECT_THAT(*second->ownership().claim_abandoned(10), IsEmpty());
  first.reset();
  const auto claimed = second->ownership().claim_abandoned(10);
  ASSERT_THAT(*claimed, SizeIs(1));
  EXPECT_EQ(claimed->front().epoch, 2U) << "as by any claim";
}

TEST_F(KeeperTest, ARunIsGivenToTheSameHostEachTime) {
  std::vector<std::unique_ptr<StoreConnection>> hosts;
  for (int at = 0; at < 3; ++at) hosts.push_back(join(OwnerRole::Host, "gpu"));
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  std::set<std::size_t> takers;
  for (std::uint64_t epoch = 0; epoch < 8; epoch += 2) {
    Append move = make_append(run, 2 + epoch, {"b"});
    move.epoch = epoch;
    move.moves_to = "gpu";
    ASSERT_EQ(commit(move), std::nullopt);
    for (std::size_t at = 0; at < hosts.size(); ++at) {
      if (hosts[at]->ownership().claim_abandoned(10)->empty()) continue;
      takers.insert(at);
      Append back = make_append(run, 3 + epoch, {"c"});
      back.epoch = epoch + 1;
      back.moves_to = "";
      ASSERT_EQ(commit(hosts[at]->journals(), back), std::nullopt);
    }
    ASSERT_THAT(*store->ownership().claim_abandoned(10), SizeIs(1));
  }
  EXPECT_THAT(takers, SizeIs(1));
}

TEST_F(KeeperTest, ARunThatMovesWithItsFirstRecords) {
  const auto gpu = join(OwnerRole::Host, "gpu");
  Append start = make_append(run, 1, {"a"});
  Append move = make_append(run, 2, {});
  move.moves_to = "gpu";
  EXPECT_THAT(*store->journals().commit(std::vector<Append>{start, move}), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_EQ(gpu->ownership().claim_abandoned(10)->front().epoch, 2U);
  expect_clean(*store);
}

TEST_F(KeeperTest, ARunThatMovesWhereNoHostIsWaitsForOne) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  Append move = make_append(run, 2, {});
  move.moves_to = "gpu";
  ASSERT_EQ(commit(move), std::nullopt);
  EXPECT_THAT(*store->ownership().pools_without_hosts(), ElementsAre("gpu"));
  EXPECT_THAT(*join(OwnerRole::Host, "gpu")->ownership().claim_abandoned(10), SizeIs(1));
}

TEST_F(KeeperTest, TheRunsOfAKilledProcessAreFreeInAMoment) {
  OwningProcess process(path, run);
  process.wait_until_it_acts();
  EXPECT_FALSE(has(*store, run));
  process.signal(SIGKILL);
  const auto killed = steady_clock::now();
  expect_soon([&] { return store->ownership().abandonments() > 0; });
  const auto time = steady_clock::now() - killed;
  EXPECT_TRUE(has(*store, run));
  EXPECT_LT(time, seconds(5));  // on a loaded machine; bench/postgres measures it
  RecordProperty("detected_ms", static_cast<int>(std::chrono::duration_cast<milliseconds>(time).count()));
  expect_clean(*store);
}

TEST_F(KeeperTest, AnOwnerThatOpensTheStoreFindsTheDeadMarked) {
  {
    OwningProcess process(path, run);
    process.wait_until_it_acts();
    store.reset();
    process.signal(SIGKILL);
  }
  store = open(host);
  EXPECT_TRUE(has(*store, run));
}

TEST_F(KeeperTest, AStoppedProcessLosesItsRunsAndBeginsNothingWhenItContinues) {
  OwningProcess process(path, run);
  process.wait_until_it_acts();
  process.signal(SIGSTOP);
  expect_soon([&] { return has(*store, run, ClaimMode::IfExpired); });
  const std::uint64_t records = store->journals().head(run)->records;
  std::this_thread::sleep_for(seconds(2));  // twice its lease
  process.forget_said();
  process.signal(SIGCONT);
  // It was stopped anywhere in its loop: what it says from now on was decided after it continued, except one word.
  std::string said;
  for (char next = process.next(); next != '\0'; next = process.next()) said += next;
  EXPECT_EQ(said.find('h', 1), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with('r')) << said;
  EXPECT_EQ(store->journals().head(run)->records, records);
  expect_clean(*store);
}

TEST_F(KeeperTest, AStoppedProcessThatHoldsARowIsEnded) {
  // A transaction that never ends, as that of an owner that stops in the middle of one.
  auto second = join();
  ASSERT_EQ(commit(second->journals(), make_append(run, 1, {"a"})), std::nullopt);
  const auto id = static_cast<std::int64_t>(second->ownership().self().number);
  const auto holder = connect(application_name_of(query_number("SELECT number FROM store"), id));
  ASSERT_TRUE(holder->execute("BEGIN; SELECT * FROM runs FOR UPDATE").has_value());
  execute("UPDATE owners SET lease_until = clock_timestamp() - interval '1 s' WHERE id = " + std::to_string(id));
  expect_soon([&] { return has(*store, run, ClaimMode::IfExpired); });
  EXPECT_FALSE(holder->execute("SELECT 1").has_value());
}

TEST_F(KeeperTest, AnOwnerWhoseConnectionWasCutReturns) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const auto second = join();
  const OwnerId self = store->ownership().self();
  for (int round = 0; round < 3; ++round) {
    execute("SELECT pg_terminate_backend(backend::integer) FROM owners WHERE id = " + std::to_string(self.number));
    expect_soon([&] { return store->ownership().lease() == LeaseState::Held; });
    EXPECT_EQ(store->ownership().self(), self);
    EXPECT_FALSE(has(*second, run));
  }
  EXPECT_EQ(commit(make_append(run, 2, {"b"})), std::nullopt);
}

/// A process of the server that is killed makes the server end all its sessions, and recover.
TEST_F(KeeperTest, AnOwnerKeepsItsRunsWhenTheServerRecovers) {
  test::PostgresServer server;
  path = server.new_url() + "&tenon.lease=5000";
  reopen(host);
  const OwningProcess process(path, run);
  process.wait_until_it_acts();
  process.signal(SIGSTOP);  // it will be slow to connect again
  // Its commits need not survive a crash of the server, and here all of them should, also the one in progress.
  execute("SELECT pg_sleep(0.2)");
  execute("CHECKPOINT");
  ASSERT_EQ(kill(static_cast<pid_t>(connect()->backend().process), SIGKILL), 0);
  const auto until = steady_clock::now() + milliseconds(1'500);
  while (steady_clock::now() < until) {
    ASSERT_FALSE(has(*store, run, ClaimMode::IfExpired));
    std::this_thread::sleep_for(milliseconds(20));
  }
  process.signal(SIGCONT);
  char said = process.next();
  for (const auto last = steady_clock::now() + seconds(5); steady_clock::now() < last && said != 'r';)
    said = process.next();
  EXPECT_NE(said, 'r');
  store.reset();
}

TEST_F(KeeperTest, AnOwnerThatWasMarkedJoinsAgain) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const OwnerId self = store->ownership().self();
  execute("UPDATE owners SET dead_at = clock_timestamp() WHERE id = " + std::to_string(self.number));
  expect_soon([&] { return store->ownership().lease() == LeaseState::Lost; });
  // It claims nothing, and starts nothing.
  EXPECT_FALSE(has(*store, run));
  EXPECT_EQ(commit(make_append(make_run_name(2), 1, {"a"})), AppendRefusal::OldEpoch);
  const auto second = join();
  EXPECT_TRUE(has(*second, run));
  EXPECT_EQ(commit(make_append(run, 2, {"late"})), AppendRefusal::OldEpoch);

  ASSERT_TRUE(store->ownership().rejoin().has_value());
  EXPECT_NE(store->ownership().self(), self);
  EXPECT_EQ(store->ownership().lease(), LeaseState::Held);
  EXPECT_FALSE(has(*store, run));
  EXPECT_EQ(commit(make_append(make_run_name(2), 1, {"a"})), std::nullopt);
  EXPECT_THAT(*store->ownership().owners(), SizeIs(2));
}

TEST_F(KeeperTest, ALeaseIsRenewedWhileItIsNotNeeded) {
  const auto until = steady_clock::now() + milliseconds(2'500);
  while (steady_clock::now() < until) {
    ASSERT_EQ(store->ownership().lease(), LeaseState::Held);
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST_F(KeeperTest, ARunThatIsLockedDoesNotKeepOthersFromBeingTaken) {
  const RunName other = make_run_name(2);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  ASSERT_EQ(commit(make_append(other, 1, {"a"})), std::nullopt);
  ASSERT_TRUE(store->ownership().release(std::vector{run, other}).has_value());
  const auto administrator = connect();
  ASSERT_TRUE(administrator->execute("BEGIN; SELECT FROM runs WHERE name = '" + run.text + "' FOR UPDATE").has_value());
  const auto taken = store->ownership().claim_abandoned(10);
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  ASSERT_THAT(*taken, SizeIs(1));
  EXPECT_EQ(taken->front().run, other);
  ASSERT_TRUE(administrator->execute("ROLLBACK").has_value());
  EXPECT_THAT(*store->ownership().claim_abandoned(10), SizeIs(1));
}

TEST_F(KeeperTest, OwnersThatTakeAbandonedRunsTogetherTakeEachOnce) {
  constexpr int run_count = 300;
  {
    auto former = join();
    std::vector<Append> appends;
    for (int at = 0; at < run_count; ++at) appends.push_back(make_append(make_run_name(at + 10), 1, {"a"}));
    ASSERT_TRUE(former->journals().commit(appends).has_value());
  }
  std::vector<std::unique_ptr<StoreConnection>> owners;
  for (int at = 0; at < 4; ++at) owners.push_back(join());
  std::vector<std::vector<RunHead>> taken(owners.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < owners.size(); ++at)
      threads.emplace_back([&, at] {
        while (true) {
          const auto heads = owners[at]->ownership().claim_abandoned(10);
          ASSERT_TRUE(heads.has_value()) << heads.error().message;
          if (heads->empty()) return;
          taken[at].insert(taken[at].end(), heads->begin(), heads->end());
        }
      });
  }
  std::size_t count = 0;
  for (const auto& heads : taken) {
    count += heads.size();
    for (const RunHead& head : heads) EXPECT_EQ(head.epoch, 1U);
  }
  EXPECT_EQ(count, static_cast<std::size_t>(run_count));
}

}  // namespace
}  // namespace tenon::journal::postgres
