#include "runtime/recording/open_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::runtime {
namespace {

using Left = OpenBlocks::Left;

/// The open blocks as a snapshot has them, oldest first.
std::vector<std::string> fields_of(const OpenBlocks& blocks) {
  wire::Writer out;
  blocks.write(out, 3);
  const std::string bytes = out.take();
  std::vector<std::string> fields;
  wire::Reader in(bytes);
  while (in.next_field()) fields.emplace_back(in.bytes_value());
  return fields;
}

TEST(OpenBlocks, CountWhatTheirBranchesTake) {
  OpenBlocks blocks;
  blocks.enter("2/0", 0, "research", 1'000);
  blocks.enter("2/1.0.0", 0, "research/find", 1'010);
  blocks.enter("2/1.1.0", 0, "research/find", 1'020);
  blocks.add_tokens("2/1.0.1", 5);
  blocks.add_tokens("2/1.1.1", 7);
  blocks.add_tokens("2/1.1.2.0.0", 1);
  EXPECT_EQ(blocks.leave("2/1.0.2", 0, "research/find", 1'050), (Left{"2/1.0.0", {40, 5}}));
  EXPECT_EQ(blocks.leave("2/1.1.3", 0, "research/find", 1'060), (Left{"2/1.1.0", {40, 8}}));
  EXPECT_EQ(blocks.leave("2/2", 0, "research", 1'100), (Left{"2/0", {100, 13}}));
  EXPECT_EQ(blocks.leave("2/3", 0, "research", 1'100), std::nullopt);
}

TEST(OpenBlocks, AreForgottenWhereAFailureHasLeftThem) {
  OpenBlocks blocks;
  blocks.enter("0", 0, "ask", 10);
  blocks.enter("1", 1, "inner", 20);
  blocks.enter("2.0.0", 1, "branch", 20);
  blocks.enter("3", 0, "ask", 30);  // entered again
  EXPECT_EQ(blocks.leave("4", 0, "ask", 35), (Left{"3", {5, 0}}));
  EXPECT_EQ(blocks.leave("5", 1, "inner", 40), std::nullopt);
  EXPECT_EQ(blocks.leave("2.0.1", 1, "branch", 40), std::nullopt);
}

TEST(OpenBlocks, NoMoreThanTheLimitAreKept) {
  OpenBlocks blocks;
  blocks.enter("0", 0, "first", 0);
  const std::string first = fields_of(blocks).front();
  blocks.enter("0", 0, "second", 0);
  const std::string second = fields_of(blocks).back();
  while (blocks.read(second)) {
  }
  EXPECT_EQ(fields_of(blocks).size(), open_blocks_max);
  EXPECT_EQ(fields_of(blocks).front(), first);
  blocks.enter("0", 0, "newest", 0);
  EXPECT_EQ(fields_of(blocks).size(), open_blocks_max);
  EXPECT_EQ(blocks.leave("1", 0, "first", 1), std::nullopt);
  EXPECT_NE(blocks.leave("1", 0, "newest", 1), std::nullopt);
}

TEST(OpenBlocks, AreReadBack) {
  OpenBlocks blocks;
  blocks.enter("2/0", 0, "talk", 1'000);
  blocks.enter("2/1.3.0", 2, "talk/find", 1'000);
  blocks.add_tokens("2/1.3.1", 9);
  OpenBlocks read;
  for (const std::string& field : fields_of(blocks)) ASSERT_TRUE(read.read(field));
  EXPECT_EQ(read.leave("2/1.3.2", 2, "talk/find", 1'001), (Left{"2/1.3.0", {1, 9}}));
  EXPECT_EQ(read.leave("2/9", 0, "talk", 1'002), (Left{"2/0", {2, 9}}));
  EXPECT_FALSE(OpenBlocks().read("\x01"));
}

}  // namespace
}  // namespace tenon::runtime
