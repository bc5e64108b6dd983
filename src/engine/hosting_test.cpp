#include "engine/hosting.h"

#include <future>

#include "tests/support/engine_testing.h"

namespace tenon::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Waits for the end of a run.
class EndObserver final : public runtime::HostObserver {
 public:
  void on_recorded(const journal::RunName&, std::string_view, std::uint64_t,
                   std::span<const effects::Record> records) override {
    for (const effects::Record& record : records) {
      if (const auto* const ended = std::get_if<effects::Ended>(&record.body)) value.set_value(ended->value.text);
    }
  }
  void on_text(const journal::RunName&, const runtime::TextProgress&) override {}
  void on_changed(const journal::RunName&) override {}
  void on_problem(std::string_view message) override { ADD_FAILURE() << message; }
  void on_broken(std::string_view message) override { ADD_FAILURE() << message; }

  std::promise<std::string> value;
};

class HostingTest : public test::EngineTest {
 protected:
  /// A program in a folder of its own, whose manifest chooses the model.
  std::string program(const std::string& name, const std::string& model) {
    std::filesystem::create_directory(folder.file(name));
    file(name + "/tenon.toml", "[model]\ndefault = \"" + model + "\"\n");
    return file(name + "/main.tn", "fn main() -> i32 { 42 }\n");
  }
  HostingOptions options() {
    HostingOptions chosen;
    chosen.store_choice.path = folder.file("runs.db");
    return chosen;
  }

  EndObserver observer;
};

TEST_F(HostingTest, ProgramsShareOneModel) {
  HostedPrograms programs;
  ASSERT_TRUE(programs.add(program("a", "openai:one"), {}, system).has_value());
  const auto refused = programs.add(program("b", "openai:two"), {}, system);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, EngineError::Kind::Conflict);
  EXPECT_EQ(refused.error().setting, "model");
  EXPECT_THAT(refused.error().message, HasSubstr("`openai:two`"));
  EXPECT_THAT(programs.entries(), SizeIs(1));

  Settings settings;
  settings.model.spec = "openai:one";
  EXPECT_TRUE(programs.add(program("c", "openai:two"), settings, system).has_value());
  EXPECT_EQ(programs.model().spec, "openai:one");
}

TEST_F(HostingTest, WarningsOfAProgramAreReturned) {
  HostedPrograms programs;
  const auto added = programs.add(file("main.tn", "fn main() -> i32 { 42 }\n"), {}, system);
  ASSERT_TRUE(added.has_value());
  EXPECT_THAT(added->list, IsEmpty());
  const auto refused = programs.add(folder.file("none.tn"), {}, system);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, EngineError::Kind::Program);
}

TEST_F(HostingTest, AgentsArePlacedByTheManifest) {
  const auto placed = [&](const std::string& name, const std::string& table) {
    std::filesystem::create_directory(folder.file(name));
    file(name + "/tenon.toml", "[model]\ndefault = \"openai:one\"\n" + table);
    return file(name + "/main.tn", "agent Solver {\n    fn turn(ctx: Context, input: i32) -> i32 { input }\n}\n");
  };
  HostedPrograms programs;
  ASSERT_TRUE(programs.add(placed("a", "[agents.Solver]\nnum_gpus = 1\n[agents.Else]\nnum_gpus = 2\n"), {}, system));
  const project::AgentPlacements expected = {{"Solver", {.num_gpus = 1.0}}};
  EXPECT_EQ(programs.placements(), expected) << "of the agents that it declares";
  EXPECT_TRUE(programs.add(placed("b", "[agents.Solver]\nnum_gpus = 1\n"), {}, system));
  const auto other = programs.add(placed("c", "[agents.Solver]\nnum_gpus = 2\n"), {}, system);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().kind, EngineError::Kind::Conflict);
  EXPECT_THAT(other.error().message, HasSubstr("`Solver`"));
}

TEST_F(HostingTest, AHostOfAnAgentThatIsNotPlacedIsRefused) {
  for (const bool is_placed : {false, true}) {
    std::filesystem::create_directories(folder.file("a"));
    file("none.script", "");
    file("a/tenon.toml", std::string("[model]\ndefault = \"script:../none.script\"\n") +
                             (is_placed ? "[agents.Solver]\nplacement = \"actor\"\n" : ""));
    HostedPrograms programs;
    ASSERT_TRUE(programs.add(
        file("a/main.tn", "agent Solver {\n    fn turn(ctx: Context, input: i32) -> i32 { input }\n}\n"), {}, system));
    HostingOptions chosen = options();
    chosen.agent = "Solver";
    const auto hosting = Hosting::open(std::move(programs), std::move(chosen), observer, system);
    ASSERT_FALSE(hosting.has_value());
    EXPECT_EQ(hosting.error().setting, "agent");
    EXPECT_THAT(hosting.error().message, HasSubstr(is_placed ? "PostgreSQL" : "`[agents.Solver]`"));
  }
}

TEST_F(HostingTest, AHostRunsAProgramAndRecordsIt) {
  file("none.script", "");
  HostedPrograms programs;
  ASSERT_TRUE(programs.add(program("a", "script:../none.script"), {}, system).has_value());
  auto hosting = Hosting::open(std::move(programs), options(), observer, system);
  ASSERT_TRUE(hosting.has_value()) << describe(hosting.error());
  runtime::Host& host = (*hosting)->host();
  host.begin();
  const HostedPrograms::Entry& entry = (*hosting)->programs().entries().front();
  runtime::RunStart start{.image = entry.image, .options = entry.options};
  std::promise<runtime::HostReply> replied;
  host.start(std::move(start), {}, [&](runtime::HostReply reply) { replied.set_value(std::move(reply)); });
  const runtime::HostReply reply = replied.get_future().get();
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(observer.value.get_future().get(), "42");
  const auto head = (*hosting)->reader().journals().head(reply->run);
  ASSERT_TRUE(head.has_value());
  EXPECT_TRUE(journal::has_ended(head->summary.state));
  host.end();
}

TEST_F(HostingTest, AStoreInUseIsAnError) {
  const auto owner = open_store(options().store_choice, StoreUse::Change, system);
  ASSERT_TRUE(owner.has_value());
  file("none.script", "");
  HostedPrograms programs;
  ASSERT_TRUE(programs.add(program("a", "script:../none.script"), {}, system).has_value());
  const auto hosting = Hosting::open(std::move(programs), options(), observer, system);
  ASSERT_FALSE(hosting.has_value());
  EXPECT_EQ(hosting.error().kind, EngineError::Kind::InUse);
}

}  // namespace
}  // namespace tenon::engine
