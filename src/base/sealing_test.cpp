#include "base/sealing.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

SealingKey key_of(char byte) {
  return *SealingKey::from_bytes(std::string(SealingKey::size, byte));
}

TEST(Sealing, OpensWhatItSealed) {
  const SealingKey key = key_of('k');
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 1'000U}) {
    const std::string text(size, 'x');
    const std::string sealed = seal(key, text, "run 1");
    EXPECT_EQ(open_sealed(key, sealed, "run 1"), text);
    EXPECT_EQ(sealed.find(std::string(8, 'x')), std::string::npos);
  }
}

TEST(Sealing, RefusesAnotherKeyOtherBoundsAndEveryChangedByte) {
  const SealingKey key = key_of('k');
  const std::string sealed = seal(key, "the secret", "run 1");
  EXPECT_FALSE(open_sealed(key_of('l'), sealed, "run 1").has_value());
  EXPECT_FALSE(open_sealed(key, sealed, "run 2").has_value());
  EXPECT_FALSE(open_sealed(key, sealed.substr(0, sealed.size() - 1), "run 1").has_value());
  EXPECT_FALSE(open_sealed(key, "", "run 1").has_value());
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(open_sealed(key, changed, "run 1").has_value()) << at;
  }
}

TEST(Sealing, IsTheSameAgainAndDiffersWithEachOfItsParts) {
  const SealingKey key = key_of('k');
  EXPECT_EQ(seal(key, "a", "b"), seal(key, "a", "b"));
  EXPECT_NE(seal(key, "a", "b"), seal(key, "a", "c"));
  EXPECT_NE(seal(key, "a", "b").substr(1, 12), seal(key, "c", "b").substr(1, 12));
  EXPECT_NE(seal(key, "ab", "").substr(1, 12), seal(key, "b", "a").substr(1, 12));
}

TEST(Sealing, KeysAreReadAsWritten) {
  const SealingKey key = SealingKey::random();
  const auto again = SealingKey::from_hex(" " + key.reveal_hex() + "\n");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->id(), key.id());
  EXPECT_NE(SealingKey::random().id(), key.id());
  EXPECT_EQ(key.id().find(key.reveal_hex().substr(0, 8)), std::string::npos);
  EXPECT_FALSE(SealingKey::from_hex("abc").has_value());
  EXPECT_FALSE(SealingKey::from_hex(std::string(64, 'g')).has_value());
  EXPECT_FALSE(SealingKey::from_bytes("short").has_value());
}

TEST(Sealing, Base64IsThatOfTheStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  for (const std::string text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_FALSE(from_base64("Zg=").has_value());
  EXPECT_FALSE(from_base64("Zg*=").has_value());
}

}  // namespace
}  // namespace tenon
