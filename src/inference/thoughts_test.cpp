#include "inference/thoughts.h"

#include <gtest/gtest.h>

namespace tenon::inference {
namespace {

/// `thoughts|answer`, with `…` after thoughts that do not end.
std::string separated(std::string_view text) {
  const SeparatedText parts = separate_thoughts(text);
  return std::string(parts.thoughts) + (parts.is_open ? "…" : "") + "|" + std::string(parts.answer);
}

/// What the filter passes on of a text in pieces of this size, and of its end.
std::string filtered(std::string_view text, std::size_t size) {
  ThoughtFilter filter;
  std::string passed;
  for (std::size_t at = 0; at < text.size(); at += size) passed += filter.add(text.substr(at, size));
  return passed;
}

TEST(Thoughts, AreSeparatedFromTheAnswer) {
  EXPECT_EQ(separated("Hello"), "|Hello");
  EXPECT_EQ(separated("<think>\nhm\n</think>\n\nHello\n"), "hm|Hello\n");
  EXPECT_EQ(separated(" \n<thinking>a <think> b</thinking>Hello"), "a <think> b|Hello");
  EXPECT_EQ(separated("<reasoning>a</reasoning>\nb"), "a|b");
  EXPECT_EQ(separated("<think></think>b"), "|b");
  EXPECT_EQ(separated("<think>a"), "a…|");
}

TEST(Thoughts, MayHaveTheClosingTagAlone) {
  EXPECT_EQ(separated("Maybe {\"a\": 1}?\n</think>\n\nHello"), "Maybe {\"a\": 1}?|Hello");
  EXPECT_EQ(separated("</think>Hello"), "|Hello");
  EXPECT_EQ(separated("Write <think>a</think> around it."), "|Write <think>a</think> around it.");
}

TEST(Thoughts, AreOnlyTagsOfTheseNames) {
  EXPECT_EQ(separated("<thin>a</thin>b"), "|<thin>a</thin>b");
  EXPECT_EQ(separated("<think>ing"), "ing…|");
  EXPECT_EQ(separated("a < b </b>"), "|a < b </b>");
}

TEST(Thoughts, AreWithheldFromPieces) {
  for (std::size_t size = 1; size < 12; ++size) {
    EXPECT_EQ(filtered("\n<think>a </thin b</think>\n\nHello <b>you</b>\n", size), "Hello <b>you</b>\n") << size;
    EXPECT_EQ(filtered("<thinks> so", size), "<thinks> so") << size;
    EXPECT_EQ(filtered("  Hello", size), "  Hello") << size;
    EXPECT_EQ(filtered("<reasoning>all", size), "") << size;
  }
}

}  // namespace
}  // namespace tenon::inference
