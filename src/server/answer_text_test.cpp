#include "server/answer_text.h"

#include <gtest/gtest.h>

namespace tenon::server {
namespace {

Json piece(std::uint64_t attempt, std::uint64_t offset, const std::string& text, const std::string& generation = "0") {
  return Json::object({{"generation", generation}, {"attempt", attempt}, {"offset", offset}, {"text", text}});
}

TEST(AnswerTextTest, WhiteSpaceAroundIsNotShown) {
  AnswerText text;
  EXPECT_EQ(text.take(piece(0, 0, " \n")), "");
  EXPECT_EQ(text.take(piece(0, 2, " Owls ")), "Owls");
  EXPECT_EQ(text.take(piece(0, 8, "\n")), "");
  EXPECT_EQ(text.take(piece(0, 9, "fly. ")), " \nfly.");
  EXPECT_EQ(text.finish("Owls \nfly."), "");
}

TEST(AnswerTextTest, ASecondAttemptIsHeldBack) {
  AnswerText text;
  EXPECT_EQ(text.take(piece(0, 0, "Owls")), "Owls");
  EXPECT_EQ(text.take(piece(1, 0, "Owls fly")), "");
  EXPECT_EQ(text.finish("Owls fly"), " fly") << "what was shown was right";
  EXPECT_EQ(text.finish("Cats"), std::nullopt) << "what was shown was wrong";
}

TEST(AnswerTextTest, AMissedPieceIsNotSkipped) {
  AnswerText text;
  EXPECT_EQ(text.take(piece(0, 0, "a")), "a");
  EXPECT_EQ(text.take(piece(0, 2, "c")), "");
  EXPECT_EQ(text.finish("abc"), "bc");
  AnswerText late;
  EXPECT_EQ(late.take(piece(0, 5, "x")), "");
  EXPECT_EQ(late.finish("all of it"), "all of it");
}

TEST(AnswerTextTest, WhatWasEmittedIsNotShownAgain) {
  AnswerText blocks;
  EXPECT_EQ(blocks.emit("One moment.", "A"), "One moment.");
  EXPECT_EQ(blocks.emit("Owls fly.", "A"), "\n\nOwls fly.");
  EXPECT_EQ(blocks.finish("One moment.\n\nOwls fly."), "");
  EXPECT_EQ(blocks.finish("One moment.\n\nOwls fly.\n\nAt night."), "\n\nAt night.");
  EXPECT_EQ(blocks.finish("42"), "\n\n42") << "another answer comes after it";
  EXPECT_EQ(blocks.take(piece(0, 0, " Cats")), "\n\nCats");
  EXPECT_EQ(blocks.finish("One moment.\n\nOwls fly.\n\nCats purr."), " purr.");
  EXPECT_EQ(blocks.finish("Cats purr."), " purr.");
  EXPECT_EQ(blocks.finish("Dogs"), std::nullopt);
}

TEST(AnswerTextTest, TextsEmittedBeforeAHandoffAreNotPartOfTheAnswer) {
  AnswerText blocks;
  EXPECT_EQ(blocks.emit("I ask Billing.", "Support"), "I ask Billing.");
  EXPECT_EQ(blocks.emit("It is paid.", "Billing"), "\n\nIt is paid.");
  EXPECT_EQ(blocks.finish("It is paid."), "");
  EXPECT_EQ(blocks.finish("It is paid.\n\nBye."), "\n\nBye.");
  EXPECT_EQ(blocks.finish("42"), "\n\n42");
  EXPECT_EQ(blocks.emit("I have asked Billing.", "Support"), "\n\nI have asked Billing.");
  EXPECT_EQ(blocks.finish("It is paid."), "") << "`finally` of the first agent comes after the answer";
}

TEST(AnswerTextTest, WhatIsEmittedMayBeShownInPieces) {
  AnswerText blocks;
  EXPECT_EQ(blocks.take(piece(0, 0, "Owls ")), "Owls");
  EXPECT_TRUE(blocks.has_begun_text());
  EXPECT_EQ(blocks.emit("Owls fly.", "A"), " fly.");
  EXPECT_FALSE(blocks.has_begun_text());
  EXPECT_EQ(blocks.take(piece(0, 0, "\nCats", "1")), "\n\nCats");
  EXPECT_EQ(blocks.take(piece(0, 5, " purr.", "1")), " purr.");
  EXPECT_EQ(blocks.emit("Cats purr.", "A"), "");
  EXPECT_EQ(blocks.take(piece(1, 0, "Dogs", "2")), "") << "a second attempt";
  EXPECT_EQ(blocks.emit("Dogs bark.", "A"), "\n\nDogs bark.");
  EXPECT_EQ(blocks.take(piece(0, 0, "Cows", "3")), "\n\nCows");
  EXPECT_EQ(blocks.emit("Bees hum.", "A"), std::nullopt) << "what was shown was wrong";
}

TEST(AnswerTextTest, NothingWasShown) {
  const AnswerText text;
  EXPECT_EQ(text.finish("42"), "42");
  EXPECT_FALSE(text.has_shown());
}

}  // namespace
}  // namespace tenon::server
