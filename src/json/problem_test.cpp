#include "json/problem.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "json/reader.h"

namespace tenon {
namespace {

std::string all_messages(MessageVersion version) {
  std::string messages;
  for (std::uint8_t at = 0; at <= static_cast<std::uint8_t>(JsonProblem::TooManyValues); ++at) {
    messages += message_of(make_json_error(JsonProblem{at}, 0, "FOUND", "EXPECTED"), version) + "\n";
  }
  return messages;
}

TEST(JsonProblem, AnErrorHasAMessageOfEachVersion) {
  const auto json = parse_json("{\"a\" 1}");
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(json.error().message, "expected a `:`, found \"1}\"");
  EXPECT_EQ(message_of(json.error(), MessageVersion::First), "a `:` is missing before \"1}\"");
}

/// Programs compute the texts of their version when their runs are replayed. A new text is a new version.
TEST(JsonProblem, TheMessagesOfAVersionDoNotChange) {
  EXPECT_EQ(sha256(all_messages(MessageVersion::First)).hex(),
            "827634d37fac67cad2a511a2d88d62d3cbae69d6e16c3b85e2d5487ceb7b2a0f")
      << all_messages(MessageVersion::First);
  EXPECT_EQ(sha256(all_messages(MessageVersion::Second)).hex(),
            "44a2abf005d1db20df0b3364be6c6065172f76a02cd88ee46cef6dd61313b28a")
      << all_messages(MessageVersion::Second);
}

}  // namespace
}  // namespace tenon
