#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/host/host.h"
#include "tests/support/fixed_model.h"
#include "tests/support/journal_testing.h"
#include "tests/support/patience.h"
#include "tests/support/program_image.h"
#include "tests/support/shared_database.h"
#include "tests/support/shifted_clock.h"
#include "tests/support/simulated_store.h"

/// Shared by the tests of the host.
namespace tenon::test {

/// Functions and agents that ask, wait and count.
inline constexpr const char* host_program = R"(
fn two(ctx: Context) -> String {
    let first = ask<String>("First?")
    let second = ask<String>("Second?")
    "{{ first }}, {{ second }}"
}

fn count(ctx: Context) -> String {
    let done = 0
    while done < 50 {
        let t = now()
        done = done + 1
    }
    "counted"
}

fn spin(ctx: Context) -> String {
    let done = 0
    while done < 3000000 {
        done = done + 1
    }
    "spun"
}

fn nap(ctx: Context) -> String { rest(20) }

fn hear(ctx: Context) -> String {
    ask_within<String>("Anyone?", 300) catch late { "no one" }
}

fn measure(ctx: Context) -> String {
    let begin = now()
    sleep(200)
    if now() < begin + 200 { "woke early" } else { "woke in time" }
}

fn rest(ms: i64) -> String {
    sleep(ms)
    "woke"
}

agent Counter {
    state { n: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.n = state.n + 1
        return "turn {{ state.n }}: {{ input }}"
    }
}

agent Asker {
    fn turn(ctx: Context, input: String) -> String {
        return ask<String>("Sure?")
    }
}

fn checked(ctx: Context) -> String {
    let answer = ask<String>("Left?")
    assert answer == "go"
    answer
}

agent Far {
    fn turn(ctx: Context, input: String) -> String {
        return ask<String>("From afar?")
    }
}

fn say(ctx: Context) -> String {
    "Say something."!
}

fn say_and_wait(ctx: Context) -> String {
    let said = say(ctx)
    sleep(3600000)
    said
}

fn wait_and_call(ctx: Context) -> String {
    parallel {
        say_and_wait(ctx)
        Far::run("x")
    }
    "called"
}

fn branches(ctx: Context) -> String {
    let given = parallel {
        checked(ctx)
        ask<String>("Right?")
    } catch failed {
        ("none", "none")
    }
    let last = ask<String>("Last?")
    "{{ given.0 }}, {{ last }}"
}
)";

/// Keeps what the host has made durable, and what it reports.
class RecordingObserver final : public runtime::HostObserver {
 public:
  void on_recorded(const journal::RunName& run, std::string_view, std::uint64_t first,
                   std::span<const effects::Record> records) override {
    for (const effects::Record& record : records) {
      EXPECT_EQ(first, ++numbers[run.text]);
      ++first;
      if (const auto* asked = std::get_if<effects::Requested>(&record.body)) {
        if (asked->kind == effects::EffectKind::Ask) waits[run.text].push_back(asked->key);
      }
      if (const auto* ended = std::get_if<effects::Ended>(&record.body)) values[run.text] = ended->value.text;
      if (const auto* ended = std::get_if<effects::TurnEnded>(&record.body)) values[run.text] = ended->value.text;
    }
  }
  void on_text(const journal::RunName&, const runtime::TextProgress&) override {}
  void on_changed(const journal::RunName&) override {}
  void on_problem(std::string_view message) override { problems.emplace_back(message); }
  void on_broken(std::string_view message) override { problems.emplace_back(message); }

  std::map<std::string, std::uint64_t> numbers;           ///< of the newest record
  std::map<std::string, std::string> values;              ///< of the run or its newest turn, as JSON
  std::map<std::string, std::vector<std::string>> waits;  ///< what the run has asked
  std::vector<std::string> problems;
};

