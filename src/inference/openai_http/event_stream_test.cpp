#include "inference/openai_http/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenon::inference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The data of all events when the bytes come in pieces of `size`.
std::vector<std::string> events_in(std::string_view bytes, std::size_t size = SIZE_MAX) {
  EventStream stream;
  std::vector<std::string> events;
  while (!bytes.empty()) {
    stream.append(bytes.substr(0, size), [&](std::string_view data) { events.emplace_back(data); });
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  return events;
}

TEST(EventStream, EventsEndWithAnEmptyLine) {
  EXPECT_THAT(events_in("data: one\n\ndata: two\n\n"), ElementsAre("one", "two"));
  EXPECT_THAT(events_in("data: one\n\ndata: cut"), ElementsAre("one"));
  EXPECT_THAT(events_in("data: one\n\ndata: cut\n"), ElementsAre("one"));
  EXPECT_THAT(events_in(""), IsEmpty());
}

TEST(EventStream, LinesEndInAnyOfThreeWays) {
  EXPECT_THAT(events_in("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n"), ElementsAre("a", "b", "c", "d"));
}

TEST(EventStream, OneBlankAfterTheColonIsNotData) {
  EXPECT_THAT(events_in("data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"), ElementsAre("a", " b", "", ""));
}

TEST(EventStream, DataLinesAreJoined) {
  EXPECT_THAT(events_in("data: a\ndata:\ndata: b\n\n"), ElementsAre("a\n\nb"));
}

TEST(EventStream, TheRestIsPassedOver) {
  EXPECT_THAT(
      events_in("\xEF\xBB\xBF: comment\nevent: x\nid: 1\nretry: 5\ndatax: no\ndata: a\n\n: ping\n\n\n\ndata: b\n\n"),
      ElementsAre("a", "b"));
  EXPECT_THAT(events_in("\xEF\xBB\xBF"
                        "data: a\n\n"),
              ElementsAre("a"));
}

TEST(EventStream, PiecesOfAnySizeGiveTheSameEvents) {
  constexpr std::string_view alphabet[] = {"data:", "data: x", "\n", "\r", "\r\n", ": c", "\n\n", "y", "\xEF\xBB\xBF"};
  std::mt19937 random(3);
  std::size_t events_seen = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string bytes;
    for (auto length = random() % 15; length > 0; --length) bytes += alphabet[random() % std::size(alphabet)];
    const auto whole = events_in(bytes);
    events_seen += whole.size();
    for (const std::size_t size : {1U, 2U, 3U, 7U}) ASSERT_EQ(events_in(bytes, size), whole) << bytes;
  }
  EXPECT_GT(events_seen, 1'000U);
}

TEST(EventStream, HoldsOnlyWhatIsNotComplete) {
  EventStream stream;
  std::size_t count = 0;
  for (int i = 0; i < 1'000; ++i) stream.append("data: text\n\n: comment\n", [&](std::string_view) { ++count; });
  EXPECT_EQ(count, 1'000U);
  EXPECT_EQ(stream.held_bytes(), 0U);
  stream.append("data: ab", [&](std::string_view) { ++count; });
  EXPECT_EQ(stream.held_bytes(), 8U);
}

}  // namespace
}  // namespace tenon::inference
