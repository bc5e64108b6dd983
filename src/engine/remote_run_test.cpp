#include "engine/remote_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace tenon::engine {
namespace {

using testing::ElementsAre;

/// Passes on what a test says.
class TestWakeups final : public journal::Wakeups {
 public:
  std::unique_ptr<journal::Subscription> subscribe(std::function<void(Notice)> /*notify*/) override { return nullptr; }
  std::unique_ptr<journal::Subscription> watch(const journal::RunName& /*run*/, Watcher& watcher) override {
    watching = &watcher;
    return std::make_unique<journal::Subscription>();
  }
  bool is_watched(const journal::RunName& /*run*/) override { return false; }
  void publish(const journal::RunName& /*run*/, std::string /*message*/) override {}

  Watcher* watching = nullptr;
};

class RemoteRunTest : public testing::Test {
 protected:
  void receive(std::string_view generation, std::uint32_t attempt, std::uint64_t offset, std::string_view piece) {
    wakeups.watching->on_message(runtime::encode({generation, attempt, offset, piece, true, {"Desk", 1}}));
  }

  using Piece = std::tuple<std::uint32_t, std::uint64_t, std::string>;  // attempt, offset, text
  TestWakeups wakeups;
  int changes = 0;
  std::vector<Piece> pieces;
  RemoteRun remote{wakeups,
                   {"run"},
                   [this] { ++changes; },
                   [this](const runtime::TextProgress& text) {
                     EXPECT_TRUE(text.is_answer);
                     EXPECT_EQ(text.author.agent, "Desk");
                     EXPECT_EQ(text.author.depth, 1U);
                     pieces.emplace_back(text.attempt, text.offset, std::string(text.piece));
                   }};
};

TEST_F(RemoteRunTest, PassesOnChangesAndPieces) {
  wakeups.watching->on_changed();
  EXPECT_EQ(changes, 1);
  receive("0.1", 0, 0, "ab");
  receive("0.1", 0, 2, "c");
  receive("0.2", 0, 0, "x");
  receive("0.1", 1, 0, "again");
  EXPECT_THAT(pieces, ElementsAre(Piece{0, 0, "ab"}, Piece{0, 2, "c"}, Piece{0, 0, "x"}, Piece{1, 0, "again"}));
}

TEST_F(RemoteRunTest, OtherMessagesAreIgnored) {
  for (const std::string_view message : {"", "{", "[]", "{\"piece\":\"a\"}"}) wakeups.watching->on_message(message);
  EXPECT_TRUE(pieces.empty());
}

}  // namespace
}  // namespace tenon::engine
