#include "runtime/scheduling/parked_runs.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/recovery/loaded_run.h"
#include "tests/support/host_testing.h"

namespace tenon::runtime {
namespace {

using journal::RunName;
using std::chrono::milliseconds;

constexpr const char* visiting_program = R"(
agent Far {
    state { visits: i32 = 0 }
    instructions { "You are far away." }
    fn turn(ctx: Context, input: String) -> String {
        state.visits += 1
        "Answer."!
    }
}

fn speak(ctx: Context) -> String { "Say something."! }

fn visit(ctx: Context, rounds: i32) -> String {
    let heard = ""
    for round in 0..rounds {
        heard = heard + speak(ctx) + Far::run("{{ round }}")
    }
    heard
}
)";

class ValueObserver final : public HostObserver {
 public:
  void on_recorded(const RunName& /*run*/, std::string_view /*agent*/, std::uint64_t /*first*/,
                   std::span<const effects::Record> records) override {
    for (const effects::Record& record : records)
      if (const auto* ended = std::get_if<effects::Ended>(&record.body)) value = ended->value.text;
  }
  void on_text(const RunName& /*run*/, const TextProgress& /*text*/) override {}
  void on_changed(const RunName& /*run*/) override {}
  void on_problem(std::string_view message) override { ADD_FAILURE() << message; }
  void on_broken(std::string_view message) override { ADD_FAILURE() << message; }
  std::string value;
};

/// Two hosts of one database: of the pool of an agent, and of the rest.
class ParkedRunsTest : public test::HostTest {
 protected:
  struct OneHost {
    OneHost(ParkedRunsTest& test, const std::string& pool, std::uint64_t seed)
        : store(test.database->join(journal::OwnerRole::Host, pool, std::chrono::hours(1), test.clock),
                test.database->connect(), seed) {
      HostOptions options;
      options.runtime.pools = AgentPools("", pool, {{"Far", "agent/Far"}});
      const auto images = [&test](const Hash&,
                                  std::string_view) -> Result<std::shared_ptr<const ProgramImage>, ImageError> {
        return test.image;
      };
      host = std::make_unique<Host>(Host::Parts{.store = store,
                                                .model = test.model,
                                                .clock = test.clock,
                                                .random_unit = [] { return 0.5; },
                                                .images = images,
                                                .observer = observer},
                                    options);
      host->begin(Host::DrivenBy::Caller);
    }
    ~OneHost() { host->end(); }
    OneHost(const OneHost&) = delete;
    OneHost& operator=(const OneHost&) = delete;

    ValueObserver observer;
    test::SimulatedStore store;
    std::unique_ptr<Host> host;
  };

  void SetUp() override {
    test::HostTest::SetUp();
    image = test::make_image(visiting_program);
    database = std::make_unique<test::SharedDatabase>(7);
  }

  RunName begin_visit(OneHost& home, std::int32_t rounds) {
    RunStart start = start_of("visit");
    start.arguments = Json::object({{"rounds", Json(rounds)}});
    RunName run;
    home.host->start(std::move(start), {}, [&](const HostReply& reply) {
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      run = reply->run;
    });
    return run;
  }

  static void drive(OneHost& first, OneHost& second, const std::function<bool()>& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + test::patience;
    while (!is_done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      first.host->run_once(milliseconds(0));
      second.host->run_once(milliseconds(0));
    }
  }
};

TEST_F(ParkedRunsTest, OnlyWhatIsNewIsReadOfARunThatComesBack) {
  OneHost home(*this, "", 1), far(*this, "agent/Far", 2);
  const RunName run = begin_visit(home, 6);
  drive(home, far, [&] { return !far.observer.value.empty(); });  // it ends where it is
  std::string heard;
  for (int at = 0; at < 12; ++at) heard += "Hello!";
  EXPECT_EQ(far.observer.value, '"' + heard + '"');
  EXPECT_EQ(database->find_head(run)->epoch, 11U) << "it has moved in each round, and back";
  EXPECT_EQ(database->whole_reads, 1U) << "by the host that had never had it";
}

TEST_F(ParkedRunsTest, ARunThatHasAnotherPastIsReadAsAWhole) {
  OneHost home(*this, "", 1), far(*this, "agent/Far", 2);
  const RunName run = begin_visit(home, 2);
  drive(home, far, [&] { return !far.observer.value.empty(); });  // it ends where it is
  const auto reader = database->connect();
  const journal::RunHead head = *database->find_head(run);
  const auto parked_after = [&](std::uint64_t after) {
    auto parked = std::make_shared<ParkedRun>();
    parked->after = after;
    parked->chain = journal::chain_start(run);
    const auto records = reader->journals().read(run, 0, after);
    for (const journal::Record& record : *records) parked->chain = sha256(parked->chain.view(), record.bytes);
    return parked;
  };
  const auto continues = [&](std::shared_ptr<ParkedRun> parked) {
    LoadedRun loaded(reader->journals(), head, SnapshotUse::Use, std::move(parked));
    if (loaded.parked() != nullptr) return true;
    const ImageSource images = [this](const Hash&, std::string_view) { return image; };
    EXPECT_TRUE(recover(loaded, head, images, SnapshotUse::Use).has_value());
    return false;
  };
  EXPECT_TRUE(continues(parked_after(3)));
  EXPECT_TRUE(continues(parked_after(head.records)));
  EXPECT_FALSE(continues(nullptr));
  auto other = parked_after(3);
  other->chain = journal::chain_start(run);
  EXPECT_FALSE(continues(other)) << "other records";
  other = parked_after(head.records);
  ++other->after;
  EXPECT_FALSE(continues(other)) << "the store has been set back";
}

}  // namespace
}  // namespace tenon::runtime
