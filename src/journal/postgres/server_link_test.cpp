// Servers that crash, restart and stop.
#include "journal/postgres/server_link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "base/descriptor.h"
#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::expect_soon;
using test::make_append;
using test::PostgresServer;
using testing::SizeIs;

/// The server is the test's own, and crashes.
struct HasServer {
  PostgresServer server;
};

class ServerLinkTest : private HasServer, public test::PostgresStoreTest {
 protected:
  explicit ServerLinkTest(milliseconds lease = seconds(1))
      : PostgresStoreTest(server.new_url() + "&tenon.lease=" + std::to_string(lease.count())) {}
  using HasServer::server;

  [[nodiscard]] std::unique_ptr<StoreConnection> join_durably() {
    return open({.durability = Durability::Full, .role = OwnerRole::Host});
  }
  void restart(PostgresServer::Stop how) {
    server.stop(how);
    server.start();
  }
};

/// An owner that appends to its runs, all in one commit, until it is stopped.
class BusyOwner {
 public:
  BusyOwner(std::unique_ptr<StoreConnection> store, int first_run)
      : store_(std::move(store)), self_(store_->ownership().self()) {
    for (int at = 0; at < 5; ++at) runs_.push_back(make_run_name(first_run + at));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested() && is_well_) append();
    });
  }
  /// How many commits were acknowledged.
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  void stop() {
    thread_.request_stop();
    thread_.join();
  }
  [[nodiscard]] StoreConnection& store() { return *store_; }
  /// Each of its runs has what was acknowledged, once and in order.
  void expect_complete() {
    EXPECT_TRUE(is_well_);
    EXPECT_EQ(store_->ownership().self(), self_);
    for (const RunName& run : runs_) {
      const auto records = store_->journals().read(run, 0, SIZE_MAX);
      ASSERT_TRUE(records.has_value()) << records.error().message;
      ASSERT_EQ(records->size(), commits_);
      for (const Record& record : *records) EXPECT_EQ(record.bytes, std::to_string(record.number));
    }
  }

 private:
  void append() {
    const std::uint64_t number = commits_ + 1;
    std::vector<Append> appends;
    for (const RunName& run : runs_) {
      appends.push_back(make_append(run, number, {std::to_string(number)}));
      appends.back().contents = {test::make_content(run.text + std::to_string(number))};
      appends.back().references = {appends.back().contents.front().hash};
    }
    const auto outcomes = store_->journals().commit(appends);
    if (!outcomes) {
      ADD_FAILURE() << outcomes.error().message;
      is_well_ = false;
      return;
    }
    for (const auto& refusal : *outcomes)
      if (refusal) is_well_ = false;
    ++commits_;
  }

  const std::unique_ptr<StoreConnection> store_;
  const OwnerId self_;
  std::vector<RunName> runs_;
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<bool> is_well_{true};
  std::jthread thread_;
};

TEST_F(ServerLinkTest, CrashesInMidCommitLoseNothingAndRepeatNothing) {
  constexpr int rounds = 20;
  store.reset();
  std::vector<std::unique_ptr<BusyOwner>> owners;
  for (int at = 0; at < 3; ++at) owners.push_back(std::make_unique<BusyOwner>(join_durably(), 100 * at));
  for (int round = 0; round < rounds; ++round) {
    for (const auto& owner : owners) {
      const std::uint64_t before = owner->commits();
      expect_soon([&] { return owner->commits() >= before + 2; });
    }
    restart(PostgresServer::Stop::Immediate);
  }
  for (const auto& owner : owners) {
    const std::uint64_t before = owner->commits();
    expect_soon([&] { return owner->commits() > before; });
  }
  for (const auto& owner : owners) owner->stop();
  for (const auto& owner : owners) {
    owner->expect_complete();
    expect_soon([&] { return owner->store().ownership().lease() == LeaseState::Held; });
  }
  expect_clean(owners.front()->store());
}

