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

TEST(Printable, WhatIsNotSeenCanBeShown) {
  EXPECT_EQ(show_hidden("pay \u202Eeve\u202C\u200B, \u2066ann\u2069\u061C"),
            "pay \\u{202E}eve\\u{202C}\\u{200B}, \\u{2066}ann\\u{2069}\\u{61C}");
  EXPECT_EQ(show_hidden("\x1b[8mred\x7F\u009B\uFEFF\u00AD\U000E0041"),
            "\\u{1B}[8mred\\u{7F}\\u{9B}\\u{FEFF}\\u{AD}\\u{E0041}");
  EXPECT_EQ(show_hidden("gone\rover\xFF"), "gone\\u{D}over�");
}

TEST(Printable, WhatIsSeenStaysAsItIs) {
  EXPECT_EQ(show_hidden("größe\t€ 😀\n\r\n– “”\u2010 שלום"), "größe\t€ 😀\n\r\n– “”\u2010 שלום");
  EXPECT_EQ(show_hidden("👩‍💻 ❤️‍🔥 1️⃣ 👍🏽"), "👩‍💻 ❤️‍🔥 1️⃣ 👍🏽");
  EXPECT_EQ(show_hidden("a\u200Db\uFE0F 1\u200D2"), "a\\u{200D}b\\u{FE0F} 1\\u{200D}2");
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
