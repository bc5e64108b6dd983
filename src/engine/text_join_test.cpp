#include "engine/text_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace tenon::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TextJoinTest : public testing::Test {
 protected:
  void receive(std::string_view generation, std::uint32_t attempt, std::uint64_t offset, std::string_view piece) {
    const auto text = join.take({generation, attempt, offset, piece, true, {"Desk", 1}});
    if (!text) return;
    EXPECT_EQ(text->generation, generation);
    EXPECT_TRUE(text->is_answer);
    pieces.emplace_back(text->attempt, text->offset, std::string(text->piece));
  }

  using Piece = std::tuple<std::uint32_t, std::uint64_t, std::string>;  // attempt, offset, text
  TextJoin join;
  std::vector<Piece> pieces;
};

TEST_F(TextJoinTest, PiecesFollowOneAnother) {
  receive("0.1", 0, 0, "ab");
  receive("0.1", 0, 2, "c");
  receive("0.2", 0, 0, "x");
  receive("0.1", 1, 0, "again");
  EXPECT_THAT(pieces, ElementsAre(Piece{0, 0, "ab"}, Piece{0, 2, "c"}, Piece{0, 0, "x"}, Piece{1, 0, "again"}));
}

TEST_F(TextJoinTest, WhoComesLateSeesWhatIsRepeatedAndNoPieceTwice) {
  receive("0.1", 2, 4, "ef");  // the beginning is missing
  EXPECT_THAT(pieces, IsEmpty());
  receive("0.1", 2, 0, "abcdef");
  receive("0.1", 2, 6, "g");
  receive("0.1", 2, 0, "abcdefg");  // for another reader
  receive("0.1", 2, 5, "fgh");
  EXPECT_THAT(pieces, ElementsAre(Piece{0, 0, "abcdef"}, Piece{0, 6, "g"}, Piece{0, 7, "h"}));
}

TEST_F(TextJoinTest, ALostPieceIsMissingUntilTheTextIsRepeated) {
  receive("0.1", 0, 0, "a");
  receive("0.1", 0, 2, "c");
  receive("0.1", 0, 3, "d");
  receive("0.1", 0, 0, "abcde");
  EXPECT_THAT(pieces, ElementsAre(Piece{0, 0, "a"}, Piece{0, 1, "bcde"}));
}

TEST_F(TextJoinTest, TheAttemptsOfTheNextOwnerFollowThoseOfTheFirst) {
  receive("0.1", 0, 0, "ab");
  receive("0.1", 1, 0, "cd");
  receive("0.1", 0, 0, "ef");  // another process, which counts from 0
  receive("0.1", 0, 2, "g");
  receive("0.1", 0, 0, "h");  // and one more
  EXPECT_THAT(pieces,
              ElementsAre(Piece{0, 0, "ab"}, Piece{1, 0, "cd"}, Piece{2, 0, "ef"}, Piece{2, 2, "g"}, Piece{3, 0, "h"}));
}

TEST_F(TextJoinTest, TheSameTextOfTheNextOwnerContinuesThatOfTheFirst) {
  receive("0.1", 0, 0, "abc");
  receive("0.1", 0, 0, "a");
  receive("0.1", 0, 1, "b");
  receive("0.1", 0, 2, "cd");
  EXPECT_THAT(pieces, ElementsAre(Piece{0, 0, "abc"}, Piece{0, 3, "d"}));
}

}  // namespace
}  // namespace tenon::engine