/// A host on the thread of the test, with a store that completes reads and writes in random order.
class HostTest : public JournalTest {
 protected:
  enum class HasBegun : bool { No, Yes };
  void make_host(std::uint64_t seed, std::size_t idle_runs_max, HasBegun has_begun = HasBegun::Yes) {
    simulated =
        database
            ? std::make_unique<SimulatedStore>(
                  database->join(journal::OwnerRole::Host, "", std::chrono::hours(1), clock), database->connect(), seed)
            : std::make_unique<SimulatedStore>(
                  store ? std::move(store) : open(),
                  open({.durability = journal::Durability::Process, .access = journal::Access::Reader}), seed);
    runtime::HostOptions options;
    options.idle_runs_max = idle_runs_max;
    options.runtime.pools = pools;
    host = std::make_unique<runtime::Host>(
        runtime::Host::Parts{.store = *simulated,
                             .model = model,
                             .clock = clock,
                             .random_unit = [] { return 0.5; },
                             .images = [this](const Hash& hash, std::string_view)
                                 -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
                               if (hash == missing_program) return failure(runtime::ImageError{"missing"});
                               return image;
                             },
                             .observer = observer},
        options);
    if (has_begun == HasBegun::Yes) host->begin(runtime::Host::DrivenBy::Caller);
  }
  void end_host() {
    host->end();
    host.reset();
    simulated.reset();
  }

  /// Drives the host until the condition holds; false if it does not within `patience`.
  bool drive_until(const std::function<bool()>& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!is_done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      host->run_once(std::chrono::milliseconds(1));
    }
    return true;
  }
  /// The reply of one request.
  runtime::HostReply ask(const std::function<void(runtime::OnReply)>& request) {
    std::optional<runtime::HostReply> reply;
    request([&](runtime::HostReply given) { reply = std::move(given); });
    EXPECT_TRUE(drive_until([&] { return reply.has_value(); }));
    return reply ? std::move(*reply) : failure(runtime::HostFailure{runtime::HostFailure::Kind::NotFound, "no reply"});
  }
  runtime::RunStart start_of(const std::string& function) const {
    runtime::RunStart start;
    start.image = image;
    start.function = *runtime::find_function(image->program(), function);
    return start;
  }
  runtime::RunStart start_of_agent(std::uint32_t agent = 0) const {
    runtime::RunStart start;
    start.image = image;
    start.agent = agent;
    return start;
  }
  journal::RunName start(const std::string& function, runtime::RequestKey key = {}) {
    const auto reply =
        ask([&](runtime::OnReply on_reply) { host->start(start_of(function), key, std::move(on_reply)); });
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? reply->run : journal::RunName{};
  }
  /// The name of a question that the run has asked, from 0, once it has.
  std::string wait_of(const journal::RunName& run, std::size_t number) {
    const std::vector<std::string>& waits = observer.waits[run.text];
    EXPECT_TRUE(drive_until([&] { return waits.size() > number; }));
    return waits.size() > number ? waits[number] : "";
  }
  /// Answers the first question that was not answered in this way.
  runtime::HostReply resume(const journal::RunName& run, const std::string& answer, runtime::RequestKey key = {}) {
    std::size_t& answers = answers_[run.text];
    const std::string wait = wait_of(run, answers);
    auto reply =
        ask([&](runtime::OnReply on_reply) { host->resume(run, wait, Json(answer), key, std::move(on_reply)); });
    if (reply) ++answers;
    return reply;
  }
  [[nodiscard]] static runtime::RequestKey key_of(const std::string& name) {
    return {.key = name, .fingerprint = sha256(name)};
  }

  std::shared_ptr<const runtime::ProgramImage> image = make_image(host_program);
  Hash missing_program = {};  ///< that no host finds
  // For the hosts that are made from now on.
  runtime::AgentPools pools;
  std::unique_ptr<SharedDatabase> database;  ///< null: the store is in a file
  FixedModel model{"Hello!"};
  ShiftedClock clock;
  RecordingObserver observer;
  std::unique_ptr<SimulatedStore> simulated;
  std::unique_ptr<runtime::Host> host;

 private:
  std::map<std::string, std::size_t> answers_;  ///< that `resume` has given, by run
};

}  // namespace tenon::test
