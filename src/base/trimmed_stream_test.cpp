#include "base/trimmed_stream.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(TrimmedStream, KeepsWhatMayBeTheEnd) {
  TrimmedStream stream;
  EXPECT_EQ(stream.take(" \n"), "");
  EXPECT_EQ(stream.take(" Owls "), "Owls");
  EXPECT_EQ(stream.take("\n"), "");
  EXPECT_EQ(stream.take("fly. "), " \nfly.");
  EXPECT_EQ(stream.take(""), "");
}

}  // namespace
}  // namespace tenon
