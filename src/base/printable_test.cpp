#include "base/printable.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Printable, ControlCharactersAreReplaced) {
  EXPECT_EQ(make_printable("\x1b[31mred\x07"), "�[31mred�");
  EXPECT_EQ(make_printable("\xC2\x9B"
                           "31m \x7F \x08"),
            "�31m � �");
  EXPECT_EQ(make_printable("gone\rover"), "gone�over");
}

TEST(Printable, TextLinesAndTabsStay) {
  EXPECT_EQ(make_printable("größe\t€ 😀\n\r\nend"), "größe\t€ 😀\n\r\nend");
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(make_printable("a\xFF\xC3z\xE2\x82"), "a��z��");
}

TEST(Printable, ACodePointMayComeInPieces) {
  PrintableStream stream;
  EXPECT_EQ(stream.take("a\xE2"), "a");
  EXPECT_EQ(stream.take("\x82"), "");
  EXPECT_EQ(stream.take("\xAC\x1b"), "€�");
  EXPECT_EQ(stream.take("\xC2"), "");
  EXPECT_EQ(stream.take("\x9B"), "�");
}

}  // namespace
}  // namespace tenon
