#include <gtest/gtest.h>

#include <set>

#include "journal/store.h"

namespace tenon::journal {
namespace {

TEST(RunName, SortsByTheTimeAtWhichItWasMade) {
  std::string last;
  std::set<std::string> all;
  for (int round = 0; round < 10'000; ++round) {
    const RunName name = make_run_name(1'700'000'000'000 + round / 1'000);
    EXPECT_TRUE(is_run_name(name.text)) << name.text;
    EXPECT_LT(last, name.text);
    last = name.text;
    all.insert(name.text);
  }
  EXPECT_EQ(all.size(), 10'000U);
  EXPECT_LT(last, make_run_name(1'600'000'000'000).text);  // the clock went back
}

TEST(RunName, HasVersionAndVariantOfAUuid) {
  // Later than those of the test above, so that the time is in it.
  const std::string name = make_run_name(0x0200'0000'0000).text;
  constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string bits;
  for (const char digit : name)
    for (int bit = 4; bit >= 0; --bit) bits += (digits.find(digit) >> static_cast<unsigned>(bit) & 1U) != 0 ? '1' : '0';
  ASSERT_EQ(bits.size(), 130U);
  EXPECT_EQ(bits.substr(0, 2), "00");
  bits = bits.substr(2);
  EXPECT_EQ(bits.substr(0, 48), "000000100000000000000000000000000000000000000000");
  EXPECT_EQ(bits.substr(48, 4), "0111");
  EXPECT_EQ(bits.substr(64, 2), "10");
}

TEST(RunName, RejectsInvalidNames) {
  EXPECT_TRUE(is_run_name("01jd3qq5x8fwbyqvk0abcdefgh"));
  EXPECT_FALSE(is_run_name("81jd3qq5x8fwbyqvk0abcdefgh"));  // more than 128 bits
  EXPECT_FALSE(is_run_name("01jd3qq5x8fwbyqvk0abcdefgi"));  // no digit
  EXPECT_FALSE(is_run_name("01JD3QQ5X8FWBYQVK0ABCDEFGH"));
  EXPECT_FALSE(is_run_name("01jd3qq5x8fwbyqvk0abcdefg"));
  EXPECT_FALSE(is_run_name(""));
}

}  // namespace
}  // namespace tenon::journal
