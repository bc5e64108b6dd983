#include "runtime/events.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "inference/scripted/scripted_model.h"
#include "runtime/runtime.h"
#include "tests/support/journal_testing.h"
#include "tests/support/recorded_run.h"

namespace tenon::runtime {
namespace {

constexpr const char* program_text = R"tn(
agent Clerk {
    state { calls: i64 = 0 }
    instructions { "You are a clerk."! }
    fn turn(ctx: Context, input: String) -> String {
        state.calls = state.calls + count(ctx)
        emit(long("{{ input }}"))
        "{{ Helper::run("how?") }} {{ state.calls }}"
    }
    fn count(ctx: Context) -> i64 { "How many?"! }
}
agent Helper {
    fn turn(ctx: Context, input: String) -> String { input! }
}
fn long(text: String) -> String {
    let whole = text
    while whole.len() < 2000 { whole = "{{ whole }}{{ whole }}" }
    whole
}
)tn";

/// Keeps the records as runs in memory have them: without hashes, with all texts.
class Recorder final : public Listener {
 public:
  void on_recorded(const RecordBatch& batch) override {
    EXPECT_EQ(batch.first, records.size() + 1);
    for (effects::Record record : batch.records) {
      record.time = 0;
      const auto fill_in = [&](effects::StoredText& text) { text = {std::string(batch.text_of(text)), std::nullopt}; };
      if (auto* const started = std::get_if<effects::Started>(&record.body)) started->program = {};
      if (auto* const finished = std::get_if<effects::Finished>(&record.body)) {
        finished->cost.milliseconds = 0;
        fill_in(finished->value);
      }
      if (auto* const requested = std::get_if<effects::Requested>(&record.body)) {
        requested->request = requested->context = {};
        fill_in(requested->arguments);
      }
      if (auto* const ended = std::get_if<effects::TurnEnded>(&record.body)) {
        ended->conversation = {};
        fill_in(ended->state);
        fill_in(ended->value);
      }
      if (const auto event = find_program_event(batch, record)) {
        events.push_back(event->text);
        if (event->kind == effects::EffectKind::Emitted) emitted.push_back(event->text);
      }
      records.push_back(effects::encode(record));
    }
  }
  void on_generation_started(const SentGeneration& generation) override { attempts.push_back(generation.attempt); }

  std::vector<std::string> records;
  std::vector<std::string> events;
  std::vector<std::string> emitted;
  std::vector<std::uint32_t> attempts;
};

class EventsTest : public test::JournalTest {
 protected:
  /// Two turns of a conversation; a number is answered wrongly at first.
  void converse(Listener& listener, journal::Store* to) {
    inference::Script script;
    inference::ScriptRule& rule = script.rules.emplace_back();
    for (const char* const text : {R"({"value": "three"})", R"({"value": 3})", "So.", R"({"value": 4})", "So again."}) {
      rule.answers.push_back({.text = text});
    }
    inference::ScriptedModel model(std::move(script));
    RealClock clock;
    Runtime runtime({.model = model, .clock = clock, .listener = &listener, .store = to}, {});
    const RunId run = runtime.start_conversation(test::make_image(program_text), 0, {}, journal::make_run_name(1));
    for (const char* const input : {"one", "two"}) {
      ASSERT_TRUE(runtime.prompt(run, input).has_value());
      runtime.run();
      ASSERT_TRUE(runtime.turn_outcome(run).has_value());
      const auto* const value = std::get_if<vm::Value>(&*runtime.turn_outcome(run));
      ASSERT_NE(value, nullptr);
    }
  }
};

TEST_F(EventsTest, RecordsAreTheSameWithAndWithoutAStore) {
  Recorder stored, in_memory;
  converse(stored, &store->journals());
  converse(in_memory, nullptr);
  EXPECT_GT(stored.records.size(), 20U);
  EXPECT_EQ(stored.records, in_memory.records);
  ASSERT_EQ(stored.events.size(), 2U);
  EXPECT_GT(stored.events.front().size(), effects::inline_text_bytes_max);
  EXPECT_EQ(stored.events, in_memory.events);
  EXPECT_EQ(in_memory.attempts, (std::vector<std::uint32_t>{0, 1, 0, 0, 0}));
  EXPECT_EQ(stored.attempts, in_memory.attempts);
}

TEST_F(EventsTest, OnlyEmittedTextsAreRecordedInMemoryForWhoReadsNoOthers) {
  class EmittedReader final : public Listener {
   public:
    [[nodiscard]] ReadRecords reads_records() const override { return ReadRecords::Emitted; }
    void on_recorded(const RecordBatch& batch) override {
      for (const effects::Record& record : batch.records) {
        const auto event = find_program_event(batch, record);
        ASSERT_TRUE(event && event->kind == effects::EffectKind::Emitted);
        texts.push_back(event->text);
      }
    }
    std::vector<std::string> texts;
  } reader;
  Recorder all;
  converse(reader, nullptr);
  converse(all, nullptr);
  EXPECT_EQ(reader.texts.size(), 2U);
  EXPECT_EQ(reader.texts, all.emitted);
}

TEST_F(EventsTest, RecordsAreNotMadeInMemoryWithoutAReader) {
  class Deaf final : public Listener {
   public:
    [[nodiscard]] ReadRecords reads_records() const override { return ReadRecords::None; }
    void on_recorded(const RecordBatch& /*batch*/) override { ADD_FAILURE() << "nothing is read"; }
  } deaf;
  converse(deaf, nullptr);
}

}  // namespace
}  // namespace tenon::runtime
