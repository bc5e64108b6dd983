#include "source/source_file.h"

#include <gtest/gtest.h>

namespace tenon::source {
namespace {

void expect_position(const SourceFile& file, std::uint32_t offset, std::uint32_t line, std::uint32_t column) {
  const Position position = file.position(offset);
  EXPECT_EQ(position.line, line) << "offset " << offset;
  EXPECT_EQ(position.column, column) << "offset " << offset;
}

TEST(SourceFile, PositionsCountCodePoints) {
  const SourceFile file({0}, "a.tn", "aé€😀b\n\nc");
  expect_position(file, 0, 1, 1);
  expect_position(file, 1, 1, 2);
  expect_position(file, 3, 1, 3);
  expect_position(file, 6, 1, 4);
  expect_position(file, 10, 1, 5);
  expect_position(file, 11, 1, 6);
  expect_position(file, 12, 2, 1);
  expect_position(file, 13, 3, 1);
  expect_position(file, 14, 3, 2);
}

TEST(SourceFile, ALongLineIsCountedFromItsOwnStart) {
  std::string text = "first €\n";
  for (int i = 0; i < 1'000; ++i) text += "é€b";
  text += "\nlast";
  const SourceFile file({0}, "a.tn", text);
  const std::uint32_t start = file.line_offset(2);
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    expect_position(file, start + 6 * i, 2, 1 + 3 * i);
    expect_position(file, start + 6 * i + 5, 2, 3 + 3 * i);
  }
  expect_position(file, static_cast<std::uint32_t>(text.size()), 3, 5);
}

TEST(SourceFile, ManyPlacesInOneLineAreFoundQuickly) {
  const SourceFile file({0}, "a.tn", std::string(2'000'000, 'x'));
  std::uint64_t columns = 0;
  for (std::uint32_t offset = 0; offset < 2'000'000; ++offset) columns += file.position(offset).column;
  EXPECT_EQ(columns, std::uint64_t{2'000'000} * 2'000'001 / 2);
}

TEST(SourceFile, LinesWithoutTheirEnds) {
  const SourceFile file({0}, "a.tn", "one\r\ntwo\n");
  EXPECT_EQ(file.line_count(), 3U);
  EXPECT_EQ(file.line(1), "one");
  EXPECT_EQ(file.line(2), "two");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line_offset(2), 5U);
}

TEST(SourceFile, AnEmptyFileHasOneLine) {
  const SourceFile file({0}, "a.tn", "");
  EXPECT_EQ(file.line_count(), 1U);
  EXPECT_EQ(file.line(1), "");
  expect_position(file, 0, 1, 1);
}

}  // namespace
}  // namespace tenon::source
