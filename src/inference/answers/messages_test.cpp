#include "inference/answers/messages.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace tenon::inference::answers {
namespace {

std::string all_texts(MessageVersion version) {
  std::string texts;
  for (std::uint8_t at = 0; at <= static_cast<std::uint8_t>(Message::UnknownFunction); ++at) {
    texts.append(text_of(Message{at}, version)).append("\n");
  }
  return texts;
}

/// Programs compute the texts of their version when their runs are replayed or resumed. A new text is a new version.
TEST(AnswerMessages, TheTextsOfAVersionDoNotChange) {
  EXPECT_EQ(sha256(all_texts(MessageVersion::First)).hex(),
            "cdca328f41e723a0996b8c034cf479ba83c9ace5e12e32a4048a0fa16e0b1a8d")
      << all_texts(MessageVersion::First);
  EXPECT_EQ(sha256(all_texts(MessageVersion::Second)).hex(),
            "be12d639ff5107382b097a5ffaad1f99c122f92cc27736f960fb0b595fa17c5c")
      << all_texts(MessageVersion::Second);
}

}  // namespace
}  // namespace tenon::inference::answers
