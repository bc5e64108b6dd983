#include "journal/batch.h"

#include <gtest/gtest.h>

namespace tenon::journal {
namespace {

const RunName run{"01jd3qq5x8fwbyqvk0abcdefgh"};
const std::vector<std::string> records{"one", "", std::string(300, 'x')};
const std::vector<Hash> references{sha256("a"), sha256("b")};

TEST(Batch, RoundTrips) {
  const Hash start = chain_start(run);
  const EncodedBatch encoded = encode_batch(start, records, references);
  Hash chain = start;
  for (const std::string& record : records) chain = sha256(chain.view(), record);
  EXPECT_EQ(encoded.chain, chain);
  const auto decoded = decode_batch(start, encoded.bytes);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(std::vector<std::string>(decoded->records.begin(), decoded->records.end()), records);
  EXPECT_EQ(decoded->references, references);
  EXPECT_EQ(decoded->chain, chain);
}

TEST(Batch, MayHaveNoRecordsOrNoReferences) {
  const EncodedBatch none = encode_batch(Hash{}, {}, {});
  EXPECT_EQ(none.chain, Hash{});
  EXPECT_TRUE(decode_batch(Hash{}, none.bytes).has_value());
  const EncodedBatch only_references = encode_batch(Hash{}, {}, references);
  EXPECT_EQ(only_references.chain, Hash{});
  EXPECT_EQ(decode_batch(Hash{}, only_references.bytes)->references, references);
}

TEST(Batch, ReportsEachAlteredByte) {
  const Hash start = chain_start(run);
  const std::string bytes = encode_batch(start, records, references).bytes;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const unsigned mask : {0x01U, 0x80U, 0xFFU}) {
      std::string altered = bytes;
      altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ mask);
      EXPECT_FALSE(decode_batch(start, altered).has_value()) << "byte " << at << ", mask " << mask;
    }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_batch(start, std::string_view(bytes).substr(0, size)).has_value()) << "cut to " << size;
  EXPECT_FALSE(decode_batch(sha256("elsewhere"), bytes).has_value());
}

TEST(Batch, NamesTheRecord) {
  const std::vector<std::string> three{"aaaa", "bbbb", "cccc"};
  std::string bytes = encode_batch(Hash{}, three, {}).bytes;
  bytes[bytes.find("bbbb")] = 'B';
  const auto decoded = decode_batch(Hash{}, bytes);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().record, 1U);
}

TEST(Batch, ALargeOneIsVerifiedOnceWhileItIsRead) {
  const std::vector<std::string> many(1'000, std::string(40, 'x'));
  const EncodedBatch large = encode_batch(Hash{}, many, references);
  ASSERT_GE(large.bytes.size(), BatchDecoder::kept_bytes_min);
  BatchDecoder decoder;
  for (int round = 0; round < 3; ++round) {
    // Each time the bytes come from elsewhere.
    const std::string bytes = large.bytes;
    const auto decoded = decoder.decode(Hash{}, bytes);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ((*decoded)->records.size(), many.size());
    EXPECT_EQ((*decoded)->records.back(), many.back());
    EXPECT_EQ((*decoded)->chain, large.chain);
    EXPECT_EQ((*decoded)->references, references);
  }
  EXPECT_EQ(decoder.verified_count(), 1U);
  // Other bytes, or another place in the chain, are verified.
  std::string altered = large.bytes;
  altered[altered.size() / 2] ^= 1;
  EXPECT_FALSE(decoder.decode(Hash{}, altered).has_value());
  EXPECT_FALSE(decoder.decode(Hash{}, altered).has_value());
  EXPECT_FALSE(decoder.decode(sha256("elsewhere"), large.bytes).has_value());
  EXPECT_TRUE(decoder.decode(Hash{}, large.bytes).has_value());
  EXPECT_EQ(decoder.verified_count(), 5U);
}

TEST(Batch, SmallOnesAreNotKept) {
  const EncodedBatch small = encode_batch(Hash{}, records, references);
  BatchDecoder decoder;
  for (std::uint64_t round = 1; round < 3; ++round) {
    const std::string bytes = small.bytes;
    EXPECT_EQ((*decoder.decode(Hash{}, bytes))->records.front(), "one");
    EXPECT_EQ(decoder.verified_count(), round);
  }
}

}  // namespace
}  // namespace tenon::journal
