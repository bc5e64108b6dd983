#include "inference/llama_cpp/text_assembler.h"

#include <gtest/gtest.h>
#include <utf8.h>

#include <random>

namespace tenon::inference::llama_cpp {
namespace {

TEST(TextAssemblerTest, ReturnsWholeCharacters) {
  TextAssembler assembler;
  EXPECT_EQ(assembler.append("a"), "a");
  EXPECT_EQ(assembler.append("\xE2\x82"), "");
  EXPECT_EQ(assembler.append("\xAC!"), "€!");
  EXPECT_EQ(assembler.append("\xF0"), "");
  EXPECT_EQ(assembler.append("\x9F"), "");
  EXPECT_EQ(assembler.append("\x99"), "");
  EXPECT_EQ(assembler.append("\x82"), "🙂");
  EXPECT_EQ(assembler.finish(), "");
}

TEST(TextAssemblerTest, ReplacesWhatCanNeverBeACharacter) {
  TextAssembler assembler;
  EXPECT_EQ(assembler.append("a\xFF"
                             "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(assembler.append("\xE2\x82"), "");
  EXPECT_EQ(assembler.finish(), "\uFFFD");
  EXPECT_EQ(assembler.finish(), "");
}

TEST(TextAssemblerTest, ReturnsTheSameTextForAnySplitOfTheBytes) {
  const std::string text = "naïve café — 東京 🙂🙃 end";
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    TextAssembler assembler;
    std::string assembled;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 4;
      assembled += assembler.append(std::string_view(text).substr(at, size));
      at += size;
    }
    EXPECT_EQ(assembled + assembler.finish(), text);
  }
}

TEST(TextAssemblerTest, ReturnsValidUtf8ForAnyBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    TextAssembler assembler;
    std::string text;
    for (int piece = 0; piece < 6; ++piece) {
      std::string bytes;
      for (std::size_t i = random() % 4; i > 0; --i) bytes += static_cast<char>(random());
      text += assembler.append(bytes);
    }
    text += assembler.finish();
    EXPECT_TRUE(utf8::is_valid(text.begin(), text.end()));
  }
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