/// With a lease in which many owners return also on a busy machine.
class ManyOwnersTest : public ServerLinkTest {
 protected:
  static constexpr seconds lease{4};
  ManyOwnersTest() : ServerLinkTest(lease) {}
};

TEST_F(ManyOwnersTest, ARestartTakesNoRunFromAnyone) {
  constexpr int owner_count = 12;
  std::vector<std::unique_ptr<StoreConnection>> owners;
  std::vector<OwnerId> ids;
  std::vector<RunName> runs;
  for (int at = 0; at < owner_count; ++at) {
    owners.push_back(join());
    ids.push_back(owners.back()->ownership().self());
    runs.push_back(make_run_name(10));
    ASSERT_EQ(commit(owners.back()->journals(), make_append(runs.back(), 1, {"a"})), std::nullopt);
  }
  std::uint64_t first = 2;
  for (const PostgresServer::Stop how : {PostgresServer::Stop::Fast, PostgresServer::Stop::Immediate}) {
    execute("CHECKPOINT");  // commits that need not survive a crash of the server
    server.stop(how);
    expect_soon([&] {
      return std::ranges::all_of(owners,
                                 [](const auto& owner) { return owner->ownership().lease() != LeaseState::Held; });
    });
    std::this_thread::sleep_for(lease);
    server.start();
    for (std::size_t at = 0; at < owners.size(); ++at) {
      expect_soon([&] { return owners[at]->ownership().lease() == LeaseState::Held; });
      EXPECT_EQ(commit(owners[at]->journals(), make_append(runs[at], first, {"b"})), std::nullopt);
      EXPECT_EQ(owners[at]->ownership().self(), ids[at]);
    }
    ++first;
  }
  const auto left = store->ownership().owners();
  ASSERT_TRUE(left.has_value()) << left.error().message;
  EXPECT_THAT(*left, SizeIs(owner_count + 1));
}

TEST_F(ServerLinkTest, CallsWaitForAServerOnlyUntilTheStoreIsClosed) {
  const RunName run = make_run_name(1);
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  server.stop(PostgresServer::Stop::Fast);
  const Append append = make_append(run, 2, {"b"});
  auto outcome = std::async(std::launch::async, [&] { return store->journals().commit({&append, 1}); });
  EXPECT_EQ(outcome.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  const auto stopped_at = steady_clock::now();
  store->stop_waiting();
  EXPECT_EQ(outcome.get().error().kind, StoreError::Kind::Unavailable);
  store.reset();
  EXPECT_LT(steady_clock::now() - stopped_at, seconds(15));
  server.start();
  reopen(host);
  EXPECT_EQ(store->journals().head(run)->records, 1U);
}

/// Accepts connections, and never says anything.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.number(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  Descriptor listener_;
  int port_ = 0;
};

TEST_F(ServerLinkTest, AServerThatIsSilentDoesNotHideTheNextOne) {
  const SilentServer silent;
  std::string hosts = path;
  const std::string own = "host=" + server.socket_folder();
  hosts.replace(hosts.find(own), own.size(),
                fmt::format("host=127.0.0.1,{}&port={},5432&connect_timeout=2", server.socket_folder(), silent.port()));
  const auto begun = steady_clock::now();
  const auto opened = open_store(hosts, host);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_EQ(commit((*opened)->journals(), make_append(make_run_name(1), 1, {"a"})), std::nullopt);
  EXPECT_LT(steady_clock::now() - begun, seconds(20));
}

TEST_F(ServerLinkTest, AStoreIsOpenedOnceTheServerHasStarted) {
  server.stop(PostgresServer::Stop::Immediate);
  const auto refused = open_store(path, host);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, StoreError::Kind::Unavailable);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("the server cannot be reached"));
  server.start();
  EXPECT_NE(open(host), nullptr);
}

}  // namespace
}  // namespace tenon::journal::postgres
